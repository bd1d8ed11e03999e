"""What to start, and what it may touch."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

MARK = "EXPCTL_RUN"
"""In the environment of every child, and of what it starts: by it the next run finds survivors."""

DISK_BYTES_MAX = 4 << 30
LOG_BYTES_MAX = 64 << 20


class ChildLimits(Struct, frozen=True, kw_only=True):
    """What a child may write: folders that are its own, watched and not to outgrow the cap, and what is `shared` with others.
    Of its own, `scratch` is emptied when it does outgrow it.

    `counters`: it reads a GPU's counters, and root leaves it the rights that this takes.
    """

    scratch: tuple[Path, ...]
    tree: tuple[Path, ...] = ()
    shared: tuple[Path, ...] = ()
    counters: bool = False


class Launch(Struct, frozen=True, kw_only=True):
    """What to start: argv (no shell), where, with which environment, pinned to which core, logging where. `input` is a file
    for its standard input; without one that is a pipe of ours. Without walls it is the user's own command and writes where
    the user can. `disk_bytes` is what it may add to its scratch.
    """

    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    log: Path
    core: int | None = None
    input: Path | None = None
    walls: ChildLimits | None = None
    disk_bytes: int = DISK_BYTES_MAX

    @property
    def watched(self) -> tuple[Path, ...]:
        """Folders of its own."""
        return (*self.walls.scratch, *self.walls.tree) if self.walls is not None else ()

    @property
    def mark(self) -> str:
        """Whose child it is."""
        return self.environment.get(MARK, "unmarked")
