"""The ground under every experiment: when this gives way, no experiment can run, and a queue ends."""

from collections.abc import Iterator
from contextlib import contextmanager

from expctl.domain.errors import Refused
from expctl.domain.machine.os_errors import explained
from expctl.flow.repository import preflight
from expctl.ports.context import World


def check_ground(world: World, target: str) -> None:
    """Raises Refused when protocol, branch, work tree, journals or machine let nothing run, whatever the experiment."""
    head = world.workspace.head()
    protocol = world.library.protocol(head)
    preflight.check_workspace(world.workspace, protocol.scope)
    preflight.check_tree(world.workspace, protocol, head)
    preflight.choose_targets(protocol, world.equip(protocol, "").toolchains, target)
    for experiment in world.journal.unfinished():
        world.journal.read(experiment)


def check_same_branch(world: World, branch: str) -> None:
    """Raises Refused when somebody checked out another branch than the one that the work began on: it isn't ours to move."""
    found = world.workspace.branch()
    if found != branch:
        raise Refused(
            "another branch was checked out meanwhile",
            expected=branch,
            found=found or f"a detached head at {world.workspace.head()[:10]}",
            where=str(world.workspace.root),
            hint=f"git switch {branch}, then expctl run --all; or expctl run --all as it is, to go on with {found or 'none'}",
        )


@contextmanager
def ending_in_words() -> Iterator[None]:
    """What no experiment is to blame for, and trying again won't mend, becomes a refusal that says so."""
    try:
        yield
    except OSError as error:
        refusal = explained(error, "the queue can't go on", "expctl run --all: it goes on from the last whole step")
        if refusal is None:
            raise
        raise refusal from error
