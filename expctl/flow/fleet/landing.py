"""Land what a device of a fleet has measured: the head settles the run as if it had measured it, from the events it was told.

The head measures nothing here. What it needs of the worker's machine is what the worker said of it; what it decides, it decides
from the samples, by the code that decides on one machine.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import Artifact, Record
from expctl.domain.fleet.assignment import experiment_of
from expctl.domain.fleet.events import Assigned, FleetEvent, Judged
from expctl.domain.protocol.model import Protocol, Target
from expctl.domain.run.actions import Settle
from expctl.domain.run.events import Begun, Built, Contradicted, Event, Measured, Noted, Pinned, Publishing
from expctl.domain.run.state_machine import Run, next_action
from expctl.domain.run.step_result import Available, Failed
from expctl.domain.run.target_roles import TargetRoles
from expctl.domain.text import one_line
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Side
from expctl.domain.verdict.sequential_test import Decision
from expctl.flow.measuring.setup import benchmark_of
from expctl.flow.repository import preflight
from expctl.flow.repository.campaign import experiments_beside
from expctl.flow.repository.commit_messages import candidate_message
from expctl.flow.repository.recovery import clean_up_dead_runs
from expctl.flow.run.experiment import Outcome, run_experiment
from expctl.flow.run.open_run import proposer_of
from expctl.flow.run.settle_together import Settled, settle_together, settled
from expctl.ports.context import Context, Tools

LEAST = 2  # that land together


class Attempt(Struct, frozen=True, kw_only=True):
    """An attempt as its journal has it: to whom it was given, the events of its run, and what the worker said at the end."""

    assigned: Assigned
    run: tuple[Event, ...]
    judged: Judged | None

    @staticmethod
    def of(lines: Sequence[Event | FleetEvent]) -> "Attempt":
        """Read the lines of a journal. Raises ValueError if nothing says to whom the attempt was given."""
        assigned = next((line for line in lines if isinstance(line, Assigned)), None)
        if assigned is None:
            raise ValueError("an attempt begins with Assigned")
        run = tuple(line for line in lines if not isinstance(line, FleetEvent))
        return Attempt(assigned=assigned, run=run, judged=next((line for line in lines if isinstance(line, Judged)), None))


def decision_of(context: Context, attempt: Attempt) -> Decision | None:
    """Return the verdict that follows from the attempt's samples; None if something is missing yet, or is not of the device to
    which the attempt was given.
    """
    begun, assigned = next((event for event in attempt.run if isinstance(event, Begun)), None), attempt.assigned
    if begun is None or (begun.device, begun.kept_by) != (assigned.device, assigned.kept_by):
        return None
    if any(sample.device != assigned.device for sample in _samples(attempt)):
        return None
    protocol = context.library.protocol(begun.base)
    proposal = context.library.queued(begun.base, begun.id).proposal
    plan = Plan.of(
        benchmark_of(protocol, begun.target),
        protocol.keep,
        proposal.mode,
        simplify_used_percent=begun.simplify_used_percent,
        calibrated=begun.calibrated,
        kept_by=begun.kept_by,
    )
    action = next_action(Run(kind=proposal.kind, plan=plan, roles=TargetRoles.of(protocol, begun), events=attempt.run))
    return action.decision if isinstance(action, Settle) else None


def needs_second(context: Context, attempt: Attempt, decision: Decision) -> bool:
    """Does the protocol ask for a second device before this verdict lands? It does so of timed KEEPs."""
    if decision.verdict is not Verdict.KEEP or not decision.intervals or attempt.assigned.confirms:
        return False
    base, name = attempt.assigned.base, attempt.assigned.id
    kind = context.library.queued(base, name).proposal.kind
    return kind is not Kind.ANALYSIS and context.library.protocol(base).keep.second_device


def _answer(context: Context, second: Attempt) -> Event:
    """Return what a second device has found of a KEEP, as an event of its run."""
    decision, assigned = decision_of(context, second), second.assigned
    where = f"device {assigned.device} ({assigned.kind}) of {assigned.worker}"
    if decision is None:
        raise ValueError("only what is judged is an answer")
    if decision.verdict is Verdict.KEEP:
        return Noted(text=f"confirmed before it landed on {where}")
    return Contradicted(why=f"{decision.verdict} on {where}: {decision.reasons[0]}")


def land(context: Context, attempt: Attempt, second: Attempt | None = None) -> Outcome | None:
    """Commit the record of an attempt that is judged; a KEEP lands with it, unless the attempt `second` of another device
    contradicts it. None if that was done already.

    A head that was killed in the middle goes on where git stands. Raises Refused, with nothing landed, if the candidate isn't
    what the head makes of the proposal, or a rule of the repository refuses it meanwhile; Busy.
    """
    assigned, judged = attempt.assigned, attempt.judged
    experiment = experiment_of(assigned.id)
    if judged is None:
        raise ValueError("only what is judged can land")
    journal, library = context.journal, context.library
    left = journal.read(experiment)
    if not any(isinstance(event, Publishing) for event in left):
        journal.forget(experiment)
        record = library.record(context.workspace.head(), experiment)
        if record is not None and _has(context, record, attempt):
            return None
        _check_candidate(context, attempt)
        answer = [_answer(context, second)] if second is not None else []
        journal.extend(experiment, (*attempt.run, *_notes(attempt), *answer))
    try:
        return run_experiment(as_measured(context, attempt, judged), experiment, again=bool(assigned.confirms))
    except Refused:
        if not any(isinstance(event, Publishing) for event in journal.read(experiment)):
            journal.forget(experiment)
        raise


def land_together(context: Context, attempts: Sequence[Attempt]) -> dict[str, Outcome]:
    """Commit the records of attempts that keep nothing in one commit, and return the outcomes by experiment. What is missing in
    them has to land alone: `land` lands it, or says what is in its way.

    A head that was killed in the middle has landed all or nothing, so nothing is written down before. Raises Refused, with
    nothing landed, for what is in the way of all, or has been meanwhile; Busy.
    """
    workspace, names = context.workspace, [each.assigned.id for each in attempts]
    with context.locks.measuring(experiment="fleet"):
        clean_up_dead_runs(context)
        head, unfinished = workspace.head(), {*context.journal.unfinished(), *experiments_beside(context)}
        scope = context.library.protocol(head).scope
        dirty = workspace.dirty([*scope, "ledger.md", *(f"experiments/{name}" for name in names)])
        beside = [path for path in dirty if path.startswith("experiments/")]
        branch = preflight.check_workspace(workspace, scope, dirty=[path for path in dirty if path not in beside])
        not_now = unfinished | {path.split("/")[1] for path in beside}
        found: dict[str, Settled] = {}
        workspace.read_patch_identities([*_patches(context, attempts)])
        with workspace.gathered():
            for name, attempt in zip(names, attempts, strict=True):
                with suppress(Refused):
                    if name not in not_now and (ready := _settled(context, attempt, head, branch)) is not None:
                        found[name] = ready
        if len(found) < LEAST:
            return {}
        context.progress.step("landing", f"{one_line(', '.join(found), 100)}: none is kept, so one commit has them all")
        commit = settle_together(context, [*found.values()], head=head, branch=branch)
        if not commit:
            raise preflight.moved_meanwhile(workspace, head)
    return {
        name: Outcome(record=each.new.record, branch=branch, head_before=head, head_after=commit, measured=True)
        for name, each in found.items()
    }


def _patches(context: Context, attempts: Sequence[Attempt]) -> Iterator[bytes]:
    for assigned in (each.assigned for each in attempts):
        with suppress(Refused):
            yield context.library.queued(assigned.base, assigned.id).patch


def _settled(context: Context, attempt: Attempt, head: str, branch: str) -> Settled | None:
    assigned, judged = attempt.assigned, attempt.judged
    begun = next((event for event in attempt.run if isinstance(event, Begun)), None)
    if judged is None or begun is None or (begun.branch, begun.device, begun.again) != (branch, assigned.device, False):
        return None
    if context.library.record(head, assigned.id) is not None:
        return None
    _check_candidate(context, attempt)
    return settled(as_measured(context, attempt, judged), (*attempt.run, *_notes(attempt)), head)


def _has(context: Context, record: Record, attempt: Attempt) -> bool:
    """Has the record what the attempt measured, because an earlier head was killed once it had committed that?"""
    if not attempt.assigned.confirms and record.verdict is Verdict.INVALID:  # of this attempt, or of one before it
        before = context.library.record(attempt.assigned.base, record.id)
        return record != before and next(_notes(attempt)).text in record.notes
    if not attempt.assigned.confirms:
        return True
    samples = _samples(attempt)
    identity = hashlib.sha256(context.samples_bytes(samples)).hexdigest()
    return bool(samples) and any(each.samples_sha256 == identity for each in record.replications)


def _samples(attempt: Attempt) -> list[Sample]:
    return [sample for event in attempt.run if isinstance(event, Measured) for sample in event.samples]


def as_measured(context: Context, attempt: Attempt, judged: Judged) -> Context:
    """Return the context in which the head settles the run: machine, walls and device are those of the worker."""
    tools = _ToldTools(context, attempt)
    return replace(
        context,
        device=attempt.assigned.device,
        machine=judged.facts,
        walls=lambda: judged.walls,
        gaps=(),
        tools_for=tools.made,
    )


def _notes(attempt: Attempt) -> Iterator[Noted]:
    assigned = attempt.assigned
    where = f"device {assigned.device} ({assigned.kind}) of {assigned.worker}"
    yield Noted(text=f"measured on {where}, attempt {assigned.attempt}")
    if assigned.alone:
        on_top = f"on top of {', '.join(assigned.after)}" if assigned.after else "on the newest baseline"
        how = ", by a confirmation without a search" if assigned.kept_by else ""
        yield Noted(text=f"judged again {on_top}{how}; beside the older one: {assigned.alone}")


def _check_candidate(context: Context, attempt: Attempt) -> None:
    """Make the candidate here too, and raise Refused if it is not the very commit that was measured."""
    begun = next(event for event in attempt.run if isinstance(event, Begun))
    pinned = next((event for event in attempt.run if isinstance(event, Pinned)), None)
    if pinned is None:
        return
    workspace, protocol = context.workspace, context.library.protocol(begun.base)
    queued = context.library.queued(begun.base, begun.id)
    tree = preflight.check_patch(workspace, protocol, begun.base, queued)
    candidate = workspace.pin(
        base=begun.base,
        tree=tree,
        message=candidate_message(queued.proposal, begun.target),
        ref=f"refs/expctl/{begun.id}",
        author=proposer_of(workspace, queued, begun),
    )
    base = begun.base if begun.again else attempt.assigned.base
    if (candidate, begun.base) != (pinned.candidate, base):
        raise Refused(
            f"{begun.id}: the worker has measured another commit than its proposal makes",
            code="fleet-candidate-differs",
            expected=f"{candidate[:10]} on {base[:10]}",
            found=f"{pinned.candidate[:10]} on {begun.base[:10]}",
            where=attempt.assigned.worker,
            hint="the same versions of git and expctl on head and workers; then expctl run --all --on fleet",
        )


class _ToldTools:
    """Tools that measure nothing: they know what the worker has said."""

    def __init__(self, context: Context, attempt: Attempt) -> None:
        self._context, self._attempt = context, attempt

    def made(self, protocol: Protocol, experiment: str) -> Tools:  # noqa: ARG002  the signature of `Context.tools_for`
        """Return the tools of the run. The head needs no compiler and no device of its own."""
        told: Any = self
        return Tools(toolchains=told, steps=told, profiles=told, gate=told, settings=lambda _: {})

    def close(self) -> None:
        """There is no benchmark process."""

    @contextmanager
    def working(self, target: Target | None = None) -> Iterator[None]:  # noqa: ARG002  the port's signature
        """Nothing works here, so no lock of the machine is needed."""
        yield

    def availability(self, name: str, target: Target) -> Available:  # noqa: ARG002  the port's signature
        """The versions are among the facts that the worker told."""
        return Available(versions={})

    def build(
        self,
        name: str,
        target: Target,  # noqa: ARG002  the port's signature
        *,
        tree: Path,  # noqa: ARG002
        sources: str,
        like: Artifact | None = None,  # noqa: ARG002
    ) -> Artifact | Failed:
        """Return the artifact that was measured if it was built of the same sources, to the last byte."""
        pinned = next((event for event in self._attempt.run if isinstance(event, Pinned)), None)
        built = [event for event in self._attempt.run if isinstance(event, Built) and event.target == name]
        artifact = next((event.artifact for event in built if event.side is Side.CANDIDATE), None)
        if pinned is None or artifact is None or self._context.workspace.source_identity(pinned.candidate) != sources:
            return Failed(reason="these are not the sources that the worker has built")
        return artifact
