"""The option `--watch` of `expctl status`: the state of things on one screen that follows it, or as lines in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expctl.adapters.git.reader import Place
    from expctl.flow.live import Live

LOOKS_EVERY_S = 1.0
GATE_EVERY_S = 5.0
"""How often the gate is looked at where nothing else has changed; never while launches are timed."""


class LiveState:
    """Reads the state of the repository when something has changed, and otherwise the gate now and then."""

    def __init__(self, place: Place, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._place, self._clock_s = place, clock_s
        self._activity: tuple[object, ...] | None = None
        self._live: Live | None = None
        self._read_s = self._changed_s = clock_s()

    def look(self) -> Live | None:
        """Return the newest state; while it can't be read, because a file is just being replaced, the one before."""
        from expctl import wiring
        from expctl.domain.errors import Refused

        activity, now_s = wiring.activity(self._place), self._clock_s()
        changed = activity != self._activity
        due = now_s - self._read_s >= GATE_EVERY_S and not (self._live is not None and self._live.timed)
        if changed or due or self._live is None:
            try:
                self._live = wiring.live(self._place)
            except (Refused, OSError):
                if self._live is None:
                    raise
                return self._live
            self._activity, self._read_s = activity, now_s
            self._changed_s = now_s if changed else self._changed_s
        return self._live

    @property
    def passed_s(self) -> float:
        """Seconds since the run got on last."""
        return self._clock_s() - self._changed_s


def watch(place: Place) -> None:
    """Show the state of things until Ctrl-C ends it, with status 0. A terminal gets one screen, a pipe a line a change."""
    import contextlib

    from expctl.views.live_line import bears_live_line

    state = LiveState(place)
    with contextlib.suppress(KeyboardInterrupt):
        (_screen if bears_live_line(sys.stdout) else _lines)(state)


def _screen(state: LiveState) -> None:
    import os

    from rich.console import Console
    from rich.live import Live as Screen
    from rich.text import Text

    from expctl.cli.night.screen import watch_words

    console = Console(highlight=False, emoji=False, markup=False, color_system=None if os.environ.get("NO_COLOR") else "auto")
    with Screen(console=console, screen=True, auto_refresh=False) as screen:
        while True:
            live = state.look()
            if live is not None:
                width, height = console.size
                lines = watch_words(live, at=time.strftime("%H:%M:%S"), passed_s=state.passed_s, width=width, height=height - 1)
                texts = [Text.assemble(*line) for line in lines]
                for text in texts:
                    text.truncate(width, overflow="ellipsis")
                screen.update(Text("\n").join(texts), refresh=True)
            time.sleep(LOOKS_EVERY_S)


def _lines(state: LiveState) -> None:
    from expctl.cli.night.screen import watch_texts
    from expctl.cli.output import print_text

    told: dict[str, str] = {}
    while True:
        live = state.look()
        for subject, text in (watch_texts(live) if live is not None else {}).items():
            if told.get(subject) != text:
                print_text(f"{time.strftime('%H:%M:%S')}  {subject:<6} {text}")
                told[subject] = text
        time.sleep(LOOKS_EVERY_S)
