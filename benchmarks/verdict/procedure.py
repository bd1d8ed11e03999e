"""Lets `sequential_test.decide`, the function that `expctl run` calls, decide on made or recorded rounds, many times."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from expctl.domain.experiment.proposal import Mode, Verdict
from expctl.domain.protocol.boundaries import CONFIRM_LAUNCHES_ROUNDS, LOOKS
from expctl.domain.protocol.model import Benchmark, KeepRule, Size
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Session
from expctl.domain.verdict.sequential_test import Decision, MeasureMore, decide

ROUNDS = LOOKS[-1]  # of a search, at most
CONFIRM = CONFIRM_LAUNCHES_ROUNDS
SLICE = 1000  # trials in memory at a time

Noise = Callable[[np.random.Generator, int, int], np.ndarray]
"""(generator, trials, rounds) to (trials, rounds, 2, sizes): robust effects and those on the mean time, without a true one."""

Rule = Callable[[Sequence[RoundEffect], Plan], MeasureMore | Decision]


def plan_of(weights: Mapping[str, float]) -> Plan:
    """The plan of a benchmark with these sizes, and the limits that a protocol has when it says nothing."""
    sizes = tuple(Size(name=name, weight=weight) for name, weight in weights.items())
    return Plan.of(Benchmark(argv=("-",), timeout_s=1, sizes=sizes), KeepRule(), Mode.GAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What came of the trials of one case. `search` is the mean number of rounds until the search ended."""

    trials: int
    kept: int
    search: float
    rounds: float
    undecided: int

    @property
    def share(self) -> float:
        """Of KEEPs."""
        return self.kept / self.trials


def settle(search: np.ndarray, confirm: np.ndarray, plan: Plan, rule: Rule = decide) -> Decision:
    """Let the rule ask for what it needs, as a run does. Both arrays are (rounds, 2, sizes), of the robust effects and those on
    the mean time; unused rounds change nothing.
    """
    rounds = _effects(search, plan, Session.SEARCH, 0)
    answer = rule(rounds, plan)
    if not isinstance(answer, Decision):
        answer = rule([*rounds, *_effects(confirm, plan, Session.CONFIRM, len(rounds))], plan)
    if not isinstance(answer, Decision):
        raise TypeError(f"undecided after {len(rounds)} rounds: {answer}")
    return answer


def _effects(made: np.ndarray, plan: Plan, session: Session, start: int) -> list[RoundEffect]:
    return [
        RoundEffect(round=start + i, effect=_by_size(plan, robust), mean_effect=_by_size(plan, mean), session=session)
        for i, (robust, mean) in enumerate(made.tolist())
    ]


def _by_size(plan: Plan, row: list[float]) -> dict[str, float]:
    return dict(zip(plan.weights, row, strict=True))


def tally(pairs: Iterable[tuple[np.ndarray, np.ndarray]], plan: Plan, shift: float = 0.0, rule: Rule = decide) -> Tally:
    """Settle every trial of (search, confirm) slices, each shifted by an effect."""
    trials = kept = search = total = undecided = 0
    for searches, confirms in pairs:
        for one, other in zip(searches + shift, confirms + shift, strict=True):
            decision = settle(one, other, plan, rule)
            procedure = decision.procedure
            if procedure is None:
                raise TypeError("decided without a procedure")
            trials += 1
            kept += decision.verdict is Verdict.KEEP
            undecided += decision.verdict is Verdict.INCONCLUSIVE
            search += procedure.search_rounds
            total += procedure.search_rounds + procedure.confirm_rounds
    return Tally(trials=trials, kept=kept, search=search / trials, rounds=total / trials, undecided=undecided)


def sessions(draw: np.random.Generator, make: Noise, trials: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Search and confirmation of every trial, two sessions of their own, in slices."""
    parts = [SLICE] * (trials // SLICE) + ([trials % SLICE] if trials % SLICE else [])
    return [(make(draw, part, ROUNDS), make(draw, part, CONFIRM)) for part in parts]
