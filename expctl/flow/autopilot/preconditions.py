"""Checks whose failure stops `run --all` altogether, because no experiment could run."""

from collections.abc import Iterator
from contextlib import contextmanager

from expctl.domain.errors import Refused
from expctl.domain.machine.os_errors import explained
from expctl.flow.repository import preflight
from expctl.ports.context import Context


def check_preconditions(context: Context, target: str) -> None:
    """Raise Refused if no experiment can run: a bad protocol, branch, work tree, journal or blind.jsonl, or no target here."""
    head = context.workspace.head()
    protocol = context.library.protocol(head)
    preflight.check_workspace(context.workspace, protocol.scope)
    preflight.check_tree(context.workspace, protocol, head)
    preflight.choose_targets(protocol, context.tools_for(protocol, "").toolchains, target)
    context.library.blind_slots(head)  # a damaged list would be found only when a measured slot is added to it
    for experiment in context.journal.unfinished():
        context.journal.read(experiment)


def check_same_branch(context: Context, branch: str) -> None:
    """Raise Refused unless `branch`, which was checked out when the command began, is checked out now."""
    found = context.workspace.branch()
    if found != branch:
        raise Refused(
            "another branch was checked out meanwhile",
            code="another-branch",
            expected=branch,
            found=found or f"a detached head at {context.workspace.head()[:10]}",
            where=str(context.workspace.root),
            hint=f"git switch {branch}, then expctl run --all; without the switch, it goes on with the present branch",
        )


@contextmanager
def explaining_os_errors() -> Iterator[None]:
    """Turn an OSError of the block that the user can resolve (such as a full disk) into Refused. Others pass unchanged."""
    try:
        yield
    except OSError as error:
        refusal = explained(error, "the queue can't go on", "expctl run --all: it goes on from the last whole step")
        if refusal is None:
            raise
        raise refusal from error
