"""A verdict is read only where the text states one for that experiment: no rule, name, negation or contradiction is one."""

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of

KEEP, REJECT = Verdict.KEEP, Verdict.REJECT


def read(text: str, name: str = "a.md") -> list[tuple[str, Verdict]]:
    reading = read_document(document_of(text.encode(), name))
    return [(row.name or row.change, ruling.verdict) for row in reading.rows for ruling in row.rulings]


@pytest.mark.parametrize(
    "item",
    [
        "- **A/A (replication):** reverted vs reverted2 within 0.6 % on every case",
        "- **opt3 (replication):** old vs reverted is 1.4 % slower. Verdict: it stays, and reverted also carries the cap of 3",
        "- committed=Unknown(4) vs seen=Float(4): a few values (the reverse — committed less refined).",
        "- The diff runs on values, 3 ms each. Committed budgets: at most 1.0 step",
        "- flip balance (test 16/0 → rejected at 16 > 12).",
        "- **ANY single `regressed(m)` true → revert.** The sum of 3 ms does not vote it back in.",
        "- **Decision matrix:** first ↑ + second ↓ → DEPLOY. First ↓ + second ↑ → REVERT.",
        "- **Respect the budget.** 60 s for each. If it runs over budget, revert.",
        "- A change that passes in 3 ms is right. KEEP it — even if the score drops.",
        "- Keep: the loader, 3 ms",
        "- Not kept as default: a pool of 3 ms",
        "- Text routing: removed 4 MB → a rule. 2.21x → 3.69x (+67%).",
        "- **A solver** — abandoned upstream, 3 ms at best.",
        "- the mismatch is concrete, 3 ms: retained rectangular lifts",
    ],
)
def test_an_item_that_states_no_verdict_is_not_read(item: str) -> None:
    assert read(f"# Experiments\n\n## Results\n\n{item}\n- wide loads: 3 % slower, reverted\n") == [
        ("wide loads: 3 % slower", REJECT)
    ]


@pytest.mark.parametrize(
    "heading",
    [
        "E2: a longer limit (DEPLOYED as v29 — CAUSED A COLLAPSE)",
        "E2: shared server LANDED, NEEDS VERIFICATION",
        "E2: shared server — kept, needs verification",
        "E2: polish (KEEP only)",
        "2026-07-02 — E2: the wall is key-sharing, removed",
        "E2: a cascade (special case — REMOVED)",
        "2. Removed all old parts",
        "Revert: the tree decoder",
        "E2: wider loads — wasn't rejected",
        "E2: wider loads — never reverted",
        "E2: wider loads — no longer kept",
    ],
)
def test_a_heading_that_states_no_verdict_is_not_read(heading: str) -> None:
    assert read(f"# Experiments\n\n## {heading}\n\n3 ms.\n\n## E3: a queue — reverted\n\n4 ms.\n") == [("E3", REJECT)]


@pytest.mark.parametrize(
    "label",
    [
        "Status: removed the listed warnings",
        "Status: dropped the note from the header; the reader now checks its rows before it accepts them",
        "Result: lag 7, improvements/promoted 3/1",
        "Status: all fixes applied",
        "Outcome: levers 1 and 3 kept; lever 2 reverted",
        "Decision: kept, it caused a crash in all three runs",
    ],
)
def test_a_label_that_states_no_verdict_is_not_read(label: str) -> None:
    assert read(f"# Log\n\n## E2: a cleanup\n\n- {label}\n\n## E3: a queue\n\n- Decision: reverted\n") == [("E3", REJECT)]


def test_a_label_belongs_to_the_section_and_not_to_its_last_item() -> None:
    steps = "1. Added criteria\n2. Kept the old ones\n\nSecond try.\n"
    text = f"# Log\n## E7: a border (KEPT)\n{steps}\n**Decision:** KEEP, 3 % better\n"
    assert read(text) == [("E7", KEEP)]


def test_alternatives_of_a_design_are_no_experiments() -> None:
    text = "# Log\n\nAlternatives considered:\n- Remove the metric, 3 ms.\n  Rejected because it is useful.\n"
    assert read(text) == []


@pytest.mark.parametrize(
    "heads", ["Metric | Before | After | Verdict", "Their claim | Before | After | Verdict", "论断 | 前 | 后 | 裁决"]
)
def test_check_marks_of_goals_and_claims_are_no_verdicts(heads: str) -> None:
    assert read(f"| {heads} |\n|---|---|---|---|\n| failures | 3 ms | 2 ms | ✅ |\n| success | 3 % | 4 % | ✅ |\n") == []


@pytest.mark.parametrize(("status", "figure"), [("killed", "NA"), ("killed", "-"), ("KILLED", "")])
def test_a_killed_run_without_a_figure_is_asked_about(status: str, figure: str) -> None:
    text = f"commit\tscore\tstatus\tdescription\na1\t0.5\tkeep\tone\nb2\t0.6\tkilled\ttwo\nc3\t{figure}\t{status}\tthree\n"
    assert read(text, "a.tsv") == [("a1", KEEP), ("b2", REJECT)]


@pytest.mark.parametrize(
    ("item", "verdict"),
    [
        ("- wide loads: 3 % slower. Removed.", REJECT),
        ("- wide loads: 3 % slower, dropped.", REJECT),
        ("- wide loads: 3 % faster. KEEP", KEEP),
        ("- wide loads — kept (no collapse, 3 % faster)", KEEP),
        ("- wide loads, over the limit of 3 ms — reverted", REJECT),
    ],
)
def test_what_is_stated_is_still_read(item: str, verdict: Verdict) -> None:
    assert [each for _, each in read(f"# Experiments\n\n## Results\n\n{item}\n")] == [verdict]
