"""Run one experiment from proposal to record: choose the next step, perform it, store its result in the journal, repeat."""

from contextlib import closing
from dataclasses import dataclass

from expctl.domain.errors import ControlFailed, Interrupted, MachineTrouble
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import Record
from expctl.domain.run.actions import Build, Measure, Nothing, Pin, Profile, Settle, Test
from expctl.domain.run.events import Begun, Event, Measured, Published
from expctl.domain.run.state_machine import Run, advance, next_action
from expctl.domain.run.target_roles import TargetRoles
from expctl.flow.queue.edit_queue import Rebased, rebase_queue
from expctl.flow.repository.campaign import check_open_beside
from expctl.flow.repository.recovery import clean_up_dead_runs
from expctl.flow.rules.repeat_check import Repeated, check_code
from expctl.flow.run import extension
from expctl.flow.run import open_run as opening
from expctl.flow.run.open_run import OpenRun
from expctl.flow.run.perform import StepPerformer
from expctl.flow.run.settle import settle
from expctl.ports.context import Context
from expctl.ports.repository import Holder


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a run: record, branch and its head before and after. `measured` is False if the record existed already;
    `rebased` lists queued patches that a KEEP made inapplicable (BLOCKED) or applicable again.
    """

    record: Record
    branch: str
    head_before: str
    head_after: str
    measured: bool
    rebased: Rebased | None = None


def run_experiment(
    context: Context, experiment: str, *, target: str = "", again: bool = False, extend: bool = False
) -> Outcome:
    """Run one experiment, or resume its interrupted run, on `target` ("": the first available).

    `again` replicates an experiment that has a record. `extend` continues an INCONCLUSIVE one from the samples it has; one that
    was extended before isn't extended again. Without both, an existing record is returned unmeasured. Raises Refused, Busy or
    Interrupted; steps that are finished by then are in the journal and not repeated.
    """
    with context.locks.measuring(experiment=experiment) as holder:
        clean_up_dead_runs(context)
        head, branch = context.workspace.head(), context.workspace.branch()
        check_open_beside(context, experiment)
        record = context.library.record(head, experiment)
        unfinished = experiment in context.journal.unfinished()
        asked_again = again or (extend and not _is_extended(record))
        if record is not None and _needs_no_run(record, target) and not asked_again and not unfinished:
            return Outcome(record=record, branch=branch, head_before=head, head_after=head, measured=False)
        try:
            opened, events = _open(context, experiment, target, record, extend=extend)
            before = context.workspace.branch_head(opened.branch)
            settled = _finish(opened, holder, events)
        finally:
            context.workspace.remove_check_outs()
        after = context.workspace.branch_head(opened.branch)
        lands = settled.verdict is Verdict.KEEP and context.workspace.differs(before, after, opened.protocol.scope)
        return Outcome(
            record=settled,
            branch=opened.branch,
            head_before=before,
            head_after=after,
            measured=True,
            rebased=rebase_queue(context) if lands else None,
        )


def judge_experiment(context: Context, experiment: str, *, target: str = "", again: bool = False, kept_by: str = "") -> OpenRun:
    """Measure an experiment up to its verdict, and land nothing: the head of a fleet does that from the events in the journal.

    It begins, or goes on with the journal that is there. One that has a record is measured if `again`. `kept_by`: see Begun.
    Raises Refused, Busy or Interrupted.
    """
    with context.locks.measuring(experiment=experiment) as holder:
        clean_up_dead_runs(context)
        try:
            record = context.library.record(context.workspace.head(), experiment)
            if record is not None and record.verdict is not Verdict.INVALID and not again:
                raise RuntimeError(f"{experiment} has a record already")
            opened, events = _open(context, experiment, target, record, extend=False, kept_by=kept_by)
            _loop(opened, holder, run_of(opened, events), settles=False)
        finally:
            context.workspace.remove_check_outs()
        return opened


def _needs_no_run(record: Record, target: str) -> bool:
    """Is the record a valid (not INVALID) measurement on `target` ("": on any)?"""
    measured = {record.target, *(replication.target for replication in record.replications)}
    return record.verdict is not Verdict.INVALID and (not target or target in measured)


def _is_extended(record: Record | None) -> bool:
    return record is not None and record.procedure is not None and record.procedure.extended


def _is_replaced(record: Record, target: str) -> bool:
    """Does a new run replace the record? It does if that is INVALID, or its target was not timed and `target` is another."""
    return record.verdict is Verdict.INVALID or (record.left_open and target not in {"", record.target})


def _open(
    context: Context, experiment: str, target: str, record: Record | None, *, extend: bool, kept_by: str = ""
) -> tuple[OpenRun, tuple[Event, ...]]:
    events = context.journal.read(experiment)
    decider = next((event.target for event in events if isinstance(event, Begun)), target)
    if events and _is_outdated(context, events):
        context.journal.forget(experiment)
        context.progress.step("resume", "nothing was timed yet, and kernel, harness or protocol have changed: it begins anew")
        target = decider = target or decider
        events = ()
    replaced = record is not None and _is_replaced(record, decider)
    earlier, attempt = (None, record.attempts + 1) if record is not None and replaced else (record, 1)
    if not events and extend:
        opened = extension.extend(context, extension.check_extendable(record, experiment, target))
        context.journal.append(experiment, opened.begun)
        return opened, (opened.begun,)
    if events:
        return opening.resume(context, events, wanted=target, earlier=earlier, attempt=attempt), events
    opened = opening.begin(context, experiment, wanted=target, earlier=earlier, attempt=attempt, kept_by=kept_by)
    context.journal.append(experiment, opened.begun)
    return opened, (opened.begun,)


def _is_outdated(context: Context, events: tuple[Event, ...]) -> bool:
    """Would an unfinished run without rounds measure what its branch no longer has? It would end INVALID, and go by the gate of
    an older protocol until then. One that a device of a fleet has measured is settled as it is.
    """
    workspace = context.workspace
    begun = next(event for event in events if isinstance(event, Begun))
    if begun.again or begun.extends or begun.device or any(isinstance(event, Measured) for event in events):
        return False
    is_here = workspace.branch() == (workspace.campaign or begun.branch)
    return is_here and workspace.differs(begun.base, workspace.head(), context.library.protocol(begun.base).watched)


def run_of(opened: OpenRun, events: tuple[Event, ...]) -> Run:
    """Return the run with these events."""
    roles = TargetRoles.of(opened.protocol, opened.begun)
    return Run(kind=opened.queued.proposal.kind, plan=opened.plan(), roles=roles, before=opened.before, events=events)


def _finish(opened: OpenRun, holder: Holder, events: tuple[Event, ...]) -> Record:
    run = _loop(opened, holder, run_of(opened, events))
    published = run.last(Published)
    if published is None or not isinstance(run.begun(), Begun):
        raise RuntimeError("the run ended without being published")
    opened.context.journal.forget(opened.id)
    record = opened.context.library.record(published.commit, opened.id)
    if record is None:
        raise MachineTrouble(
            f"the record of {opened.id} is committed, but git can't read it",
            code="record-not-readable",
            expected=f"experiments/{opened.id}/record.json in {published.commit[:10]}",
            found="nothing",
            where=str(opened.context.workspace.root),
            hint=f"expctl show {opened.id}; git fsck shows what is damaged",
        )
    return record


def _refuse_known_code(opened: OpenRun, run: Run) -> None:
    context = opened.context
    try:
        check_code(context.rulebook, opened.protocol, opened.queued.proposal, run, context.machine.get("machine", ""))
    except Repeated:
        context.journal.forget(opened.id)
        raise


def _performed(performer: StepPerformer, opened: OpenRun, action: Pin | Build | Test | Measure | Profile, run: Run) -> Event:
    """Perform an action. A run without rounds that fails its control is forgotten, so that the next has the mended harness."""
    try:
        return performer.perform(action, run)
    except ControlFailed:
        if run.last(Measured) is None:
            opened.context.journal.forget(opened.id)
        raise


def _loop(opened: OpenRun, holder: Holder, run: Run, *, settles: bool = True) -> Run:
    context = opened.context
    code_is_new = opened.earlier is not None or opened.undecided is not None
    with StepPerformer(opened) as performer:
        while not isinstance(action := next_action(run), Nothing):
            holder.show(type(action).__name__.lower())
            if not code_is_new and not isinstance(action, Pin | Build):
                _refuse_known_code(opened, run)
                code_is_new = True
            if opened.undecided is not None and not isinstance(action, Pin | Build):
                extension.check_builds(opened, run)
            if isinstance(action, Settle) and not settles:
                break
            if isinstance(action, Settle):
                performer.release_machine()
                if opened.undecided is not None and action.decision.verdict is Verdict.INVALID:
                    raise extension.give_up(opened, action.decision)
                with closing(settle(opened, run, action.decision)) as events:  # which hold a lock
                    for event in events:
                        context.journal.append(opened.id, event)
                        run = advance(run, event)
            else:
                event = _performed(performer, opened, action, run)
                context.journal.append(opened.id, event)
                run = advance(run, event)
                if context.stop_requested() and not isinstance(next_action(run), Settle):
                    raise Interrupted(
                        f"stopped after {type(action).__name__.lower()}; expctl run {opened.id} goes on from there"
                    )
    return run
