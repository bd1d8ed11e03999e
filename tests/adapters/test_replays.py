"""Records of a world of fakes, decided again from their samples."""

import json

import pytest
from fakes import PROTOCOL, Stage

from expctl.adapters.record_codec import samples_of, with_parts
from expctl.domain.experiment import Kind, Mode, Verdict
from expctl.domain.measurement import Sample
from expctl.domain.record import Record
from expctl.domain.replay import UnplayableError, replayed, was_decided_by_samples
from expctl.flow.run import run_experiment

BENCHMARK = PROTOCOL.targets["cpu"].benchmark
assert BENCHMARK is not None


def concluded(kernel: str, **changes: object) -> tuple[Record, bytes, tuple[Sample, ...]]:
    stage = Stage()
    stage.queue("P1", kernel, **changes)
    record = run_experiment(stage.world(), "P1").record
    files = stage.workspace.commits[stage.workspace.head()].files
    return record, files["experiments/P1/record.json"], samples_of(files["experiments/P1/samples.jsonl"], where="samples")


CASES: dict[str, tuple[str, dict[str, object]]] = {
    "KEEP": ("slow 900000", {}),
    "REJECT": ("slow 1100000", {}),
    "analysis": ("slow 1100000", {"kind": Kind.ANALYSIS}),
    "simplify": ("slow 1001000", {"kind": Kind.SIMPLIFY, "mode": Mode.SIMPLIFY}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_record_is_what_its_samples_say(name: str) -> None:
    kernel, changes = CASES[name]
    record, text, samples = concluded(kernel, **changes)
    again = replayed(record, record.kind, Mode.GAIN, samples, BENCHMARK, PROTOCOL.keep)
    assert again.rule == "1"
    assert with_parts(text, again.parts) == text


def test_a_record_that_was_edited_differs() -> None:
    record, text, samples = concluded("slow 1100000")
    forged = json.dumps({**json.loads(text), "verdict": "KEEP"}, indent=1).encode() + b"\n"
    again = replayed(record, record.kind, Mode.GAIN, samples, BENCHMARK, PROTOCOL.keep)
    assert again.parts["verdict"] is Verdict.REJECT
    assert with_parts(forged, again.parts) == text != forged


def test_samples_that_lack_their_last_round_decide_nothing() -> None:
    record, _, samples = concluded("slow 900000")
    fewer = [sample for sample in samples if sample.round < 22]
    with pytest.raises(UnplayableError, match="1 rounds of the confirm are missing"):
        replayed(record, record.kind, Mode.GAIN, fewer, BENCHMARK, PROTOCOL.keep)


def test_what_was_not_measured_was_not_decided_by_samples() -> None:
    stage = Stage()
    stage.queue("P1", "slow 1000000 # comment")
    assert not was_decided_by_samples(run_experiment(stage.world(), "P1").record)
