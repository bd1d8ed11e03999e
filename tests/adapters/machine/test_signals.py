"""Signals are taken when it is safe, and one that Python swallows is not lost."""

import contextlib
import os
import signal
import sys
import threading
import time

import pytest

from expctl.adapters.machine.signals import Interruption, uninterrupted
from expctl.domain.errors import Interrupted


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_meanwhile_is_taken_afterwards(number: signal.Signals) -> None:
    reached = []
    main = threading.main_thread().ident
    assert main is not None

    def publish() -> None:
        with uninterrupted():
            signal.pthread_kill(main, number)  # the test's runner may have other threads
            reached.append("the end of the act")
        reached.append("beyond it")

    with Interruption() as signals:
        with pytest.raises(Interrupted):
            publish()
        assert reached == ["the end of the act"]
        assert signals.requested()


def test_a_third_stop_in_quick_succession_is_the_second() -> None:
    reached = []

    def aborted() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        try:
            os.kill(os.getpid(), signal.SIGINT)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGTERM)
            reached.append("what clears up")

    with Interruption(), pytest.raises(Interrupted):
        aborted()
    assert reached == ["what clears up"]


def test_a_stop_that_comes_later_still_aborts_what_clears_up() -> None:
    with Interruption(again_s=0.0):
        with pytest.raises(Interrupted):
            os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(Interrupted):
            os.kill(os.getpid(), signal.SIGINT)


def test_an_abort_that_is_swallowed_still_asks_to_stop() -> None:
    with Interruption() as signals:
        with contextlib.suppress(Interrupted):
            os.kill(os.getpid(), signal.SIGTERM)
        assert signals.requested()


def test_an_abort_in_a_finaliser_is_raised_soon_after_and_shows_no_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    class Finalised:
        def __init__(self, error: type[BaseException] | None = None) -> None:
            self.error = error

        def __del__(self) -> None:
            if self.error:
                raise self.error
            os.kill(os.getpid(), signal.SIGTERM)

    hook = sys.unraisablehook
    sys.unraisablehook = sys.__unraisablehook__
    try:
        with Interruption() as signals:
            Finalised()
            with pytest.raises(Interrupted):
                time.sleep(10)
            assert signals.requested()
            assert capfd.readouterr().err == ""
            Finalised(ValueError)
            assert "ValueError" in capfd.readouterr().err
        assert sys.unraisablehook is sys.__unraisablehook__
    finally:
        sys.unraisablehook = hook
