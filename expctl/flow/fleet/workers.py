"""The devices of a fleet as its head sees them: what each does, what it has said, and when it is lost."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import OBJECTIVE
from expctl.domain.fleet.assignment import Assignment, experiment_of
from expctl.domain.fleet.device import Device
from expctl.domain.fleet.events import Assigned, GivenUp
from expctl.domain.fleet.schedule import Schedule
from expctl.domain.queue.ordering import State
from expctl.domain.run.events import Event
from expctl.flow.autopilot.steps import Skipped
from expctl.flow.fleet.attempts import Attempts
from expctl.flow.fleet.landing import decision_of, needs_second
from expctl.flow.fleet.siblings import Siblings
from expctl.ports.context import Context
from expctl.ports.fleet import Engine, Finished, Heard, Job, Lost, Offered, Packs, Present, Stumbled, Told

REST_S = 5.0
TRIES = 5


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

    def means(self, heard: Offered | Told | Finished | Stumbled) -> bool:
        """Is this of the job that the device does now? What an earlier process of its worker has said is not."""
        return self.busy and self.job == (("", 0) if isinstance(heard, Offered) else (heard.id, heard.attempt))


@dataclass(slots=True, kw_only=True)
class Workers:
    """All devices by id. A device that says nothing for `silent_s` seconds while it has a job loses that. `repository` names
    the head's to them. `refused` has the experiments that a worker or the head has refused, with the kernel of that time.
    """

    context: Context
    engine: Engine
    packs: Packs
    repository: str
    attempts: Attempts
    schedule: Schedule
    siblings: Siblings
    silent_s: float
    refused: dict[str, str] = field(default_factory=dict)
    devices: dict[str, _Worker] = field(default_factory=dict)
    stumbled: dict[str, int] = field(default_factory=dict)

    @property
    def busy(self) -> bool:
        """Does any device have a job that counts? That of a silent one counts no more."""
        return any(worker.busy and not worker.silent for worker in self.devices.values())

    # ------------------------------------------------------------------ giving work

    def assign(self) -> None:
        """Ask new devices what they offer, and give work to those that are free."""
        for worker in self.devices.values():
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
        worker = self.devices[assignment.device]
        events: tuple[Event, ...] = ()
        if assignment.resumes:
            attempt = self.attempts.newest(assignment.id)
            base, events = attempt.assigned.base, attempt.run
        else:
            base = self._base(assignment)
            alone, after, kept_by = self._alone(assignment)
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
                confirms=assignment.confirms,
                kept_by=kept_by,
            )
            before = self.attempts.last(assignment.id)
            self.attempts.begin(assigned)
            if assignment.again:
                self._give_up(assignment.id, before, "judged again beside the newest kernel")
        again = ", again on the newest kernel" if assignment.again else ", where it was begun" if assignment.resumes else ""
        again += ", as a confirmation" if assignment.confirms else ""
        self.context.progress.step("given", f"{assignment.id} to {worker.name}, attempt {assignment.attempt}{again}")
        kept_by = self.attempts.newest(assignment.id).assigned.kept_by
        self._send(worker, base, assignment.id, assignment.attempt, events, kept_by)

    def _base(self, assignment: Assignment) -> str:
        """Return the commit beside which to measure: the newest, or that of the KEEP which waits for this confirmation."""
        name = experiment_of(assignment.id)
        waited_for = assignment.confirms and name in self.schedule
        return self.attempts.newest(name).assigned.base if waited_for else self.context.workspace.head()

    def _send(
        self, worker: _Worker, base: str, experiment: str, attempt: int, events: tuple[Event, ...], kept_by: str = ""
    ) -> None:
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
            again=experiment != experiment_of(experiment),
            kept_by=kept_by,
        )
        worker.busy, worker.heard, worker.sent, worker.job = True, time.monotonic(), base, (experiment, attempt)
        self.engine.start(worker.device.uuid, job, self.packs.bytes(base, worker.known))

    def _alone(self, assignment: Assignment) -> tuple[str, tuple[str, ...], str]:
        """Return how an experiment that is judged again was judged before, what was kept since, and by which gain the
        experiment was kept (Begun.kept_by).
        """
        if not assignment.again:
            return "", (), ""
        before = self.attempts.newest(assignment.id)
        decision = decision_of(self.context, before) if before.judged is not None else None
        if decision is None:
            return before.assigned.alone, before.assigned.after, before.assigned.kept_by
        library, base = self.context.library, before.assigned.base
        then, now = library.experiments(base), library.experiments(self.context.workspace.head())
        since = tuple(name for name, verdict in now.items() if verdict is Verdict.KEEP and then.get(name) is not verdict)
        how = decision.procedure
        kept_by = (how.rescued_by or OBJECTIVE) if how is not None and how.confirm_rounds else ""
        return f"{decision.verdict} on {base[:7]}: {decision.reasons[0]}", since, kept_by

    # ------------------------------------------------------------------ listening

    def hear(self, heard: Heard) -> Iterator[Skipped]:
        """Take in what a device has said; yield an experiment that it has refused."""
        worker = self.devices.get(heard.device)
        if worker is not None:
            worker.heard = time.monotonic()
            worker.known = worker.sent if isinstance(heard, Offered | Told | Finished) else worker.known
        match heard:
            case Present(found=device, worker=name):
                self._lose(heard.device, "its worker has started anew")
                self.devices[heard.device] = _Worker(device=device, name=name, heard=time.monotonic())
            case Lost(why=why):
                self._lose(heard.device, why)
                self.devices.pop(heard.device, None)
            case Offered() if worker is not None and worker.means(heard):
                self._weigh(worker, heard)
            case Told() if worker is not None and worker.means(heard):
                self.attempts.tell(heard)
            case Finished() if worker is not None and worker.means(heard):
                self._judge(heard)
                self._free(worker)
            case Stumbled() if worker is not None and worker.means(heard):
                self._free(worker)
                yield from self._stumble(worker, heard)

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
        attempt = self.attempts.newest(finished.id)
        decision = decision_of(self.context, attempt)
        if decision is None:  # lines of the attempt are missing: it is measured anew
            self._give_up(finished.id, finished.attempt, "what the worker told is not whole")
            self.schedule.failed(finished.id, finished.attempt, retry=True)
            return
        self.context.progress.step("judged", f"{finished.id} {decision.verdict}: {decision.reasons[0]}")
        if decision.verdict is Verdict.INVALID and attempt.assigned.confirms and experiment_of(finished.id) in self.schedule:
            tries = self.stumbled[finished.id] = self.stumbled.get(finished.id, 0) + 1
            if tries < TRIES:  # it says nothing of the KEEP that waits for it
                self._give_up(finished.id, finished.attempt, decision.reasons[0])
                self.schedule.failed(finished.id, finished.attempt, retry=True)
                return
        keep, second = decision.verdict is Verdict.KEEP, needs_second(self.context, attempt, decision)
        self.schedule.judged(finished.id, finished.attempt, keep=keep, needs_second=second)

    def _stumble(self, worker: _Worker, stumbled: Stumbled) -> Iterator[Skipped]:
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
        if stumbled.kind == "MachineTrouble":  # a full disk, say: it must say anew what it offers before it gets another
            worker.fits = None
        tries = self.stumbled[name] = self.stumbled.get(name, 0) + (
            stumbled.kind not in ("Busy", "Interrupted", "MachineTrouble")
        )
        refused = stumbled.kind == "Refused" or tries >= TRIES
        self.schedule.failed(name, stumbled.attempt, retry=not refused)
        self.schedule.lose(worker.device.uuid)  # it rests for a moment
        if refused:
            self.refused[experiment_of(name)] = self.schedule.kernel
            yield Skipped(id=experiment_of(name), state=State.READY, refusal=_refusal(worker, stumbled))

    def _give_up(self, experiment: str, attempt: int, why: str) -> None:
        self.attempts.give_up(experiment, attempt, GivenUp(why=why))

    def _lose(self, device: str, why: str) -> None:
        worker = self.devices.get(device)
        lost = self.schedule.lose(device)
        if worker is not None:
            self.context.progress.step("lost", f"{worker.name}: {why}{f'; {lost} waits again' if lost else ''}")
        if lost:
            self._give_up(lost, self.attempts.last(lost), why)

    def give_up_silent(self) -> None:
        """Take the job from each device that has been silent for too long. It may come back."""
        now = time.monotonic()
        for device, worker in self.devices.items():
            if worker.busy and not worker.silent and now - worker.heard > self.silent_s:
                worker.silent = True
                self._lose(device, f"it has said nothing for {self.silent_s:g} s")


def _refusal(worker: _Worker, stumbled: Stumbled) -> Refused:
    """Return the worker's error as the head's."""
    refusal = Refused(
        "a worker could not judge the experiment",
        code="fleet-worker-failed",
        expected=stumbled.expected,
        found=stumbled.found,
        where=stumbled.where or worker.name,
        hint=stumbled.hint or "look at the log in the worker's folder, then expctl run --all --on fleet",
    )
    if stumbled.code:
        refusal.code, refusal.message = stumbled.code, stumbled.message
    return refusal
