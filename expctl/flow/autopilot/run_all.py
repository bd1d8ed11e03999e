"""Run the queue (`run --all`) until it is empty, a budget is spent or no experiment can run any more."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from expctl.domain.errors import Busy, ControlFailed, MachineTrouble, Refused
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.queue.ordering import Entry, State
from expctl.domain.text import one_line
from expctl.flow.autopilot.blind_slot import DRAW, BlindOutcome, Chance, blind_slot, check_not_kept
from expctl.flow.autopilot.budget import Budget
from expctl.flow.autopilot.campaign import Campaign
from expctl.flow.autopilot.campaign_account import CampaignAccount
from expctl.flow.autopilot.preconditions import explaining_os_errors
from expctl.flow.autopilot.steps import Ended, NothingProposed, Skipped, Step, SweepFinished
from expctl.flow.queue.edit_queue import Rebased, rebase_queue
from expctl.flow.queue.submit import Proposed
from expctl.flow.repository.beside import unmerged
from expctl.flow.repository.pending import read_queue
from expctl.flow.repository.recovery import clean_up_dead_runs
from expctl.flow.run.experiment import Outcome, run_experiment
from expctl.ports.context import Context
from expctl.ports.proposers import NightLog

BUSY_PAUSE_S, BUSY_LOOKS = 5.0, 25
FAULTS_IN_A_ROW = 3


Ask = Callable[[Context, str], Proposed | NothingProposed | SweepFinished]


@dataclass(slots=True, kw_only=True)
class _QueueRun:
    """The counters and settings of one `run --all`. `reported` has the (id, state) pairs of which the user has been told."""

    campaign: Campaign
    target: str
    budget: Budget
    ask: Ask
    chance: Chance
    started_s: float
    drawn: bool = False
    blind_is_due: bool = False
    night: CampaignAccount
    concluded: int = 0
    rejects: int = 0
    asked: int = 0
    faults: int = 0
    exhausted: str = ""
    rebased_on: str = ""
    refused: set[str] = field(default_factory=set)
    waits_for: str = ""
    reported: set[tuple[str, State]] = field(default_factory=set)

    @property
    def context(self) -> Context:
        """Return the context that sees the repository from the campaign's branch."""
        return self.campaign.context

    def spent(self) -> str:
        """Return which limit of the budget is reached, in words; "" if none is."""
        budget = self.budget
        if budget.experiments and self.concluded >= budget.experiments:
            return f"the budget of {budget.experiments} experiments is spent"
        if (
            budget.hours
            and self.night.hours_before + (self.context.clock.monotonic_s() - self.started_s) / 3600 >= budget.hours
        ):
            return f"the budget of {budget.hours:g} hours is spent"
        return f"{self.rejects} REJECTs in a row" if budget.rejects and self.rejects >= budget.rejects else ""

    def entries(self) -> tuple[Entry, ...]:
        """Return the queued experiments at HEAD, without those that were refused since the last KEEP."""
        queue = read_queue(self.context.library, self.context.workspace.head()).entries()
        return tuple(each for each in queue if each.id not in self.refused)

    def next_experiment(self, entries: tuple[Entry, ...]) -> str:
        """Return the id of the ready experiment with an unfinished run, else of the first ready one; "" if none is ready."""
        ready = [each.id for each in entries if each.state is State.READY]
        begun = set(self.context.journal.unfinished())
        return next((name for name in ready if name in begun), ready[0] if ready else "")

    def unreported(self, entries: tuple[Entry, ...], *states: State) -> Iterator[Skipped]:
        """Yield the entries in one of `states`, but each of them only once in that state, however often this is called."""
        for each in entries:
            if each.state in states and (each.id, each.state) not in self.reported:
                self.reported.add((each.id, each.state))
                yield Skipped(
                    id=each.id,
                    state=each.state,
                    refusal=Refused(
                        f"{each.id} is {each.state}: {each.why}",
                        code="experiment-not-ready",
                        hint=f"expctl show {each.id} --apply merges it into your files" if each.state is State.BLOCKED else "",
                    ),
                )

    def step(self, ready: str) -> Step | None:
        """Run a blind slot that is due, or else the experiment `ready`; ask the proposer if that is "". None: nothing is left.

        Raises Refused, Busy, Interrupted.
        """
        if ready and self.draws_blind():
            return self.run_blind()
        return self.run(ready) if ready else self.propose()

    def draws_blind(self) -> bool:
        """Is a blind slot due before the next experiment? Drawn once for each; what was drawn stays due until it was run."""
        if not self.drawn:
            percent = self.context.library.protocol(self.context.workspace.head()).keep.blind_percent
            self.drawn, self.blind_is_due = True, 100 * self.chance() < percent
        return self.blind_is_due

    def run_blind(self) -> BlindOutcome:
        """Run the blind slot that is due. Raises Refused, Busy, Interrupted."""
        outcome = blind_slot(self.context, target=self.target, chance=self.chance)
        self.blind_is_due = False
        return outcome

    def run(self, experiment: str) -> Outcome | Skipped:
        """Run one experiment; return Skipped if it is refused. Raises Refused if no experiment could run, Busy, Interrupted."""
        try:
            outcome = run_experiment(self.context, experiment, target=self.target)
        except (Busy, MachineTrouble, ControlFailed):
            raise
        except Refused as refusal:
            if self.campaign.is_in_the_way(refusal):
                raise
            with self.context.locks.measuring(experiment=experiment):
                self.campaign.check(self.target)
            self.refused.add(experiment)
            self.drawn = False
            return Skipped(id=experiment, state=State.READY, refusal=refusal)
        self.drawn = False
        verdict = outcome.record.verdict
        self.concluded += verdict is not Verdict.INVALID
        self.rejects = 0 if verdict is Verdict.KEEP else self.rejects + (verdict is Verdict.REJECT)
        if verdict is Verdict.KEEP:
            self.refused.clear()  # what was refused may be allowed on the new baseline
            self.rebased_on = self._scope_hash()
            self.reported |= {(name, State.BLOCKED) for name in outcome.rebased.blocked} if outcome.rebased else set()
        return outcome

    def rebase(self) -> Rebased | None:
        """Check again which queued patches apply, if the kernel has changed since the last call; None if nothing changed. The
        user or a killed run may have moved the branch. Raises Refused if no experiment can run, Busy.
        """
        with self.context.locks.measuring(experiment="queue"):
            clean_up_dead_runs(self.context)
            if self.campaign.follow():
                self.rebased_on = ""
                self.refused.clear()
            self.campaign.check(self.target)
            if self.rebased_on == self._scope_hash():
                return None
            rebased = rebase_queue(self.context)
            self.rebased_on = self._scope_hash()
            self.reported |= {(name, State.BLOCKED) for name in rebased.blocked} if rebased is not None else set()
            return rebased

    def wait_for(self, busy: Busy) -> None:
        """Print which lock or process `run --all` waits for, unless the last call printed the same."""
        if busy.message != self.waits_for:
            self.context.progress.step("waiting", "; ".join(filter(None, (busy.message, one_line(busy.found), busy.hint))))
        self.waits_for = busy.message

    def _scope_hash(self) -> str:
        head = self.context.workspace.head()
        return self.context.workspace.files_identity(head, self.context.library.protocol(head).scope)

    def propose(self) -> Proposed | NothingProposed | None:
        """Ask the proposer for an experiment; None if its budget is spent, it has no more or it failed three times in a row."""
        self.exhausted = self.exhausted or self.night.spent(self.budget.tokens, self.budget.money)
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
        self.exhausted = self.exhausted or self.night.circles()
        return answer


def run_all(
    context: Context,
    *,
    target: str,
    budget: Budget,
    ask: Ask,
    pause: Callable[[float], None] = time.sleep,
    chance: Chance = DRAW,
    branch: str = "",
    night: NightLog | None = None,
) -> Iterator[Step]:
    """Run the queue in order and yield each result, until `budget` is spent or no experiment can run.

    What is kept lands on the branch that is checked out. Where that would change a file that the user has changed, the campaign
    goes on on a branch beside it, and so does the next one until that is merged. With `branch` it begins on that one.

    Experiments are timed on `target` ("": the first available). While another holds a lock, `pause` (a sleep in seconds) is
    called and the step repeated. `ask` asks the proposer when nothing is ready; `chance` draws blind slots. With `night`, a
    killed campaign goes on with what is left of its budget, and a proposer that circles is not asked any more. Raises Refused
    if no experiment can run any more or a blind slot was kept, or Interrupted.
    """
    account = CampaignAccount.open(context, night)
    queue = _QueueRun(
        campaign=Campaign(context),
        night=account,
        concluded=account.concluded_before,
        rejects=account.rejects_before,
        asked=account.calls_before,
        faults=account.faults_before,
        exhausted=account.circles(),
        target=target,
        budget=budget,
        ask=ask,
        chance=chance,
        started_s=context.clock.monotonic_s(),
    )
    try:
        for step in _steps(context, queue, branch, pause):
            account.step(step)
            yield step
    finally:
        account.close()


def _steps(context: Context, queue: _QueueRun, branch: str, pause: Callable[[float], None]) -> Iterator[Step]:
    if branch:
        yield queue.campaign.go_to(branch, "as --branch says")
    elif earlier := unmerged(context.workspace):
        yield queue.campaign.go_to(earlier, f"{queue.campaign.branch} lacks what an earlier campaign has found there")
    with explaining_os_errors():
        while not context.stop_requested():
            try:
                rebased = queue.rebase()
                if rebased is not None:
                    yield rebased
                entries = queue.entries()
                yield from queue.unreported(
                    entries, State.BLOCKED, State.SKIPPED, State.CHANGED, State.MALFORMED, State.INVALID
                )
                ready = queue.next_experiment(entries)
                spent = queue.spent()
                if spent:
                    yield Ended(why=spent, bring_home=queue.campaign.bring_home())
                    return
                step = queue.step(ready)
            except Busy as busy:
                queue.wait_for(busy)
                _rest(context, pause)
                continue
            except Refused as refusal:
                if not queue.campaign.is_in_the_way(refusal):
                    raise
                yield queue.campaign.leave(refusal)
                continue
            queue.waits_for = ""
            if step is None:
                yield from queue.unreported(entries, State.WAITING)
                yield Ended(why=_end(entries, queue), bring_home=queue.campaign.bring_home())
                return
            yield step
            if isinstance(step, BlindOutcome):
                check_not_kept(step)


def _rest(context: Context, pause: Callable[[float], None]) -> None:
    """Pause before the next try, in parts, so that a request to stop is heard."""
    for _ in range(BUSY_LOOKS):
        if context.stop_requested():
            return
        pause(BUSY_PAUSE_S / BUSY_LOOKS)


def _end(entries: tuple[Entry, ...], queue: _QueueRun) -> str:
    left = [each for each in entries if each.state is not State.WITHDRAWN]
    states = [f"{sum(each.state is state for each in left)} {state}" for state in State if any(e.state is state for e in left)]
    states += [f"{len(queue.refused)} refused"] if queue.refused else []
    ended = f"nothing in the queue can run: {', '.join(states)}" if states else "the queue is empty"
    if queue.exhausted:
        return f"{ended}; {queue.exhausted}"
    return f"{ended}; the budget of {queue.asked} proposals is spent" if queue.asked else ended
