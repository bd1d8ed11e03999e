"""Comparing with rivals in a world of fakes: what is committed, what is refused, what holds the machine."""

import pytest
from msgspec.structs import replace

from expctl.domain.errors import Busy, Refused
from expctl.domain.experiment.rivals import Rival, RivalReport, RivalSize, Role
from expctl.domain.protocol.inconsistencies import inconsistencies
from expctl.domain.protocol.model import Protocol
from expctl.domain.protocol.step import Step
from expctl.domain.run.step_result import Failed
from expctl.flow.measuring.rivals import compare_rivals, newest_rivals
from expctl.flow.repository.ledger_inputs import read_ledger
from tests.fakes.stage import PROTOCOL, STEP, Stage
from tests.refusals import refuses

ENTRIES = (Rival(name="ours", role=Role.OURS, ns=(2.0,)), Rival(name="naive", role=Role.RIVAL, ns=(3.0,)))
REPORT = RivalReport(sizes=(RivalSize(name="n", flop=1000, entries=ENTRIES),), environment={"torch": "2.13"})


def with_step(step: Step | None = STEP) -> Protocol:
    return replace(PROTOCOL, targets={**PROTOCOL.targets, "cpu": replace(PROTOCOL.targets["cpu"], rivals=step)})


def staged() -> Stage:
    stage = Stage()
    stage.library.given_protocol = with_step()
    stage.profiles.compared = REPORT
    return stage


def test_what_was_found_is_committed_with_the_ledger_and_the_machine_is_free_again() -> None:
    stage = staged()
    before = stage.workspace.head()
    compared = compare_rivals(stage.context())
    rivals = compared.rivals
    assert (stage.workspace.head(), stage.workspace.parent(compared.commit)) == (compared.commit, before)
    assert (rivals.head, rivals.target, rivals.sizes) == (before, "cpu", REPORT.sizes)
    assert rivals.environment.items() >= {"machine": "fake", "cc": "1.0", "torch": "2.13"}.items()
    files = stage.workspace.commits[compared.commit].files
    assert {rivals.path, "ledger.md"} <= files.keys()
    assert stage.library.rivals(compared.commit) == (rivals,)
    (cpu, _) = read_ledger(stage.library, compared.commit).targets
    assert cpu.rivals == rivals
    assert newest_rivals(stage.context()) == newest_rivals(stage.context(), target="cpu") == rivals
    assert stage.steps.passes == [("baseline", "run")]
    assert (stage.gate.holds, stage.gate.held, stage.workspace.check_outs, stage.profiles.forgotten) == (
        1,
        False,
        set(),
        ["cpu"],
    )


def test_a_target_has_one_row_however_often_it_is_measured() -> None:
    stage = staged()
    compare_rivals(stage.context())
    stage.profiles.compared = replace(REPORT, environment={"torch": "2.14"})
    second = compare_rivals(stage.context()).rivals
    assert second.environment["torch"] == "2.14"
    assert [each.rivals for each in read_ledger(stage.library, stage.workspace.head()).targets if each.rivals] == [second]


@pytest.mark.parametrize("fault", ["build", "script", "report"])
def test_what_can_not_be_measured_is_quoted_and_nothing_is_committed(fault: str) -> None:
    stage = staged()
    failed = Failed(reason="no torch here")
    if fault == "build":
        stage.toolchains.refuses["cpu", ""] = failed.reason
    elif fault == "script":
        stage.steps.profile_answer = failed
    else:
        stage.profiles.compared = failed
    before = dict(stage.workspace.refs)
    with refuses("rivals-failed") as caught:
        compare_rivals(stage.context())
    assert caught.value.found == "no torch here"
    assert stage.workspace.refs == before
    assert (stage.gate.held, stage.workspace.check_outs) == (False, set())


def test_a_busy_machine_and_a_target_without_a_step_are_refused() -> None:
    stage = staged()
    stage.gate.busy = True
    with refuses("machine-not-quiet", Busy):
        compare_rivals(stage.context())
    with refuses("rivals-not-described"):
        compare_rivals(stage.context(), target="other")
    with refuses("target-does-not-decide"):
        compare_rivals(stage.context(), target="guard")


def test_without_any_the_newest_say_what_to_type() -> None:
    stage = staged()
    for target, hint in (("", "expctl rivals"), ("cpu", "expctl rivals --target cpu")):
        with pytest.raises(Refused) as caught:
            newest_rivals(stage.context(), target=target)
        assert (caught.value.code, caught.value.hint) == ("rivals-not-measured", hint)


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        (STEP, ""),
        (replace(STEP, argv=()), "rivals.argv: expected a command"),
        (replace(STEP, timeout_s=0), "rivals.timeout_s: expected more than 0"),
        (replace(STEP, counters=("SQ_WAVES",)), "rivals.counters: expected none"),
    ],
)
def test_the_key(step: Step, fault: str) -> None:
    found = [each for each in inconsistencies(with_step(step)) if "rivals" in each]
    assert bool(found) is bool(fault)
    assert all(fault in each for each in found)
