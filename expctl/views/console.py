"""Progress of a command as text: a line per step, and on a terminal a bar for the step under way."""

import os
import sys
from typing import TextIO

from expctl.domain.text import one_line

BAR_CELLS = 24


class ConsoleProgress:
    """Prints progress to `stream` (default: standard output), whole lines only unless it is a terminal. When the program that
    reads the stream ends, output goes to /dev/null, so that the measurement continues.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stdout
        self._moves = self._stream.isatty()
        self._open = False
        self._title = ""
        self._waits = False

    def title(self, experiment: str, title: str, *, base: str, target: str, protocol: str) -> None:
        """Print the heading of a run; `base` is the baseline commit, `protocol` a hash of protocol.yaml. It isn't printed again
        if the same run is tried again after waiting.
        """
        text = f"{experiment}  {one_line(title, 60)}   base {base[:7]}  target {target}  protocol {protocol[:4]}"
        if not self._waits or text != self._title:
            self._line(text)
        self._title = text

    def working(self, name: str, text: str) -> None:
        """Show on a terminal that the step `name` is under way; `text` says what it does. Otherwise do nothing."""
        self._bar(f"  {name:<10} {one_line(text, 90)} ...")

    def step(self, name: str, text: str, duration_s: float = 0.0) -> None:
        """Print the result of a step that has ended, with its duration in seconds if that is at least 0.05."""
        self._waits = name == "waiting"
        took = f"   {duration_s:.1f} s" if duration_s >= 0.05 else ""
        self._line(f"  {name:<10} {one_line(text, 220)}{took}")

    def advance(self, name: str, done: int, total: int) -> None:
        """Show on a terminal that `done` of `total` parts of the step `name` are done; `total` 0 means unknown."""
        if not total:
            self._bar(f"  {name:<10} {done}")
            return
        filled = BAR_CELLS * done // total
        self._bar(f"  {name:<10} [{'#' * filled}{'.' * (BAR_CELLS - filled)}] {done}/{total}")

    def _bar(self, text: str) -> None:
        if self._moves:
            self._write(f"\r\x1b[K{text}")
            self._open = True

    def _line(self, text: str) -> None:
        self._write(f"\r\x1b[K{text}\n" if self._open else text + "\n")
        self._open = False

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
