"""Repeats are refused by `run`, of the patch before it begins and of its machine code when it is built."""

from dataclasses import replace
from typing import Any

import pytest

from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Probe, Verdict
from expctl.domain.experiment.record import Waiver
from expctl.domain.rules.matching import Level
from expctl.domain.rules.states import rule_states
from expctl.domain.run.events import Begun
from expctl.flow.rules.repeat_check import Repeated, matching_rules
from expctl.flow.run.experiment import Outcome, run_experiment
from expctl.views.rules import rules_lines
from tests.fakes.stage import Stage


def rejected(**changes: Any) -> Stage:
    """A stage on which P1 was measured and rejected."""
    stage = Stage()
    stage.circumstances.versions = {"cc": "1.0"}
    stage.queue("P1", "slow 1100000", **changes)
    assert run(stage, "P1").record.verdict is Verdict.REJECT
    return stage


def run(stage: Stage, experiment: str) -> Outcome:
    return run_experiment(stage.context(), experiment)


def refused(stage: Stage, experiment: str) -> Repeated:
    head = stage.workspace.head()
    with pytest.raises(Repeated) as caught:
        run(stage, experiment)
    assert stage.workspace.head() == head
    assert stage.journal.unfinished() == ()
    assert (stage.locks.held, stage.gate.held, stage.workspace.check_outs) == (False, False, set())
    return caught.value


@pytest.mark.parametrize(
    ("kernel", "level"),
    [("slow 1100000", Level.PATCH), ("slow 1100000 # the same", Level.CHANGE)],
)
def test_a_repeat_is_refused_before_anything_is_built(kernel: str, level: Level) -> None:
    stage = rejected()
    stage.queue("P2", kernel)
    builds = list(stage.toolchains.builds)
    refusal = refused(stage, "P2")
    assert stage.toolchains.builds == builds
    assert refusal.code == "tried-before"
    assert f"likeness: {level}: " in refusal.found
    assert "evidence: P1 on cpu, 2026-03-01: n regresses" in refusal.found
    assert "objective -9.09 %" in refusal.found
    assert "the rule holds as long as this does: architecture cpu; cc 1.0" in refusal.found
    assert "experiments/P2/experiment.yaml, `precondition:`" in refusal.hint


def test_other_source_with_the_same_machine_code_is_refused_when_it_is_built() -> None:
    stage = rejected()
    stage.queue("P2", " slow 1100000", patch=b'{"src/kernel": "slow 1100000 ", "src/more": "x"}')
    tested = list(stage.steps.tested)
    refusal = refused(stage, "P2")
    assert "likeness: machine code: other source, but the same machine code on cpu" in refusal.found
    assert stage.steps.tested == tested, "nothing was tested or timed"


def test_a_pattern_of_the_author_is_refused() -> None:
    stage = rejected(forbids=(r"slow 11\d+",))
    stage.queue("P2", "slow 1120000")
    assert "forbidden pattern" in refused(stage, "P2").found


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (".", "it matches 4 lines of the baseline, at most 3 are allowed"),
        ("fast", "no line that its own change adds matches it"),
        ("(slow)?", "it matches every line"),
    ],
)
def test_a_pattern_that_could_be_no_rule_is_refused_before_it_becomes_one(pattern: str, why: str) -> None:
    stage = Stage()
    stage.circumstances.standing = ("a", "b", "c", "d")
    stage.queue("P1", "slow 1100000", forbids=(pattern,))
    with pytest.raises(Refused) as caught:
        run(stage, "P1")
    assert caught.value.code == "patterns-forbid-too-much"
    assert caught.value.found == f"{pattern!r}: {why}"
    assert caught.value.where == "experiments/P1/experiment.yaml, forbids"
    assert "propose it" in caught.value.hint


def test_a_recorded_pattern_that_is_no_rule_refuses_nobody_and_is_said_to() -> None:
    stage = rejected(forbids=(".", r"slow 1\d+"))
    stage.circumstances = replace(stage.circumstances, standing=("a", "b", "c", "d"))
    stage.queue("P2", "slow 900000")
    assert run(stage, "P2").record.verdict is Verdict.KEEP
    stage.queue("P3", "slow 1120000")
    assert r"the forbidden pattern slow 1\d+" in refused(stage, "P3").found
    book = stage.context().rulebook
    (state,) = rule_states(book.ruled(head := stage.workspace.head()), book.circumstances(head))
    assert state.void == ((".", "it matches 4 lines of the baseline, at most 3 are allowed"),)
    assert Level.PATTERN in state.known_by
    stage.circumstances = replace(stage.circumstances, own={"P1": ("x",)})
    book = stage.context().rulebook
    (state,) = rule_states(book.ruled(head), book.circumstances(head))
    assert Level.PATTERN not in state.known_by
    assert (
        "    void       the pattern . refuses nobody: it matches 4 lines of the baseline, at most 3 are allowed"
        in rules_lines([state])
    )


def test_a_new_patch_in_the_same_lines_is_measured() -> None:
    stage = rejected()
    stage.queue("P2", "slow 900000")
    outcome = run(stage, "P2")
    assert (outcome.record.verdict, outcome.record.waivers) == (Verdict.KEEP, ())


def test_a_written_reason_lets_it_pass_and_is_kept() -> None:
    stage = rejected()
    stage.queue("P2", "slow 1100000", precondition="the tile is larger now")
    record = run(stage, "P2").record
    assert record.waivers == (Waiver(rule="P1", level="patch", reason="the tile is larger now", written=True),)
    assert any("P1 matches (patch) and lets it pass: the tile is larger now" in line for line in stage.progress.lines)


def test_a_reason_that_nobody_can_read_lets_nothing_pass() -> None:
    stage = rejected()
    stage.queue("P2", "slow 1100000", precondition="\u200b\x1b[31m")
    refused(stage, "P2")


def test_a_written_reason_lets_the_same_code_pass_and_is_kept() -> None:
    stage = rejected()
    stage.queue("P2", "", patch=b'{"src/kernel": "slow 1100000 ", "src/more": "x"}', precondition="another machine")
    assert run(stage, "P2").record.waivers == (Waiver(rule="P1", level="machine code", reason="another machine", written=True),)


def test_a_condition_that_changed_lets_it_pass_without_a_word() -> None:
    stage = rejected()
    stage.circumstances = replace(stage.circumstances, versions={"cc": "2.0"})
    stage.queue("P2", "slow 1100000")
    assert run(stage, "P2").record.waivers == (Waiver(rule="P1", level="patch", reason="cc: 1.0 -> 2.0", written=False),)


def test_a_probe_holds_a_rule_whatever_the_compiler_and_then_opens_it() -> None:
    probe = Probe(source="snippet")
    stage = rejected(probe=probe)
    stage.circumstances = replace(stage.circumstances, versions={"cc": "2.0"})
    stage.queue("P2", "slow 1100000")
    refused(stage, "P2")
    stage.circumstances = replace(stage.circumstances, passing={probe: "cc 2.0"})
    assert run(stage, "P2").record.waivers[0].reason == "probe: failed for gfx1151 -> it compiles"


def test_waivers_survive_a_crash() -> None:
    stage = rejected()
    stage.queue("P2", "slow 1100000", precondition="why not")
    stage.stops_after = 2
    with pytest.raises(BaseException, match="stopped after"):
        run(stage, "P2")
    (begun,) = (event for event in stage.journal.read("P2") if isinstance(event, Begun))
    assert [waiver.rule for waiver in begun.waivers] == ["P1"]
    assert [waiver.rule for waiver in run(stage, "P2").record.waivers] == ["P1"]


def test_replication_asks_no_rule() -> None:
    stage = rejected()
    again = run_experiment(stage.context(), "P1", again=True)
    assert len(again.record.replications) == 1


def test_a_guard_that_rejects_is_the_target_that_judged() -> None:
    stage = Stage()
    stage.toolchains.refuses["guard", "900000"] = "asm"
    stage.queue("P1", "slow 900000")
    rule = run(stage, "P1").record.rule
    assert rule is not None
    assert rule.judged == "guard"
    assert "epoch" not in rule.conditions, "a build fails whatever the harness"


def test_looking_up_a_patch_needs_no_proposal() -> None:
    stage = rejected()
    head, patch = stage.workspace.head(), b'{"src/kernel": "slow 1100000"}'
    ((match, changed),) = matching_rules(stage.context().rulebook, head, patch).matches
    assert (match.record.id, changed) == ("P1", ())
    assert matching_rules(stage.context().rulebook, head, b'{"src/kernel": "slow 5"}') == ((), ())
