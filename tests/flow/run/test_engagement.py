"""A kernel that protocol.yaml names must have run in the model before anything is timed; what a cold cache cost is kept."""

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.machine.first_run import FirstRun
from expctl.domain.run.step_result import Failed
from expctl.flow.run.experiment import Outcome, run_experiment
from expctl.views.report import record_lines
from tests.fakes.stage import PROTOCOL, Stage


def staged(*engaged: str, ran: dict[str, int] | None = None) -> Stage:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    stage.profiles.ran = ran or {}
    cpu = replace(PROTOCOL.targets["cpu"], engaged=engaged)
    stage.library.given_protocol = replace(PROTOCOL, targets={**PROTOCOL.targets, "cpu": cpu})
    return stage


def run(stage: Stage) -> Outcome:
    return run_experiment(stage.context(), "P1")


RAN = {"flash_fwd_kernel": 12, "aten::mm": 40}


def test_a_kernel_that_ran_is_named_and_the_candidate_is_timed() -> None:
    stage = staged("*flash*", "aten::mm", ran=RAN)
    record = run(stage).record
    assert record.verdict is Verdict.KEEP
    assert record.test is not None
    assert record.test.summary.endswith("; engaged: flash_fwd_kernel 12 calls, aten::mm 40 calls")
    assert stage.profiles.forgotten[0] == "cpu"


@pytest.mark.parametrize("pattern", ["*paged*", "flash", "*Flash*"])
def test_a_kernel_that_did_not_run_rejects_before_any_timing(pattern: str) -> None:
    stage = staged("*flash*", pattern, ran=RAN)
    record = run(stage).record
    said = f"no kernel like {pattern} ran in the model; most time went to flash_fwd_kernel, aten::mm; nothing was timed"
    assert record.verdict is Verdict.REJECT
    assert said in record.reasons[0]
    assert stage.steps.measured == []


@pytest.mark.parametrize("how", ["fails", "unreadable", "empty"])
def test_a_profile_that_tells_nothing_is_nobodys_verdict(how: str) -> None:
    stage = staged("*flash*", ran={} if how == "empty" else RAN)
    if how == "fails":
        stage.steps.profile_answer = Failed(reason="no torch")
    if how == "unreadable":
        stage.profiles.damaged = {0: "cut off"}
    record = run(stage).record
    assert record.verdict is Verdict.INVALID
    assert "no profile tells which kernels ran" in record.reasons[0]
    assert stage.steps.measured == []


def test_without_names_nothing_is_profiled_before_timing() -> None:
    stage = staged()
    assert run(stage).record.verdict is Verdict.KEEP
    assert len(stage.steps.profiled) == 2  # both sides, after the KEEP


def test_the_record_says_what_a_cold_cache_cost() -> None:
    stage = staged()
    stage.steps.first_runs = [FirstRun(side="baseline", cold_s=84.1, warm_s=6.2)]
    record = run(stage).record
    assert record.first_runs == (FirstRun(side="baseline", cold_s=84.1, warm_s=6.2),)
    said = "baseline: ready after 84.1 s with a cold cache, 6.2 s with a warm one; timed warm"
    assert any(said in line for line in record_lines(record))
