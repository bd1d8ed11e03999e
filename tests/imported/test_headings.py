"""Headings and bullets of hand-kept ledgers that say what became of an experiment, and such that only look so."""

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of

KEEP, REJECT = Verdict.KEEP, Verdict.REJECT


def read(text: str) -> list[tuple[str, str, Verdict]]:
    reading = read_document(document_of(text.encode(), "a.md"))
    return [(row.name, row.change, ruling.verdict) for row in reading.rows for ruling in row.rulings]


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Kept: wider loads", ("", "wider loads", KEEP)),
        ("Discarded: a third stage (-13 %)", ("", "a third stage (-13 %)", REJECT)),
        ("Wider loads [REVERTED]", ("", "Wider loads", REJECT)),
        ("Wider loads (low yield, kept)", ("", "Wider loads", KEEP)),
        ("E4 wider loads — neutral, reverted", ("E4", "wider loads", REJECT)),
        ("E12 REJECTED at 3 ms, too many registers", ("E12", "at 3 ms, too many registers", REJECT)),
        ("[2026-02-03] session | v12-wide REJECTED — too slow", ("v12-wide", "too slow", REJECT)),
        ("H-7 wider loads [status: rejected -> see H-9 (and H-8)]", ("H-7", "wider loads", REJECT)),
        ("H-7 wider loads [ACCEPTED — 1006 cycles; the loads decide]", ("H-7", "wider loads", KEEP)),
    ],
)
def test_a_heading_states_the_verdict(heading: str, expected: tuple[str, str, Verdict]) -> None:
    assert read(f"# Log\n### {heading}\nSome words.\n") == [expected]


@pytest.mark.parametrize(
    "heading",
    [
        "Changes that paid (applied)",
        "Rejected ideas",
        "Lasting findings (Keep in Mind)",
        "retained pool: 154 us",
        "drop_path 0.2 — drop_path 0.3",
        "E3 drop_path — drop_path 0.2",
        "H-7 wider loads [status: open]",
        "[2026-02-03] session | v12-wide dispatched",
    ],
)
def test_headings_without_a_verdict(heading: str) -> None:
    assert read(f"# Log\n### {heading}\nSome words.\n") == []


def test_a_status_that_nobody_foresaw_is_asked_about() -> None:
    reading = read_document(document_of(b"# Log\n### H-7 loads [status: shut for good]\nwords\n", "a.md"))
    assert [(each.line, each.why) for each in reading.unread] == [(2, "'shut for good' is not recognised as a verdict")]


def test_what_was_seen_decides_only_in_the_heading_of_an_experiment() -> None:
    assert read("# Log\n## Events — OOM\nat noon\n") == []
    assert read("# Log\n## E3: Wider loads — OOM\nat noon\n") == [("E3", "Wider loads", Verdict.INVALID)]
    assert read("# Log\n## Decision — no change\nas before\n") == []


def test_marks_in_headings_need_both_kinds() -> None:
    assert read("# Log\n### ✅ Quick start\nwords\n### ❌ What is missing\nwords\n") == []
    both = "# Log\n### ✅ wider loads\nResult: 3 ms\n### ❌ more stages\nResult: 4 ms\n"
    assert read(both) == [("", "wider loads", KEEP), ("", "more stages", REJECT)]
    assert read("# Log\n### ✅ wider loads\nwords\n### ✅ more stages\nwords\n") == []


def test_parts_of_a_section_belong_to_it() -> None:
    text = "# Log\n## E5 wider loads\nwords\n### Results\n- Verdict: reverted\n## E6 more stages\n### Decision\nVerdict: kept\n"
    assert read(text) == [("E5", "wider loads", REJECT), ("E6", "more stages", KEEP)]


def test_a_heading_in_two_lines_is_one_and_more_are_running_text() -> None:
    assert read("# Log\n### E5 wider loads\n### and stores — reverted\nwords\n") == [("E5", "wider loads and stores", REJECT)]
    assert read("# Log\n### we tried it\n### and then — reverted\n### and so on — reverted\nwords\n") == []


def test_lines_that_state_the_verdict_of_a_section() -> None:
    assert read("# Log\n### E5 wider loads\n**Attempted and reverted.**\n") == [("E5", "wider loads", REJECT)]
    assert read("# Log\n### E5 wider loads\n- Decision:\n  - Reverted, too slow\n") == [("E5", "wider loads", REJECT)]
    assert read("# Log\n### Wider loads\n3 ms.\n\nStatus:\nAccepted as the default. It is no speed-up\nof anything.\n") == [
        ("", "Wider loads", KEEP)
    ]
    assert read("# Log\n### Wider loads\n3 ms.\n\nStatus:\nSuperseded by the next one.\n") == []
    text = "# Log\n### Attempt: wider loads\n- Change: eight bytes. Removed unused sums.\n- Cycles: 165 (worse). Reverted.\n"
    assert read(text) == [("", "Attempt: wider loads", REJECT)]


def test_a_label_takes_back_what_the_heading_says() -> None:
    assert read("# Log\n### E5 wider loads — kept\n- Verdict: reverted\n") == []


@pytest.mark.parametrize(
    ("bullet", "verdict"),
    [
        ("Experiment 3 discarded: wider loads, 3 ms", REJECT),
        ("wider loads: 1806 cycles (worse) -> saved as loads.c and reverted to 1803.", REJECT),
        ("wider loads: 1806 cycles (no change), kept for simplicity.", KEEP),
        ("wider loads: still 1806 cycles; keep.", KEEP),
        ("Wider loads in the last pass were tried and then removed.", REJECT),
    ],
)
def test_bullets_end_with_the_verdict(bullet: str, verdict: Verdict) -> None:
    assert [found for _, _, found in read(f"# Experiments\n- {bullet}\n")] == [verdict]


@pytest.mark.parametrize(
    "bullet",
    [
        "Lasting findings (Keep in Mind)",
        "retained pool: 154 us",
        "Change: eight bytes a lane, 3 ms. Removed dead sums.",
        "wider loads: kept as a reference, 3 ms",
        "wider loads: kept, 3 ms. More stages: reverted, 4 ms",
        "E3: ship if correct, 3 ms",
        "`Useful`: an improvement of 3 % and kept.",
    ],
)
def test_bullets_without_a_verdict(bullet: str) -> None:
    assert read(f"# Experiments\n- {bullet}\n") == []


def test_the_place_of_a_change_is_no_id() -> None:
    text = "# Experiments\n- Depth2: wider loads, 3 ms; reverted\n- E2: wider stores, 3 ms; reverted\n"
    assert [name for name, _, _ in read(text)] == ["", "E2"]


def test_a_sentence_of_one_word_decides_for_a_numbered_experiment() -> None:
    words = "The lanes wait for each other, which costs twice the time. {}\n"
    for word, verdict in (("Reverted.", REJECT), ("Kept.", KEEP)):
        assert read("# Log\n### Experiment 12: wider loads\n" + words.format(word)) == [
            ("12", "Experiment 12: wider loads", verdict)
        ]
    assert read("# Log\n### Wider loads\n" + words.format("Reverted.")) == []
    assert read("# Log\n### E2: wider loads\n" + words.format("Kept + committed.")) == [("E2", "wider loads", KEEP)]
    assert read("# Log\n### Experiment 12: wider loads\n" + words.format("Kept.") + words.format("Reverted.")) == []
    assert read("# Log\n### Experiment 12: wider loads\n" + words.format("It was reverted by all of us.")) == []


@pytest.mark.parametrize(
    ("title", "count"), [("Key experiments", 1), ("2.4 Key decisions (phase 4)", 1), ("Color key", 0), ("Key to the words", 0)]
)
def test_key_experiments_are_no_key_to_words(title: str, count: int) -> None:
    assert len(read(f"# Log\n## {title}\n1. **wider loads** (reverted):\n   - 3 ms\n")) == count


@pytest.mark.parametrize(
    "ending",
    [
        "(REGRESSION/NO IMPROVEMENT)",
        "— NO IMPROVEMENT",
        "(NO IMPROVEMENT)",
        "(NOT AN IMPROVEMENT)",
        "(NOT WIN)",
        "(IMPROVEMENT: none)",
        "— IMPROVEMENT, not measurable",
        "(KEPT: none)",
        "(REGRESSION: none)",
        "(NO REGRESSION)",
    ],
)
def test_an_outcome_that_is_negated_decides_nothing(ending: str) -> None:
    text = f"# Log\n## A wider tile — HARMFUL\n-3 %\n## A deeper tile — BIG WIN\n+3 %\n## A flat tile {ending}\nSome words.\n"
    assert [change for _, change, _ in read(text)] == ["A wider tile", "A deeper tile"]


def test_no_regression_beside_an_outcome_negates_nothing() -> None:
    text = "# Log\n## A wider tile — HARMFUL\n-3 %\n## A deeper tile — WIN (no regressions)\n+3 %\n"
    assert [verdict for _, _, verdict in read(text)] == [REJECT, KEEP]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("**Result: No improvement.**", [REJECT]),
        ("**Verdict:** Commit — cleaner, and 1 % faster.", [KEEP]),
        ("**Verdict:** Commit", [KEEP]),
        ("**Verdict:** Commit or not?", []),
        ("**Verdict:** Commit a1b2c3d4", []),
        ("**Status:** Commit — pending", []),
        ("**Result:** No improvement for small ones, 3 % for large ones.", []),
    ],
)
def test_a_label_says_in_other_words_what_became_of_an_experiment(label: str, expected: list[Verdict]) -> None:
    assert [verdict for *_, verdict in read(f"# Log\n## Experiment 1: cache the plan\nSome words.\n\n{label}\n")] == expected
    assert read(f"# Log\n## Wider loads\nSome words.\n\n{'**Result: No improvement.**'}\n") == [], (
        "no experiment by its heading"
    )
