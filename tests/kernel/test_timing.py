"""A request whose clocks differ is timed again, and the last counts."""

from __future__ import annotations

import pytest

from expctl.harness.clock_check import ClockCheck
from expctl.harness.report import BuildFailed
from kernel.harness import reference
from kernel.harness.outside_clock import OutsideClock
from kernel.harness.timing import TimedSize

ALLOWED_NS = 1_000_000
HONEST, DISTURBED, OTHER = ((700, 66_000), 90_000, 3), ((700, 66_000), 3_500_000, 3), ((701, 66_001), 95_000, 3)


class Answered(TimedSize):
    """Its launches take what it was told that they take: ns of each, ns from outside, batches."""

    def __init__(self, *answers: tuple[tuple[int, ...], int, int]) -> None:
        self._clock_check, self._answers = ClockCheck(ALLOWED_NS), list(answers)
        self._sampled, self._whole = [], None

    def _launched(self, iterations: int) -> tuple[tuple[int, ...], int, int]:  # noqa: ARG002
        return self._answers.pop(0)


def test_where_the_clocks_agree_the_first_counts() -> None:
    size = Answered(HONEST, OTHER)
    assert size.time(2).ns == HONEST[0]
    size.check(reference.Limits())


def test_a_disturbed_host_costs_one_more_request() -> None:
    size = Answered(DISTURBED, OTHER)
    assert size.time(2).ns == OTHER[0]
    size.check(reference.Limits())


def test_a_host_may_be_disturbed_five_times_in_a_row() -> None:
    size = Answered(*[DISTURBED] * 5, OTHER)
    assert size.time(2).ns == OTHER[0]
    size.check(reference.Limits())


def test_who_hides_work_in_each_try_is_blamed() -> None:
    size = Answered(*[DISTURBED] * 6, HONEST)
    size.time(2)
    with pytest.raises(BuildFailed, match="a timed request took 67 us; 3433 us more were seen from outside"):
        size.check(reference.Limits())


def test_a_second_request_is_made_again_once_alone() -> None:
    """Else a build could have each slow request made again, by burning time, until one is quick."""
    longer = (HONEST[0], 9_000_000, 3)
    size = Answered(*[longer] * 3, OTHER, longer, longer, HONEST)
    assert size.time(2).ns == OTHER[0]
    size.time(2)
    with pytest.raises(BuildFailed, match="by its own clock"):
        size.check(reference.Limits())


class NeverCharged:
    """A supervisor whose host has stolen all of its worker's time."""

    def cpu_time_ns(self) -> int:
        return 7

    def ask(self, _: str, **__: object) -> dict[str, object]:
        return {"buffers": 1}

    def go(self, _: bytes) -> tuple[None, int]:
        return None, 1


def test_a_request_that_was_charged_nothing_is_no_failure() -> None:
    clock = OutsideClock(NeverCharged(), "cpu")  # type: ignore[arg-type]
    clock.start()
    assert clock.outside_ns([]) == 1
