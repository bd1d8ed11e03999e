"""Words that order something, or say when it would be done, are no verdicts: `Kill: slower than X`, `Promote to public`."""

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of
from expctl.imported.verdicts import rulings

KEEP, REJECT = Verdict.KEEP, Verdict.REJECT


def verdicts(*lines: str) -> list[Verdict]:
    reading = read_document(document_of(("\n".join(lines) + "\n").encode(), "a.md"))
    return [ruling.verdict for row in reading.rows for ruling in row.rulings]


@pytest.mark.parametrize(
    "bullet",
    [
        "- **Kill:** less than 1.2x at 64 threads.",
        "- E7 loss rises for two evaluations → kill",
        "- KILL quality: below 3.1 on both scores",
        "- Promote: 2 % faster on three machines",
    ],
)
def test_conditions_to_be_met(bullet: str) -> None:
    assert verdicts("# Plan", "## Experiments", bullet) == []


@pytest.mark.parametrize(
    "heading", ["1. Promote to public", "Series 4: wide loads — Kill the barrier", "E9 — Drop the last layer"]
)
def test_headings_that_order(heading: str) -> None:
    assert verdicts("# Notes", f"## {heading}", "It is 3 % faster.") == []


@pytest.mark.parametrize(
    "cell",
    [
        "WAIT for the first run, conditional kill",
        "KILL NOW",
        "promoted in round 3, demoted again in 5",
        "demoted from wall to budget",
    ],
)
def test_cells_without_a_lasting_verdict(cell: str) -> None:
    assert not isinstance(rulings(cell), tuple)


def test_killed_as_a_verdict() -> None:
    for cell in ("KILL", "KILL: no gain in three runs", "killed"):
        found = rulings(cell)
        assert isinstance(found, tuple)
        assert [each.verdict for each in found] == [REJECT]


@pytest.mark.parametrize(
    "cell",
    ["rejected. Do not promote, upload or quantize it", "trained and rejected; do not upload, promote, or run it again"],
)
def test_what_must_not_be_done_with_it(cell: str) -> None:
    found = rulings(cell)
    assert isinstance(found, tuple)
    assert [each.verdict for each in found] == [REJECT]


def test_what_never_happened_is_no_verdict() -> None:
    assert verdicts("# Log", "## Experiment 3", "- Result: `Qxg7` is seen at depth 5, and never promoted.") == []


def test_one_word_of_an_item_in_a_list() -> None:
    lines = ("1. **wide loads**: 4 % slower.", "   Reverted.", "", "2. **a flag**: no effect.", "   It stays.")
    text = "\n".join(("# Log", "## P1: what the compiler does", *lines))
    rows = read_document(document_of(text.encode(), "a.md")).rows
    assert [(row.change, row.rulings[0].verdict) for row in rows] == [("wide loads - 4 % slower", REJECT)]


def test_a_heading_that_names_killed_variants() -> None:
    found = verdicts(
        "# 12 — a new score ranks the killed variants — RESULT", "", "verdict: **KEEP — and it settles two doubts.**", "x"
    )
    assert found == [KEEP]


@pytest.mark.parametrize(
    "heading",
    [
        "2026-05-04 — removed `open_file` and its callers",
        "2026-05-04 — dropped the debug output, and found a slow loop",
        "Wide loads: Regression and Root Cause",
    ],
)
def test_headings_that_tell_a_change_or_name_a_fault(heading: str) -> None:
    assert verdicts("# Log", f"## {heading}", "3.1 ms, was 3.0 ms.") == []


def test_statuses_of_ported_ideas() -> None:
    cells = (
        "Ported and kept",
        "Tested and rejected for this path",
        "Ported and benchmarked",
        "Not needed",
        "Rejected",
        "Out of scope",
        "Later",
    )
    rows = [f"| idea {at} | {cell} |" for at, cell in enumerate(cells)]
    assert verdicts("| Optimization | Our status |", "|---|---|", *rows) == [KEEP, REJECT, REJECT]


def test_merge_alone_is_a_verdict() -> None:
    rows = ("| wide loads | +4 % | MERGE (branch b7) |", "| two waves | -1 % | REJECT |", "| sort | 0 % | merge sort instead |")
    assert verdicts("| ablation | result | verdict |", "|---|---|---|", *rows) == [KEEP, REJECT]
