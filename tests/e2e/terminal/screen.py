"""`expctl` on a terminal of a given size: a pty whose screen is drawn by a small emulator, to see what a user sees."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

CONTROL = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")


@dataclass(slots=True)
class Screen:
    """The lines that a terminal of `columns` shows. Knows what expctl sends: text, line ends, erasing, colours."""

    columns: int
    lines: list[str] = field(default_factory=lambda: [""])
    column: int = 0
    wrapped: list[str] = field(default_factory=list)

    def feed(self, text: str) -> None:
        """Draw `text`. Raises ValueError for a control sequence that it doesn't know."""
        at = 0
        while at < len(text):
            found = CONTROL.match(text, at)
            if found:
                self._control(*found.groups())
            elif text[at] == "\n":
                self.lines.append("")
            elif text[at] == "\r":
                self.column = 0
            else:
                self._letter(text[at])
            at = found.end() if found else at + 1

    def _control(self, numbers: str, letter: str) -> None:
        if letter == "K":
            self.lines[-1] = "" if numbers == "2" else self.lines[-1][: self.column]
        elif letter != "m":
            raise ValueError(f"an unknown control sequence, {numbers}{letter}")

    def _letter(self, letter: str) -> None:
        if self.column == self.columns:
            self.wrapped.append(self.lines[-1])
            self.lines.append("")
            self.column = 0
        line = self.lines[-1].ljust(self.column)
        self.lines[-1] = line[: self.column] + letter + line[self.column + 1 :]
        self.column += 1


class Terminal:
    """A command on a pty of `columns`, used as a context manager, at whose end it is killed if it still runs. `seen` has every
    live line that was drawn with the seconds since the start.
    """

    def __init__(self, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], columns: int = 80) -> None:
        self._main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.screen = Screen(columns)
        self.raw = b""
        self.seen: list[tuple[float, str]] = []
        self.started_s = time.monotonic()
        self.process = subprocess.Popen(
            argv,
            cwd=cwd,
            env={**environment, "TERM": "xterm-256color"},
            stdin=side,
            stdout=side,
            stderr=side,
            start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509  tests have no threads here
        )
        os.close(side)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._main)

    def until(self, holds: Callable[[str], object], what: str, *, at_most_s: float = 60.0) -> str:
        """Draw what the command writes until `holds` for the last line; return that line. Fails after `at_most_s` seconds."""
        deadline = time.monotonic() + at_most_s
        while not holds(self.screen.lines[-1]):
            assert time.monotonic() < deadline, f"waited {at_most_s:g} s for {what}; the screen:\n{self.text()}"
            assert self._read(), f"ended before {what}; the screen:\n{self.text()}"
        return self.screen.lines[-1]

    def end(self, *, at_most_s: float = 60.0) -> int:
        """Draw what the command writes until it ends; return its exit status."""
        deadline = time.monotonic() + at_most_s
        while self._read():
            assert time.monotonic() < deadline, f"still there after {at_most_s:g} s; the screen:\n{self.text()}"
        return self.process.wait(240)

    def press_ctrl_c(self) -> None:
        """Send what a keyboard sends; the terminal makes a signal of it."""
        os.write(self._main, b"\x03")

    def text(self) -> str:
        """Return all lines that were shown and stayed."""
        return "\n".join(line.rstrip() for line in self.screen.lines)

    def _read(self) -> bool:  # False once the command has closed the terminal
        if not select.select([self._main], [], [], 0.05)[0]:
            return True
        try:
            chunk = os.read(self._main, 1 << 16)
        except OSError:  # EIO
            return False
        self.raw += chunk
        for part in re.split(r"(?=\r\x1b\[K)", chunk.decode(errors="replace")):
            self.screen.feed(part)
            self.seen.append((time.monotonic() - self.started_s, self.screen.lines[-1]))
        return bool(chunk)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
