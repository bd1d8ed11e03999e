"""Buckets of a simulated machine whose best config is known, and launches in which several configs take turns.

The noise of a launch is that of the verdict's simulated machines (benchmarks/verdict/machines.py): session, drift, heat, spells
of throttling, a placement and a slow mode of each process and size, noise of single iterations.
"""

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.verdict.machines import DROPPED, OVERHEAD_S, TIMED, TIMES_S, Machine

CONFIGS = 24  # a bucket's, the current one among them
NEAR_SHARE, NEAR_MOST = 0.2, 0.02  # so many are at most so much slower (ln) than the best
FAR = 0.25  # ln: mean of what the others are slower by
CURRENT_IS_BEST, CURRENT_IS_NEAR = 0.3, 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Landscape:
    """One bucket: ln(t / t of the best) of each config by name, 0 for the best, and which is the current one."""

    loss: dict[str, float]
    current: str

    def effect(self, config: str) -> float:
        """Return the true gain of `config` over the current one, ln."""
        return self.loss[self.current] - self.loss[config]

    @property
    def is_best_now(self) -> bool:
        """Whether the current config is the best."""
        return self.loss[self.current] == 0.0


def landscape(draw: np.random.Generator) -> Landscape:
    """Draw a bucket. Its current config is the best, or near it, or any, with fixed shares."""
    near = draw.random(CONFIGS) < NEAR_SHARE
    loss = np.where(near, draw.uniform(0, NEAR_MOST, CONFIGS), NEAR_MOST + draw.exponential(FAR, CONFIGS))
    loss -= loss.min()
    order, kind = np.argsort(loss), draw.random()
    if kind < CURRENT_IS_BEST:
        current = order[0]
    elif kind < CURRENT_IS_BEST + CURRENT_IS_NEAR:
        current = order[1 + draw.integers(0, 4)]
    else:
        current = draw.integers(0, CONFIGS)
    return Landscape(loss={f"c{number:02}": float(each) for number, each in enumerate(loss)}, current=f"c{current:02}")


class Process:
    """One session on a machine, in which launches follow one another: `launch` times configs by turns, ten iterations each."""

    def __init__(self, machine: Machine, draw: np.random.Generator) -> None:
        self.machine, self.draw, self.now_s = machine, draw, 0.0
        self._session = self.draw.normal(0, self.machine.session_sd, 1)
        self._drift = self.draw.normal(0, self.machine.drift_sd, 1)
        self._slow = np.zeros(1, dtype=bool)

    def launch(self, losses: dict[str, float]) -> dict[str, float]:
        """Return ln t of each config, the median of its iterations, in one launch in a new random order."""
        self._pass(OVERHEAD_S)
        names = list(losses)
        self.draw.shuffle(names)
        found = {}
        for name in names:
            self._pass((DROPPED + TIMED) * TIMES_S[0] * math.exp(losses[name]))
            heat = self.machine.heat[0] * (1 - math.exp(-self.now_s / self.machine.heat[1]))
            placement = self.machine._placement(self.draw, 1)
            level = self._session + self._drift + heat + self.machine.throttle[2] * self._slow + placement
            found[name] = losses[name] + float(np.median(level[:, None] + self.machine._iterations(self.draw, 1)))
        return found

    def _pass(self, seconds: float) -> None:
        self.now_s += seconds
        self._drift = self.machine._drift(self.draw, self._drift, seconds)
        if self.machine.throttle[0]:
            self._slow = self.machine._throttled(self.draw, self._slow, seconds)
