"""Entries of labelled bullets, one for each experiment; headings in capitals or another script, and such as order a change."""

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of

KEEP, REJECT = Verdict.KEEP, Verdict.REJECT


def verdicts(*lines: str) -> list[tuple[int, str, Verdict]]:
    reading = read_document(document_of(("\n".join(lines) + "\n").encode(), "a.md"))
    return [(row.line, row.name or row.change, ruling.verdict) for row in reading.rows for ruling in row.rulings]


def test_labelled_bullets_below_a_date() -> None:
    found = verdicts(
        "# Notes on speed",
        "## 2026-05-04",
        "- Change: read four words at once,",
        "  and mask the last ones.",
        "- Result: 3.1 ms, was 3.4 ms.",
        "- Decision: Kept.",
        "",
        "- Change: unroll by eight.",
        "- Result: 3.1 ms, in the noise.",
        "- Decision: Reverted.",
        "",
        "- Change: a table instead of a branch.",
        "- Decision: look at it again.",
    )
    assert found == [(3, "read four words at once, and mask the last ones.", KEEP), (8, "unroll by eight.", REJECT)]


@pytest.mark.parametrize(
    "lines",
    [
        ("- Change: a", "- Decision: kept, or reverted?", "- Change: b", "- Owner: me."),
        ("- Change: a", "- Decision: kept", "- Decision: reverted", "", "- Change: b", "- Decision: keep it or not?"),
    ],
)
def test_labelled_bullets_that_say_both_or_nothing(lines: tuple[str, ...]) -> None:
    assert verdicts("# Notes", "## 2026-05-04", *lines) == []


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("What failed: a table of squares (too large)", REJECT),
        ("What also failed: two threads for one block", REJECT),
        ("E7 · 2026-05-04 · wider loads — **DONE / all REJECTED**", REJECT),
        ("E7 wider loads — 全部 REJECTED，已关闭", REJECT),
        ("E7 — avoid the copy — reverted", REJECT),
    ],
)
def test_headings_with_a_verdict(heading: str, expected: Verdict) -> None:
    assert [verdict for _, _, verdict in verdicts("# Log", f"## {heading}", "3.1 ms, was 3.0 ms.")] == [expected]


@pytest.mark.parametrize(
    "heading",
    [
        "`plain` — drop the warm-up, train on all",
        "E7 — keep only the rows of the last year",
        "E7 wider loads — none REJECTED",
        "What failed: and why",
    ],
)
def test_headings_without_one(heading: str) -> None:
    assert verdicts("# Log", f"## {heading}", "Notes.") == []


def test_states_that_a_test_reports() -> None:
    lines = "- E4 soak test: 1/1 PASS. Seen: accepted, `cancelled`, no survivors.", "- E5 wider loads: 3 % faster: accepted"
    assert [(name, verdict) for _, name, verdict in verdicts("# Experiments", *lines)] == [("E5", KEEP)]


def test_an_entry_that_tells_how_to_avoid_something() -> None:
    found = verdicts("# Log", "## Iteration 6 — Avoid a copy per call", "- **Result**: MERGED", "- **Effect**: -4 %")
    assert [verdict for _, _, verdict in found] == [KEEP]


@pytest.mark.parametrize(
    ("heading", "name", "change"),
    [
        ("2026-02-03 — SHIPPED: wide loads (3 % faster)", "", "wide loads (3 % faster)"),
        ("2026-02-03 — REVERTED: wide loads", "", "wide loads"),
        ("P4-10 loss ablation: REJECTED", "P4-10", "loss ablation"),
        ("EXP-50 to 56: a prompt (KEPT)", "", "EXP-50 to 56: a prompt"),
        ("EXP-050-056: a prompt (KEPT)", "", "EXP-050-056: a prompt"),
    ],
)
def test_a_title_is_no_date_and_an_id_is_whole(heading: str, name: str, change: str) -> None:
    (row,) = read_document(document_of(f"# Log\n## {heading}\n\nSHIPPED and REVERTED, 3 ms.\n".encode(), "a.md")).rows
    assert (row.name, row.change) == (name, change)


def test_a_column_that_says_the_same_in_each_line_is_not_the_change() -> None:
    rows = "".join(f"| {at} | size {at} | decode | {at} ms | {word} |\n" for at, word in enumerate(("keep", "revert", "keep")))
    text = f"# Log\n| Loop | Knob | Test | Time | Decision |\n|---|---|---|---|---|\n{rows}"
    assert [row.change for row in read_document(document_of(text.encode(), "a.md")).rows] == ["size 0", "size 1", "size 2"]
