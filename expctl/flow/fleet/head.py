"""The head of a fleet: gives queued experiments to devices, lands what they have measured, and writes down everything first.

The truth is git, and the journals of attempts below the state folder: a head that is killed reads both and goes on. What the
engine remembers is never asked for.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from expctl.domain.errors import Busy, Interrupted, MachineTrouble, Refused
from expctl.domain.experiment.finding import EvidenceKind
from expctl.domain.experiment.findings import TEXT_MAX
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.fleet.assignment import confirmation_of, experiment_of
from expctl.domain.fleet.contradictions import said_of
from expctl.domain.fleet.events import GivenUp
from expctl.domain.fleet.pace import TOGETHER_MOST, Pace
from expctl.domain.fleet.passing import is_passing
from expctl.domain.fleet.schedule import Schedule
from expctl.domain.queue.ordering import State
from expctl.flow.audit.edit_findings import add
from expctl.flow.autopilot.preconditions import check_same_branch
from expctl.flow.autopilot.steps import Ended, Skipped
from expctl.flow.fleet.attempts import Attempts
from expctl.flow.fleet.landing import Attempt, decision_of, land, land_together, needs_second
from expctl.flow.fleet.siblings import Siblings
from expctl.flow.fleet.workers import Workers
from expctl.flow.repository.pending import read_queue
from expctl.flow.repository.preflight import check_workspace
from expctl.flow.repository.recovery import clean_up_dead_runs
from expctl.flow.run.experiment import Outcome
from expctl.ports.context import Context
from expctl.ports.fleet import Engine, Packs
from expctl.ports.repository import FindingsEditor, Journal

LOOK_S = 0.5
SILENT_S = 30.0
LOOKS_ALONE = 20

FleetStep = Outcome | Skipped | Ended


@dataclass(slots=True, kw_only=True)
class Head:
    """One `run --all --on fleet`. `repository` names this one to workers. `target` is the target to be timed ("": the first
    that the first device offers). `spent` says, by the number of verdicts and of REJECTs in a row, which limit is reached.
    If it `confirms`, each KEEP is measured once more on another device, as evidence.
    """

    context: Context
    engine: Engine
    packs: Packs
    journal: Journal
    repository: str
    editor: FindingsEditor
    target: str = ""
    silent_s: float = SILENT_S
    spent: Callable[[int, int], str] = lambda _done, _rejects: ""
    confirms: bool = False
    attempts: Attempts = field(init=False)
    schedule: Schedule = field(init=False)
    workers: Workers = field(init=False)
    head: str = ""  # at which the queue was read
    unlocks: bool = False  # does a proposal of that queue wait for the results of others?
    reported: set[tuple[str, State]] = field(default_factory=set)
    branch: str = ""
    waits_for: str = ""
    looks_alone: int = 0  # in a row, without a device
    done: int = 0
    rejects: int = 0
    pace: Pace = field(default_factory=Pace)
    alone: set[str] = field(default_factory=set)  # what can't land together with others
    kept: set[str] = field(default_factory=set)  # what is judged, and left for the next head to land

    def __post_init__(self) -> None:
        self.attempts, self.schedule = Attempts(self.journal), Schedule("")
        self.workers = Workers(
            context=self.context,
            engine=self.engine,
            packs=self.packs,
            repository=self.repository,
            attempts=self.attempts,
            schedule=self.schedule,
            siblings=Siblings(self.target),
            silent_s=self.silent_s,
        )

    # ------------------------------------------------------------------ the loop

    def steps(self) -> Iterator[FleetStep]:
        """Run the queue on the fleet, and yield each result, until nothing in it can run. Raises Refused, Busy, Interrupted."""
        with self.context.locks.measuring(experiment="fleet"):
            clean_up_dead_runs(self.context)
        self.branch = self.context.workspace.branch()
        check_workspace(self.context.workspace, self.context.library.protocol(self.context.workspace.head()).scope)
        yield from self._read_queue()
        self._recover()
        while True:
            yield from self._land_all()
            yield from self._read_queue()
            ended = self.spent(self.done, self.rejects)
            if not ended:
                self.workers.assign()
            if ended and not self.workers.busy:
                yield Ended(why=ended)
                return
            unconfirmed = 0 if self.workers.busy else self.schedule.lacks_another()
            if not len(self.schedule) or unconfirmed:
                yield from self._left_over(unconfirmed)
                return
            if self.context.stop_requested():
                yield from self._land_all()
                raise Interrupted("the fleet was stopped; expctl run --all --on fleet goes on from there")
            for heard in self.engine.heard(LOOK_S):
                yield from self.workers.hear(heard)
            self._say_if_alone()
            self.workers.give_up_silent()

    def _say_if_alone(self) -> None:
        """Say that no device is there, once that has lasted; the head waits for one."""
        self.looks_alone = 0 if self.workers.devices else self.looks_alone + 1
        if self.looks_alone == LOOKS_ALONE:
            text = "no device has answered: expctl fleet join on a worker; one that works for another campaign is not free"
            self.context.progress.step("waiting", text)

    def _kernel(self) -> str:
        return self.context.workspace.source_identity(self.context.workspace.head())

    def _read_queue(self) -> Iterator[FleetStep]:
        check_same_branch(self.context, self.branch)
        head = self.context.workspace.head()
        steps: list[FleetStep] = []
        if head != self.head:
            self.head, self.schedule.kernel = head, self._kernel()
            entries = read_queue(self.context.library, head).entries()
            ready = [each.id for each in entries if each.state is State.READY]
            for name in ready:
                if name not in self.kept and self.workers.refused.get(name) != self.schedule.kernel:
                    self.schedule.enqueue(name, attempts=self.attempts.last(name))
            self.unlocks = any(each.state is State.WAITING for each in entries)
            for each in entries:
                if each.state not in (State.READY, State.WAITING):
                    self.schedule.withdraw(each.id)
                if each.state in (State.BLOCKED, State.SKIPPED, State.CHANGED, State.MALFORMED, State.INVALID):
                    steps += self._skipped(each.id, each.state, each.why)
        return iter(steps)

    def _skipped(self, experiment: str, state: State, why: str) -> list[FleetStep]:
        if (experiment, state) in self.reported:
            return []
        self.reported.add((experiment, state))
        refusal = Refused(f"{experiment} is {state}: {why}", code="experiment-not-ready", hint=f"expctl show {experiment}")
        return [Skipped(id=experiment, state=state, refusal=refusal)]

    def _left_over(self, unconfirmed: int) -> Iterator[FleetStep]:
        entries = read_queue(self.context.library, self.context.workspace.head()).entries()
        left = [each for each in entries if each.state is not State.WITHDRAWN]
        states = [
            f"{sum(each.state is state for each in left)} {state}" for state in State if any(e.state is state for e in left)
        ]
        if unconfirmed:
            states.append(f"{unconfirmed} KEEPs not confirmed, for want of a second device")
        yield Ended(why=f"nothing in the queue can run: {', '.join(states)}" if states else "the queue is empty")

    # ------------------------------------------------------------------ after a killed head

    def _recover(self) -> None:
        """Read the attempts that an earlier head had begun: judged ones land, others go on where they were, or begin anew."""
        for attempt in self.attempts.open():
            assigned = attempt.assigned
            if assigned.confirms:
                self.schedule.confirm(experiment_of(assigned.id), assigned.confirms, attempts=assigned.attempt)
            if assigned.id not in self.schedule:
                self._concluded(attempt)
                continue
            decision = decision_of(self.context, attempt) if attempt.judged is not None else None
            if decision is None:
                self.schedule.begun_before(
                    assigned.id, assigned.attempt, assigned.device, beside=assigned.kernel, again=bool(assigned.alone)
                )
            else:
                keep, second = decision.verdict is Verdict.KEEP, needs_second(self.context, attempt, decision)
                self.schedule.judged_before(
                    assigned.id, assigned.attempt, beside=assigned.kernel, keep=keep, needs_second=second
                )

    # ------------------------------------------------------------------ landing

    def _land_all(self) -> Iterator[FleetStep]:
        while name := self.schedule.next_landing():
            names = self.schedule.next_together(TOGETHER_MOST)
            if not self.schedule.is_kept(name) and not self.spent(self.done + len(names), self.rejects + len(names)):
                self.workers.assign()  # the kernel stays, so no device has to wait for this
                if 0 < len(names) < TOGETHER_MOST and self._may_wait():
                    break
            names = (name,) if name in self.alone else tuple(each for each in names if each not in self.alone) or (name,)
            attempts, second, began = [self.attempts.newest(each) for each in names], self._second(name), time.monotonic()
            try:
                landed = self._land(attempts, second)
            except Busy as busy:
                if busy.message != self.waits_for:
                    self.context.progress.step("waiting", f"{busy.message}; {busy.hint}")
                self.waits_for = busy.message
                return
            except Refused as refusal:
                self._check_landing(refusal)
                if is_passing(refusal):
                    self.kept.add(name)
                else:
                    self.workers.refused[name] = self.schedule.kernel
                    self.attempts.give_up(name, attempts[0].assigned.attempt, GivenUp(why=refusal.message))
                self._forget_landed(name)
                yield Skipped(id=name, state=State.READY, refusal=refusal)
                continue
            self.waits_for = ""
            self.pace.landed(began, time.monotonic())
            for attempt, outcome in landed:
                yield from self._landed(attempt, second, outcome)
        if name := self.schedule.unconfirmed():
            self._confirm(name, self.attempts.newest(name))

    def _may_wait(self) -> bool:
        """May what is not kept wait for others to land with? Not if anything else would wait for it."""
        if self.context.stop_requested() or self.schedule.is_pressed(unlocks=self.unlocks):
            return False
        return self.pace.rests(time.monotonic())

    def _land(self, attempts: list[Attempt], second: Attempt | None) -> list[tuple[Attempt, Outcome | None]]:
        """Land attempts together, or else the first alone; return those that have landed."""
        if len(attempts) > 1:
            together: dict[str, Outcome] = {}
            try:
                together = land_together(self.context, attempts)
                self.alone |= {each.assigned.id for each in attempts} - together.keys()
            except Busy:
                raise
            except Refused as refusal:  # the others are tried together again
                self.context.progress.step("landing", f"{attempts[0].assigned.id} alone: {refusal.message}")
            if together:
                return [(each, together[each.assigned.id]) for each in attempts if each.assigned.id in together]
        return [(attempts[0], land(self.context, attempts[0], second))]

    def _landed(self, attempt: Attempt, second: Attempt | None, outcome: Outcome | None) -> Iterator[Outcome]:
        name = attempt.assigned.id
        self._concluded(attempt)
        may_retry = outcome is None or outcome.record.verdict is Verdict.INVALID
        self._forget_landed(name, retry=may_retry and self._is_ready(name))
        if outcome is not None:
            verdict = outcome.record.verdict
            self.done += verdict is not Verdict.INVALID and not attempt.assigned.confirms
            self.rejects = 0 if verdict is Verdict.KEEP else self.rejects + (verdict is Verdict.REJECT)
            advised = self.confirms and verdict is Verdict.KEEP and second is None and outcome.record.estimates
            if advised and not attempt.assigned.confirms:
                self._confirm(name, attempt)
            yield outcome

    def _forget_landed(self, name: str, *, retry: bool = False) -> None:
        self.alone.discard(name)
        self.schedule.landed(name, self._kernel(), retry=retry)

    def _confirm(self, experiment: str, attempt: Attempt) -> None:
        self.schedule.confirm(experiment, attempt.assigned.device, attempts=self.attempts.last(confirmation_of(experiment)))

    def _second(self, experiment: str) -> Attempt | None:
        """Return what a second device has found of a KEEP that waited for it; None for anything else."""
        return self.attempts.newest(confirmation_of(experiment)) if self.schedule.is_answered(experiment) else None

    def _is_ready(self, experiment: str) -> bool:
        entries = read_queue(self.context.library, self.context.workspace.head()).entries()
        return any(each.id == experiment and each.state is State.READY for each in entries)

    def _check_landing(self, refusal: Refused) -> None:
        """Raise `refusal` if nothing could land now: what is judged then lands when the same command is typed again."""
        if isinstance(refusal, MachineTrouble) or refusal.code == "local-change-in-the-way":
            raise refusal
        protocol = self.context.library.protocol(self.context.workspace.head())
        check_workspace(self.context.workspace, protocol.scope)

    def _concluded(self, attempt: Attempt) -> None:
        """An experiment has its record: write down what that means for others, and forget the attempt."""
        assigned = attempt.assigned
        tells = assigned.after or assigned.confirms
        name = experiment_of(assigned.id)
        record = self.context.library.record(self.context.workspace.head(), name) if tells else None
        text, evidence = said_of(record, assigned) if record is not None else ("", ())
        if text:
            noted = add(self.context, self.editor, text=text[:TEXT_MAX], kind=EvidenceKind.MEASURED, evidence=evidence)
            self.context.progress.step("finding", f"{noted.finding.id}: {text}")
        self.attempts.retire(assigned.id, assigned.attempt)
