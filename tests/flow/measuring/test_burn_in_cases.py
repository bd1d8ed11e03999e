"""When a GPU is burnt in, by docs/HARNESS.md, "The burn-in": before a confirmation and no search, and it decides nothing."""

import pytest
from msgspec.structs import replace

from expctl.domain.errors import Busy
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.machine.burn_in import BurnIn
from expctl.domain.protocol.inconsistencies import inconsistencies
from expctl.domain.protocol.model import BurnInRule, NumberKind, Protocol
from expctl.flow.audit.commit_comparison import compare_commits
from expctl.flow.measuring.setup import Setup
from expctl.flow.run.experiment import run_experiment
from tests.fakes.run import Crash
from tests.fakes.stage import BENCHMARK, PROTOCOL, Stage

STEADY = BurnIn(seconds=14.0, steady=True, clock_mhz=1755, temperature_c=61)
ENDS = {
    "steady": (STEADY, "at 1,755 MHz, 61 C, after 14 s"),
    "never steady": (replace(STEADY, steady=False, seconds=60.0), "at 1,755 MHz, 61 C, not steady after 60 s"),
    "no sensor": (BurnIn(seconds=5.0, trouble="no sensor read them for 5 s"), "at an unknown clock and temperature"),
    "a worker that fails": (BurnIn(seconds=1.0, trouble="baseline: no device"), "at an unknown clock and temperature"),
}


def on_a_gpu(rule: BurnInRule | None = BurnInRule(), timeout_s: float = 900, wall: bool = False) -> Protocol:  # noqa: B008
    benchmark = replace(BENCHMARK, burn_in=rule, timeout_s=timeout_s)
    kind = NumberKind.WALL_TIME if wall else NumberKind.DEVICE_TIME
    cpu = replace(PROTOCOL.targets["cpu"], benchmark=benchmark, number_kind=kind)
    return replace(PROTOCOL, targets={**PROTOCOL.targets, "cpu": cpu})


def staged(kernel: str, *ends: BurnIn | BaseException) -> Stage:
    stage = Stage()
    stage.queue("P1", kernel)
    stage.library.given_protocol = on_a_gpu()
    stage.steps.burn_ins = list(ends)
    return stage


@pytest.mark.parametrize("name", ENDS)
def test_however_it_ends_the_verdict_is_the_same_and_the_record_says_how(name: str) -> None:
    end, words = ENDS[name]
    plain = Stage()
    plain.queue("P1", "slow 900000")
    stage = staged("slow 900000", end)
    without, record = (run_experiment(each.context(), "P1").record for each in (plain, stage))
    assert (record.verdict, record.estimates) == (Verdict.KEEP, without.estimates)
    assert (without.burn_ins, record.burn_ins) == ((), (end,))
    assert str(end).startswith(words)
    assert stage.steps.measured == plain.steps.measured
    assert any(line.startswith("burn-in") and words in line for line in stage.progress.lines)


@pytest.mark.parametrize("kernel", ["slow 1100000", "slow 1000001", "slow 1000000 # the same code"])
def test_without_a_confirmation_there_is_none(kernel: str) -> None:
    stage = staged(kernel)
    assert run_experiment(stage.context(), "P1").record.burn_ins == ()
    assert stage.steps.burnt == []


def test_it_comes_between_search_and_confirmation() -> None:
    stage = staged("slow 900000", STEADY)
    procedure = run_experiment(stage.context(), "P1").record.procedure
    assert procedure is not None
    assert stage.steps.burnt == [("slow_1000000", procedure.search_rounds)]
    assert procedure.confirm_rounds > 0


def test_a_busy_machine_in_it_leaves_the_run_to_go_on() -> None:
    stage = staged("slow 900000", Busy("the machine is not quiet", code="machine-not-quiet"), STEADY)
    with pytest.raises(Busy):
        run_experiment(stage.context(), "P1")
    rounds = len(stage.steps.measured)
    record = run_experiment(stage.context(), "P1").record
    assert (record.verdict, record.burn_ins) == (Verdict.KEEP, (STEADY,))
    assert stage.steps.measured[:rounds] == list(range(rounds))
    assert len(set(stage.steps.measured)) == len(stage.steps.measured)


def test_each_break_of_a_confirmation_needs_another() -> None:
    ends = [replace(STEADY, seconds=float(number)) for number in range(6, 10)]
    stage = staged("slow 900000", *ends)
    for crash_at in (15, 17, 19):
        stage.journal.crash_at = crash_at
        with pytest.raises(Crash):
            run_experiment(stage.context(), "P1")
    record = run_experiment(stage.context(), "P1").record
    assert record.verdict is Verdict.KEEP
    assert record.burn_ins == tuple(ends[: len(record.burn_ins)])
    assert len(record.burn_ins) >= 3


def test_an_audit_is_burnt_in_as_a_run_would_be() -> None:
    """docs/EPOCHS.md: it measures as a run would. (docs/HARNESS.md says: not in `audit` and blind slots.)"""
    stage = staged("slow 900000", STEADY)
    context, base = stage.context(), stage.workspace.head()
    faster = stage.workspace.edit({"src/kernel": b"slow 900000"})
    protocol = context.library.protocol(base)
    setup = Setup(context=context, protocol=protocol, tools=context.tools_for(protocol, ""), head=faster, name="cpu")
    assert compare_commits(setup, base, faster, name="stack").verdict is Verdict.KEEP
    assert [build for build, _ in stage.steps.burnt] == ["slow_1000000"]


FAULTS: dict[str, tuple[Protocol, str]] = {
    "all as it should be": (on_a_gpu(), ""),
    "no key": (on_a_gpu(None, wall=True), ""),
    "a window as long as the time": (on_a_gpu(BurnInRule(most_s=5, window_s=5)), ""),
    "a target without a GPU": (on_a_gpu(wall=True), "burn_in: expected none"),
    "a window longer than the time": (on_a_gpu(BurnInRule(most_s=5, window_s=5.5)), "window_s"),
    "a time longer than the benchmark's": (on_a_gpu(timeout_s=59), "most_s"),
    "no time": (on_a_gpu(BurnInRule(most_s=0, window_s=0)), "most_s"),
    "no window": (on_a_gpu(BurnInRule(window_s=0)), "window_s"),
    "a limit below zero": (on_a_gpu(BurnInRule(clock_percent=-1)), "clock_percent"),
    "a temperature below zero": (on_a_gpu(BurnInRule(temperature_c=-1)), "temperature_c"),
    "a clock that is no number": (on_a_gpu(BurnInRule(clock_percent=float("nan"))), "clock_percent"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_key(name: str) -> None:
    protocol, fault = FAULTS[name]
    found = [each for each in inconsistencies(protocol) if "burn_in" in each]
    assert bool(found) is bool(fault), found
    assert not fault or any(fault in each for each in found)
