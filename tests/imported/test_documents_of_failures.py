"""Titles and lists that say that what they tell has failed, headings with dates, what a loop is told, `kept` of 0 and 1."""

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of

TITLE = "# Failed Experiments\n\nWhat did not pan out.\n\n"


def read(text: str, name: str = "a.md") -> list[tuple[str, Verdict]]:
    reading = read_document(document_of(text.encode(), name))
    return [(row.change, ruling.verdict) for row in reading.rows for ruling in row.rulings]


@pytest.mark.parametrize(
    "told",
    [
        "**Hypothesis**: fewer loads.\n\n**Results** (100 MB):\n\n**Disposition**: slower on both.",
        "**Change**: guard the compare.\n\n**Result**: 2 % slower.",
        "Some words.\n\n**Why it failed**: the compiler did that before.",
    ],
)
def test_its_sections_are_rejects_where_they_tell_one_experiment(told: str) -> None:
    assert read(f"{TITLE}## Pin the threads (2026-04-21)\n\n{told}\n") == [("Pin the threads (2026-04-21)", Verdict.REJECT)]


@pytest.mark.parametrize(
    "told",
    [
        "**Context**: two kinds of cores.",
        "**Change**: guard the compare.\n\n**Result**: Incorrect output on short inputs.",
        "**Change**: guard the compare.\n\n**Result**: 2 % faster, and is kept.",
        "**Hypothesis**: a.\n\n**Result**: b.\n\n**Decision**: Kept.",
    ],
)
def test_no_reject_is_read_where_more_may_be_meant(told: str) -> None:
    assert Verdict.REJECT not in {verdict for _, verdict in read(f"{TITLE}## Pin the threads\n\n{told}\n")}


def test_under_another_title_nothing_is_read() -> None:
    assert read("# Experiments\n\n## Pin the threads\n\n**Change**: a.\n\n**Result**: 2 % slower.\n") == []


def test_what_also_failed_may_have_been_wrong() -> None:
    heading = "# Log\n\n## What also failed: copy ahead\n\n**Approach**: scatter first.\n\n"
    assert read(f"{heading}**Result**: 3 % slower.\n") == [("copy ahead", Verdict.REJECT)]
    assert read(f"{heading}**Result**: Incorrect output.\n") == []


def test_bits_below_kept_decide_beside_commits_and_notes() -> None:
    lines = (
        "id\tparent_commit\teval\tkept\tnote",
        "baseline\tab5e040\t0.125\t1\tbaseline of the loop",
        "r1\tef3819a\t0.125\t0\ta bonus for the format",
        "r2\tcd3067b\t0.750\t1\tgroups of sixteen",
    )
    assert read("\n".join(lines) + "\n", "a.tsv") == [
        ("a bonus for the format", Verdict.REJECT),
        ("groups of sixteen", Verdict.KEEP),
    ]


@pytest.mark.parametrize(
    ("heading", "verdict"),
    [
        ("2026-07-13 - rejected fixed-shape scan compiler", Verdict.REJECT),
        ("2026-07-14 - accepted native countdown", Verdict.KEEP),
        ("What LANDED: fixed-shape scan compiler", Verdict.KEEP),
    ],
)
def test_a_heading_with_a_date_or_what_landed_states_its_verdict(heading: str, verdict: Verdict) -> None:
    assert [ruled for _, ruled in read(f"# Log\n\n## {heading}\n\nIt costs 3 ms.\n")] == [verdict]


@pytest.mark.parametrize(
    "heading",
    [
        "2026-07-14 - rejected texture residency; restored the old files",
        "rejected fixed-shape scan compiler",
        "2026-07-14 - measured the floor",
        "Current best default (kept)",
        "What landed, and why",
    ],
)
def test_other_headings_state_none(heading: str) -> None:
    assert read(f"# Log\n\n## {heading}\n\nIt costs 3 ms.\n") == []


@pytest.mark.parametrize(
    "heading", ["Ruled out, with numbers (do not re-run these)", "Don't-Try List (verified dead ends)", "Do-not-retry list"]
)
def test_each_item_below_what_must_not_be_tried_again_is_a_reject(heading: str) -> None:
    listed = "- **A larger budget.** 498 to 567 of them.\n- a cache for each thread — no measurable win\n"
    assert [verdict for _, verdict in read(f"# Log\n\n## {heading}\n\n{listed}")] == [Verdict.REJECT, Verdict.REJECT]


def test_what_a_loop_is_told_to_do_is_no_experiment() -> None:
    told = "- Faster by 1 % AND the check passes → `keep`.\n- Worse → `discard`. Say why.\n- Crash → log the panic in it.\n"
    assert read(f"# Experiments\n\n## Etiquette of the loop\n\n{told}") == []


@pytest.mark.parametrize(
    "decision", ["keep baseline shared expression for now", "Keep `default`; block `measure`", "keep default"]
)
def test_what_keeps_the_baseline_or_the_default_is_no_keep(decision: str) -> None:
    assert read(f"# Log\n\n| Change | Decision |\n|---|---|\n| a | kept |\n| b | {decision} |\n") == [("a", Verdict.KEEP)]
