"""Lets `sequential_test.decide`, the function that `expctl run` calls, decide on made or recorded rounds, many times."""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, TypeVar

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
SLICE = 500  # trials in memory at a time, and of one process

Noise = Callable[[np.random.Generator, int, int], np.ndarray]
"""(generator, trials, rounds) to (trials, rounds, 2, sizes): robust effects and those on the mean time, without a true one."""

T = TypeVar("T")

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
    the mean time; unused rounds change nothing. Without a search (Plan.kept_by) the confirmation is all there is.
    """
    rounds = made_rounds(search, plan, shift=shift, layouts=layouts)
    answer = rule(rounds, plan)
    if not isinstance(answer, Decision):
        ended = next(n for n in (0, *SEARCH.looks) if _wants_confirmation(rule(rounds[:n], plan)))
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Slices:
    """Many trials of two sessions each, made slice by slice where they are needed: the same ones each time."""

    seeds: Sequence[np.random.SeedSequence]
    make: Noise
    trials: int
    rounds: tuple[int, int]

    def slice(self, number: int) -> tuple[np.random.Generator, Iterator[tuple[np.ndarray, np.ndarray]]]:
        """The generator of a slice, to draw more from, and (search, confirm) of each of its trials."""
        draw = np.random.default_rng(self.seeds[number])
        trials = min(SLICE, self.trials - number * SLICE)
        search, confirm = (self.make(draw, trials, rounds) for rounds in self.rounds)
        return draw, zip(search, confirm, strict=True)

    def each(self, job: Callable[[np.random.Generator, Iterator[tuple[np.ndarray, np.ndarray]]], T]) -> list[T]:
        """What `job` makes of each slice, in their order; where there are several, forked processes on all cores share them."""
        global _work  # noqa: PLW0603  forked processes find it here: a closure can't be sent to them
        _work = lambda number: job(*self.slice(number))  # noqa: E731
        numbers, cores = range(len(self.seeds)), len(os.sched_getaffinity(0))
        if min(len(numbers), cores) == 1:
            return [_work(number) for number in numbers]
        with ProcessPoolExecutor(min(len(numbers), cores), mp_context=get_context("fork")) as pool:
            return list(pool.map(_do_work, numbers))


_work: Callable[[int], Any] = lambda number: number  # noqa: E731


def _do_work(number: int) -> Any:
    return _work(number)


def sessions(draw: np.random.Generator, make: Noise, trials: int, rounds: tuple[int, int] = (ROUNDS, CONFIRM)) -> Slices:
    """Return search and confirmation of every trial, two sessions of their own of so many `rounds`."""
    seeds = draw.bit_generator.seed_seq.spawn(math.ceil(trials / SLICE))  # type: ignore[attr-defined]
    return Slices(seeds=seeds, make=make, trials=trials, rounds=rounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one trial: verdict, whether its interval held the true effect, rounds of both sessions."""

    verdict: Verdict
    covers: bool
    search: int
    confirm: int


def tally(noise: Slices, plan: Plan, effect: float | Shift = 0.0, rule: Rule = decide) -> Tally:
    """Settle every trial with a true effect, which may change from round to round."""
    return tallies(noise, plan, [effect], rule)[0]


def tallies(noise: Slices, plan: Plan, effects: Sequence[float | Shift], rule: Rule = decide) -> list[Tally]:
    """Settle the same trials with each of several true effects."""
    shifts = [_shift(effect) for effect in effects]

    def outcomes(_: np.random.Generator, trials: Iterator[tuple[np.ndarray, np.ndarray]]) -> list[list[Outcome]]:
        pairs = list(trials)
        return [[_outcome(settle(one, other, plan, rule, shift), shift(0)) for one, other in pairs] for shift in shifts]

    parts = noise.each(outcomes)
    return [_counted([each for part in parts for each in part[number]]) for number in range(len(shifts))]


def _shift(effect: float | Shift) -> Shift:
    return effect if callable(effect) else (lambda _: effect)


def _counted(outcomes: Sequence[Outcome]) -> Tally:
    return Tally(
        found=Counter(each.verdict for each in outcomes),
        covers=Counter(each.verdict for each in outcomes if each.covers),
        search=math.fsum(each.search for each in outcomes) / len(outcomes),
        rounds=math.fsum(each.search + each.confirm for each in outcomes) / len(outcomes),
    )


def _outcome(decision: Decision, effect: float) -> Outcome:
    procedure, seen = decision.procedure, decision.intervals[OBJECTIVE]
    if procedure is None:
        raise TypeError("decided without a procedure")
    return Outcome(
        verdict=decision.verdict,
        covers=seen.low <= effect <= seen.high,
        search=procedure.search_rounds,
        confirm=procedure.confirm_rounds,
    )
