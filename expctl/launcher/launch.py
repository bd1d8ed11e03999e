"""Describe a child process: what to start, and what it may write."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

MARK = "EXPCTL_RUN"
"""Environment variable of every child and its descendants, by whose value the next run finds survivors."""

DISK_BYTES_MAX = 4 << 30
LOG_BYTES_MAX = 64 << 20


class ChildLimits(Struct, frozen=True, kw_only=True):
    """The folders that a child process may write: `scratch` and `tree` are its own, `shared` is written by others too.

    What it adds to its own folders is limited (Launch.disk_bytes); if it exceeds that, `scratch` is emptied. With `counters` it
    reads a GPU's counters, and as a child of root keeps the Linux capabilities for that.
    """

    scratch: tuple[Path, ...]
    tree: tuple[Path, ...] = ()
    shared: tuple[Path, ...] = ()
    counters: bool = False


class Launch(Struct, frozen=True, kw_only=True):
    """A command to start as a child process: `argv` (no shell), working folder, environment, log file for its output.

    `core` is the CPU core to pin it to. `input` is a file for its standard input, None for a pipe. `limits` None means that it
    may write wherever the user can; `disk_bytes` limits how much it adds to the folders of its own.
    """

    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    log: Path
    core: int | None = None
    input: Path | None = None
    limits: ChildLimits | None = None
    disk_bytes: int = DISK_BYTES_MAX

    @property
    def watched(self) -> tuple[Path, ...]:
        """Return the folders that only this child process writes, whose growth is limited; () without `limits`."""
        return (*self.limits.scratch, *self.limits.tree) if self.limits is not None else ()

    @property
    def mark(self) -> str:
        """Return the value of EXPCTL_RUN in the child's environment, which identifies the repository; `unmarked` if unset."""
        return self.environment.get(MARK, "unmarked")
