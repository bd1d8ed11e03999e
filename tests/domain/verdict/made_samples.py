"""Measured times for the tests of the verdict: whole runs to their decision, on a machine that a test makes."""

from collections.abc import Callable, Iterator, Sequence

from expctl.domain.experiment.proposal import Kind, Mode
from expctl.domain.protocol.model import Benchmark, KeepRule, Size, Style
from expctl.domain.verdict.judge import judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Session, Side
from expctl.domain.verdict.sequential_test import Decision

B, C = Side.BASELINE, Side.CANDIDATE
ABBA = (B, C, C, B)
ROUNDS_MOST = 450
Times = Callable[[Side, str, int, int], Sequence[int]]
"""(side, size, round, launch of it) to the times of the iterations, in ns."""


def sizes(**weights: float) -> tuple[Size, ...]:
    return tuple(Size(name=name, weight=weight) for name, weight in weights.items())


def plan(made: Sequence[Size], mode: Mode = Mode.GAIN, style: Style = Style.LAUNCH, keep: KeepRule | None = None) -> Plan:
    return Plan.of(Benchmark(argv=("-",), timeout_s=1, sizes=tuple(made), style=style), keep or KeepRule(), mode)


def launch(
    number: int, place: int, side: Side, size: str, ns: Sequence[int], session: Session, *taints: str, layout: int = 0
) -> Sample:
    return Sample(
        round=number, launch=place, side=side, size=size, style=Style.LAUNCH, visit=len(ns), ns=tuple(ns), order="ABBA",
        session=session, taints=taints, layout=layout, round_ms=2500,
    )  # fmt: skip


def one_round(
    number: int, names: Sequence[str], times: Times, session: Session = Session.SEARCH, layouts: int = 1
) -> Iterator[Sample]:
    """One round of style `launch`; the rounds take the layouts in turn."""
    for place, side in enumerate(ABBA):
        for name in names:
            yield launch(number, place, side, name, times(side, name, number, place), session, layout=number % layouts)


def concluded(
    wanted: Plan, times: Times, *, layouts: int = 1, kind: Kind = Kind.PERF, before: Sequence[Sample] = ()
) -> tuple[Decision, list[Sample]]:
    """Measure what `judge` asks for until it decides; `before` was measured already."""
    samples, names = list(before), list(wanted.weights)
    number = max((each.round for each in samples), default=-1) + 1
    while not isinstance(answer := judge(samples, wanted, kind), Decision):
        for _ in range(answer.rounds_left):
            samples += one_round(number, names, times, answer.session, layouts)
            number += 1
        assert number < ROUNDS_MOST, answer
    return answer, samples
