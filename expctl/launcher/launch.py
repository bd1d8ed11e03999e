"""Describe a child process: what to start, and what it may write."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

MARK = "EXPCTL_RUN"
"""Environment variable of every child and its descendants, by whose value the next run finds survivors."""

DISK_BYTES_MAX = 4 << 30
LOG_BYTES_MAX = 64 << 20


class ChildLimits(Struct, frozen=True, kw_only=True):
    """The paths that a child may write: `scratch` and `tree` are its own, limited to Launch.disk_bytes; `shared` is unlimited.

    `scratch` is emptied if the child exceeds the limit. `counters`: it reads a GPU's counters, and keeps the capabilities for
    that if we are root.
    """

    scratch: tuple[Path, ...]
    tree: tuple[Path, ...] = ()
    shared: tuple[Path, ...] = ()
    counters: bool = False


class Launch(Struct, frozen=True, kw_only=True):
    """A command to start: argv (no shell), folder, environment, log for its output, core to pin it to.

    `input` is a file for its standard input, else that is a pipe. Without `limits` it is the user's own command and may write
    where the user can. `disk_bytes` limits what it adds to its folders.
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
        """Return the folders that only this child writes, and whose growth is limited."""
        return (*self.limits.scratch, *self.limits.tree) if self.limits is not None else ()

    @property
    def mark(self) -> str:
        """Return EXPCTL_RUN of the child's environment, which names the repository it works for; `unmarked` without it."""
        return self.environment.get(MARK, "unmarked")
