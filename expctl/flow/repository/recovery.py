"""What a dead run left behind: survivors, a half-done publication, worktrees. Cleared before anything else."""

from expctl.domain.run.events import Begun, Event, Published, Publishing
from expctl.ports.context import World


def clear_the_deck(world: World) -> None:
    """Under the repository's lock: end survivors, complete or undo publications, remove our worktrees."""
    world.end_survivors()
    world.workspace.finish_publication()
    for experiment in world.journal.unfinished():
        events = world.journal.read(experiment)
        _close_published(world, experiment, events)
    world.workspace.remove_check_outs()


def _close_published(world: World, experiment: str, events: tuple[Event, ...]) -> None:
    if not any(isinstance(event, Begun) for event in events):
        world.journal.forget(experiment)  # died while writing the first line
        return
    begun = next(event for event in events if isinstance(event, Begun))
    intent = next((event for event in reversed(events) if isinstance(event, Publishing)), None)
    if intent is None:
        return
    workspace = world.workspace
    if not workspace.is_ancestor(intent.commit, f"refs/heads/{begun.branch}"):
        return
    if not any(isinstance(event, Published) for event in events):
        world.journal.append(experiment, Published(commit=intent.commit))
    world.journal.forget(experiment)
