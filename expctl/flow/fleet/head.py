"""The head of a fleet: gives queued experiments to devices, lands what they have measured, and writes down everything first.

The truth is git, and the journals of attempts below the state folder: a head that is killed reads both and goes on. What the
engine remembers is never asked for.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from expctl.domain.errors import Busy, Interrupted, MachineTrouble, Refused
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import EvidenceKind
from expctl.domain.fleet.device import Device
from expctl.domain.fleet.events import Assigned, GivenUp
from expctl.domain.fleet.schedule import Assignment, Schedule
from expctl.domain.queue.ordering import State
from expctl.domain.run.events import Event
from expctl.flow.audit.edit_findings import add
from expctl.flow.autopilot.steps import Ended, Skipped
from expctl.flow.fleet.attempts import Attempts
from expctl.flow.fleet.landing import Attempt, decision_of, land
from expctl.flow.fleet.siblings import Siblings
from expctl.flow.repository.pending import read_queue
from expctl.flow.repository.recovery import clean_up_dead_runs
from expctl.flow.run.experiment import Outcome
from expctl.ports.context import Context
from expctl.ports.fleet import Beat, Engine, Finished, Heard, Job, Lost, Offered, Packs, Present, Stumbled, Told
from expctl.ports.repository import FindingsEditor, Journal

LOOK_S = 0.5
SILENT_S = 30.0
REST_S = 5.0
TRIES = 5

FleetStep = Outcome | Skipped | Ended


@dataclass(slots=True)
class _Worker:
    """What the head knows of a device. `sent` is the commit of its newest job, and `known` one that its clone has for sure;
    `rests_until` and `heard` are seconds of the monotonic clock. `fits` is None until it has said what it offers. `job` is what
    it was given last: an experiment and the number of the attempt.
    """

    device: Device
    name: str
    heard: float
    sent: str = ""
    known: str = ""
    fits: bool | None = None
    silent: bool = False
    busy: bool = False
    job: tuple[str, int] = ("", 0)
    rests_until: float = 0.0
    said: str = ""

    def ends(self, heard: Offered | Finished | Stumbled) -> bool:
        """Is this the end of the job that the device does now? What an earlier process of its worker has said is not."""
        return self.busy and self.job == (("", 0) if isinstance(heard, Offered) else (heard.id, heard.attempt))


@dataclass(slots=True, kw_only=True)
class Head:
    """One `run --all --on fleet`. `repository` names this one to workers. `target` is the target to be timed ("": the first
    that the first device offers). `spent` says, by the number of verdicts and of REJECTs in a row, which limit is reached.
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
    attempts: Attempts = field(init=False)
    schedule: Schedule = field(init=False)
    siblings: Siblings = field(init=False)
    workers: dict[str, _Worker] = field(default_factory=dict)
    head: str = ""  # at which the queue was read
    refused: dict[str, str] = field(default_factory=dict)
    stumbled: dict[str, int] = field(default_factory=dict)
    reported: set[tuple[str, State]] = field(default_factory=set)
    done: int = 0
    rejects: int = 0

    def __post_init__(self) -> None:
        self.attempts, self.siblings = Attempts(self.journal), Siblings(self.target)

    # ------------------------------------------------------------------ the loop

    def steps(self) -> Iterator[FleetStep]:
        """Run the queue on the fleet, and yield each result, until nothing in it can run. Raises Refused, Busy, Interrupted."""
        with self.context.locks.measuring(experiment="fleet"):
            clean_up_dead_runs(self.context)
        self.schedule = Schedule("")
        yield from self._read_queue()
        self._recover()
        while True:
            yield from self._land_all()
            yield from self._read_queue()
            ended = self.spent(self.done, self.rejects)
            if not ended:
                self._assign()
            if ended and not any(worker.busy for worker in self.workers.values()):
                yield Ended(why=ended)
                return
            if not len(self.schedule):
                yield from self._left_over()
                return
            if self.context.stop_requested():
                raise Interrupted("the fleet was stopped; expctl run --all --on fleet goes on from there")
            for heard in self.engine.heard(LOOK_S):
                yield from self._hear(heard)
            self._give_up_silent()

    def _kernel(self) -> str:
        return self.context.workspace.source_identity(self.context.workspace.head())

    def _read_queue(self) -> Iterator[FleetStep]:
        head = self.context.workspace.head()
        steps: list[FleetStep] = []
        if head != self.head:
            self.head, self.schedule.kernel = head, self._kernel()
            entries = read_queue(self.context.library, head).entries()
            ready = [each.id for each in entries if each.state is State.READY]
            for name in ready:
                if self.refused.get(name) != self.schedule.kernel:
                    self.schedule.enqueue(name, attempts=self.attempts.last(name))
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

    def _left_over(self) -> Iterator[FleetStep]:
        entries = read_queue(self.context.library, self.context.workspace.head()).entries()
        left = [each for each in entries if each.state is not State.WITHDRAWN]
        states = [
            f"{sum(each.state is state for each in left)} {state}" for state in State if any(e.state is state for e in left)
        ]
        yield Ended(why=f"nothing in the queue can run: {', '.join(states)}" if states else "the queue is empty")

    # ------------------------------------------------------------------ after a killed head

    def _recover(self) -> None:
        """Read the attempts that an earlier head had begun: judged ones land, others go on where they were, or begin anew."""
        for attempt in self.attempts.open():
            assigned = attempt.assigned
            if assigned.id not in self.schedule:
                self.attempts.retire(assigned.id, assigned.attempt)
                continue
            decision = decision_of(self.context, attempt) if attempt.judged is not None else None
            if decision is None:
                self.schedule.begun_before(
                    assigned.id, assigned.attempt, assigned.device, beside=assigned.kernel, again=bool(assigned.alone)
                )
            else:
                keep = decision.verdict is Verdict.KEEP
                self.schedule.judged_before(assigned.id, assigned.attempt, beside=assigned.kernel, keep=keep)

    # ------------------------------------------------------------------ landing

    def _land_all(self) -> Iterator[FleetStep]:
        while name := self.schedule.next_landing():
            attempt = self.attempts.newest(name)
            if not self.schedule.is_kept(name):  # the kernel stays, so no device has to wait for this
                self._assign()
            try:
                outcome = land(self.context, attempt)
            except Busy as busy:
                self.context.progress.step("waiting", f"{busy.message}; {busy.hint}")
                return
            except MachineTrouble:
                raise
            except Refused as refusal:
                self.refused[name] = self.schedule.kernel
                self._concluded(attempt)
                yield Skipped(id=name, state=State.READY, refusal=refusal)
                continue
            self._concluded(attempt)
            if outcome is not None:
                self._count(outcome, attempt)
                yield outcome

    def _concluded(self, attempt: Attempt) -> None:
        self.attempts.retire(attempt.assigned.id, attempt.assigned.attempt)
        self.schedule.landed(attempt.assigned.id, self._kernel())

    def _count(self, outcome: Outcome, attempt: Attempt) -> None:
        verdict, assigned = outcome.record.verdict, attempt.assigned
        self.done += verdict is not Verdict.INVALID
        self.rejects = 0 if verdict is Verdict.KEEP else self.rejects + (verdict is Verdict.REJECT)
        if assigned.after and verdict not in (Verdict.KEEP, Verdict.INVALID):
            self._write_down_conflict(outcome, assigned)

    def _write_down_conflict(self, outcome: Outcome, assigned: Assigned) -> None:
        """Commit a finding that names both sides: good alone, and not on top of the other."""
        record, others = outcome.record, ", ".join(assigned.after)
        text = (
            f"{assigned.id} and {others} don't add up: alone, {assigned.id} was {assigned.alone}. "
            f"On top of {others} it ended as {record.verdict}: {record.reasons[0] if record.reasons else ''}"
        )
        evidence = (assigned.id, *assigned.after)
        noted = add(self.context, self.editor, text=text, kind=EvidenceKind.MEASURED, evidence=evidence)
        self.context.progress.step("finding", f"{noted.finding.id}: {text}")

    # ------------------------------------------------------------------ giving work

    def _assign(self) -> None:
        for worker in self.workers.values():
            if worker.busy or worker.rests_until > time.monotonic():
                continue
            if worker.fits is None:
                self._ask(worker)
            elif worker.fits and worker.rests_until:
                worker.rests_until = 0.0
                self.schedule.offer(worker.device.uuid)
        while assignment := self.schedule.assign():
            self._start(assignment)

    def _ask(self, worker: _Worker) -> None:
        self._send(worker, self.context.workspace.head(), "", 0, ())

    def _start(self, assignment: Assignment) -> None:
        worker = self.workers[assignment.device]
        events: tuple[Event, ...] = ()
        if assignment.resumes:
            attempt = self.attempts.newest(assignment.id)
            base, events = attempt.assigned.base, attempt.run
        else:
            base = self.context.workspace.head()
            alone, after = self._alone(assignment)
            assigned = Assigned(
                id=assignment.id,
                attempt=assignment.attempt,
                device=assignment.device,
                kind=worker.device.kind,
                worker=worker.name,
                base=base,
                kernel=self.schedule.kernel,
                alone=alone,
                after=after,
            )
            before = self.attempts.last(assignment.id)
            self.attempts.begin(assigned)
            if assignment.again:
                self._give_up(assignment.id, before, "judged again beside the newest kernel")
        again = ", again on the newest kernel" if assignment.again else ", where it was begun" if assignment.resumes else ""
        self.context.progress.step("given", f"{assignment.id} to {worker.name}, attempt {assignment.attempt}{again}")
        self._send(worker, base, assignment.id, assignment.attempt, events)

    def _send(self, worker: _Worker, base: str, experiment: str, attempt: int, events: tuple[Event, ...]) -> None:
        job = Job(
            repository=self.repository,
            base=base,
            branch=self.context.workspace.branch(),
            pack=self.packs.name(base, worker.known),
            id=experiment,
            attempt=attempt,
            target=self.siblings.target,
            device=worker.device.uuid,
            events=events,
        )
        worker.busy, worker.heard, worker.sent, worker.job = True, time.monotonic(), base, (experiment, attempt)
        self.engine.start(worker.device.uuid, job, self.packs.bytes(base, worker.known))

    def _alone(self, assignment: Assignment) -> tuple[str, tuple[str, ...]]:
        """Return how an experiment that is judged again was judged before, and what was kept since."""
        if not assignment.again:
            return "", ()
        before = self.attempts.newest(assignment.id)
        decision = decision_of(self.context, before) if before.judged is not None else None
        if decision is None:
            return before.assigned.alone, before.assigned.after
        library, base = self.context.library, before.assigned.base
        then, now = library.experiments(base), library.experiments(self.context.workspace.head())
        since = tuple(name for name, verdict in now.items() if verdict is Verdict.KEEP and then.get(name) is not verdict)
        return f"{decision.verdict} on {base[:7]}: {decision.reasons[0]}", since

    # ------------------------------------------------------------------ listening

    def _hear(self, heard: Heard) -> Iterator[FleetStep]:
        worker = self.workers.get(heard.device)
        if worker is not None:
            worker.heard = time.monotonic()
            worker.known = worker.sent if isinstance(heard, Offered | Told | Finished) else worker.known
        match heard:
            case Present(found=device, worker=name):
                self._lose(heard.device, "its worker has started anew")
                self.workers[heard.device] = _Worker(device=device, name=name, heard=time.monotonic())
            case Lost(why=why):
                self._lose(heard.device, why)
                self.workers.pop(heard.device, None)
            case Offered() if worker is not None and worker.ends(heard):
                self._weigh(worker, heard)
            case Told():
                self.attempts.tell(heard)
            case Finished():
                self._judge(heard)
                if worker is not None and worker.ends(heard):
                    self._free(worker)
            case Stumbled() if worker is not None and worker.ends(heard):
                self._free(worker)
                yield from self._stumble(worker, heard)
            case Beat():
                pass

    def _free(self, worker: _Worker) -> None:
        """A job has ended. A device that had been silent is one of the fleet again."""
        worker.busy = False
        if worker.silent:
            worker.silent = False
            self.context.progress.step("heard", f"{worker.name} is back")
            if worker.fits:
                self.schedule.offer(worker.device.uuid)

    def _weigh(self, worker: _Worker, offered: Offered) -> None:
        self._free(worker)
        why_not = self.siblings.weigh(offered)
        worker.fits = not why_not
        self.context.progress.step("offer", f"{worker.name}: {offered.target} on {worker.device.uuid}{why_not}")
        if worker.fits:
            self.schedule.offer(worker.device.uuid)

    def _judge(self, finished: Finished) -> None:
        if not self.schedule.is_current(finished.id, finished.attempt):
            self.attempts.tell_late(finished)
            self.context.progress.step("late", f"{finished.id}, attempt {finished.attempt}: kept as evidence, counts no more")
            return
        self.attempts.judged(finished)
        decision = decision_of(self.context, self.attempts.newest(finished.id))
        if decision is None:  # lines of the attempt are missing: it is measured anew
            self._give_up(finished.id, finished.attempt, "what the worker told is not whole")
            self.schedule.failed(finished.id, finished.attempt, retry=True)
        else:
            self.schedule.judged(finished.id, finished.attempt, keep=decision.verdict is Verdict.KEEP)
            self.context.progress.step("judged", f"{finished.id} {decision.verdict}: {decision.reasons[0]}")

    def _stumble(self, worker: _Worker, stumbled: Stumbled) -> Iterator[FleetStep]:
        name, why = stumbled.id, f"{stumbled.message}: {stumbled.found}" if stumbled.found else stumbled.message
        if why != worker.said:
            self.context.progress.step("worker", f"{worker.name}: {why}")
        worker.said, worker.known = why, ""
        worker.rests_until = time.monotonic() + REST_S
        if not name:
            return
        current = self.schedule.is_current(name, stumbled.attempt)
        self._give_up(name, stumbled.attempt, why)
        if not current:
            return
        tries = self.stumbled[name] = self.stumbled.get(name, 0) + (stumbled.kind not in ("Busy", "Interrupted"))
        refused = stumbled.kind == "Refused" or tries >= TRIES
        self.schedule.failed(name, stumbled.attempt, retry=not refused)
        self.schedule.lose(worker.device.uuid)  # it rests for a moment
        if refused:
            self.refused[name] = self.schedule.kernel
            yield Skipped(
                id=name,
                state=State.READY,
                refusal=Refused(
                    stumbled.message,
                    code=stumbled.code or "fleet-worker-failed",
                    expected=stumbled.expected,
                    found=stumbled.found,
                    where=stumbled.where or worker.name,
                    hint=stumbled.hint,
                ),
            )

    def _give_up(self, experiment: str, attempt: int, why: str) -> None:
        self.attempts.give_up(experiment, attempt, GivenUp(why=why))

    def _lose(self, device: str, why: str) -> None:
        worker = self.workers.get(device)
        lost = self.schedule.lose(device)
        if worker is not None:
            self.context.progress.step("lost", f"{worker.name}: {why}{f'; {lost} waits again' if lost else ''}")
        if lost:
            self._give_up(lost, self.attempts.last(lost), why)

    def _give_up_silent(self) -> None:
        now = time.monotonic()
        for device, worker in self.workers.items():
            if worker.busy and not worker.silent and now - worker.heard > self.silent_s:
                worker.silent = True
                self._lose(device, f"it has said nothing for {self.silent_s:g} s")
