"""A verdict is proposed where it is as sure as one that is read without a question; all else is asked without an answer."""

import pytest

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.document import ParsedLedger
from expctl.imported.given import Given, given_by
from expctl.imported.rows import read_document
from expctl.imported.tables import read_document as document_of
from expctl.imported.terminal import proposed_lines

LOG = "# Optimisation log\n## Experiment 1: wide loads\n**Decision:** kept.\n## Experiment 2: a queue\n{}\n"
TABLE = "# Attempts\n| Change | ms | Notes |\n|---|---|---|\n| wide loads | 3.1 ms | {} |\n| a queue | 3.4 ms | it waits |\n"


def parsed(text: str, *maps: str) -> ParsedLedger:
    document = document_of(text.encode(), "a.md")
    return read_document(document, given_by(Given(), maps, (), document).map())


def guesses(text: str) -> dict[int, Verdict | None]:
    return {each.line: each.guess for each in parsed(text).asked()}


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("It took 9 % longer on the small card. The change was reverted, and the test was retained.", Verdict.REJECT),
        ("It took 9 % longer, so it was dropped.", Verdict.REJECT),
        ("3 % faster. The patch was merged.", Verdict.KEEP),
        ("3 % faster than before.", None),
        ("3.4 ms, it hurts.", None),
        ("The first run hit a timeout.", None),
        ("Users who tried it found it slower, and reverted.", None),
        ("One part was a win and shipped as an option.", None),
        ("If it is slower the change was reverted by mistake. This patch was kept.", None),
        ("The change was reverted until the driver is fixed; it is now enabled.", None),
        ("Reverted the cache that it needs.", None),
    ],
)
def test_what_a_section_says_of_itself_is_proposed_and_no_more(text: str, guess: Verdict | None) -> None:
    assert guesses(LOG.format(text)) == {4: guess}


@pytest.mark.parametrize(
    ("cell", "guess"),
    [
        ("4 % faster; kept", Verdict.KEEP),
        ("+1 of 20 games — REVERTED (it lost on the clock)", Verdict.REJECT),
        ("won (1 timeout)", None),
        ("null pointer checks left out", None),
        ("fewer dead-end nodes", None),
        ("reverted, it crashed", None),
        ("winner", None),
    ],
)
def test_what_a_cell_decides_is_proposed_and_no_more(cell: str, guess: Verdict | None) -> None:
    assert guesses(TABLE.format(cell))[4] == guess


RULED = "# Notes on the kernel\n## {}\n### Wide loads\n{}\n### Short ring\nThe banks conflict: 3 % slower.\n"


def test_what_a_heading_rules_is_proposed_where_nothing_is_said_against_it() -> None:
    assert guesses(RULED.format("Rejected experiments", "They cost 4 % and were not worth it.")) == {
        3: Verdict.REJECT,
        5: Verdict.REJECT,
    }
    for against in ("It was kept.", "Not yet tried.", "It is still in use."):
        assert guesses(RULED.format("Rejected experiments", f"They cost 4 %. {against}"))[3] is None
    assert set(guesses(RULED.format("Risks of rejected loads", "They cost 4 %.")).values()) <= {None}


def test_a_verdict_is_never_proposed_against_the_heading() -> None:
    rows = "| Change | Result | Notes |\n|---|---|---|\n| wide loads | 3 % faster | kept |\n| a queue | 4 % slower | waits |\n"
    found = guesses(f"# Attempts\n## What did not pan out\n{rows}")
    assert found[5] is None


def test_what_a_change_was_run_on_and_rows_of_its_benchmark_are_not_asked_about() -> None:
    text = (
        "# Optimisation log\n## Experiment 1: wide loads — kept\n**Platform.**\n- OS: Linux 6.1\n- CPU: 8 cores\n"
        "| Benchmark | Before | After |\n|---|---|---|\n| decode | 3.4 ms | 3.1 ms |\n| encode | 5 ms | 5.1 ms (worse) |\n"
        "## Experiment 2: a queue\n- Arch: x86\n- Compiler: 12.1, 3 % faster\n**Applied to:**\n"
    )
    assert list(guesses(text)) == [10]


def test_a_plan_that_was_carried_out_is_asked_about() -> None:
    told = "**Hypothesis:** queues wait.\n**Observed:** 3 s more.\n**Decision:** Reverted. Each thread has its own.\n"
    text = f"# Log of experiments\n## Ideas (not yet tried)\n### 14. Writes\n**Status:** Proposed\n### 15. Warm start\n{told}"
    both = parsed(text.replace("**Hypo", "**Status:** Negative (reverted)\n**Hypo"))
    assert [(each.line, each.guess) for each in both.asked()] == [(5, Verdict.REJECT)]


def test_a_heading_that_sums_up_is_no_experiment() -> None:
    text = "# Log\n## What worked\n### Cumulative: 3.2 -> 3.6 t/s (+14 %)\n## What did not work\n- **A queue**: 3 % slower\n"
    assert [row.line for row in parsed(text).rows] == [5]


def test_a_row_whose_words_bear_out_its_heading_takes_its_verdict() -> None:
    rows = (
        "| Q1 | two deep | rejected | no effect, 3 ms |\n| Q2 | pooled | -85 pts | 4 ms |\n| Q3 | a ring | neutral | 3 ms |\n"
    )
    found = parsed(f"# Log\n## Rejected ideas\n| ID | Tentativa | Resultado | Lição |\n|---|---|---|---|\n{rows}")
    assert [row.line for row in found.rows] == [5, 6]
    (asked,) = found.unread
    assert "(no word)" not in asked.why + "".join(asked.options)


def test_each_line_that_is_not_sure_is_a_question_by_itself() -> None:
    text = "# Attempts\n| Change | ms |\n|---|---|\n| loads | 3.1 ms, kept |\n"
    text += "".join(f"| {change} | 4 ms |\n" for change in ("a queue", "tiles", "waves"))
    shown = proposed_lines(parsed(text))
    assert '    each of these 3 by itself, --map "line N=VERDICT":' in shown
    assert any("--map proposed takes the 1 with a verdict" in line for line in shown)
    assert not any("lines 4-7" in line for line in shown)
