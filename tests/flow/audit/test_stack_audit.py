"""Audits in a world of fakes: what a stack gives, what is left without a layer, where a gain was lost, and what is kept."""

from typing import Any

import pytest
from msgspec.structs import replace

from expctl.adapters.codec.record_codec import record_bytes
from expctl.adapters.records.findings_file import FindingsEditor
from expctl.domain.errors import Interrupted
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.history.audit import Audit, Bisection, finding_text
from expctl.domain.history.kept_changes import Promise
from expctl.domain.machine.burn_in import BurnIn
from expctl.domain.protocol.model import BurnInRule, NumberKind
from expctl.domain.run.step_result import Failed
from expctl.flow.audit import stack_audit as flow
from expctl.flow.audit.stack_audit import Asked, audit, record
from expctl.flow.run.experiment import run_experiment
from expctl.views.audit import audit_lines
from tests.fakes.stage import PROTOCOL, Stage
from tests.refusals import refuses


def staged(*kernels: str) -> Stage:
    """P1, P2, ... were kept, each with one of these kernels. They start from `slow 1000000`."""
    stage = Stage()
    for number, kernel in enumerate(kernels or ("slow 900000", "slow 800000"), start=1):
        stage.queue(f"P{number}", kernel)
        assert run_experiment(stage.context(), f"P{number}").record.verdict is Verdict.KEEP
    return stage


def overstate(stage: Stage, experiment: str, percent: float) -> None:
    """A record that promises more than its commit gives."""
    found = stage.library.record(stage.workspace.head(), experiment)
    assert found is not None
    estimates = tuple(
        replace(each, effect_percent=percent, low_percent=percent - 0.1, high_percent=percent + 0.1) for each in found.estimates
    )
    stage.workspace.edit({f"experiments/{experiment}/record.json": record_bytes(replace(found, estimates=estimates))})


def look(stage: Stage, **asked: Any) -> Audit:
    refs = dict(stage.workspace.refs)
    found = audit(stage.context(), Asked(**asked))
    assert stage.workspace.refs == refs
    assert (stage.workspace.check_outs, stage.locks.held, stage.gate.held) == (set(), False, False)
    return found


def test_a_stack_gives_what_its_records_add_up_to() -> None:
    stage = staged()
    found = look(stage)
    assert (found.target, found.epoch, found.layers, found.falls_short) == ("cpu", 1, ("P1", "P2"), False)
    assert found.whole.verdict is Verdict.KEEP
    assert found.whole.objective is not None
    assert found.whole.objective.effect_percent == pytest.approx(25.0, abs=0.1)
    assert found.promise.effect == pytest.approx(0.2231, abs=0.001)
    lines = audit_lines(found)
    assert lines[-2:] == [
        "  so         the stack gives what the records promise, within their intervals",
        "  nothing was committed",
    ]


def test_the_confirmation_is_a_session_of_its_own() -> None:
    stage = staged()
    holds, measured = stage.gate.holds, len(stage.steps.measured)
    look(stage)
    assert stage.gate.holds - holds == 2
    assert stage.steps.measured[measured:] == list(range(9))


def test_a_layer_that_others_were_built_on_names_the_first_that_needs_it() -> None:
    audited = look(staged(), leave_one_out=True)
    first, second = audited.left_out
    note = "P2 depends on it and can't be applied without it: conflict in src/kernel; not measured"
    assert (first.name, first.needed_by, first.contest.note) == ("P1", "P2", note)
    assert f"  without    P1: {note}" in audit_lines(audited)
    assert second.needed_by == ""
    assert second.contest.verdict is Verdict.KEEP
    assert second.contest.objective is not None
    assert second.contest.objective.effect_percent == pytest.approx(12.5, abs=0.1)


def test_a_change_that_was_taken_back_and_made_again_is_rebuilt_without() -> None:
    audited = look(staged("slow 900000", "slow 800000"), leave_one_out=True)
    stage = staged("slow 900000")
    stage.workspace.edit({"src/kernel": b"slow 1000000"}, "taken back")
    stage.queue("P2", "slow 800000")
    assert run_experiment(stage.context(), "P2").record.verdict is Verdict.KEEP
    first, second, third = look(stage, leave_one_out=True).left_out
    assert (first.needed_by, first.contest.note) == ("", "nothing of it is left in HEAD; not measured")
    assert second.needed_by == "P2"
    assert third.contest.objective == audited.whole.objective


def test_a_stack_that_does_not_build_without_a_change_says_so() -> None:
    stage = staged("slow 900000")
    stage.toolchains.refuses["cpu", "1000000"] = "syntax"
    (left,) = look(stage, leave_one_out=True).left_out
    assert left.contest.note == "the stack without P1 does not build for cpu: syntax"


def test_a_free_change_promises_nothing_and_is_not_timed() -> None:
    stage = Stage()
    stage.queue("P1", "slow 1000000 # less", kind=Kind.SIMPLIFY)
    assert run_experiment(stage.context(), "P1").record.verdict is Verdict.KEEP
    alone = look(stage, leave_one_out=True, bisect=False)
    assert (alone.layers, alone.promise, alone.falls_short) == (("P1",), Promise(), False)
    so = "  so         HEAD has the machine code of the first baseline, so the stack gives nothing"
    assert so in audit_lines(alone)
    assert "  without    P1: the same machine code; nothing was timed" in audit_lines(alone)
    stage.queue("P2", "slow 900000")
    assert run_experiment(stage.context(), "P2").record.verdict is Verdict.KEEP
    both = look(stage, leave_one_out=True, bisect=True)
    assert both.layers == ("P1", "P2")
    assert not both.falls_short
    assert both.bisection is not None
    assert both.bisection.culprit == ""


@pytest.mark.parametrize("culprit", [1, 2, 3, 4])
def test_a_kept_commit_that_lost_its_gain_is_found(culprit: int) -> None:
    stage = staged("slow 950000", "slow 900000", "slow 850000", "slow 800000")
    overstate(stage, f"P{culprit}", 20.0)
    found = look(stage, bisect=True)
    assert found.falls_short
    assert found.bisection is not None
    assert found.bisection.culprit == f"P{culprit}"
    assert len(found.bisection.probes) == 3
    own = found.bisection.own
    assert own is not None
    assert own.objective is not None
    assert own.objective.effect_percent == pytest.approx(5.75, abs=0.6)


def test_where_nothing_was_lost_one_probe_says_so() -> None:
    found = look(staged(), bisect=True)
    assert found.bisection is not None
    assert (found.bisection.culprit, len(found.bisection.probes)) == ("", 1)


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize(
    ("verdict", "so", "probe", "bisected"),
    [
        (Verdict.KEEP, "the stack gives what the records promise: measured", "the promise is kept", "nothing was lost"),
        (
            Verdict.INCONCLUSIVE,
            "no loss is shown, nor that there is none",
            "undecided, so no loss is shown",
            "no loss is shown",
        ),
        (Verdict.REJECT, "the stack gives less than the records promise: measured", "the promise is broken", "P2"),
    ],
)
def test_the_sentences_of_an_audit_follow_from_one_decision(
    verdict: Verdict, so: str, probe: str, bisected: str, short: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = look(staged(), bisect=True)
    assert plain.bisection is not None
    contest = replace(plain.bisection.probes[0].contest, verdict=verdict)
    probes = (replace(plain.bisection.probes[0], contest=contest, lost=verdict is Verdict.REJECT),)
    found = Bisection(probes=probes, culprit="P2" if verdict is Verdict.REJECT else "")
    monkeypatch.setattr(flow, "bisect", lambda *_: found)
    monkeypatch.setattr(flow, "falls_short", lambda *_: short)
    audited = look(staged(), bisect=True)
    assert audited.falls_short is (verdict is Verdict.REJECT)
    lines = [line[2:].split(maxsplit=1) for line in audit_lines(audited)]
    said = {words[0]: words[1] for words in lines}
    assert said["so"].startswith(so)
    assert next(words[1] for words in lines if words[0] == "bisect").endswith(f": {probe}")
    assert said["lost" if verdict is Verdict.REJECT else "bisect"].removeprefix("at").strip().startswith(bisected)
    assert ("less than they promised" in finding_text(audited)) is audited.falls_short


def test_what_was_measured_against_the_promise_says_so() -> None:
    stage = staged()
    look(stage, bisect=True)
    line = next(line for line in stage.progress.lines if "zero is as promised" in line)
    assert "(times are stretched by what of it is sure: zero is as promised): " in line
    assert " against +25.0" in line


def test_an_audit_is_kept_as_a_measured_finding_and_only_on_request() -> None:
    stage = staged()
    kept = record(stage.context(), FindingsEditor(), look(stage))
    (finding,) = stage.library.findings(stage.workspace.head())
    assert (kept.finding, finding.kind) == ("F1", "measured")
    assert finding.evidence == ("P1", "P2", kept.first, kept.head)
    assert finding.text.startswith(
        f"Audit of cpu, epoch 1: {kept.head[:12]} against the first baseline {kept.first[:12]} measures +25.0"
    )


def test_what_cannot_be_audited_is_refused_with_the_reason() -> None:
    with refuses("epoch-just-begun") as caught:
        look(Stage())
    assert caught.value.found == "nothing was measured there yet"
    rejected = Stage()
    rejected.queue("P1", "slow 1100000")
    run_experiment(rejected.context(), "P1")
    with refuses("nothing-landed"):
        look(rejected)
    harness = staged()
    harness.workspace.edit({"bench/new": b"another"})
    with refuses("epoch-just-begun") as caught:
        look(harness)
    assert caught.value.found.startswith("harness ")


def test_an_edit_of_the_protocol_that_leaves_figures_comparable_keeps_the_stack() -> None:
    stage = staged()
    stage.workspace.edit({"protocol.yaml": b"with another gate"})
    assert look(stage).layers == ("P1", "P2")
    stage.library.given_protocol = replace(
        PROTOCOL, targets={**PROTOCOL.targets, "cpu": replace(PROTOCOL.targets["cpu"], build=PROTOCOL.targets["guard"].build)}
    )
    assert look(stage).layers == ("P1", "P2")


def test_a_benchmark_that_fails_is_a_note() -> None:
    stage = staged()
    stage.steps.fails_measure = [Failed(reason="no device", fault=True)]
    found = look(stage)
    assert (found.whole.verdict, found.whole.note) == (None, "benchmark: no device")
    with refuses("audit-without-estimate"):
        record(stage.context(), FindingsEditor(), found)


def test_a_state_that_cannot_be_measured_is_neither_good_nor_bad() -> None:
    stage = staged("slow 950000", "slow 900000", "slow 850000", "slow 800000")
    overstate(stage, "P4", 20.0)
    stage.toolchains.refuses["cpu", "900000"] = "syntax"
    found = look(stage, bisect=True)
    assert found.bisection is not None
    assert found.bisection.culprit == ""
    assert found.bisection.stopped.endswith("does not build for cpu: syntax")
    assert audit_lines(found)[-2] == "  bisect     stopped without an answer"


def test_a_layer_that_costs_by_now_is_named_so() -> None:
    stage = staged()
    stage.workspace.edit({"src/kernel": b"slow 850000"}, "by hand")
    found = look(stage, leave_one_out=True)
    worth = [line for line in audit_lines(found) if line.startswith("  without")]
    assert worth[-1].endswith(" by hand: it gives -5.88 % [-5.91, -5.88], promised nothing here: it costs now")


def test_a_request_to_stop_keeps_nothing() -> None:
    stage = staged()
    stage.stops_after = 3
    with pytest.raises(Interrupted, match="stopped after round 4 of a comparison"):
        audit(stage.context(), Asked())
    assert (stage.workspace.check_outs, stage.locks.held, stage.gate.held) == (set(), False, False)


def test_the_confirmation_of_an_audit_begins_after_a_burn_in() -> None:
    stage, steady = Stage(), BurnIn(seconds=5.0, steady=True, clock_mhz=1755.0, temperature_c=61.0)
    target = PROTOCOL.targets["cpu"]
    assert target.benchmark is not None
    cpu = replace(target, benchmark=replace(target.benchmark, burn_in=BurnInRule()), number_kind=NumberKind.DEVICE_TIME)
    stage.library.given_protocol = replace(PROTOCOL, targets={**PROTOCOL.targets, "cpu": cpu})
    stage.steps.burn_ins = [steady, steady]
    stage.queue("P1", "slow 900000")
    assert run_experiment(stage.context(), "P1").record.verdict is Verdict.KEEP
    look(stage)
    assert [artifact for artifact, _ in stage.steps.burnt] == ["slow_1000000"] * 2, "one of the run, one of the audit"
