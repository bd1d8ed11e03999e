"""Lets `sequential_test.decide`, the function that `expctl run` calls, decide on made or recorded rounds, many times."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from expctl.domain.experiment.proposal import Mode, Verdict
from expctl.domain.experiment.record import OBJECTIVE
from expctl.domain.protocol.boundaries import CONFIRM_LAUNCHES_ROUNDS, LOOKS, SEARCH
from expctl.domain.protocol.model import Benchmark, KeepRule, Size, Style
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Session
from expctl.domain.verdict.sequential_test import Decision, MeasureMore, decide

ROUNDS = LOOKS[-1]  # of a search, at most
CONFIRM = CONFIRM_LAUNCHES_ROUNDS
SLICE = 1000  # trials in memory at a time

Noise = Callable[[np.random.Generator, int, int], np.ndarray]
"""(generator, trials, rounds) to (trials, rounds, 2, sizes): robust effects and those on the mean time, without a true one."""

Rule = Callable[[Sequence[RoundEffect], Plan], MeasureMore | Decision]


def plan_of(weights: Mapping[str, float], style: Style = Style.LAUNCH) -> Plan:
    """The plan of a benchmark with these sizes, and the limits that a protocol has when it says nothing."""
    sizes = tuple(Size(name=name, weight=weight) for name, weight in weights.items())
    return Plan.of(Benchmark(argv=("-",), timeout_s=1, sizes=sizes, style=style), KeepRule(), Mode.GAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What came of the trials of one case: by verdict, how many there were and how many intervals held the true effect.

    `search` is the mean number of rounds until the search ended, `rounds` of both sessions.
    """

    found: Mapping[Verdict, int]
    covers: Mapping[Verdict, int]
    search: float
    rounds: float

    @property
    def trials(self) -> int:
        """Of all verdicts."""
        return sum(self.found.values())

    @property
    def coverage(self) -> float:
        """The share of intervals that held the true effect."""
        return sum(self.covers.values()) / self.trials

    def coverage_of(self, verdict: Verdict) -> float:
        """The share of intervals printed with this verdict that held the true effect; 1 where there was none."""
        return self.covers[verdict] / self.found[verdict] if self.found[verdict] else 1.0

    def share_of(self, verdict: Verdict) -> float:
        """The share of trials that ended in this verdict."""
        return self.found[verdict] / self.trials

    @property
    def share(self) -> float:
        """Of KEEPs."""
        return self.share_of(Verdict.KEEP)


Shift = Callable[[int], float]
"""The true effect (log units) by the number of the round, counted over both sessions."""


def settle(
    search: np.ndarray, confirm: np.ndarray, plan: Plan, rule: Rule = decide, shift: Shift | None = None, layouts: int = 1
) -> Decision:
    """Let the rule ask for what it needs, as a run does. Both arrays are (rounds, 2, sizes), of the robust effects and those on
    the mean time; unused rounds change nothing.
    """
    rounds = made_rounds(search, plan, shift=shift, layouts=layouts)
    answer = rule(rounds, plan)
    if not isinstance(answer, Decision):
        ended = next(n for n in SEARCH.looks if _wants_confirmation(rule(rounds[:n], plan)))
        answer = rule([*rounds[:ended], *made_rounds(confirm, plan, Session.CONFIRM, ended, shift, layouts)], plan)
    if not isinstance(answer, Decision):
        raise TypeError(f"undecided after {len(rounds)} rounds: {answer}")
    return answer


def _wants_confirmation(answer: MeasureMore | Decision) -> bool:
    return isinstance(answer, MeasureMore) and answer.session is Session.CONFIRM


def made_rounds(
    made: np.ndarray,
    plan: Plan,
    session: Session = Session.SEARCH,
    start: int = 0,
    shift: Shift | None = None,
    layouts: int = 1,
) -> list[RoundEffect]:
    """Return rounds of a session that begins with round `start`, from effects (rounds, 2, sizes), in turn of each layout."""
    if shift:
        made = made + np.array([shift(start + i) for i in range(len(made))])[:, None, None]
    return [
        RoundEffect(
            round=start + i,
            effect=_by_size(plan, robust),
            mean_effect=_by_size(plan, mean),
            session=session,
            layout=(start + i) % layouts,
        )
        for i, (robust, mean) in enumerate(made.tolist())
    ]


def _by_size(plan: Plan, row: list[float]) -> dict[str, float]:
    return dict(zip(plan.weights, row, strict=True))


def tally(
    pairs: Iterable[tuple[np.ndarray, np.ndarray]], plan: Plan, effect: float | Shift = 0.0, rule: Rule = decide
) -> Tally:
    """Settle every trial of (search, confirm) slices with a true effect, which may change from round to round."""
    shift = effect if callable(effect) else (lambda _: effect)
    covers = dict.fromkeys(Verdict, 0)
    found = dict.fromkeys(Verdict, 0)
    search = total = 0
    for searches, confirms in pairs:
        for one, other in zip(searches, confirms, strict=True):
            decision = settle(one, other, plan, rule, shift)
            procedure, seen = decision.procedure, decision.intervals[OBJECTIVE]
            if procedure is None:
                raise TypeError("decided without a procedure")
            found[decision.verdict] += 1
            covers[decision.verdict] += seen.low <= shift(0) <= seen.high
            search += procedure.search_rounds
            total += procedure.search_rounds + procedure.confirm_rounds
    trials = sum(found.values())
    return Tally(found=found, covers=covers, search=search / trials, rounds=total / trials)


def sessions(
    draw: np.random.Generator, make: Noise, trials: int, rounds: tuple[int, int] = (ROUNDS, CONFIRM)
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield search and confirmation of every trial, two sessions of their own of so many `rounds`, in slices."""
    parts = [SLICE] * (trials // SLICE) + ([trials % SLICE] if trials % SLICE else [])
    for part in parts:
        yield make(draw, part, rounds[0]), make(draw, part, rounds[1])
