"""No difference is ever computed between two devices, whatever the order in which they speak, and whoever passes samples on."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Kind
from expctl.domain.run.events import Measured
from expctl.domain.verdict.judge import judge
from expctl.domain.verdict.samples import MalformedRound, Sample, Side, round_effects
from expctl.domain.verdict.sequential_test import Decision
from expctl.ports.fleet import Finished, Lost, Told
from tests.domain.verdict.made_samples import concluded, plan, sizes
from tests.fleet.test_strays import WALLS, attempts_at, workers_with

PLAN = plan(sizes(n=1.0))
DEVICES = ("a", "b", "stranger")


def times(side: Side, size: str, number: int, launch: int) -> list[int]:  # noqa: ARG001  the signature of `Times`
    return [1_000_000 + 997 * ((7 * number + launch) % 5) - 30_000 * (side is Side.CANDIDATE)] * 10


MEASURED = tuple(concluded(PLAN, times)[1])


@given(others=st.sets(st.integers(0, len(MEASURED) - 1), min_size=1, max_size=len(MEASURED) - 1))
def test_samples_of_two_devices_give_no_difference(others: set[int]) -> None:
    mixed = [replace(sample, device="b" if place in others else "a") for place, sample in enumerate(MEASURED)]
    with pytest.raises(MalformedRound, match="two devices: a, b"):
        round_effects(mixed)
    with pytest.raises(MalformedRound, match="two devices: a, b"):
        judge(mixed, PLAN, Kind.PERF)


@given(device=st.text(max_size=9))
def test_which_device_it_was_changes_no_verdict(device: str) -> None:
    told = judge([replace(sample, device=device) for sample in MEASURED], PLAN, Kind.PERF)
    assert isinstance(told, Decision)
    assert told == judge(MEASURED, PLAN, Kind.PERF)


WORDS = st.one_of(
    st.builds(
        lambda device, attempt, number, seen: Told(
            device=device, id="P1", attempt=attempt, number=number, event=Measured(round=number, samples=(_of(seen),))
        ),
        device=st.sampled_from(DEVICES),
        attempt=st.integers(0, 3),
        number=st.integers(0, 4),
        seen=st.sampled_from(DEVICES),
    ),
    st.builds(lambda device: Lost(device=device, why="gone"), device=st.sampled_from(DEVICES)),
    st.builds(
        lambda device, attempt: Finished(device=device, id="P1", attempt=attempt, judged=WALLS),
        device=st.sampled_from(DEVICES),
        attempt=st.integers(0, 3),
    ),
)


def _of(device: str) -> Sample:
    return replace(MEASURED[0], device=device)


@given(words=st.lists(WORDS, max_size=25))
def test_an_attempt_has_the_blocks_of_its_own_device_alone(words: list[Told | Lost | Finished]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        attempts = attempts_at(Path(folder))
        workers = workers_with(attempts)
        workers.schedule.offer("b")
        for word in words:
            list(workers.hear(word))
            workers.assign()
        for number in range(1, attempts.last("P1") + 1):
            attempt = attempts.read("P1", number)
            blocks = [event for event in attempt.run if isinstance(event, Measured)]
            assert {sample.device for block in blocks for sample in block.samples} <= {attempt.assigned.device}
