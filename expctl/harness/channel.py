"""The result channel, out of reach of what an author or a build prints by accident."""

from __future__ import annotations

import os
from collections.abc import Callable

from expctl.harness.report import RESULT_FD, Report


class OwnChannel:
    """Moves the result channel to another descriptor; what is written to the old one goes to a file, to be found there."""

    def __init__(self) -> None:
        self.descriptor = ""
        given = os.environ.get(RESULT_FD, "")
        if given.isdecimal():
            import tempfile

            self.descriptor = str(os.dup(int(given)))
            self._trap = tempfile.TemporaryFile()  # noqa: SIM115  as long as the process lives
            os.dup2(self._trap.fileno(), int(given))

    def foreign(self) -> bytes:
        """Return what something else has written since the last call."""
        if not self.descriptor:
            return b""
        size = os.fstat(self._trap.fileno()).st_size
        found = os.pread(self._trap.fileno(), 80, 0) if size else b""
        if size:
            os.ftruncate(self._trap.fileno(), 0)
            os.lseek(self._trap.fileno(), 0, os.SEEK_SET)
        return found


class GuardedReport(Report):
    """A Report that calls `on_foreign` with what something else wrote to the channel, before its own next message."""

    def __init__(self, on_foreign: Callable[[bytes], None]) -> None:
        self._channel, self._on_foreign = OwnChannel(), on_foreign
        super().__init__(self._channel.descriptor)

    def event(self, event: str, /, **fields: object) -> None:  # noqa: D102 - see Report
        foreign = self._channel.foreign()
        if foreign:
            self._on_foreign(foreign)
        super().event(event, **fields)
