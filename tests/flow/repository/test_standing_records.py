"""Records from before there were times by state get them from their samples, and status shows them."""

from typing import Any

import pytest
from msgspec.structs import replace

from expctl.adapters.codec.record_codec import record_bytes
from expctl.domain.experiment.proposal import Kind
from expctl.domain.experiment.record import Record
from expctl.flow.repository.standing_records import standing_records, with_times
from expctl.flow.run.experiment import run_experiment
from tests.fakes.stage import Stage


def concluded(kernel: str, **changes: Any) -> tuple[Stage, Record]:
    stage = Stage()
    stage.queue("P1", kernel, **changes)
    return stage, run_experiment(stage.context(), "P1").record


@pytest.mark.parametrize("kernel", ["slow 900000", "slow 1100000"], ids=["KEEP", "REJECT"])
def test_an_older_record_has_the_times_that_it_would_have_today(kernel: str) -> None:
    stage, record = concluded(kernel)
    (times,) = record.times
    assert times.states[0].candidate.ns == pytest.approx(float(kernel.split()[1]), rel=0.01)
    older = replace(record, times=())
    assert with_times(stage.library, stage.workspace.head(), older) == record
    head = stage.workspace.head()
    stage.workspace.edit({"experiments/P1/record.json": record_bytes(older)}, "an older record")
    assert stage.workspace.head() != head
    assert standing_records(stage.library, stage.workspace.head(), ["P1"]) == {"P1": record}


def test_damaged_samples_leave_an_older_record_as_it_is() -> None:
    stage, record = concluded("slow 900000")
    older = replace(record, times=())
    lines = stage.workspace.commits[stage.workspace.head()].files["experiments/P1/samples.jsonl"].splitlines(keepends=True)
    for damaged in (b"{\n", lines[0].replace(b'"ns":[', b'"ns":[0,')):
        stage.workspace.edit({"experiments/P1/samples.jsonl": damaged}, "damaged")
        assert with_times(stage.library, stage.workspace.head(), older) == older


def test_what_was_not_timed_gets_no_times_and_no_samples_are_read() -> None:
    stage, record = concluded("slow 1000000 # less", kind=Kind.SIMPLIFY)
    assert with_times(stage.library, "no such commit", record) == record
    _, timed = concluded("slow 900000")
    assert with_times(stage.library, "no such commit", timed) == timed
