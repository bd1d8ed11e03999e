"""Lists whose heading says that all in them were given up."""

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of

LIST = """
- **Wider loads**: 3 % slower, the lanes wait.
  - **Why**: two of them share a bank
- **Pooled queues** (12 registers) — nothing to gain here
1. **A third stage:** 4.1 ms
- the room was warm
"""
ALL = ["Wider loads", "Pooled queues", "A third stage"]


def read(text: str) -> list[tuple[str, Verdict, str]]:
    rows = read_document(document_of(text.encode(), "a.md")).rows
    return [(row.change, ruling.verdict, row.result) for row in rows for ruling in row.rulings]


@pytest.mark.parametrize(
    "heading", ["What failed and why", "3.1 Things that didn't work", "Rejected ideas", "What did not pay off (so far)"]
)
def test_what_is_listed_as_given_up(heading: str) -> None:
    found = read(f"# Log\n## {heading}\n{LIST}")
    assert [change for change, _, _ in found] == ALL
    assert {verdict for _, verdict, _ in found} == {Verdict.REJECT}
    assert found[0][2] == "3 % slower, the lanes wait."


@pytest.mark.parametrize("heading", ["What we learned", "What failed us", "Failed", "Failed tests", "Accepted ideas", "Ideas"])
def test_other_lists_are_no_experiments(heading: str) -> None:
    assert read(f"# Log\n## {heading}\n{LIST}") == []


def test_only_what_was_measured_is_an_experiment() -> None:
    assert read("# Log\n## What failed and why\n- **The bus**: it was late\n- **The tent**: it rained\n") == []


def test_a_list_repeats_no_row_and_leaves_out_what_was_kept() -> None:
    table = "| Change | Verdict |\n|---|---|\n| pooled queues for all | reverted |\n\n"
    found = read(f"# Log\n{table}## What failed and why\n{LIST.replace('4.1 ms', '4.1 ms, kept in the end')}")
    assert [change for change, _, _ in found] == ["pooled queues for all", "Wider loads"]


MARKED = """
1. ✅ Wider loads - no second pass
2. ✅ Pooled queues - 3 % faster
3. ❌ A third stage (reverted) - registers spill
4. ✅ Sorted rows - within noise
"""


def test_marks_of_both_kinds_are_verdicts_where_a_word_bears_out_the_crosses() -> None:
    kept = [("Wider loads", Verdict.KEEP, "no second pass"), ("Pooled queues", Verdict.KEEP, "3 % faster")]
    assert read(f"# Optimization log\n## This session\n{MARKED}") == [
        *kept,
        ("A third stage (reverted)", Verdict.REJECT, "registers spill"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        f"# A tool\n## Support\n{MARKED}",
        f"# Optimization log\n## This session\n{MARKED.replace('❌', '✅')}",
        f"# Optimization log\n## This session\n{MARKED.replace(' (reverted)', '')}",
    ],
)
def test_marks_alone_are_no_verdicts(text: str) -> None:
    assert "Wider loads" not in [change for change, _, _ in read(text)]


@pytest.mark.parametrize(
    "heading", ["Tried and failed (do not retry)", "What we tried that didn't work", "What failed (do NOT retry)"]
)
def test_below_a_heading_that_says_that_all_was_tried_nothing_need_be_measured(heading: str) -> None:
    items = "- Dead zones of the loads\n- A swizzle: conflicts\n- Lesson: read the counters\n- Sorted rows: partial\n"
    text = f"# Notes\n## {heading}\n{items}"
    assert [(change, verdict) for change, verdict, _ in read(text)] == [
        ("Dead zones of the loads", Verdict.REJECT),
        ("A swizzle", Verdict.REJECT),
    ]


def test_a_heading_that_begins_with_a_verdict_and_names_several_rules_its_items() -> None:
    items = "- **lookup table**: -2 %\n- **spin wait**: neutral\n- **wide loads**: 0 %\n- **bit trick**: -3 %\n"
    several = read(f"# Log\n\n### Rejected: decode kernel variants\n\n{items}")
    assert [change for change, _, _ in several] == ["lookup table", "spin wait", "wide loads", "bit trick"]
    assert [change for change, _, _ in read(f"# Log\n\n### Rejected: fused decode kernel\n\n{items}")] == [
        "fused decode kernel"
    ]
    alone = read("# Log\n\n### Rejected: kernel variants\n\nAll were slower: 3 ms.\n")
    assert [change for change, _, _ in alone] == ["kernel variants"]


def test_a_thing_of_several_words_that_ends_like_a_label_was_tried() -> None:
    items = "- next state prediction: -18 % (few hits)\n- mapped weight files: -5x (page faults)\n- changed source files: a.c\n"
    found = read(f"# Log\n\n### Failed approaches (do not retry)\n\n{items}")
    assert [change for change, _, _ in found] == ["next state prediction", "mapped weight files"]


def test_a_line_before_a_list_says_what_became_of_all_in_it() -> None:
    items = (
        "- Eager restarts: all regressed.\n  They stay behind a flag.\n- Fixed-point sums: the FPU wins.\n\n"
        "Text: 3 ms.\n- other: 4 ms\n"
    )
    found = read(f"# Log\n\n## Phase B\n\nWider loads, 3.1 ms.\n\nTested and rejected:\n{items}")
    assert [(change, verdict) for change, verdict, _ in found] == [
        ("Eager restarts", Verdict.REJECT),
        ("Fixed-point sums", Verdict.REJECT),
    ]
    assert read(f"# Log\n\n## Phase B\n\nTo be tested and rejected if slow:\n{items}") == []


@pytest.mark.parametrize("label", ["**Changes:**", "Changes tested:", "**What changed**:"])
def test_a_list_of_changes_tells_what_one_experiment_did(label: str) -> None:
    items = "- `router.py`: Reverted the cache, 3 % of it\n- `table.py`: Kept 4 KB of it\n"
    found = read(f"# Experiments\n### E14: smaller router\n{label}\n{items}\nThen we went home.\n")
    assert found == []
