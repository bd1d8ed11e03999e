"""Say on a terminal what is under way when a command takes long: one live line on standard error, from ten seconds on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from expctl.views.live_line import LiveLine, bears_live_line
from expctl.views.progress_words import step_words

SILENT_S = 10.0
EVERY_S = 1.0


@contextmanager
def told_when_slow(
    verb: str, stream: TextIO, *, silent_s: float = SILENT_S, every_s: float = EVERY_S
) -> Iterator[Callable[[str], None]]:
    """Give a function that takes what is under way now, such as `order 1 of 3`. After `silent_s` seconds the newest of it is
    drawn on `stream`, with the time since the first, again every `every_s` seconds until the block ends; it leaves nothing
    there. Nothing is drawn where `stream` is no terminal.
    """
    if not bears_live_line(stream):
        yield lambda _: None
        return
    live, ended = LiveLine(stream), threading.Event()
    newest: list[str] = []
    begun_s = time.monotonic()

    def draw() -> None:
        pause_s = silent_s
        while not ended.wait(pause_s):
            live.draw(step_words(verb, newest[-1], time.monotonic() - begun_s))
            pause_s = every_s

    thread = threading.Thread(target=draw, daemon=True)

    def tell(text: str) -> None:
        newest[:] = [text]
        if thread.ident is None:
            thread.start()

    try:
        yield tell
    finally:
        ended.set()
        if thread.ident is not None:
            thread.join()
        live.wipe()
