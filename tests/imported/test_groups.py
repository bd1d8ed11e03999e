"""Tables whose heading says what became of all their rows, and sections that tell of a table's row."""

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of

TABLE = "| Experiment | Observed |\n|---|---|\n| pack the flags | 4 % slower |\n| inline the roles | 3.1 to 3.3 ms |\n"


def verdicts(text: str, name: str = "a.md") -> list[tuple[str, Verdict]]:
    rows = read_document(document_of(text.encode(), name)).rows
    return [(row.change, ruling.verdict) for row in rows for ruling in row.rulings]


@pytest.mark.parametrize(
    ("heading", "verdict"),
    [
        ("Rejected experiments", Verdict.REJECT),
        ("3.2 Measured and rejected", Verdict.REJECT),
        ("Rejected in this round", Verdict.REJECT),
        ("Changes that were rejected (tried and measured)", Verdict.REJECT),
        ("What we tried and reverted", Verdict.REJECT),
        ("Notable discards", Verdict.REJECT),
        ("Accepted changes and what they taught", Verdict.KEEP),
        ("Changes that made it faster (applied)", Verdict.KEEP),
        ("Kept", Verdict.KEEP),
        ("Shipped wins", Verdict.KEEP),
    ],
)
def test_a_heading_rules_its_table(heading: str, verdict: Verdict) -> None:
    assert verdicts(f"# Log\n\n### {heading}\n\n{TABLE}") == [("pack the flags", verdict), ("inline the roles", verdict)]


@pytest.mark.parametrize(
    "heading",
    [
        "Experiments",
        "Rejected or kept",
        "Accepted experiments, and rejected ones",
        "What failed us",
        "Failing tests",
        "Experiments (accepted or rejected)",
        "Dropped frames",
    ],
)
def test_other_headings_rule_nothing(heading: str) -> None:
    assert verdicts(f"# Log\n\n### {heading}\n\n{TABLE}") == []


def test_what_was_read_says_that_the_heading_ruled() -> None:
    reading = read_document(document_of(f"### Rejected experiments\n\n{TABLE}".encode(), "a.md"))
    assert reading.columns == ("line 3: verdict = the heading, change = Experiment, figures = Observed",)


def test_only_measured_experiments_are_ruled_by_a_heading() -> None:
    heading = "### Rejected candidates\n\n"
    assert verdicts(heading + "| Option | Observed |\n|---|---|\n| a queue | 4 % slower |\n") == []
    assert verdicts(heading + "| Candidate | Why |\n|---|---|\n| a queue | nobody knows it |\n") == []


def test_a_row_that_decides_otherwise_is_left_out() -> None:
    rows = "| a | 4 % slower |\n| b | Shipped: 2 % faster |\n| c | Mixed: 2 % here |\n"
    text = "### Rejected ideas\n\n| Idea | Seen |\n|---|---|\n" + rows
    assert verdicts(text) == [("a", Verdict.REJECT), ("c", Verdict.REJECT)]


@pytest.mark.parametrize(("name", "heading"), [("3", "3. Packed flags"), ("H3", "Hypothesis 3 — packed flags")])
def test_a_section_about_a_numbered_row_is_no_experiment_of_its_own(name: str, heading: str) -> None:
    text = f"# Log\n\n| # | Experiment | Verdict |\n|---|---|---|\n| {name} | packed flags | kept |\n\n"
    assert verdicts(f"{text}## {heading} — kept\n\ntext\n") == [("packed flags", Verdict.KEEP)]
    assert len(verdicts(f"{text}## {heading.replace('acked flags', 'ooled queues')} — kept\n\ntext\n")) == 2


@pytest.mark.parametrize(
    ("heading", "count"),
    [
        ("Wider loads (neutral, reverted)", 1),
        ("Wider loads (rejected as a default)", 1),
        ("Wider loads (killed after two days)", 1),
        ("Proven negatives (killed misdirections of the review)", 0),
        ("Rate up by two (with lr3, keep kl3)", 0),
        ("First sweep of seven configs — baseline looks odd", 0),
        ("Plain loop — baseline", 0),
        ("8: Error handling of the launcher", 0),
        ("Idea 9: Mixed-width packing", 0),
        ("Step 2: Apply the patch", 0),
        ("ADR-7 wider records — Accepted", 0),
        ("Wider records — Accepted", 1),
        ("Wider records — REJECTED so far", 1),
    ],
)
def test_what_an_end_of_a_heading_names_is_no_verdict(heading: str, count: int) -> None:
    assert len(verdicts(f"# Log\n\n## {heading}\n\n3 ms\n")) == count


def test_failed_decides_where_others_were_kept() -> None:
    kept, failed = "- `7dea2f2` Wider loads.\n  Kept. 3 ms.\n", "- `7dea2f3` Pooled queues.\n  Failed. 4 ms.\n"
    head = "# Research log\n\n## Experiments\n\n"
    assert verdicts(head + kept + failed) == [("Wider loads", Verdict.KEEP), ("Pooled queues", Verdict.REJECT)]
    rows = read_document(document_of((head + kept + failed).encode(), "a.md")).rows
    assert rows[1].rulings[0].words == "Failed. 4 ms."
    assert verdicts(head + failed) == []


def test_a_first_line_with_figures_is_a_row() -> None:
    lines = "one\t3.30\tkeep\twider loads\ntwo\t3.10\tkeep\tpooled queues\nthree\t3.90\tdiscard\tpacked flags\n"
    assert [verdict for _, verdict in verdicts(lines, "a.tsv")] == [Verdict.KEEP, Verdict.KEEP, Verdict.REJECT]
    assert len(verdicts("id\tms\tstatus\tchange\n" + lines, "a.tsv")) == 3


def test_a_heading_of_successes_rules_where_another_tells_of_failures() -> None:
    won = f"## 🏆 Successful experiments\n\n{TABLE}\n"
    lost = "## Failed experiments\n\n| Experiment | Observed |\n|---|---|\n| pool the queues | 9 % slower |\n"
    kept = [("pack the flags", Verdict.KEEP), ("inline the roles", Verdict.KEEP)]
    assert verdicts(f"# Log\n\n{won}{lost}") == [*kept, ("pool the queues", Verdict.REJECT)]
    assert verdicts(f"# Log\n\n{won}") == []


@pytest.mark.parametrize(
    ("cell", "count"), [("Removed the lock around the list", 2), ("Removed: it was slower", 1), ("Reverted by hand", 1)]
)
def test_a_cell_that_tells_the_change_decides_nothing(cell: str, count: int) -> None:
    rows = f"| a | 4 % faster | {cell} |\n| b | 5 % faster | one pass less |\n"
    assert len(verdicts(f"### Kept ideas\n\n| Idea | Seen | Why |\n|---|---|---|\n{rows}")) == count


def test_what_was_mended_is_an_experiment_below_such_a_heading() -> None:
    assert verdicts("## Shipped wins\n\n| fix | before | after |\n|---|---|---|\n| pack the flags | 4 ms | 3 ms |\n") == [
        ("pack the flags", Verdict.KEEP)
    ]
