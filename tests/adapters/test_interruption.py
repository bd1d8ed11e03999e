"""Signals are taken when it is safe, and one that Python swallows is not lost."""

import contextlib
import os
import signal

import pytest

from expctl.adapters.interruption import Interruption, uninterrupted
from expctl.domain.errors import Interrupted


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_meanwhile_is_taken_afterwards(number: signal.Signals) -> None:
    reached = []

    def publish() -> None:
        with uninterrupted():
            os.kill(os.getpid(), number)
            reached.append("the end of the act")
        reached.append("beyond it")

    with Interruption() as interruption:
        with pytest.raises(Interrupted):
            publish()
        assert reached == ["the end of the act"]
        assert interruption.requested()


def test_an_abort_that_is_swallowed_still_asks_to_stop() -> None:
    with Interruption() as interruption:
        with contextlib.suppress(Interrupted):
            os.kill(os.getpid(), signal.SIGTERM)
        assert interruption.requested()
