"""Calibration: the noise of a machine and benchmark, from rounds that measure one build against itself. Pure."""

import hashlib
import json
import math
import statistics
from collections.abc import Mapping, Sequence

from msgspec import Struct

from expctl.domain.experiment.noise import Calibrated, Noise
from expctl.domain.experiment.record import OBJECTIVE
from expctl.domain.protocol.model import Benchmark, Style
from expctl.domain.verdict.interference import lost_rounds
from expctl.domain.verdict.paired_rounds import by_pairs
from expctl.domain.verdict.samples import RoundEffect, Sample, round_effects, side_spreads
from expctl.domain.verdict.statistics import autocorrelation, t999, t_interval

VERSION = 1
AUTOCORRELATION_MOST = 0.2
DIGITS = 6

# An effect of (2.576 + 1.645) sigma / sqrt(n) passes a two-sided 1 % bound in 95 % of trials.
Z_SHOWN = 2.576
Z_POWER = 1.645


class SizeNoise(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Noise at one problem size, or of the objective (the weighted mean over all sizes), in percent (log units * 100).

    `sd_percent` is the standard deviation of the effect of one round (with `respawn`, the rounds of one pair of workers are
    one). `mean_percent` is the mean effect, which should be zero, with its two-sided 95 % interval. `autocorrelation` is
    that of successive rounds (lag 1). `spread_percent` is the standard
    deviation of ln t over the iterations of one side, its median over rounds and sides; 0 for the objective.
    """

    sd_percent: float
    autocorrelation: float
    mean_percent: float
    low_percent: float
    high_percent: float
    spread_percent: float = 0.0


class Calibration(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The noise of one machine with one target's benchmark, from `rounds` rounds without foreign load.

    `base` is the commit that both sides were built from, `round_s` the median duration of a round in seconds, `tainted` the
    number of rounds left out because of foreign load. `noise` is by problem size; its key `objective` is their weighted mean.
    """

    version: int
    target: str
    style: Style
    date: str
    base: str
    rounds: int
    tainted: int
    round_s: float
    noise: Mapping[str, SizeNoise]

    @property
    def autocorrelation_error(self) -> float:
        """Approximate standard error of an autocorrelation: 1 / sqrt(rounds)."""
        return 1 / math.sqrt(self.rounds)

    def mde_percent(self, rounds: int, name: str = OBJECTIVE) -> float:
        """Return the minimum detectable effect, in percent, after `rounds` rounds; `name` is a size or `objective`."""
        return mde(self.noise[name].sd_percent, rounds)

    def remembering(self) -> tuple[str, ...]:
        """Return the sizes (or `objective`) whose rounds are correlated: autocorrelation minus its error is 0.2 or more."""
        return tuple(
            name
            for name, each in self.noise.items()
            if each.autocorrelation - self.autocorrelation_error >= AUTOCORRELATION_MOST
        )

    def biased(self) -> tuple[str, ...]:
        """Return the sizes (or `objective`) whose mean effect isn't zero (t test, 0.1 %): the harness favours one side."""
        return tuple(
            name
            for name, each in self.noise.items()
            if abs(each.mean_percent) > t999(self.rounds) * each.sd_percent / math.sqrt(self.rounds)
        )

    def fixed(self) -> Calibrated:
        """Return the part of the calibration that a run stores in its record: noise figures, date and number of rounds."""
        noise = {name: Noise(sd_percent=n.sd_percent, spread_percent=n.spread_percent) for name, n in self.noise.items()}
        return Calibrated(date=self.date, rounds=self.rounds, noise=noise)


def mde(sd: float, rounds: int) -> float:
    """Return the minimum detectable effect, (2.576 + 1.645) sd / sqrt(rounds), in the unit of `sd`."""
    return (Z_SHOWN + Z_POWER) * sd / math.sqrt(rounds)


def counted_rounds(samples: Sequence[Sample], benchmark: Benchmark) -> tuple[RoundEffect, ...]:
    """Return the rounds without foreign load as a run counts them: those of one pair of workers as one."""
    return by_pairs(round_effects(samples), benchmark.respawn).effects


def calibration_of(samples: Sequence[Sample], *, target: str, benchmark: Benchmark, date: str, base: str) -> Calibration:
    """Compute a calibration from samples of commit `base` against itself. Needs at least two rounds without foreign load."""
    rounds = counted_rounds(samples, benchmark)
    spreads = side_spreads(samples)
    weights = {size.name: size.weight for size in benchmark.sizes}
    noise = {OBJECTIVE: _noise([each.objective(weights) for each in rounds], ())}
    for size in weights:
        by_side = [value for (name, _), values in spreads.items() if name == size for value in values.values()]
        noise[size] = _noise([each.effect[size] for each in rounds], by_side)
    return Calibration(
        version=VERSION,
        target=target,
        style=benchmark.style,
        date=date,
        base=base,
        rounds=len(rounds),
        tainted=lost_rounds(samples),
        round_s=round(statistics.median(each.duration_s for each in rounds), 3),
        noise=noise,
    )


def benchmark_identity(target: str, benchmark: Benchmark) -> str:
    """Return a hash (12 hex digits) of what affects a benchmark's noise: target, style, sizes, counts, layouts, respawn,
    command."""
    quads = benchmark.quads if benchmark.style is Style.FINE else 0
    sizes = [[size.name, size.weight] for size in benchmark.sizes]
    parts = [target, benchmark.style, sizes, quads, benchmark.iterations, list(benchmark.argv)]
    parts += [{name: value} for name in ("layouts", "respawn") if (value := getattr(benchmark, name)) > 1]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def implausible(calibration: Calibration, target: str, benchmark: Benchmark) -> str:
    """Return why a calibration that was read from a file can't be one of this target and benchmark; empty if it can."""
    wanted = {OBJECTIVE, *(size.name for size in benchmark.sizes)}
    figures = [value for each in calibration.noise.values() for value in (each.sd_percent, each.spread_percent)]
    means = [value for each in calibration.noise.values() for value in (each.mean_percent, each.autocorrelation)]
    if calibration.version != VERSION:
        return f"version {calibration.version}, expected {VERSION}"
    if (calibration.target, calibration.style) != (target, benchmark.style) or set(calibration.noise) != wanted:
        return "it is of another benchmark"
    if calibration.rounds < 2 or not all(map(math.isfinite, (*figures, *means))) or min((*figures, calibration.round_s)) < 0:
        return "its figures are none"
    return ""


def _noise(effects: Sequence[float], spreads: Sequence[float]) -> SizeNoise:
    found = t_interval(effects)
    return SizeNoise(
        sd_percent=round(100 * found.sd, DIGITS),
        autocorrelation=round(autocorrelation(effects), DIGITS),
        mean_percent=round(100 * found.mean, DIGITS),
        low_percent=round(100 * found.low, DIGITS),
        high_percent=round(100 * found.high, DIGITS),
        spread_percent=round(100 * statistics.median(spreads), DIGITS) if spreads else 0.0,
    )
