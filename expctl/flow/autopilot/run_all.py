"""`run --all`: go on by itself until the queue is empty, a budget ends or something unrecoverable happens."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from expctl.domain.errors import Busy, MachineTrouble, Refused
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.queue.ordering import Entry, State
from expctl.domain.text import one_line
from expctl.flow.autopilot.preconditions import check_preconditions, check_same_branch, ending_in_words
from expctl.flow.queue.edit_queue import Rebased, rebase_queue
from expctl.flow.queue.submit import Proposed
from expctl.flow.repository.pending import read_queue
from expctl.flow.repository.recovery import clean_up_dead_runs
from expctl.flow.run.experiment import Outcome, run_experiment
from expctl.ports.context import Context

BUSY_PAUSE_S = 5.0
FAULTS_IN_A_ROW = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """When to stop: after so many concluded experiments, hours, or REJECTs without a KEEP between. 0 is no limit.

    `proposals` is how often the proposer may be asked; 0 is never.
    """

    experiments: int = 0
    hours: float = 0.0
    rejects: int = 0
    proposals: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A queued experiment that was not run, and why. The queue goes on."""

    id: str
    state: State
    refusal: Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingProposed:
    """The proposer left nothing that can be queued. `fault`: it didn't do its work at all."""

    refusal: Refused
    fault: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepFinished:
    """The proposer has nothing more to propose."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Why the queue ended."""

    why: str


Step = Outcome | Skipped | Rebased | Proposed | NothingProposed | Ended
Ask = Callable[[Context, str], Proposed | NothingProposed | SweepFinished]


@dataclass(slots=True, kw_only=True)
class _Journey:
    """What has happened since the queue was started, on `branch`. Told once is enough."""

    context: Context
    target: str
    budget: Budget
    ask: Ask
    branch: str
    started_s: float
    concluded: int = 0
    rejects: int = 0
    asked: int = 0
    faults: int = 0
    exhausted: str = ""
    rebased_on: str = ""
    refused: set[str] = field(default_factory=set)
    waits_for: str = ""
    told: set[tuple[str, State]] = field(default_factory=set)

    def spent(self) -> str:
        """Which budget has ended; empty while none has."""
        budget = self.budget
        if budget.experiments and self.concluded >= budget.experiments:
            return f"the budget of {budget.experiments} experiments is spent"
        if budget.hours and (self.context.clock.monotonic_s() - self.started_s) / 3600 >= budget.hours:
            return f"the budget of {budget.hours:g} hours is spent"
        return f"{self.rejects} REJECTs in a row" if budget.rejects and self.rejects >= budget.rejects else ""

    def look(self) -> tuple[Entry, ...]:
        """The queue at the head of the branch, but what was refused on this baseline."""
        queue = read_queue(self.context.library, self.context.workspace.head()).entries()
        return tuple(each for each in queue if each.id not in self.refused)

    def next_of(self, entries: tuple[Entry, ...]) -> str:
        """Whose run was begun and not ended, else the first that is ready; empty when none is."""
        ready = [each.id for each in entries if each.state is State.READY]
        begun = set(self.context.journal.unfinished())
        return next((name for name in ready if name in begun), ready[0] if ready else "")

    def news(self, entries: tuple[Entry, ...], *states: State) -> Iterator[Skipped]:
        """Those in one of `states` of which that was not told yet."""
        for each in entries:
            if each.state in states and (each.id, each.state) not in self.told:
                self.told.add((each.id, each.state))
                yield Skipped(
                    id=each.id,
                    state=each.state,
                    refusal=Refused(f"{each.id} is {each.state}: {each.why}", code="experiment-not-ready"),
                )

    def run(self, experiment: str) -> Outcome | Skipped:
        """Run one. Raises Busy and Interrupted."""
        try:
            outcome = run_experiment(self.context, experiment, target=self.target)
        except (Busy, MachineTrouble):
            raise
        except Refused as refusal:
            with self.context.locks.repository(experiment=experiment):
                check_preconditions(self.context, self.target)
            self.refused.add(experiment)
            return Skipped(id=experiment, state=State.READY, refusal=refusal)
        verdict = outcome.record.verdict
        self.concluded += verdict is not Verdict.INVALID
        self.rejects = 0 if verdict is Verdict.KEEP else self.rejects + (verdict is Verdict.REJECT)
        if verdict is Verdict.KEEP:
            self.refused.clear()  # another baseline is another question
            self.rebased_on = self._scope()
            self.told |= {(name, State.BLOCKED) for name in outcome.rebased.blocked} if outcome.rebased else set()
        return outcome

    def rebase(self) -> Rebased | None:
        """Hold the queue against the baseline when that is new to us: a user, or a run that died, may have moved the branch."""
        with self.context.locks.repository(experiment="queue"):
            clean_up_dead_runs(self.context)
            check_preconditions(self.context, self.target)
            check_same_branch(self.context, self.branch)
            if self.rebased_on == self._scope():
                return None
            rebased = rebase_queue(self.context)
            self.rebased_on = self._scope()
            self.told |= {(name, State.BLOCKED) for name in rebased.blocked} if rebased is not None else set()
            return rebased

    def wait_for(self, busy: Busy) -> None:
        """Say for whom it waits, once for each."""
        if busy.message != self.waits_for:
            self.context.progress.step("waiting", "; ".join(filter(None, (busy.message, one_line(busy.found), busy.hint))))
        self.waits_for = busy.message

    def _scope(self) -> str:
        """What a patch applies to, as a hash."""
        head = self.context.workspace.head()
        return self.context.workspace.protocol_identity(head, self.context.library.protocol(head).scope)

    def propose(self) -> Proposed | NothingProposed | None:
        """Ask the proposer, if it may be asked again."""
        if self.exhausted or self.asked >= self.budget.proposals:
            return None
        answer = self.ask(self.context, self.target)
        self.asked += 1
        if isinstance(answer, SweepFinished):
            self.exhausted = answer.why
            return None
        self.faults = self.faults + 1 if isinstance(answer, NothingProposed) and answer.fault else 0
        if self.faults >= FAULTS_IN_A_ROW:
            self.exhausted = f"the proposer failed {self.faults} times in a row"
        return answer


def run_all(
    context: Context, *, target: str, budget: Budget, ask: Ask, pause: Callable[[float], None] = time.sleep
) -> Iterator[Step]:
    """Run what is queued in the order of the queue, reading it again after each. Busy is waited out, INVALID retried twice.

    When nothing is ready, the proposer is asked. Raises Refused when no experiment could run any more, and Interrupted.
    """
    branch, started_s = context.workspace.branch(), context.clock.monotonic_s()
    journey = _Journey(context=context, target=target, budget=budget, ask=ask, branch=branch, started_s=started_s)
    with ending_in_words():
        while not context.stop_requested():
            try:
                rebased = journey.rebase()
                if rebased is not None:
                    yield rebased
                entries = journey.look()
                yield from journey.news(entries, State.BLOCKED, State.SKIPPED, State.CHANGED, State.MALFORMED, State.INVALID)
                ready = journey.next_of(entries)
                spent = journey.spent()
                if spent:
                    yield Ended(why=spent)
                    return
                step = journey.run(ready) if ready else journey.propose()
            except Busy as busy:
                journey.wait_for(busy)
                pause(BUSY_PAUSE_S)
                continue
            journey.waits_for = ""
            if step is None:
                yield from journey.news(entries, State.WAITING)
                yield Ended(why=_end(entries, journey))
                return
            yield step


def _end(entries: tuple[Entry, ...], journey: _Journey) -> str:
    left = [each for each in entries if each.state is not State.WITHDRAWN]
    states = [f"{sum(each.state is state for each in left)} {state}" for state in State if any(e.state is state for e in left)]
    states += [f"{len(journey.refused)} refused"] if journey.refused else []
    queue = f"nothing in the queue can run: {', '.join(states)}" if states else "the queue is empty"
    if journey.exhausted:
        return f"{queue}; {journey.exhausted}"
    return f"{queue}; the budget of {journey.asked} proposals is spent" if journey.asked else queue
