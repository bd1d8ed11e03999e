"""By how much a build's clock may differ from what is seen from outside."""

from __future__ import annotations

import pytest

from expctl.harness.clock_check import ClockCheck
from expctl.harness.report import BuildFailed

ALLOWED_NS = 400_000
TOLD_NS, ASKING_NS, LIE_NS = 1_000_000, 30_000, 700_000


def settled(*hidden_ns: int) -> None:
    clock_check = ClockCheck(ALLOWED_NS)
    for each in hidden_ns:
        clock_check.add(TOLD_NS, TOLD_NS + each, 1)
    clock_check.check()


def test_asking_is_no_lie() -> None:
    settled(*[ASKING_NS] * 2)
    settled(*[ASKING_NS] * 200)
    settled(-5_000_000, *[ASKING_NS] * 20)


def test_an_interrupt_that_met_one_visit_of_many_is_no_lie() -> None:
    settled(200 * ALLOWED_NS, *[ASKING_NS] * 15)
    settled(200 * ALLOWED_NS, *[ASKING_NS] * 5)


@pytest.mark.parametrize("visits", [1, 2, 15])
def test_a_clock_that_is_slow_in_each_visit(visits: int) -> None:
    with pytest.raises(BuildFailed, match="700 us more were seen from outside") as raised:
        settled(*[LIE_NS] * visits)
    assert raised.value.repeat


def test_of_few_visits_each_counts() -> None:
    """A launch on a GPU has two, of one iteration and of ten: work on another stream hides most in the second."""
    with pytest.raises(BuildFailed, match="by its own clock"):
        settled(ALLOWED_NS // 2, 10 * ALLOWED_NS)


def test_a_request_that_differs_is_told_from_one_that_agrees() -> None:
    clock_check = ClockCheck(ALLOWED_NS)
    assert clock_check.agree(TOLD_NS, TOLD_NS + ALLOWED_NS + TOLD_NS // 100, 1)
    assert not clock_check.agree(TOLD_NS, TOLD_NS + ALLOWED_NS + TOLD_NS // 100 + 1, 1)
    assert clock_check.agree(TOLD_NS, TOLD_NS + 2 * ALLOWED_NS, 2)
    assert clock_check.agree(TOLD_NS, 0, 1)
