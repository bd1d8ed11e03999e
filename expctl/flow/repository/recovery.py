"""Clean up after runs that were killed: processes, an unfinished publication, worktrees."""

from expctl.domain.run.events import Begun, Event, Published, Publishing
from expctl.ports.context import Context


def clean_up_dead_runs(context: Context) -> None:
    """End processes of killed runs, complete or undo their publications, remove their worktrees. The caller holds the
    repository lock.
    """
    context.end_survivors()
    context.workspace.finish_publication()
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
    if not workspace.is_ancestor(intent.commit, f"refs/heads/{begun.branch}"):
        return
    if not any(isinstance(event, Published) for event in events):
        context.journal.append(experiment, Published(commit=intent.commit))
    context.journal.forget(experiment)
