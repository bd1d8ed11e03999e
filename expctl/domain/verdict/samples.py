"""Samples (measured times) and their reduction to one effect per round. All arithmetic is in the logarithm of time."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from expctl.domain.protocol.model import Style
from expctl.domain.verdict.side import Side as Side


class Session(StrEnum):
    """Part of a measurement: the search for an effect, or its confirmation with fresh builds and processes."""

    SEARCH = "search"
    CONFIRM = "confirm"


class Sample(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The times of one build at one problem size in one process: a line of samples.jsonl.

    `ns` are the times of single iterations in order, in integer nanoseconds. In style `launch` they are one series; in style
    `fine` the two builds take turns, and each group of `2 * visit` times is this build's part of one ABBA sequence. `round_ms`
    is the duration of the whole round, `pair` the round in which the two processes started, `taints` the disturbances noticed.
    `hidden_ns` is, for each series, how much more time the harness measured than the sum of `ns`. `session` None means the
    search. `layout` is the number of the build that was timed, among those that differ in code placement alone. `config` is
    what the harness said it timed the build with (the fact `config` of `ready`), e.g. the tile shape of each size. `device` is
    the device of a fleet, or the run's own card (`gate: cards: own`), that has measured; else empty.
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
    layout: int = 0
    config: str = ""
    device: str = ""


class RoundEffect(Struct, frozen=True, kw_only=True):
    """The effects of one round by problem size, ln(t_baseline / t_candidate): positive means that the candidate is faster.
    `effect` is robust, from medians (docs/METHODOLOGY.md, "A round"); `mean_effect` is from the mean times of all iterations.
    """

    round: int
    effect: dict[str, float]
    mean_effect: dict[str, float]
    session: Session = Session.SEARCH
    duration_s: float = 0.0
    pair: int = 0
    layout: int = 0

    def objective(self, weights: Mapping[str, float]) -> float:
        """Return the weighted mean of the effects (from medians) over the problem sizes. `weights` sum to 1."""
        return math.fsum(weight * self.effect[size] for size, weight in weights.items())

    def mean_objective(self, weights: Mapping[str, float]) -> float:
        """Return the weighted mean over the problem sizes of the effects on the mean time. `weights` sum to 1."""
        return math.fsum(weight * self.mean_effect[size] for size, weight in weights.items())


class MalformedRound(ValueError):
    """Raised if the two sides of a round don't have the same sizes and numbers of times, or samples are of two devices."""


def round_effects(samples: Iterable[Sample]) -> tuple[RoundEffect, ...]:
    """Reduce the samples to one effect per round and size, in the order of rounds. Samples with foreign load are left out.
    Raises MalformedRound if a round lacks a side, or its sides have different sizes or numbers of times, or if two devices have
    measured: no difference is ever computed between them.
    """
    by_round: dict[int, dict[str, list[Sample]]] = {}
    devices: set[str] = set()
    for sample in samples:
        devices.add(sample.device)
        if not sample.taints:
            by_round.setdefault(sample.round, {}).setdefault(sample.size, []).append(sample)
    if len(devices) > 1:
        raise MalformedRound(f"samples of two devices: {', '.join(name or 'this machine' for name in sorted(devices)[:2])}")
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
    if len({sample.layout for sample in samples}) > 1:
        raise MalformedRound(f"round {index} has two layouts")
    return RoundEffect(
        round=index,
        effect={size: _effect(group) for size, group in sorted(sizes.items())},
        mean_effect={size: _mean_effect(group) for size, group in sorted(sizes.items())},
        session=samples[0].session or Session.SEARCH,
        duration_s=samples[0].round_ms / 1000,
        pair=index if samples[0].pair is None else samples[0].pair,
        layout=samples[0].layout,
    )


def median_ns(samples: Iterable[Sample], *, side: Side, size: str) -> float:
    """Return the median time of one iteration of `side` at `size`, in nanoseconds, over all samples without foreign load."""
    return statistics.median(
        ns for sample in samples if sample.side is side and sample.size == size and not sample.taints for ns in sample.ns
    )


def log_times(sample: Sample) -> list[float]:
    """Return logarithms of a sample's times, ln(ns), from which effects are computed: in style `launch` one value, the median
    of the launch; in style `fine` one value for each quad, the mean of this side's two visits. Raises MalformedRound for times
    that aren't positive, or visits that don't make whole quads.
    """
    return [_launch_log_time(sample)] if sample.style is Style.LAUNCH else _quad_log_times(sample)


def side_spreads(samples: Iterable[Sample]) -> dict[tuple[str, Side], dict[int, float]]:
    """Return the standard deviation of ln t within each round: (size, side) -> number of the round -> standard deviation."""
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
    baseline = [sample for sample in group if sample.side is Side.BASELINE]
    candidate = [sample for sample in group if sample.side is Side.CANDIDATE]
    if not baseline or len(baseline) != len(candidate):
        raise MalformedRound(f"{len(baseline)} launches of the baseline, {len(candidate)} of the candidate")
    if group[0].style is Style.LAUNCH:
        return _mean([_launch_log_time(s) for s in baseline]) - _mean([_launch_log_time(s) for s in candidate])
    quads = zip(log_times(baseline[0]), log_times(candidate[0]), strict=True)
    return statistics.median(b - c for b, c in quads)


def _mean_effect(group: Sequence[Sample]) -> float:
    """Return ln(mean time of the baseline / mean time of the candidate), over all iterations of a round at one size."""
    baseline, candidate = (statistics.fmean(ns for each in group if each.side is side for ns in each.ns) for side in Side)
    return math.log(baseline / candidate)


def _launch_log_time(sample: Sample) -> float:
    if not sample.ns or min(sample.ns) <= 0:
        raise MalformedRound(f"times must be positive: {sample.ns}")
    return statistics.median(math.log(ns) for ns in sample.ns)


def _quad_log_times(sample: Sample) -> list[float]:
    """Return the mean of ln t of one side in each ABBA sequence. The side has two visits of `visit` iterations in each."""
    width = 2 * sample.visit
    if not sample.ns or len(sample.ns) % width or min(sample.ns) <= 0:
        raise MalformedRound(f"expected whole quads of {width} positive times, found {len(sample.ns)}")
    return [_mean([math.log(ns) for ns in sample.ns[start : start + width]]) for start in range(0, len(sample.ns), width)]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
