"""Experiments told in labelled parts: what is a part of one, what stands inside an item, and what is told once more."""

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.document import Line, ParsedLedger
from expctl.imported.fields import Field, field_of, tells_one, words_of
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of

NESTED = """# Work log
## Outcomes
1. Wider loads
- Result: 3.1 ms, was 3.4 ms.
- Decision: **kept + committed**.

2. A third stage
- Result: `a`/`b` 3.6 ms.
- Decision: **discarded** (`a`/`mixed` spill).

3. Several
   - Attempt A: pooled queues
     - Result: 3.7 ms
     - Decision: **discarded**.
   - Attempt B: shared queues
     - Result: 3.0 ms
     - Decision: **kept**, the baseline is
       8) -- slower.
"""
TABLE = "# Log\n\n| ID | Change | Verdict |\n|---|---|---|\n| H5 | packed flags | reverted |\n| H6 | wider loads | kept |\n\n"


def parsed(text: str) -> ParsedLedger:
    return read_document(document_of(text.encode(), "a.md"))


def verdicts(text: str) -> list[tuple[int, Verdict]]:
    return [(row.line, ruling.verdict) for row in parsed(text).rows for ruling in row.rulings]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("**Context**: the profile shows spills", Field.OTHER),
        ("- **What we tried** (two days): a filter", Field.CHANGE),
        ("**Result: no improvement.** Spills", Field.RESULT),
        ("**Decision.** Kept", Field.DECISION),
        ("**Why it failed**:", Field.WHY),
        ("**实施内容**: 新增", Field.CHANGE),
        ("**wider loads**: 3 % faster", None),
        ("Then we saw that it was slower: 3 ms", None),
    ],
)
def test_what_a_label_tells(text: str, field: Field | None) -> None:
    assert field_of(text) is field


def test_the_words_behind_a_label() -> None:
    assert words_of("- Decision: **kept**, 3 ms") == "**kept**, 3 ms"
    assert words_of("no label") == ""


def test_two_parts_tell_one_experiment_and_two_decisions_tell_several() -> None:
    parts = ("**Hypothesis**: it spills", "**Result**: 3 ms", "**Decision**: kept", "**Decision**: reverted")
    lines = [Line(number=number, text=text) for number, text in enumerate(parts)]
    assert tells_one(lines[:3])
    assert not tells_one(lines)
    assert not tells_one(lines[:1])


def test_items_with_a_decision_inside_are_experiments() -> None:
    assert verdicts(NESTED) == [
        (3, Verdict.KEEP),
        (7, Verdict.REJECT),
        (12, Verdict.REJECT),
        (15, Verdict.KEEP),
    ]
    first = parsed(NESTED).rows[0]
    assert (first.change, first.result) == ("Wider loads", "3.1 ms, was 3.4 ms.")


def test_a_part_is_not_asked_about_but_its_experiment() -> None:
    text = "# Experiments\n## A swizzle\n**Context**: banks conflict.\n\n**Result**: it was slower.\n\n**Lesson**: measure.\n"
    assert [each.line for each in parsed(text).proposals] == [2]


def test_a_section_about_a_row_is_told_once_more() -> None:
    found = parsed(TABLE + "## Hypothesis 5 — packed flags [REVERTED]\ntext\n## H6: wider loads\ntext\n")
    assert [(each.line, each.row) for each in found.again] == [(8, 5), (10, 6)]
    assert [row.line for row in found.rows] == [5, 6]
    assert found.asked() == ()


def test_a_section_that_states_another_verdict_than_its_row_is_asked_about() -> None:
    found = parsed(TABLE + "## H5: packed flags [KEPT]\ntext\n")
    assert [(each.line, each.why) for each in found.unread] == [(8, "it states KEEP, but the row of line 5 REJECT")]


def test_a_bullet_with_a_date_may_tell_of_a_row_once_more() -> None:
    found = parsed(
        TABLE + "## History\n- 2026-02-03 — H6 landed: wider loads, 3 ms\n- 2026-02-04 — H5 REJECTED on real input: 4 ms\n"
    )
    assert [(each.line, each.row) for each in found.again] == [(9, 6), (10, 5)]
    assert found.asked() == ()


def test_a_bullet_about_several_is_none() -> None:
    assert verdicts("# Experiments\n- **Done**: C1, C2, C3, C4\n  are slower, and reverted.\n") == []


def test_a_list_below_one_experiment_is_none_of_experiments() -> None:
    one = "# Log\n## 5C: pad to eight — ✅ faster\n- pad: 17 rows to 24, 3 ms\n- copy: the first 17 rows, 1 ms\n"
    other = "## 5D: wider loads — ❌ slower\n- spills: 12, 4 ms\n- stalls: 30 %, 5 ms\n"
    assert verdicts(one + other) == [(2, Verdict.KEEP), (5, Verdict.REJECT)]


def test_dead_ends_that_say_why_they_failed_are_rejects() -> None:
    pipe = "## 1. A pipe\n**What was tried.** Text.\n\n**Why it failed.** Slow.\n\n"
    text = f"# Dead ends — what was tried\n\n{pipe}## Preface\nText.\n"
    assert verdicts(text) == [(3, Verdict.REJECT)]
    assert verdicts(text.replace("Dead ends — what was tried", "Designs")) == []


def test_a_title_that_speaks_of_rejections_rules_nothing() -> None:
    text = "# Tracker of every rejected idea\n* **Tractability**: how hard it is\n* **Status**: what it is\n"
    assert parsed(text).asked() == ()
