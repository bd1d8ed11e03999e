"""A wait is shown, and the first Ctrl-C ends it."""

import pytest

from expctl.adapters.machine.waiter import Waiter
from expctl.domain.errors import Interrupted
from expctl.domain.machine.waiting import Wait
from expctl.domain.protocol.model import Gate
from tests.fakes.run import FakeProgress

WAIT = Wait(what="a quiet machine", waited_s=1, at_most_s=60)


def test_a_request_to_stop_ends_the_wait() -> None:
    progress, asked = FakeProgress(), [False, True]
    waiter = Waiter(progress, lambda: asked.pop(0))
    waiter.told(WAIT)
    assert progress.lines == ["waits for a quiet machine"]
    with pytest.raises(Interrupted, match="stopped while waiting for a quiet machine"):
        waiter.told(WAIT)


def test_the_user_may_be_more_patient_than_the_protocol() -> None:
    assert Waiter(FakeProgress(), wait_s=600).rule(Gate()).wait_s == 600
    assert Waiter(FakeProgress()).rule(Gate(wait_s=7)).wait_s == 7
