"""What may be an experiment is proposed, in the order of the file; a person says of single lines what they are."""

import time

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.document import ParsedLedger
from expctl.imported.given import Given, given_by
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of
from tests.refusals import refuses

LOG = """# Optimisation log

### Experiment 1: wider loads
One instruction for four.
**Kept**: 3.1 ms, was 3.4 ms.

### Experiment 2: a third stage
Registers spill, it went back: 3.6 ms.

### Experiment 3: pooled queues
3.0 ms, faster than before.

## What we will do next
- a fourth stage, if it is faster
"""
TABLE = """# Sweep
| Tile | ms | Notes |
|---|---|---|
| 64x64 | 3.4 | baseline |
| 128x64 | 3.1 | winner (+9 %) |
| 64x128 | 3.5 | slower than 128x64 |
| 256x64 | 4.1 | too large |
"""
LISTED = """# Notes on the kernel
## Dead ends
- A swizzle of the columns, the banks conflict
- Two waves for each row, because they wait
"""


def parsed(text: str, *maps: str, name: str = "a.md") -> ParsedLedger:
    document = document_of(text.encode(), name)
    return read_document(document, given_by(Given(), maps, (), document).map())


def proposed(text: str) -> list[tuple[int, Verdict | None]]:
    return [(each.line, each.guess) for each in parsed(text).proposals]


def test_headings_beside_one_that_states_a_verdict_are_proposed() -> None:
    assert [row.line for row in parsed(LOG.replace("**Kept**:", "**Decision:** kept.")).rows] == [3]
    assert proposed(LOG.replace("**Kept**:", "**Decision:** kept.")) == [(7, None), (10, None)]
    assert (10, None) in proposed(LOG), "faster, but nobody says that it was kept"
    assert 14 not in dict(proposed(LOG)), "a plan is no experiment"


def test_rows_of_a_table_that_tells_outcomes_are_proposed() -> None:
    assert proposed(TABLE) == [(5, None), (6, None), (7, None)]


def test_items_below_a_heading_that_rules_them_are_proposed() -> None:
    assert proposed(LISTED) == [(3, Verdict.REJECT), (4, Verdict.REJECT)]


@pytest.mark.parametrize(
    "text",
    [
        "# A tool\n## Features\n- faster than others\n- works on Linux\n## Usage\n1. install it\n2. run it\n",
        "# A kernel\n| Size | ms | TFLOP/s |\n|---|---|---|\n| 1024 | 0.1 | 20 |\n| 2048 | 0.6 | 28 |\n",
        "# Log\n## Lessons learned\n- bank conflicts make it slower\n- the best tile is not the largest\n",
        "# Log\n## Decision table\n| Gain | Verdict |\n|---|---|\n| < 1 % | slower, reject it |\n| > 1 % | winner |\n",
    ],
)
def test_what_is_no_experiment_is_not_proposed(text: str) -> None:
    assert proposed(text) == []


def test_a_person_says_what_a_line_is() -> None:
    found = parsed(LOG, "line 3=KEEP", "lines 7,10=REJECT")
    assert [(row.line, row.rulings[0].verdict) for row in found.rows] == [
        (3, Verdict.KEEP),
        (7, Verdict.REJECT),
        (10, Verdict.REJECT),
    ]
    assert found.rows[1].change == "Experiment 2: a third stage"
    assert found.proposals == ()
    assert [row.name for row in parsed("| id | ms |\n|---|---|\n| E7 | 3 |\n", "line 3=KEEP").rows] == ["E7"]


def test_all_that_is_proposed_can_be_taken_and_corrected_at_once() -> None:
    decided = TABLE.replace("winner (+9 %)", "+9 %: kept").replace("slower than 128x64", "slower, reverted")
    assert proposed(decided) == [(5, Verdict.KEEP), (6, Verdict.REJECT), (7, None)]
    found = parsed(decided, "proposed", "line 7=INVALID")
    assert [(row.change, row.rulings[0].verdict) for row in found.rows] == [
        ("128x64", Verdict.KEEP),
        ("64x128", Verdict.REJECT),
        ("256x64", Verdict.INVALID),
    ]
    assert [row.line for row in parsed(TABLE, "lines 5-6=KEEP").rows] == [5, 6], "a range takes what is asked about"
    assert [row.line for row in parsed(TABLE, "lines 1-6=KEEP").rows] == [5, 6]


def test_what_was_said_of_a_line_holds_when_the_file_grows() -> None:
    document = document_of(TABLE.encode(), "a.md")
    given = given_by(Given(), ["line 6=REJECT"], (), document)
    longer = document_of(f"# More\n\n{TABLE}".encode(), "a.md")
    assert [row.line for row in read_document(longer, given.map()).rows] == [8]


def test_a_person_may_correct_what_was_understood_and_say_that_nothing_is_decided() -> None:
    text = "| id | change | verdict |\n|---|---|---|\n| E1 | wider loads | kept |\n| E2 | a loop | reverted |\n"
    found = parsed(text, "line 3=REJECT", "line 4=WAIT")
    assert [(row.name, row.rulings[0].verdict, row.rulings[0].words) for row in found.rows] == [("E1", Verdict.REJECT, "kept")]
    assert [each.line for each in found.waiting] == [4]


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("line 2=KEEP", "map-line-unknown"),
        ("line 99=KEEP", "map-line-unknown"),
        ("lines 8-9=KEEP", "map-line-unknown"),
        ("line 3=GOOD", "map-unclear"),
    ],
)
def test_a_line_that_can_be_no_experiment_is_refused(word: str, code: str) -> None:
    with refuses(code) as caught:
        parsed("# Log\n\n- wider loads\n", word)
    assert word in caught.value.found


def test_a_range_of_what_is_read_says_how_to_correct_it_and_proposed_needs_a_proposal() -> None:
    text = "# Log\n\n| id | change | verdict |\n|---|---|---|\n| E1 | wider loads | kept |\n| E2 | a loop | reverted |\n"
    with refuses("map-line-unknown") as caught:
        parsed(text, "lines 5-6=INVALID")
    assert "without a line that is asked about" in str(caught.value)
    assert "lines 58,59,60" in caught.value.hint
    assert [row.rulings[0].verdict for row in parsed(text, "lines 5,6=INVALID").rows] == [Verdict.INVALID, Verdict.INVALID]
    with refuses("map-idle"):
        parsed(text, "proposed")


def test_killed_without_a_figure_means_what_the_user_says() -> None:
    text = "id\tms\tstatus\tdescription\nE1\t3.1\tkeep\tloads\nE2\t3.2\tkilled\twaves\nE3\t-\tkilled\tqueues\n"
    document = document_of(text.encode(), "a.tsv")
    read = [
        [row.line for row in read_document(document, given_by(Given(), maps, (), document).map()).rows]
        for maps in ([], ["killed=REJECT"])
    ]
    assert read == [[2, 3], [2, 3, 4]]


def test_outcomes_of_both_kinds_are_verdicts_where_headings_end_with_them() -> None:
    text = "# Log\n### Timing diversity — BIG WIN\n+9 %\n### Gain — SMALL WIN (+16)\n+1 %\n### Pre-emphasis — HARMFUL\n-3 %\n"
    rows = [(row.change, row.rulings[0].verdict) for row in parsed(text).rows]
    assert rows == [("Timing diversity", Verdict.KEEP), ("Gain", Verdict.KEEP), ("Pre-emphasis", Verdict.REJECT)]
    assert parsed("# Log\n### Tests — SUCCESS\nall\n### Release — SUCCESS\nyes\n").rows == ()


def test_a_paragraph_in_bold_that_ends_as_a_heading_does_is_an_experiment() -> None:
    text = "# Optimisation log\n\n**Iter 4 — unrolled by 4: REVERTED.** it fell from 25.8\nto 21.1 GFLOP/s.\n\n**Setup:** a\n"
    assert [(row.line, row.change, row.rulings[0].verdict) for row in parsed(text).rows] == [
        (3, "Iter 4 — unrolled by 4", Verdict.REJECT)
    ]


def test_proposals_are_found_in_linear_time() -> None:
    took = []
    for size in (1000, 4000):
        text = "# Log of experiments\n" + "".join(f"- a change {n}: slower, {'x ' * 20}\n" for n in range(size))
        text += (
            f"### Experiment 1: {'no gain ' * size}\n{'faster ' * size}\n| a | Notes |\n|---|---|\n"
            + "| b | reverted |\n" * size
        )
        before = time.process_time()
        assert len(parsed(text).proposals) >= size
        took.append(time.process_time() - before)
    assert took[1] < 10 * took[0]


def test_a_workflow_is_no_list_of_what_did_not_work() -> None:
    listed = "- **Branch** often: 3 % faster\n- **Notify** the user: 2 ms\n"
    found = parsed(f"# Log\n## Development Workflow\n{listed}## Applied changes\n- **A**: 3 ms\n")
    assert not {3, 4} & {row.line for row in found.rows}
    both = parsed(f"# Log\n## Wins of session 2\n{listed}## More dead ends\n- **A swizzle**: 1 % slower\n")
    assert [(row.line, row.rulings[0].verdict) for row in both.rows] == [
        (3, Verdict.KEEP),
        (4, Verdict.KEEP),
        (6, Verdict.REJECT),
    ]


SIBLINGS = """# Optimization log
## Change 1: wider loads
**Result.** 3.4 -> 3.1 ms
## Change 2: a policy for the queue
It took a day.
## Change 3: a third stage
## Next steps
### Change 4: pooled queues
A loop over all of them.
"""


def test_headings_with_one_word_and_a_number_are_of_a_kind() -> None:
    assert [line for line, _ in proposed(SIBLINGS)] == [2, 4], "one without text tells nothing, and a plan is not done"
    other = SIBLINGS.replace("Change 1", "Loads").replace("Change 2", "Queues").replace("Change 3", "Stages")
    assert proposed(other) == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# Attempts\n## Steps\n1. **Fused** (941us → 608us):\n   - one kernel\n2. **A cache**: 5 % less\n", [3, 5]),
        ("# Log of attempts\n## What failed (lessons)\n- **A swizzle**: conflicts\n- **Two waves**: they wait\n", [3, 4]),
        ("# Attempts\n- Loads:\n  - wide: 3 % faster\n  - narrow: slower\n", [3, 4]),
        ("# Attempts\n| Config | ms |\n|---|---|\n| small tile | 3.4 ms |\n| wide tile | 3.1 ms |\n", [4, 5]),
        ("# Attempts\n| Batch | ms |\n|---|---|\n| one | 3.4 ms |\n| two | 3.1 ms |\n", []),
        ("# Changelog\n## 1.2\n- loads are 3 % faster\n- fixed a crash\n", []),
    ],
)  # fmt: skip
def test_what_is_measured_among_experiments_is_asked_about(text: str, lines: list[int]) -> None:
    assert [line for line, _ in proposed(text)] == lines


def test_an_item_inside_another_can_be_mapped() -> None:
    text = "# Attempts\n- Loads:\n  - wide: 3 % faster\n  - narrow: slower\n"
    assert [(row.line, row.change) for row in parsed(text, "line 4=REJECT").rows] == [(4, "narrow")]


def test_headings_that_recur_below_others_tell_a_part_of_each() -> None:
    one = "## {}\n### What changed\n- a loop over all of them\n### Interpretation\n- it spends its time in the queue\n"
    text = "# Optimization log\n" + one.format("20260223T195116Z - smoke") + one.format("Wider loads")
    assert [line for line, _ in proposed(text)] == [2, 7]


def test_a_heading_of_others_that_state_verdicts_is_none_itself() -> None:
    told = "### Batched loads [MERGED 2026-03-13]\n1.4x\n### A table [MERGED 2026-03-13]\n3x\n"
    text = f"# Ideas\n## Completed (merged to main)\n{told}"
    assert [(row.line, row.change) for row in parsed(text).rows] == [(3, "Batched loads"), (5, "A table")]
    assert parsed("# Ideas\n### A harness (PR #6, merged 2026-06-09)\nIt runs.\n").rows == ()


def test_a_table_of_experiments_below_a_summary_is_asked_about() -> None:
    rows = "| 1 | wide loads | SUCCESS +51% |\n| 2 | queues | FAILURE |\n| 3 | stages | SUCCESS +8 % |\n"
    text = f"# Experiment log\n## Quick reference\n| # | Experiment | Result |\n|---|---|---|\n{rows}"
    assert proposed(text) == [(5, None), (6, None), (7, None)]
    (table,) = parsed(text).skipped_tables
    assert table.options == ('--map "verdict=Result"', '--map "success=VERDICT"', '--map "failure=VERDICT"')
    after = parsed(text, "verdict=Result", "success=KEEP", "failure=REJECT")
    assert [row.rulings[0].verdict for row in after.rows] == [Verdict.KEEP, Verdict.REJECT, Verdict.KEEP]


def test_an_item_that_tells_what_was_undone_is_asked_about_below_a_heading_that_is_read() -> None:
    log = "# Optimisation log\n\n### E1: wider loads{}\n{}\n- {} of the four flags: no gain.\n- Text of the queue.\n"
    assert proposed(log.format("", "**Decision:** kept.", "Reverted the cache")) == [(5, Verdict.REJECT)]
    assert proposed(log.format("", "**Decision:** kept.", "Merged the cache")) == []
    assert proposed(log.format(" — kept", "Decisions:", "Reverted the cache")) == [(5, Verdict.REJECT)], (
        "not that of the heading"
    )


@pytest.mark.parametrize(
    "item",
    [
        "**Skipped**: double-copy elimination, improved by 1 % at best",
        "**Ring buffers investigated and ruled out**: 3 % faster alone, the kernel is too old",
        "**Masking**: works as described, 2 % better. An honest negative result.",
    ],
)
def test_nothing_is_proposed_for_what_was_only_seen(item: str) -> None:
    text = f"# Experiments\n- **Wider loads**: 3 % faster\n- **Deeper tile**: 2 % slower. Reverted.\n- {item}\n"
    found = {each.line: each.guess for each in parsed(text).asked()}
    assert found == {2: None, 4: None}
