"""Take the repository's locks, and clean up after killed commands: processes, an unfinished publication, worktrees."""

from collections.abc import Iterator
from contextlib import contextmanager

from expctl.domain.run.events import Begun, Event, Published, Publishing
from expctl.ports.context import Context

WAIT_S, PATIENCE_S = 5.0, 60.0
"""How long a command that only commits waits for another one, and how long one that has measured something does."""


@contextmanager
def publishing(context: Context, what: str, *, wait_s: float = WAIT_S) -> Iterator[str]:
    """Hold the lock for publishing and yield HEAD. A killed publication is completed or undone first. `what` names this one to
    others. Raises Busy after `wait_s` seconds.
    """
    with context.locks.publishing(what=what, wait_s=wait_s):
        context.workspace.finish_publication()
        yield context.workspace.head()


def clean_up_dead_runs(context: Context) -> None:
    """End processes of killed runs, complete or undo publications, remove worktrees. The caller holds the lock for measuring.

    Whoever publishes at this moment has ended when it returns, so what is read afterwards is what they have left.
    """
    context.end_survivors()
    with context.locks.publishing(what="recovery", wait_s=PATIENCE_S):
        context.workspace.finish_publication()
        context.workspace.remove_leftovers()
    for experiment in context.journal.unfinished():
        events = context.journal.read(experiment)
        _close_published(context, experiment, events)
    context.workspace.remove_check_outs()


def _close_published(context: Context, experiment: str, events: tuple[Event, ...]) -> None:
    if not any(isinstance(event, Begun) for event in events):
        context.journal.forget(experiment)  # died while writing the first line
        return
    begun = next(event for event in events if isinstance(event, Begun))
    intent = next((event for event in reversed(events) if isinstance(event, Publishing)), None)
    if intent is None:
        return
    workspace = context.workspace
    if not workspace.is_ancestor(intent.commit, f"refs/heads/{intent.branch or begun.branch}"):
        return
    if not any(isinstance(event, Published) for event in events):
        context.journal.append(experiment, Published(commit=intent.commit))
    context.journal.forget(experiment)
