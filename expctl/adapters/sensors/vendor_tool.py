"""Run a GPU maker's tool as a child that can be killed, so that a driver that hangs doesn't hang expctl."""

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from expctl.adapters.child.arguments import child_environment
from expctl.adapters.child.contained_process import Child, Launch, TimedOut
from expctl.domain.protocol.model import Environment

TIMEOUT_S = 5.0
TAIL_BYTES = 4096


class VendorTool:
    """Runs `program`, a command-line tool of a GPU's maker. `folder` gets its output and is its HOME. `mark` in its environment
    makes it recognisable as a process of ours; one call may take `timeout_s` seconds.
    """

    def __init__(self, program: str, folder: Path, *, mark: str, timeout_s: float = TIMEOUT_S) -> None:
        self.program = program
        self._folder, self._mark, self._timeout_s = folder, mark, timeout_s

    def path(self) -> str:
        """Return the tool's path; empty if it isn't on PATH."""
        return shutil.which(self.program) or ""

    def ask(self, *words: str) -> str | None:
        """Run the tool with arguments `words` and return its output; None if it fails or doesn't end in time."""
        log = self._folder / f"{self.program}.once"
        log.unlink(missing_ok=True)
        try:
            with Child(self._launch(words, log)) as child:
                child.close_input()
                status = child.wait(time.monotonic() + self._timeout_s)
        except (TimedOut, OSError):
            return None
        return log.read_text(errors="replace") if status == 0 else None

    @contextmanager
    def streaming(self, *words: str) -> Iterator["Stream"]:
        """Keep the tool running with arguments `words` during the block; yield the stream of its output."""
        log = self._folder / f"{self.program}.stream"
        log.unlink(missing_ok=True)
        with Child(self._launch(words, log)) as child:
            child.close_input()
            with Stream(log) as stream:
                yield stream

    def _launch(self, words: Sequence[str], log: Path) -> Launch:
        environment = child_environment(Environment(), self._folder, self._mark)
        return Launch(argv=(self.path(), *words), cwd=Path("/"), environment=environment, log=log)


class Stream:
    """Reads the end of the file `log` while a tool writes to it."""

    def __init__(self, log: Path) -> None:
        self._descriptor = os.open(log, os.O_RDONLY | os.O_CLOEXEC)

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def last_lines(self) -> list[str]:
        """Return the complete lines in the last 4 KiB of the tool's output."""
        size = os.fstat(self._descriptor).st_size
        text = os.pread(self._descriptor, TAIL_BYTES, max(0, size - TAIL_BYTES)).decode(errors="replace")
        lines = text.split("\n")[:-1]
        return lines[1:] if size > TAIL_BYTES else lines

    def age_s(self) -> float:
        """Return the seconds since the tool last wrote."""
        return time.time() - os.fstat(self._descriptor).st_mtime
