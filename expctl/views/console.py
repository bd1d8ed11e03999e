"""Progress of a command as text: a line per step, and on a terminal one live line for the step under way."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import TextIO

from expctl.domain.machine.waiting import Wait
from expctl.domain.text import one_line
from expctl.domain.verdict.outlook import Outlook
from expctl.views.live_line import LiveLine, bears_live_line
from expctl.views.progress_words import Words, count_words, outlook_words, plain, step_words, waiting_words

DRAWN_EVERY_S = 0.25
OUTLOOK_EVERY_S, WAIT_EVERY_S = 60.0, 30.0  # in a pipe, which gets few lines
WAIT_FROM_S = 1.0  # a shorter wait isn't worth a word

Wordings = Callable[[float], Sequence[Words]]
"""The live line, longest wording first, by the seconds since it was shown first."""


class ConsoleProgress:
    """Prints progress to `stream` (default: standard output). A terminal gets a live line besides, which is wiped at the end of
    the `with` block; anything else gets whole lines, few of them. When the program that reads the stream ends, or the disk of
    the stream is full, output goes to /dev/null, so that the measurement continues.
    """

    def __init__(self, stream: TextIO | None = None, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock_s = stream if stream is not None else sys.stdout, clock_s
        self._live = LiveLine(self._stream) if bears_live_line(self._stream) else None
        self._wordings: Wordings | None = None
        self._key: tuple[object, ...] = ()
        self._since_s = self._drawn_s = clock_s()
        self._first_done = 0
        self._tell_at_s: dict[str, float] = {}
        self._title = ""
        self._waits = False

    def __enter__(self) -> "ConsoleProgress":
        return self

    def __exit__(self, *_: object) -> None:
        self.wipe()

    def title(self, experiment: str, title: str, *, base: str, target: str, protocol: str) -> None:
        """Print the heading of a run; `base` is the baseline commit, `protocol` a hash of protocol.yaml. It isn't printed again
        if the same run is tried again after waiting.
        """
        text = f"{experiment}  {one_line(title, 60)}   base {base[:7]}  target {target}  protocol {protocol[:4]}"
        if not self._waits or text != self._title:
            self._print(text)
        self._title = text

    def working(self, name: str, text: str) -> None:
        """Show on a terminal that the step `name` is under way; `text` says what it does. Otherwise do nothing."""
        said = one_line(text, 200)
        self._show((name, said), lambda passed_s: step_words(name, said, passed_s))

    def step(self, name: str, text: str, duration_s: float = 0.0) -> None:
        """Print the result of a step that has ended, with its duration in seconds if that is at least 0.05."""
        self._waits = name == "waiting"
        took = f"   {duration_s:.1f} s" if duration_s >= 0.05 else ""
        self._print(f"  {name:<10} {one_line(text, 220)}{took}")

    def advance(self, name: str, done: int, total: int) -> None:
        """Show on a terminal that `done` of `total` parts of the step `name` are done; `total` 0 means unknown."""
        if self._key != (name, total):
            self._first_done = done
        speed_s = (self._clock_s() - self._since_s) / (done - self._first_done) if done > self._first_done else None
        left_s = speed_s * (total - done) if speed_s is not None and total else None
        self._show((name, total), lambda passed_s: count_words(name, done, total, passed_s, left_s))

    def outlook(self, outlook: Outlook) -> None:
        """Show how far a measurement is: round, running estimate, time left. A pipe gets a line a minute."""
        self._show(("outlook", outlook), lambda passed_s: outlook_words(outlook, passed_s))
        self._tell("outlook", outlook_words(outlook, 0.0), first_after_s=OUTLOOK_EVERY_S, every_s=OUTLOOK_EVERY_S)

    def waiting(self, wait: Wait) -> None:
        """Show for what the machine's lock or a quiet machine is waited for. A pipe gets a line when the wait has lasted 1 s,
        and then every 30 s.
        """
        if wait.waited_s < WAIT_FROM_S:
            self._tell_at_s.pop("waiting", None)
        elif self._live is not None or wait.foreign:
            self._show(("waiting",), lambda _: waiting_words(wait))
            self._tell("waiting", waiting_words(wait), first_after_s=0.0, every_s=WAIT_EVERY_S)

    def tick(self) -> None:
        """Draw the live line again, for its clock; called often, it seldom does."""
        if self._live is not None and self._wordings is not None and self._clock_s() - self._drawn_s >= DRAWN_EVERY_S:
            self._draw(self._live, self._wordings)

    def wipe(self) -> None:
        """Take the live line away, so that others may print."""
        self._wordings, self._key = None, ()
        if self._live is not None:
            self._live.wipe()

    def _show(self, key: tuple[object, ...], wordings: Wordings) -> None:
        """Make `wordings` the live line. Its clock begins anew unless `key` is that of the line before."""
        now_s = self._clock_s()
        if key != self._key:
            self._since_s, self._key, self._drawn_s = now_s, key, now_s - DRAWN_EVERY_S
        self._wordings = wordings
        self.tick()

    def _tell(self, kind: str, wordings: Sequence[Words], *, first_after_s: float, every_s: float) -> None:
        """Print a line of the live line's words where there is none: the first time only after `first_after_s` seconds."""
        now_s = self._clock_s()
        if self._live is None and now_s >= self._tell_at_s.setdefault(kind, now_s + first_after_s):
            self._tell_at_s[kind] = now_s + every_s
            self._print(plain(wordings[0]))

    def _draw(self, live: LiveLine, wordings: Wordings) -> None:
        self._drawn_s = self._clock_s()
        live.draw(wordings(self._drawn_s - self._since_s))

    def _print(self, text: str) -> None:
        if self._live is not None:
            self.wipe()
            self._live.print([text])
            return
        try:
            self._stream.write(text + "\n")
            self._stream.flush()
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            if not isinstance(error, BrokenPipeError):
                print(f"the output can't be written ({error.strerror}): this goes on without it", file=sys.stderr)
