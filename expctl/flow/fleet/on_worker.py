"""What a worker of a fleet does in its own clone: it says what its device offers, and measures up to a verdict."""

from expctl.domain.fleet.events import Judged
from expctl.domain.run.events import Event
from expctl.flow.measuring.comparability import comparability_here, environment
from expctl.flow.repository.preflight import choose_targets
from expctl.flow.run.experiment import judge_experiment
from expctl.ports.context import Context
from expctl.ports.fleet import Offered


def offer(context: Context, target: str) -> Offered:
    """Return which target this device can time, and under which conditions. `target` is the one that is wanted, "" for any that
    may decide. Raises Refused if there is none.
    """
    head = context.workspace.head()
    protocol = context.library.protocol(head)
    tools = context.tools_for(protocol, "offer")
    deciding = choose_targets(protocol, tools.toolchains, target).deciding
    ground = comparability_here(context, tools, protocol, head, deciding)
    return Offered(device=context.device, target=deciding, conditions=ground.parts)


def judge(context: Context, experiment: str, target: str, events: tuple[Event, ...], *, again: bool, kept_by: str) -> Judged:
    """Measure `experiment` on `target` up to its verdict, after `events` of the same attempt. Its journal, to which the caller
    listens, has all that the verdict follows from. One that has a record is measured if `again`. `kept_by`: see Begun. Raises
    Refused, Busy or Interrupted.
    """
    for left in context.journal.unfinished():
        context.journal.forget(left)
    if events:
        context.journal.extend(experiment, events)
    opened = judge_experiment(context, experiment, target=target, again=again, kept_by=kept_by)
    return Judged(
        facts=environment(context, opened.tools, opened.begun.target, opened.target),
        walls=context.walls(),
    )
