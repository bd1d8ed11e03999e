"""Handle signals: the first Ctrl-C asks to stop after the present step, a second one aborts; TERM and HUP abort at once."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from threading import Timer
from types import FrameType
from typing import Any

from expctl.domain.errors import Interrupted

AGAIN_S = 1.0
"""Signals that come sooner after an abort are ignored, so that they don't interrupt its cleaning up."""

DROPPED_S = 0.05
"""So long after Python dropped an abort it is raised again."""

WIPE = "\r\x1b[K"
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay INT, TERM and HUP until the end of the block. Children started in it inherit the blocked signals."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Interruption:
    """Handles signals in a `with` block: the first Ctrl-C only sets `requested`; a second one, TERM and HUP raise Interrupted.
    `then` is the sentence that tells the user how to go on.
    """

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
        """Return whether Ctrl-C was pressed or Interrupted was raised in the block."""
        return self._asked

    def _drop(self, dropped: "sys.UnraisableHookArgs") -> None:
        # Python can't raise an abort in a finaliser or a hook of fork: no traceback, and it is raised again.
        if not isinstance(dropped.exc_value, Interrupted):
            self._hook(dropped)
            return
        again = Timer(DROPPED_S, self._raise_again)
        again.daemon = True
        with uninterrupted(), contextlib.suppress(RuntimeError):  # Python is ending, and starts no threads any more
            again.start()

    def _raise_again(self) -> None:
        if not self._left:
            self._aborted_s = -self._again_s
            os.kill(os.getpid(), signal.SIGINT)

    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002  the signature of a handler
        now_s = time.monotonic()
        if now_s - self._aborted_s < self._again_s:
            return
        if number == signal.SIGINT and not self._asked and not self._left:
            self._asked = True
            begins = WIPE if sys.stderr.isatty() else "\n"  # of a terminal's line: the echoed ^C and what stood before it
            print(f"{begins}stopping after this step; press Ctrl-C again to abort the step", file=sys.stderr)
            return
        self._aborted_s = now_s
        if self._left:
            raise KeyboardInterrupt
        self._asked = True  # a step that ends before a dropped abort is raised again is the last one
        raise Interrupted(f"aborted; {self._then}")
