"""Shapes of ledgers that others keep: long cells, bullets, sections, tables without heads; what only looks like a verdict."""

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of
from expctl.imported.verdicts import Pending, rulings


def read(text: str) -> list[tuple[str, str, Verdict]]:
    reading = read_document(document_of(text.encode(), "a.md"))
    return [(row.name, row.change, ruling.verdict) for row in reading.rows for ruling in row.rulings]


def table(heads: str, *rows: str) -> str:
    return "\n".join([heads, "|---" * (heads.count("|") - 1) + "|", *rows]) + "\n"


@pytest.mark.parametrize(
    ("cell", "verdict"),
    [
        ("Reverted: the draft was accepted less often, and the output changed in ways that nobody wanted", Verdict.REJECT),
        ("Rejected and reverted", Verdict.REJECT),
        ("Rejected; keep the current default", Verdict.REJECT),
        ("Committed `0ca79ebd`, 63.96% faster", Verdict.KEEP),
        ("Kept, output identical", Verdict.KEEP),
        (
            "Investigated and **rejected** — no code was adopted, and the issue that asked for it is closed since",
            Verdict.REJECT,
        ),
        ("No gain at any of the nine sizes that were measured on both of the machines, so reverted", Verdict.REJECT),
        ("dead end, kept off", Verdict.REJECT),
        ("Not deployed", Verdict.REJECT),
        ("**Do not apply.** See below.", Verdict.REJECT),
        ("Reverted: signed-zero parity failure", Verdict.REJECT),
        ("Kept as the default", Verdict.KEEP),
    ],
)
def test_the_first_clause_decides(cell: str, verdict: Verdict) -> None:
    found = rulings(cell)
    assert isinstance(found, tuple)
    assert [each.verdict for each in found] == [verdict]


def test_the_words_of_a_verdict_stay_whole() -> None:
    found = rulings("Reverted: signed-zero parity failure, no regression elsewhere")
    assert isinstance(found, tuple)
    assert found[0].words == "Reverted: signed-zero parity failure, no regression elsewhere"


@pytest.mark.parametrize(
    "cell",
    [
        "Kept, later reverted",
        "Kept as an experiment; the planner was reverted to the base",
        "Reverted default, kept the knob",
        "Kept partial / needs follow-up",
        "kept, pending a second run",
        "Keep group 4",
        "keep what is there",
        "QUALITY SUCCESS / RUNTIME REJECT",
        "Re-measurement only, current code unchanged",
        "The accepted kernel was somewhat faster than the one before at three of the four sizes we measured",
        "No benefit",
    ],
)
def test_what_is_no_verdict(cell: str) -> None:
    assert rulings(cell) is None


def test_deferred_rows_wait() -> None:
    assert rulings("Needs follow-up") is Pending.NO_VERDICT_YET
    assert rulings("deferred") is Pending.NO_VERDICT_YET


def test_columns_candidate_outcome_decision() -> None:
    text = table("| Candidate | Measured | Decision |", "| split grids | 21.6 to 18.6 tok/s | Reverted: slower |",
                 "| wider loads | 18.6 to 19.9 tok/s | No benefit |", "| packed ones | 9 to 11 tok/s | Retained |")  # fmt: skip
    assert read(text) == [("", "split grids", Verdict.REJECT), ("", "packed ones", Verdict.KEEP)]
    text = table(
        "| Pass | Hotspot | Outcome |", "| 1 | cache text | Committed `0ca79eb`, 3 % faster |", "| 2 | hot loops | Reverted |"
    )
    assert read(text) == [("1", "cache text", Verdict.KEEP), ("2", "hot loops", Verdict.REJECT)]


def test_a_column_is_chosen_by_its_cells_before_its_head() -> None:
    text = table("| Checkpoint | Status | Decision |", "| EXP-1 | RETAINED | a baseline to compare with |",
                 "| EXP-2 | REJECTED | worse at every size |", "| EXP-3 | REJECTED | twice as slow |")  # fmt: skip
    assert [(name, verdict) for name, _, verdict in read(text)] == [
        ("EXP-1", Verdict.KEEP),
        ("EXP-2", Verdict.REJECT),
        ("EXP-3", Verdict.REJECT),
    ]


def test_words_and_hashes_are_ids() -> None:
    heads = "| Experiment | Description | Verdict |"
    rows = "| **bv8_nw1** | one warp a block | **kept** |", "| num_stages=3 | a pipeline | reverted (<1%) |"
    assert [name for name, _, _ in read(table(heads, *rows))] == ["bv8_nw1", "num_stages=3"]
    heads, rows = "| commit | change | status |", ("| `bd5cd16` | a carry | keep |", "| 37cd677 | an adder | discard |")
    assert [name for name, _, _ in read(table(heads, *rows))] == ["bd5cd16", "37cd677"]
    heads, rows = "| Change | Status |", ("| **E1** cache the tract | landed |", "| E2 skip a step | rejected |")
    assert [name for name, _, _ in read(table(heads, *rows))] == ["E1", "E2"]


def test_tables_without_a_head() -> None:
    rows = "| P1 | wider loads | kept |\n| P2 | one more stage | reverted |\n"
    expected = [("P1", "wider loads", Verdict.KEEP), ("P2", "one more stage", Verdict.REJECT)]
    assert read(rows) == expected
    assert read("|---|---|---|\n" + rows) == expected
    assert read("| | | |\n|---|---|---|\n" + rows) == expected


def test_bullets_with_a_verdict() -> None:
    text = """## Experiments
- **E3: hoist constants** — reverted, no gain
- [KEEP] wider loads: 3 % faster
- `1a2b3c4` packed stores → kept
- **Rejected:** a third stage of the ring
- unroll by eight (reverted)
- notes on the machine: it was warm
- Merged: the two scans of the list into one loop
- Rule: keep what is faster
1. run the tests
"""
    assert read(text) == [
        ("E3", "hoist constants", Verdict.REJECT),
        ("", "wider loads", Verdict.KEEP),
        ("1a2b3c4", "packed stores", Verdict.KEEP),
        ("", "a third stage of the ring", Verdict.REJECT),
        ("", "unroll by eight", Verdict.REJECT),
    ]


def test_bullets_that_explain_words_or_forbid_are_no_experiments() -> None:
    assert read("## Status vocabulary and states\n- **REJECTED** — tested, 3 % slower\n- **KEPT** — 3 % faster\n") == []
    assert read("## Do not repeat\n- wider loads: rejected, 3 % slower\n") == []
    assert read("```\n- wider loads: rejected, 3 % slower\n```\n") == []


def test_sections_with_a_verdict() -> None:
    text = """# Log
### #12 — row scratch — **Rejected** (2026-05-17)
**Decision.** Rejected as a heuristic.
### E5 wider loads
- Result: 3.1 ms
- **Verdict:** Kept. It is simple.
### Harness
**Decision.** Kept by one, later reverted.
### Packed stores — **Reverted default, kept the knob**
"""
    reading = read_document(document_of(text.encode(), "a.md"))
    assert [(row.name, row.change, row.result, row.rulings[0].verdict) for row in reading.rows] == [
        ("#12", "row scratch", "", Verdict.REJECT),
        ("E5", "wider loads", "3.1 ms", Verdict.KEEP),
    ]
    assert [each.line for each in reading.unread] == [9]


def test_a_section_about_a_row_is_no_other_experiment() -> None:
    text = table("| ID | Change | Keep? |", "| P1 | wider loads | kept |") + "\n### P1: wider loads — kept\n"
    assert read(text) == [("P1", "wider loads", Verdict.KEEP)]


@pytest.mark.parametrize(
    "text",
    [
        table("| Feature | Status |", "| stores | ✅ |", "| loads | ❌ |"),
        table("| Instruction | Use | Status |", "| CNT | count | ✅ Deployed |", "| TBL | look up | ✅ Deployed |"),
        table("| job | required | valid |", "| 1 | 14 | yes |", "| 2 | 14 | no |"),
        table("| gate | value | outcome |", "| size | 803 | **fail** |", "| speed | 445 | pass |"),
        table("| Check | Result |", "| bytes | identical on all |", "| tests | neutral, no regressions |"),
    ],
)
def test_features_and_tests_are_no_verdicts(text: str) -> None:
    assert read(text) == []


def test_answers_to_whether_it_was_kept_are_verdicts() -> None:
    text = table("| Change | Cycles | Kept? |", "| a loop | -3 | yes (as default) |", "| a store | 100 | no — slow to start |")
    assert [verdict for _, _, verdict in read(text)] == [Verdict.KEEP, Verdict.REJECT]
