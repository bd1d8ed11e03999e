"""Ctrl-C: once asks to stop after the step, twice aborts. TERM and HUP abort at once."""

import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from expctl.domain.errors import Interrupted

AGAIN_S = 1.0
"""A stop this soon after an abort is the same one: it would meet the words for it, or what it has to clear."""

STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Signals that come meanwhile are taken afterwards. Children started meanwhile don't take them either."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Interruption:
    """Installs the handlers while it is entered. `then` is what is said after an abort."""

    def __init__(self, then: str = "expctl run goes on from the last whole step", *, again_s: float = AGAIN_S) -> None:
        self._then, self._again_s = then, again_s
        self._asked = False
        self._aborted_s = -again_s
        self._left = False
        self._hook = sys.unraisablehook
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Interruption":
        for number in STOPS:
            self._before[number] = signal.signal(number, self._handle)
        self._hook, sys.unraisablehook = sys.unraisablehook, self._drop
        return self

    def __exit__(self, *_: object) -> None:
        self._left = True
        sys.unraisablehook = self._hook
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def requested(self) -> bool:
        """Was a stop asked for?"""
        return self._asked

    def _drop(self, dropped: "sys.UnraisableHookArgs") -> None:
        """An abort that came where Python can't raise (a finaliser, a hook of fork) is no traceback: the end of the step is the
        next chance.
        """
        if not isinstance(dropped.exc_value, Interrupted):
            self._hook(dropped)

    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002  the signature of a handler
        now_s = time.monotonic()
        if now_s - self._aborted_s < self._again_s:
            return
        if number == signal.SIGINT and not self._asked and not self._left:
            self._asked = True
            print("\nstopping after this step; Ctrl-C again aborts it", file=sys.stderr)
            return
        self._aborted_s = now_s
        if self._left:
            raise KeyboardInterrupt
        self._asked = True  # for what `_drop` drops
        raise Interrupted(f"aborted; {self._then}")
