"""Lets `sequential_test.decide`, the function that `expctl run` calls, decide on made or recorded rounds, many times."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from expctl.domain.experiment.proposal import Mode, Verdict
from expctl.domain.protocol.boundaries import LOOKS
from expctl.domain.protocol.model import Benchmark, KeepRule, Size
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect, Session
from expctl.domain.verdict.sequential_test import Decision, MeasureMore, confirm_rounds, decide

ROUNDS = LOOKS[-1]  # of a search, at most
CONFIRM = confirm_rounds(ROUNDS)
SLICE = 1000  # trials in memory at a time

Noise = Callable[[np.random.Generator, int, int], np.ndarray]
"""(generator, trials, rounds) to (trials, rounds, sizes): one session without an effect."""

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
    """Let the rule ask for what it needs, as a run does. Both arrays are (rounds, sizes); unused rounds change nothing."""
    rounds = [RoundEffect(round=i, effect=_effect(plan, row)) for i, row in enumerate(search.tolist())]
    answer = rule(rounds, plan)
    if not isinstance(answer, Decision):
        start = len(rounds)
        needed = confirm[: answer.rounds_left].tolist()
        fresh = (_effect(plan, row) for row in needed)
        rounds += [RoundEffect(round=start + i, effect=effect, session=Session.CONFIRM) for i, effect in enumerate(fresh)]
        answer = rule(rounds, plan)
    if not isinstance(answer, Decision):
        raise TypeError(f"undecided after {len(rounds)} rounds: {answer}")
    return answer


def _effect(plan: Plan, row: list[float]) -> dict[str, float]:
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
