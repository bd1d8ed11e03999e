"""Samples and their reduction to one effect per round. All arithmetic is in the natural logarithm of time."""

import math
import statistics
from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

from expctl.domain.protocol.model import Style
from expctl.domain.verdict.side import Side as Side


class Session(StrEnum):
    """The part of a measurement: search for an effect, or its confirmation with fresh builds and workers."""

    SEARCH = "search"
    CONFIRM = "confirm"


class Sample(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The times of one build at one size in one launch: a line of samples.jsonl.

    `ns` are integer nanoseconds of single iterations in order. In style `fine` they are grouped in quads: each visits this side
    twice, for `visit` iterations. In style `launch` one sample is one visit. `round_ms` is the duration of the whole round. A
    sample without a session was a search. `pair` is the round in which its pair of workers started. `hidden_ns` is, for each
    visit, the time seen from outside the build's process beyond `ns` (untimed_work.py); negative where another process
    interfered.
    """

    round: int
    launch: int
    side: Side
    size: str
    style: Style
    visit: int
    ns: tuple[int, ...]
    order: str
    clock: str = "monotonic"
    taints: tuple[str, ...] = ()
    session: Session | None = None
    round_ms: int = 0
    pair: int | None = None
    hidden_ns: tuple[int, ...] = ()


class RoundEffect(Struct, frozen=True, kw_only=True):
    """The effects of one round by size, ln(t_baseline / t_candidate): positive means that the candidate is faster.

    `effect` is robust, of the medians that docs/METHODOLOGY.md names; `mean_effect` is of the mean times of all iterations.
    """

    round: int
    effect: dict[str, float]
    mean_effect: dict[str, float]
    session: Session = Session.SEARCH
    duration_s: float = 0.0
    pair: int = 0


class MalformedRound(ValueError):
    """The samples of a round are not a complete pair of sides."""


def round_effects(samples: Iterable[Sample]) -> tuple[RoundEffect, ...]:
    """Reduce untainted samples to one effect per round and size, in the order of rounds.

    Raises MalformedRound when a round lacks a side or its sides differ in shape.
    """
    by_round: dict[int, dict[str, list[Sample]]] = {}
    for sample in samples:
        if not sample.taints:
            by_round.setdefault(sample.round, {}).setdefault(sample.size, []).append(sample)
    effects = tuple(_round_effect(index, sizes) for index, sizes in sorted(by_round.items()))
    for each in effects[1:]:
        if each.effect.keys() != effects[0].effect.keys():
            raise MalformedRound(f"round {each.round} has sizes {sorted(each.effect)}, others {sorted(effects[0].effect)}")
    return effects


def _round_effect(index: int, sizes: dict[str, list[Sample]]) -> RoundEffect:
    samples = [sample for group in sizes.values() for sample in group]
    if len({sample.session for sample in samples}) > 1:
        raise MalformedRound(f"round {index} belongs to two sessions")
    if len({sample.pair for sample in samples}) > 1:
        raise MalformedRound(f"round {index} belongs to two pairs of workers")
    return RoundEffect(
        round=index,
        effect={size: _effect(group) for size, group in sorted(sizes.items())},
        mean_effect={size: _mean_effect(group) for size, group in sorted(sizes.items())},
        session=samples[0].session or Session.SEARCH,
        duration_s=samples[0].round_ms / 1000,
        pair=index if samples[0].pair is None else samples[0].pair,
    )


def median_ns(samples: Iterable[Sample], *, side: Side, size: str) -> float:
    """Median time of one iteration of `side` at `size`, over all untainted samples, in nanoseconds."""
    return statistics.median(
        ns for sample in samples if sample.side is side and sample.size == size and not sample.taints for ns in sample.ns
    )


def side_spreads(samples: Iterable[Sample]) -> dict[tuple[str, Side], dict[int, float]]:
    """Return the sd of ln t over all iterations of one side in one round: by (size, side), then by untainted round."""
    logs: dict[tuple[str, Side], dict[int, list[float]]] = {}
    for sample in samples:
        if not sample.taints:
            of_rounds = logs.setdefault((sample.size, sample.side), {})
            of_rounds.setdefault(sample.round, []).extend(math.log(ns) for ns in sample.ns)
    return {
        key: {index: statistics.stdev(values) if len(values) > 1 else 0.0 for index, values in of_rounds.items()}
        for key, of_rounds in logs.items()
    }


def _effect(group: Sequence[Sample]) -> float:
    """Return ln(t_baseline / t_candidate) of one round at one size."""
    baseline = [sample for sample in group if sample.side is Side.BASELINE]
    candidate = [sample for sample in group if sample.side is Side.CANDIDATE]
    if not baseline or len(baseline) != len(candidate):
        raise MalformedRound(f"{len(baseline)} launches of the baseline, {len(candidate)} of the candidate")
    if group[0].style is Style.LAUNCH:
        return _mean([_launch_log_time(s) for s in baseline]) - _mean([_launch_log_time(s) for s in candidate])
    quads = zip(_quad_log_times(baseline[0]), _quad_log_times(candidate[0]), strict=True)
    return statistics.median(b - c for b, c in quads)


def _mean_effect(group: Sequence[Sample]) -> float:
    """Return ln of the baseline's mean time over the candidate's, of all iterations of a round at one size."""
    means = (statistics.fmean(ns for sample in group if sample.side is side for ns in sample.ns) for side in Side)
    baseline, candidate = means
    return math.log(baseline / candidate)


def _launch_log_time(sample: Sample) -> float:
    """Return the median of ln t over the iterations of a launch."""
    if not sample.ns or min(sample.ns) <= 0:
        raise MalformedRound(f"times must be positive: {sample.ns}")
    return statistics.median(math.log(ns) for ns in sample.ns)


def _quad_log_times(sample: Sample) -> list[float]:
    """Return the mean of ln t in each quad of one side (two visits of `visit` iterations)."""
    width = 2 * sample.visit
    if not sample.ns or len(sample.ns) % width or min(sample.ns) <= 0:
        raise MalformedRound(f"expected whole quads of {width} positive times, found {len(sample.ns)}")
    return [_mean([math.log(ns) for ns in sample.ns[start : start + width]]) for start in range(0, len(sample.ns), width)]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
