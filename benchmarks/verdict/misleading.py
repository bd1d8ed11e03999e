"""Candidates that a median, a re-measured launch or a fixed order would take for a gain: how often are they kept?

Each case is a machine and what the candidate does there; the truth is a loss, or a gain that doesn't last.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from benchmarks.verdict.bars import at_least, at_most, line
from benchmarks.verdict.machines import MACHINES, QUIET, TYPICAL, Machine, effects_of, noise_of
from benchmarks.verdict.procedure import Noise, Rule, Shift, sessions, settle, tally
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.sequential_test import decide

QUADS, QUAD_SD = 100, 0.006  # of a fine round with visits of one iteration: quads, and the sd of one iteration
AT_ONCE = 20  # trials of quads in memory
FADING_BAR = 0.05


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
    return np.concatenate([_quads(draw, min(AT_ONCE, trials - done), rounds) for done in range(0, trials, AT_ONCE)])


def _quads(draw: np.random.Generator, trials: int, rounds: int) -> np.ndarray:
    # trial, round, size, side, quad, visit
    times = draw.standard_normal((trials, rounds, 2, 2, QUADS, 2), dtype=np.float32) * np.float32(QUAD_SD)
    rare = draw.random((trials, rounds, 2, QUADS, 2), dtype=np.float32) < 0.05
    times[:, :, :, 1] += np.float32(math.log(1.65)) * rare - np.float32(0.005)
    robust = np.median(times[:, :, :, 0].mean(axis=-1) - times[:, :, :, 1].mean(axis=-1), axis=-1)
    means = np.log(np.exp(times).mean(axis=(-2, -1)))
    effects: np.ndarray = np.stack([robust, means[..., 0] - means[..., 1]], axis=2).astype(float)
    return effects


FINE = "the same in style fine"
MISLEADING: Mapping[str, tuple[Noise, float]] = {
    "5 % of iterations 65 % slower": (
        RareIterations(machine=TYPICAL, share=0.05, slower=math.log(1.65), faster=0.005), 0.005,
    ),
    "the same on the quiet machine": (
        RareIterations(machine=QUIET, share=0.05, slower=math.log(1.65), faster=0.005), 0.005,
    ),
    FINE: (rare_in_quads, 0.005),
    "1 % of iterations 20-fold slower": (
        RareIterations(machine=TYPICAL, share=0.01, slower=math.log(20), faster=0.005), 0.005,
    ),
    "quiet: 2 % of launches +30 %": (RareLaunches(machine=QUIET, share=0.02, slower=math.log(1.3), faster=0.003), 0.005),
}  # fmt: skip
"""By name: the noise with the candidate's behaviour in it, and the largest share of KEEPs."""


def fading(round: int) -> float:
    """A gain of 2 % that fades to a loss of .3 % with a time constant of ten rounds, those of both sessions counted."""
    return -0.003 + 0.023 * math.exp(-round / 10)


def _by_turns(effects: Sequence[float]) -> Shift:
    """The effects, one a round, over and over."""
    return lambda round: effects[round % len(effects)]


def by_layout(
    draw: np.random.Generator, machine: Machine, trials: int, plan: Plan, effect: float, sd: float, layouts: int = 8
) -> float:
    """The share of KEEPs where each of the `layouts` builds of a side is off by a normal error of `sd`, as by luck."""

    def kept(draw: np.random.Generator, trials: Iterator[tuple[np.ndarray, np.ndarray]]) -> int:
        found = 0
        for one, other in trials:
            off = draw.normal(0, sd, (2, layouts))
            shift = _by_turns([effect + each for each in (off[0] - off[1]).tolist()])
            found += settle(one, other, plan, shift=shift, layouts=layouts).verdict is Verdict.KEEP
        return found

    return sum(sessions(draw, noise_of(machine), trials).each(kept)) / trials


def _placed(draw: np.random.Generator, plan: Plan, trials: int) -> list[tuple[str, int]]:
    """Return lines of experiments in eight layouts on the typical machine; the last one has no bar."""
    false = by_layout(draw, TYPICAL, trials, plan, 0.0, sd=0.0025)
    power = by_layout(draw, TYPICAL, trials, plan, 0.005, sd=0.0)
    in_noise = by_layout(draw, TYPICAL, trials, plan, 0.005, sd=0.0025)
    return [
        line("8 layouts, each off by .25 %", [at_most(0.005, false, trials)], "<= 0.5"),
        line("8 layouts: +.5 %", [at_least(0.95, power, trials)], ">= 95"),
        line("8 layouts off by .25 %: +.5 %", [at_least(0.0, in_noise, trials)], "-"),
    ]


def misled(draw: np.random.Generator, plan: Plan, trials: int, rule: Rule = decide) -> int:
    """Print how often each misleading candidate is kept; return the number of missed bars."""
    print(f"\n{'misleading candidates':<34}{'KEEP':>14}{'bar':>14}")
    lines = []
    for name, (noise, bar) in MISLEADING.items():
        limits = replace(plan, slow_launch=0.0) if name == FINE else plan
        share = tally(sessions(draw, noise, trials), limits, rule=rule).share
        lines.append(line(name, [at_most(bar, share, trials)], f"<= {100 * bar:g}"))
    for machine in MACHINES:
        share = tally(sessions(draw, noise_of(machine), trials), plan, fading, rule).share
        lines.append(
            line(f"{machine.name}: a gain that fades", [at_most(FADING_BAR, share, trials)], f"<= {100 * FADING_BAR:g}")
        )
    lines += _placed(draw, plan, trials)
    print("\n".join(text for text, _ in lines))
    return sum(fails for _, fails in lines)
