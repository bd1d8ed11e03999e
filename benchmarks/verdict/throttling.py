"""A candidate that throttles its own machine: how often is it kept? A part of the table of simulate.py.

Some of the candidate's launches are slower and tainted by a sensor, which the runner measures again. Whole samples go through
`judge`, the function that `expctl run` calls.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.verdict.machines import QUIET, TIMES_S, TYPICAL, Machine
from expctl.domain.experiment.proposal import Kind, Mode, Verdict
from expctl.domain.machine.interference import BELOW_ITS_CLOCK
from expctl.domain.protocol.model import Benchmark, KeepRule, Size, Style
from expctl.domain.verdict.judge import judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Session, Side
from expctl.domain.verdict.sequential_test import Decision

LONG, SHORT = 1000, 24
SIZES = tuple(Size(name=f"{1000 * time:g} ms", weight=1 / len(TIMES_S)) for time in TIMES_S)
PLAN = Plan.of(Benchmark(argv=("-",), timeout_s=1, sizes=SIZES, style=Style.LAUNCH), KeepRule(), Mode.GAIN)
TAINT = (f"nvidia 0 {BELOW_ITS_CLOCK}",)
ROUNDS_AT_ONCE = 46


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttling:
    """Launches that throttle by side (baseline, candidate), slower by `slower`; the candidate is else `faster` (log units).

    The share of KEEPs lies between `least` and `most`.
    """

    machine: Machine
    share: tuple[float, float]
    slower: float
    faster: float
    least: float = 0.0
    most: float = 1.0


THROTTLING: Mapping[str, Throttling] = {
    "8 % of the candidate's launches, 20 %": Throttling(
        machine=TYPICAL, share=(0.0, 0.08), slower=math.log(1.2), faster=0.005, most=0.005
    ),
    "the same on the quiet machine": Throttling(
        machine=QUIET, share=(0.0, 0.08), slower=math.log(1.2), faster=0.005, most=0.005
    ),
    "1 % of both sides' launches, +1 %": Throttling(
        machine=TYPICAL, share=(0.01, 0.01), slower=math.log(1.2), faster=0.01, least=0.95
    ),
}


def verdict_of(draw: np.random.Generator, case: Throttling) -> Verdict:
    """Measure as a run does, round by round as `judge` asks for them, and return its verdict."""
    sessions = {session: _rounds(draw, case) for session in Session}
    samples: list[Sample] = []
    number = 0
    while not isinstance(answer := judge(samples, PLAN, Kind.PERF), Decision):
        for _ in range(answer.rounds_left):
            samples += _samples(draw, case, number, answer.session, next(sessions[answer.session]))
            number += 1
    return answer.verdict


def shares(draw: np.random.Generator, case: Throttling, trials: int) -> Mapping[Verdict, float]:
    """Return the share of each verdict over `trials` experiments."""
    found = [verdict_of(draw, case) for _ in range(trials)]
    return {verdict: found.count(verdict) / trials for verdict in Verdict}


def misses(case: Throttling, share: float, trials: int) -> bool:
    """Does a share of KEEPs miss its bars? The short form allows two trials beside them."""
    beside = 0.0 if trials >= LONG else 2 / trials
    return not case.least - beside <= share <= case.most + beside


def _rounds(draw: np.random.Generator, case: Throttling) -> Iterator[np.ndarray]:
    """Yield ln t of the four launches of each round, (4, sizes, iterations), of one session, without end."""
    while True:
        times = case.machine.launches(draw, 1, 4 * ROUNDS_AT_ONCE)[0]
        yield from times.reshape(ROUNDS_AT_ONCE, 4, *times.shape[1:])


def _samples(draw: np.random.Generator, case: Throttling, number: int, session: Session, times: np.ndarray) -> Iterator[Sample]:
    """Yield the samples of one round; a launch that throttles is tainted, and measured again without it in its place."""
    launch, order = 0, "ABBA" if draw.random() < 0.5 else "BAAB"
    for place, letter in enumerate(order):
        side = Side.BASELINE if letter == "A" else Side.CANDIDATE
        level = times[place] - (case.faster if side is Side.CANDIDATE else 0.0)
        while draw.random() < case.share[side is Side.CANDIDATE]:
            yield from _launch(number, launch, side, order, session, level + case.slower, TAINT)
            launch += 1
        yield from _launch(number, launch, side, order, session, level, ())
        launch += 1


def _launch(
    number: int, launch: int, side: Side, order: str, session: Session, level: np.ndarray, taints: tuple[str, ...]
) -> Iterator[Sample]:
    for size, time_s, logs in zip(SIZES, TIMES_S, level, strict=True):
        yield Sample(
            round=number, launch=launch, side=side, size=size.name, style=Style.LAUNCH, visit=len(logs), order=order,
            ns=tuple(round(1e9 * time_s * math.exp(log)) for log in logs), session=session, taints=taints,
        )  # fmt: skip


def throttled(draw: np.random.Generator, trials: int) -> int:
    """Print how often each case ends in which verdict; return the number of missed bars."""
    fails = 0
    print(f"\n{'launches that throttle':<40}{'KEEP':>8}{'REJECT':>8}{'INCONCLUSIVE':>14}{'INVALID':>9}   bar ({trials} trials)")
    for name, case in THROTTLING.items():
        found = shares(draw, case, trials)
        missed = misses(case, found[Verdict.KEEP], trials)
        fails += missed
        row = "".join(
            f"{100 * found[verdict]:>{width}.1f}"
            for verdict, width in ((Verdict.KEEP, 8), (Verdict.REJECT, 8), (Verdict.INCONCLUSIVE, 14), (Verdict.INVALID, 9))
        )
        bar = f">= {100 * case.least:g}" if case.least else f"<= {100 * case.most:g}"
        print(f"{name:<40}{row}   {bar}{' !' if missed else ''}", flush=True)
    return fails
