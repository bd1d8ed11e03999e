"""The ground under every experiment: when this gives way, no experiment can run, and a queue ends."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from expctl.domain.errors import Refused
from expctl.flow import preflight
from expctl.flow.world import World

FATAL = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up", errno.EROFS: "the disk can't be written"}


def check_ground(world: World, target: str) -> None:
    """Raises Refused when protocol, branch, work tree, journals or machine let nothing run, whatever the experiment."""
    head = world.workspace.head()
    protocol = world.library.protocol(head)
    preflight.check_workspace(world.workspace, protocol.scope)
    preflight.check_tree(world.workspace, protocol, head)
    preflight.choose_targets(protocol, world.equip(protocol, "").toolchains, target)
    for experiment in world.journal.unfinished():
        world.journal.read(experiment)


@contextmanager
def ending_in_words() -> Iterator[None]:
    """What no experiment is to blame for, and trying again won't mend, becomes a refusal that says so."""
    try:
        yield
    except OSError as error:
        refusal = shortage(error, what="the queue can't go on: ")
        if refusal is None:
            raise
        raise refusal from error


def shortage(error: OSError, *, what: str = "") -> Refused | None:
    """The disk gave way, in words; None when it is something else."""
    if error.errno not in FATAL:
        return None
    return Refused(
        f"{what}{FATAL[error.errno]}",
        expected="room for builds, journals and records",
        found=error.strerror or "",
        where=str(error.filename or ""),
        hint="make room, then run the same command again: it goes on from the last whole step, nothing is lost",
    )
