"""Noise that breaks what a t test assumes: rounds that remember each other, a rare slow mode, heavy tails."""

import math
from collections.abc import Mapping

import numpy as np

from benchmarks.verdict.machines import TYPICAL, round_effects
from benchmarks.verdict.procedure import Noise


def autocorrelated(draw: np.random.Generator, trials: int, rounds: int, memory: float = 0.5) -> np.ndarray:
    """Rounds of the typical machine's sd that remember half of the round before; sizes move together by half."""
    noise = _two_sizes(draw.standard_normal((trials, rounds, 3)))
    for i in range(1, rounds):
        noise[:, i] = memory * noise[:, i - 1] + math.sqrt(1 - memory * memory) * noise[:, i]
    return _both(noise * TYPICAL.round_sd)


def heavy_tailed(draw: np.random.Generator, trials: int, rounds: int) -> np.ndarray:
    """The same with t tails of 3 degrees of freedom, scaled to the same sd."""
    return _both(_two_sizes(draw.standard_t(3, (trials, rounds, 3)) / math.sqrt(3)) * TYPICAL.round_sd)


def slow_mode(draw: np.random.Generator, trials: int, rounds: int) -> np.ndarray:
    """The typical machine; one candidate launch in ten is 2.7 % slower, the others are faster by so much that the mean is 0."""
    slow = 0.027 * (draw.random((trials, rounds, 2)) < 0.1).mean(axis=2) - 0.0027
    effects: np.ndarray = round_effects(draw, TYPICAL, trials, rounds) - slow[:, :, None, None]
    return effects


def _two_sizes(noise: np.ndarray) -> np.ndarray:
    """(…, 3) independent to (…, 2) correlated by 1/2, each of sd 1."""
    correlated: np.ndarray = (noise[..., :2] + noise[..., 2:]) / math.sqrt(2)
    return correlated


def _both(effects: np.ndarray) -> np.ndarray:
    """The same effects for the mean time as for the robust one."""
    return np.stack([effects, effects], axis=2)


HARD_CASES: Mapping[str, tuple[Noise, float]] = {
    "round autocorrelation 0.5": (autocorrelated, 0.005),
    "rare slow mode": (slow_mode, 0.03),
    "t3 tails": (heavy_tailed, 0.001),
}
"""By name: the noise, and the share of KEEPs without an effect that the design allows."""
