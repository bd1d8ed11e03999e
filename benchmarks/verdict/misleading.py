"""Candidates that a median, a re-measured launch or a fixed order would take for a gain: how often are they kept?

Each case is a machine and what the candidate does there; the truth is a loss, or a gain that doesn't last.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.verdict.machines import QUIET, TYPICAL, Machine, effects_of
from benchmarks.verdict.procedure import Noise

QUADS, QUAD_SD = 100, 0.006  # of a fine round with visits of one iteration: quads, and the sd of one iteration


@dataclass(frozen=True, slots=True, kw_only=True)
class RareIterations:
    """Some `share` of the candidate's iterations is slower by `slower`, the others faster by `faster` (log units)."""

    machine: Machine
    share: float
    slower: float
    faster: float

    def __call__(self, draw: np.random.Generator, trials: int, rounds: int) -> np.ndarray:
        """(trials, rounds, 2, sizes)."""
        times = self.machine.launches(draw, trials, 4 * rounds)
        rare = draw.random(times.shape) < self.share
        return effects_of(draw, times, self.slower * rare - self.faster)


@dataclass(frozen=True, slots=True, kw_only=True)
class RareLaunches:
    """Some `share` of the candidate's launches is slower by `slower` at every size, the others faster by `faster`."""

    machine: Machine
    share: float
    slower: float
    faster: float

    def __call__(self, draw: np.random.Generator, trials: int, rounds: int) -> np.ndarray:
        """(trials, rounds, 2, sizes)."""
        times = self.machine.launches(draw, trials, 4 * rounds)
        rare = draw.random((*times.shape[:2], 1, 1)) < self.share
        return effects_of(draw, times, self.slower * rare - self.faster)


def rare_in_quads(draw: np.random.Generator, trials: int, rounds: int) -> np.ndarray:
    """Style `fine`, 100 quads of visits of one iteration: 5 % of the candidate's are 65 % slower, the median .5 % faster."""
    times = draw.normal(0, QUAD_SD, (trials, rounds, 2, 2, QUADS, 2))  # trial, round, size, side, quad, visit
    rare = draw.random((trials, rounds, 2, QUADS, 2)) < 0.05
    times[:, :, :, 1] += math.log(1.65) * rare - 0.005
    robust = np.median(times[:, :, :, 0].mean(axis=-1) - times[:, :, :, 1].mean(axis=-1), axis=-1)
    means = np.log(np.exp(times).mean(axis=(-2, -1)))
    return np.stack([robust, means[..., 0] - means[..., 1]], axis=2)


MISLEADING: Mapping[str, tuple[Noise, float]] = {
    "5 % of iterations 65 % slower": (
        RareIterations(machine=TYPICAL, share=0.05, slower=math.log(1.65), faster=0.005), 0.005,
    ),
    "the same on the quiet machine": (
        RareIterations(machine=QUIET, share=0.05, slower=math.log(1.65), faster=0.005), 0.005,
    ),
    "the same in style fine": (rare_in_quads, 0.005),
    "1 % of iterations 20 times slower": (
        RareIterations(machine=TYPICAL, share=0.01, slower=math.log(20), faster=0.005), 0.005,
    ),
    "quiet: 2 % of launches +30 %": (RareLaunches(machine=QUIET, share=0.02, slower=math.log(1.3), faster=0.003), 0.005),
}  # fmt: skip
"""By name: the noise with the candidate's behaviour in it, and the largest share of KEEPs."""


def fading(round: int) -> float:
    """A gain of 2 % that fades to a loss of .3 % with a time constant of ten rounds, those of both sessions counted."""
    return -0.003 + 0.023 * math.exp(-round / 10)
