"""What others do, on the same machines: each returns which of `trials` patches of a given effect it keeps."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.verdict.machines import TIMES_S, Machine, round_effects

Rival = Callable[[np.random.Generator, Machine, int, float], np.ndarray]


def _objective(times: np.ndarray) -> np.ndarray:
    """Mean over sizes (axis -2 of iterations, -1 of medians is taken by the caller)."""
    means: np.ndarray = times.mean(axis=-2)
    return means


def mean_of_ten(threshold: float) -> Rival:
    """One launch of ten iterations, its mean against a baseline that was stored in another session."""

    def keeps(draw: np.random.Generator, machine: Machine, trials: int, effect: float) -> np.ndarray:
        stored = np.log(np.exp(machine.launches(draw, trials, 1)).mean(axis=3)).mean(axis=(1, 2))
        today = np.log(np.exp(machine.launches(draw, trials, 1)).mean(axis=3)).mean(axis=(1, 2)) - effect
        kept: np.ndarray = stored - today > threshold
        return kept

    return keeps


def rule_of_1005(draw: np.random.Generator, machine: Machine, trials: int, effect: float) -> np.ndarray:
    """`expctl compare` used as a keep rule: three repetitions of each side, averaged, in two sessions; faster than
    golden / 1.005 - 0.5 us at some size and slower than 1.005 golden + 0.5 us at none.
    """
    ms = np.array(TIMES_S) * 1e3
    golden = ms * np.exp(machine.launches(draw, trials, 3)).mean(axis=(1, 3))
    total = ms * np.exp(machine.launches(draw, trials, 3) - effect).mean(axis=(1, 3))
    improved, worse = golden > 1.005 * total + 0.0005, total > 1.005 * golden + 0.0005
    kept: np.ndarray = improved.any(axis=1) & ~worse.any(axis=1)
    return kept


def mann_whitney(draw: np.random.Generator, machine: Machine, trials: int, effect: float) -> np.ndarray:
    """Ten launches of the baseline, then ten of the candidate; two-sided p < .05 (normal approximation) and faster."""
    y = np.median(machine.launches(draw, trials, 20), axis=3).mean(axis=2)
    y[:, 10:] -= effect
    u = (y[:, :10, None] > y[:, None, 10:]).sum(axis=(1, 2))
    kept: np.ndarray = (u - 50) / math.sqrt(100 * 21 / 12) > 1.96
    return kept


def two_interleaved(draw: np.random.Generator, machine: Machine, trials: int, effect: float) -> np.ndarray:
    """Two rounds ABBA; Welch's t on the pooled iterations of each side, p < .002 (|t| > 3.2 at 78 degrees) and faster."""
    times = _objective(machine.launches(draw, trials, 8))
    baseline = times[:, [0, 3, 4, 7]].reshape(trials, -1)
    candidate = times[:, [1, 2, 5, 6]].reshape(trials, -1) - effect
    error = np.sqrt(baseline.var(axis=1, ddof=1) / 40 + candidate.var(axis=1, ddof=1) / 40)
    kept: np.ndarray = (baseline.mean(axis=1) - candidate.mean(axis=1)) / error > 3.2
    return kept


def bootstrap(draw: np.random.Generator, machine: Machine, trials: int, effect: float) -> np.ndarray:
    """Twenty rounds ABBA; the 95 % percentile interval of 400 resampled means lies above zero."""
    x = round_effects(draw, machine, trials, 20)[:, :, 0].mean(axis=2) + effect
    kept = np.empty(trials, dtype=bool)
    for trial, rounds in enumerate(x):
        kept[trial] = np.quantile(rounds[draw.integers(0, 20, (400, 20))].mean(axis=1), 0.025) > 0
    return kept


def speed_up_of_105(draw: np.random.Generator, machine: Machine, trials: int, effect: float) -> np.ndarray:
    """Twenty pairs of launches, one of each side; by a paired block bootstrap (95 %) the speed-ups of p50 and of p99 are both
    at least 1.05 at some size, and at no size is either surely below 1.
    """
    times = np.exp(machine.launches(draw, trials, 40)).reshape(trials, 20, 2, len(TIMES_S), -1)
    times[:, :, 1] *= math.exp(-effect)
    kept = np.empty(trials, dtype=bool)
    for trial, pairs in enumerate(times):
        drawn = pairs[draw.integers(0, 20, (200, 20))]  # blocks: a pair with all its iterations
        quantiles = np.quantile(drawn.swapaxes(2, 1).reshape(200, 2, 20, len(TIMES_S), -1), (0.5, 0.99), axis=(2, 4))
        ratios = np.quantile(quantiles[:, :, 0] / quantiles[:, :, 1], (0.025, 0.975), axis=1)  # end, quantile, size
        kept[trial] = (ratios[0].min(axis=0) >= 1.05).any() and not (ratios[1] < 1).any()
    return kept


def best_finalist(draw: np.random.Generator, machine: Machine, trials: int, effect: float) -> np.ndarray:
    """A finalist, whatever chose it, is timed for three launches right after three of the baseline; 3 % faster is kept."""
    y = _objective(machine.launches(draw, trials, 6)).mean(axis=-1)
    kept: np.ndarray = y[:, :3].mean(axis=1) - y[:, 3:].mean(axis=1) + effect > math.log(1.03)
    return kept


RIVALS: Mapping[str, Rival] = {
    "mean of 10, stored baseline": mean_of_ten(0.0),
    "the same, better by 0.5 %": mean_of_ten(0.005),
    "1.005 rule, 3 repetitions": rule_of_1005,
    "Mann-Whitney, two blocks of 10": mann_whitney,
    "2 interleaved rounds, p < .002": two_interleaved,
    "20 rounds ABBA, bootstrap": bootstrap,
    "1.05 on p50 and p99, bootstrap": speed_up_of_105,
    "best finalist again, 3 %": best_finalist,
}
