"""A remark of the audit that isn't sure isn't made: other benchmarks, rates, ranges, rows that say how sure they are."""

import pytest

from expctl.imported.audit.ledger import audit
from expctl.imported.figures import Quantity, figures_of
from expctl.imported.given import Given, given_by
from expctl.imported.remarks import Flaw
from expctl.imported.roofline import Roofline
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of


def flaws(text: str, *maps: str) -> list[tuple[Flaw, int]]:
    document = document_of(text.encode(), "a.md")
    rows = read_document(document, given_by(Given(), maps, (), document).map()).rows
    return [(each.flaw, each.line) for each in audit(document, rows, Roofline(), None)]


def test_rows_of_different_benchmarks_are_not_compared() -> None:
    rows = "| `decode_small` | 3.1 ms | yes |\n| `encode_large` | 4.2 ms | yes |\n"
    text = f"# Attempts\n| Benchmark | Mean | Cached |\n|---|---|---|\n{rows}"
    assert flaws(text, "line 4=KEEP", "line 5=KEEP") == []
    kept = "# Log\n| Change | Mean | Verdict |\n|---|---|---|\n| loads | 3.1 ms | kept |\n| tiles | 3.4 ms | kept |\n"
    assert flaws(kept) == [(Flaw.KEPT_REGRESSION, 5)]


HEADS = "# Log\n| id | change | before | after | {} | verdict |\n|---|---|---|---|---|---|\n"
BEFORE = HEADS + "| E1 | loads | 3.1 ms | {} | {} | {} |\n"


@pytest.mark.parametrize(
    ("head", "after", "beside", "verdict", "asked"),
    [
        ("note", "3.3 ms", "none", "kept", True),
        ("p", "3.3 ms", "p = 0.31", "kept", False),
        ("p", "3.3 ms", "0.31", "kept", False),
        ("note", "3.3 ms ± 0.4", "none", "kept", False),
        ("note", "3.3 ms", "3.0..3.6", "kept", False),
        ("95% CI", "3.3 ms", "[-2, +9]", "kept", False),
        ("note", "3.3 ms", "none", "kept for inference", False),
        ("note", "3.15 ms", "flat", "kept", False),
        ("note", "3.1001 ms", "none", "kept", False),
    ],
)
def test_a_row_that_says_how_sure_it_is_is_not_asked_about(
    head: str, after: str, beside: str, verdict: str, *, asked: bool
) -> None:
    assert flaws(BEFORE.format(head, after, beside, verdict)) == [(Flaw.KEPT_REGRESSION, 4)] * asked


def test_a_rate_in_a_unit_that_nobody_knows_is_no_time() -> None:
    text = "# Log\n| id | change | Median jobs/s | verdict |\n|---|---|---|---|\n| E1 | a | 7 | kept |\n| E2 | b | 9 | kept |\n"
    assert flaws(text) == []
    rows = read_document(document_of(text.encode(), "a.md")).rows
    assert not any(each.quantity is Quantity.TIME for row in rows for each in figures_of(row))


def test_the_end_of_a_range_is_no_result() -> None:
    rows = "| E1 | a | solves in 3-15 s | kept |\n| E2 | b | solves in 3-19 s | kept |\n"
    text = f"# Log\n| id | change | result | verdict |\n|---|---|---|---|\n{rows}"
    assert flaws(text) == []
    assert flaws(text.replace("3-", "")) == [(Flaw.KEPT_REGRESSION, 5)]


def test_levels_are_no_ids() -> None:
    table = "| id | change | verdict |\n|---|---|---|\n| L9 | a chain of 16 links | kept |\n"
    text = f"# Log\n{table}\n### L9 window of 64 MB\nIt costs 4 %.\n"
    assert flaws(text, "line 6=REJECT") == []
    assert flaws(text.replace("L9 w", "L9: w"), "line 6=REJECT") == [(Flaw.REUSED_ID, 6)]


@pytest.mark.parametrize(("words", "asked"), [("+3.1 % with unchanged `late=20`", False), ("unchanged at +3.1 %", True)])
def test_a_setting_that_is_unchanged_is_no_result(words: str, *, asked: bool) -> None:
    text = f"# Log\n| id | change | result | verdict |\n|---|---|---|---|\n| E1 | a | {words} | reverted |\n"
    assert flaws(text) == [(Flaw.NOT_FLAT, 4)] * asked


TWO = "| c1 | loads | 9.1 ms | kept |\n| c2 | tiles | 9.3 ms | kept |\n"


@pytest.mark.parametrize(
    ("rows", "asked"),
    [
        (TWO, [5]),
        ("| c1 | loads | 9.1 ms | kept |\n| c1 | tiles | 9.3 ms | kept |", []),  # two settings of one commit
        ("| c1 | loads | 9.1 ms | kept |\n| c2 | tiles, also good | 9.3 ms | kept |", []),
        ("| c1 | loads | 9.1 ms | kept |\n| c2 | tiles, also good | 9.9 ms | kept |", [5]),
        (TWO + TWO.replace("c1", "-").replace("c2", "-"), [5]),
    ],
)
def test_a_regression_is_of_another_commit_and_told_once(rows: str, asked: list[int]) -> None:
    text = f"# Log\n| commit | change | ms | verdict |\n|---|---|---|---|\n{rows}\n"
    assert [line for flaw, line in flaws(text) if flaw is Flaw.KEPT_REGRESSION] == asked
