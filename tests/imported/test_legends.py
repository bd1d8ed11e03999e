"""Tables that explain the words of verdicts hold none; `failed` is one where changes are held against a baseline."""

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of

KEEP, REJECT = Verdict.KEEP, Verdict.REJECT


def verdicts(*lines: str) -> list[tuple[str, Verdict]]:
    reading = read_document(document_of(("\n".join(lines) + "\n").encode(), "a.md"))
    return [(row.name or row.change, ruling.verdict) for row in reading.rows for ruling in row.rulings]


@pytest.mark.parametrize("head", ["Meaning", "What it means", "Definition", "Bedeutung", "Description"])
def test_words_that_are_explained(head: str) -> None:
    rows = ("| keep | faster in all runs |", "| reject | slower, or wrong |", "| no-op | the same machine code |")
    assert verdicts(f"| Verdict | {head} |", "|---|---|", *rows) == []


def test_a_verdict_before_what_was_tried() -> None:
    rows = ("| keep | wider loads |", "| reject | two waves |", "| keep | fewer barriers |")
    found = verdicts("| Verdict | Description |", "|---|---|", *rows)
    assert found == [("wider loads", KEEP), ("two waves", REJECT), ("fewer barriers", KEEP)]


def test_a_meaning_beside_an_experiment() -> None:
    found = verdicts(
        "| Exp | Verdict | Meaning |", "|---|---|---|", "| E1 | keep | loads matter |", "| E2 | reject | waves do not |"
    )
    assert found == [("E1", KEEP), ("E2", REJECT)]


@pytest.mark.parametrize("head", ["Verdict then", "Expected outcome", "Old decision"])
def test_what_was_thought_at_another_time(head: str) -> None:
    rows = ("| E1 | wider loads | reject |", "| E2 | two waves | keep |")
    assert verdicts(f"| Exp | Change | {head} |", "|---|---|---|", *rows) == []


def test_failed_where_changes_are_compared() -> None:
    rows = (
        "| v1 | wider loads | 4.1 | +0.3 | FAILED (too slow) |",
        "| v2 | two waves | 3.7 | -0.1 | SUCCESS (small) |",
        "| v3 | fewer barriers | 4.0 | +0.2 | FAILED |",
        "| v4 | larger tile | 9.9 | +6.1 | FAILED (spills) |",
    )
    found = verdicts("| Version | Idea | ms | vs v0 | Status |", "|---|---|---|---|---|", *rows)
    assert found == [("v1", REJECT), ("v3", REJECT), ("v4", REJECT)]


@pytest.mark.parametrize(
    ("heads", "other"),
    [
        ("| Version | Idea | ms | vs v0 | Status |", "PASS"),
        ("| Job | Name | ms | vs main | Status |", "SUCCESS"),
        ("| Version | Idea | ms | s | Status |", "SUCCESS"),
    ],
)
def test_failed_where_tests_or_jobs_are_told(heads: str, other: str) -> None:
    rows = ("| 1 | wide | 4.1 | +0.3 | FAILED |", f"| 2 | tall | 3.7 | -0.1 | {other} |", "| 3 | flat | 4.0 | +0.2 | FAILED |")
    assert verdicts(heads, "|---|---|---|---|---|", *rows) == []
