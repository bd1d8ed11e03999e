"""Noise that breaks what a t test assumes: rounds that remember each other, a rare slow mode, heavy tails,
disturbances in step with the launches.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.verdict.machines import QUIET, TYPICAL, effects_of, round_effects
from benchmarks.verdict.procedure import Noise
from expctl.adapters.steps.rounds import PAUSE_MOST

EVEN_SD = 0.005  # of the objective, in rounds that meet every assumption
AMPLITUDE = 0.01  # of a periodic disturbance


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Periodic:
    """The quiet machine with a sine of `period` launches at a random phase. Before each launch is a pause of random length."""

    period: float

    def __call__(self, draw: np.random.Generator, trials: int, rounds: int) -> np.ndarray:
        """(trials, rounds, 2, sizes)."""
        times = QUIET.launches(draw, trials, 4 * rounds)
        starts = np.cumsum(1 + draw.uniform(0, PAUSE_MOST, times.shape[:2]), axis=1)
        turns = starts / self.period + draw.random((trials, 1))
        return effects_of(draw, times + AMPLITUDE * np.sin(2 * math.pi * turns)[:, :, None, None])


def _two_sizes(noise: np.ndarray) -> np.ndarray:
    """(…, 3) independent to (…, 2) correlated by 1/2, each of sd 1."""
    correlated: np.ndarray = (noise[..., :2] + noise[..., 2:]) / math.sqrt(2)
    return correlated


def _both(effects: np.ndarray) -> np.ndarray:
    """Use `effects` (trials, rounds, sizes) both as the robust effects and as those on the mean time."""
    return np.stack([effects, effects], axis=2)


def even_noise(draw: np.random.Generator, trials: int, rounds: int) -> np.ndarray:
    """Independent normal rounds, whose objective has an sd of .5 %; sizes move together by half."""
    return _both(_two_sizes(draw.standard_normal((trials, rounds, 3))) * (EVEN_SD / math.sqrt(0.75)))


HARD_CASES: Mapping[str, tuple[Noise, float]] = {
    "round autocorrelation 0.5": (autocorrelated, 0.005),
    "rare slow mode": (slow_mode, 0.03),
    "t3 tails": (heavy_tailed, 0.001),
    "1 % with a period of 4 launches": (Periodic(period=4), 0.001),
    "1 % with a period of 8/3 launches": (Periodic(period=8 / 3), 0.001),
}
"""By name: the noise, and the share of KEEPs without an effect that the design allows."""
