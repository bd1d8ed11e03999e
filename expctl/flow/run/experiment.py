"""One experiment from proposal to record: next_action -> perform -> journal -> advance, until nothing is left to do."""

from dataclasses import dataclass

from expctl.domain.errors import Interrupted
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import Record
from expctl.domain.run.actions import Build, Nothing, Pin, Settle
from expctl.domain.run.events import Begun, Event, Published
from expctl.domain.run.state_machine import Run, advance, next_action
from expctl.domain.run.target_roles import Course
from expctl.flow.queue.edit_queue import Rebased, rebase_queue
from expctl.flow.repository.recovery import clear_the_deck
from expctl.flow.rules.repeat_check import Repeated, check_code
from expctl.flow.run import open_run as opening
from expctl.flow.run.open_run import Desk
from expctl.flow.run.perform import Bench
from expctl.flow.run.settle import settle
from expctl.ports.context import World
from expctl.ports.repository import Holder


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run ended in. `measured` is False when the record was there already; `rebased` is what a KEEP did to the queue."""

    record: Record
    branch: str
    head_before: str
    head_after: str
    measured: bool
    rebased: Rebased | None = None


def run_experiment(world: World, experiment: str, *, target: str = "", again: bool = False) -> Outcome:
    """Run or resume one experiment. Raises Refused, Busy or Interrupted; what was done by then is journalled."""
    with world.locks.repository(experiment=experiment) as holder:
        clear_the_deck(world)
        head, branch = world.workspace.head(), world.workspace.branch()
        record = world.library.record(head, experiment)
        unfinished = experiment in world.journal.unfinished()
        if record is not None and _stands(record, target) and not again and not unfinished:
            return Outcome(record=record, branch=branch, head_before=head, head_after=head, measured=False)
        try:
            desk, events = _open(world, experiment, target, record)
            before = world.workspace.branch_head(desk.begun.branch)
            settled = _go_through(desk, holder, events)
        finally:
            world.workspace.remove_check_outs()
        after = world.workspace.branch_head(desk.begun.branch)
        lands = settled.verdict is Verdict.KEEP and world.workspace.differs(before, after, desk.protocol.scope)
        return Outcome(
            record=settled,
            branch=desk.begun.branch,
            head_before=before,
            head_after=after,
            measured=True,
            rebased=rebase_queue(world) if lands else None,
        )


def _stands(record: Record, target: str) -> bool:
    """Is there nothing left to measure? An INVALID says nothing about the idea; another target is another question."""
    measured = {record.target, *(replication.target for replication in record.replications)}
    return record.verdict is not Verdict.INVALID and (not target or target in measured)


def _is_replaced(record: Record, target: str) -> bool:
    """An INVALID is no verdict, nor is that of a target whose code the patch doesn't change: the next attempt replaces it."""
    return record.verdict is Verdict.INVALID or (record.left_open and target not in {"", record.target})


def _open(world: World, experiment: str, target: str, record: Record | None) -> tuple[Desk, tuple[Event, ...]]:
    """The desk and what happened so far."""
    events = world.journal.read(experiment)
    decider = next((event.target for event in events if isinstance(event, Begun)), target)
    replaced = record is not None and _is_replaced(record, decider)
    earlier, attempt = (None, record.attempts + 1) if record is not None and replaced else (record, 1)
    if events:
        return opening.resume(world, events, wanted=target, earlier=earlier, attempt=attempt), events
    desk = opening.begin(world, experiment, wanted=target, earlier=earlier, attempt=attempt)
    world.journal.append(experiment, desk.begun)
    return desk, (desk.begun,)


def _go_through(desk: Desk, holder: Holder, events: tuple[Event, ...]) -> Record:
    course = Course.of(desk.protocol, desk.begun)
    published = _loop(desk, holder, Run(kind=desk.queued.proposal.kind, plan=desk.plan(), course=course, events=events))
    desk.world.journal.forget(desk.id)
    record = desk.world.library.record(published.commit, desk.id)
    if record is None:
        raise RuntimeError(f"{desk.id} was settled without a record")
    return record


def _refuse_known_code(desk: Desk, run: Run) -> None:
    """Raises Repeated when the builds are those of a rejected experiment; the run is then as if it had never begun."""
    world = desk.world
    try:
        check_code(world.rulebook, desk.protocol, desk.queued.proposal, run, world.machine.get("machine", ""))
    except Repeated:
        world.journal.forget(desk.id)
        raise


def _loop(desk: Desk, holder: Holder, run: Run) -> Published:
    world = desk.world
    code_is_new = desk.earlier is not None
    with Bench(desk) as bench:
        while not isinstance(action := next_action(run), Nothing):
            holder.show(type(action).__name__.lower())
            if not code_is_new and not isinstance(action, Pin | Build):
                _refuse_known_code(desk, run)
                code_is_new = True
            if isinstance(action, Settle):
                bench.release_machine()
                for event in settle(desk, run, action.decision):
                    world.journal.append(desk.id, event)
                    run = advance(run, event)
            else:
                event = bench.perform(action, run)
                world.journal.append(desk.id, event)
                run = advance(run, event)
                if world.stop_requested() and not isinstance(next_action(run), Settle):
                    raise Interrupted(f"stopped after {type(action).__name__.lower()}; expctl run {desk.id} goes on from there")
    published = run.last(Published)
    if published is None or not isinstance(run.begun(), Begun):
        raise RuntimeError("the run ended without being published")
    return published
