"""Three simulated machines: the noise of one launch on one clock, as the design of the verdict publishes it.

    ln t = ln t0 - effect + session + OU + heat + throttle + placement + iteration noise

Two KPI sizes of 4.9 ms and 39 ms, of equal weight; a launch costs 0.8 s before the first size, drops one iteration per size and
times ten. The 0.8 s cover start and warm-up: read so, and not with 200 ms more per size, the sd of a round comes out as
published (.107, .354, .844 % for .11, .36, .84; else .108, .368, .903). Both sides share one clock: drift, heat and throttling
go on between them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

TIMES_S = (0.0049, 0.039)
OVERHEAD_S, DROPPED, TIMED = 0.8, 1, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Shares of time (0.01 is 1 %), seconds. `outliers` and `mode` are (probability, slower by), the first exponential."""

    name: str
    iteration_sd: float
    outliers: tuple[float, float]
    placement_sd: float
    mode: tuple[float, float]
    drift_sd: float
    drift_s: float
    session_sd: float
    throttle: tuple[float, float, float]  # every s, lasts s, slower by
    heat: tuple[float, float]  # amplitude, time constant s
    round_sd: float  # what the design says comes out

    def launches(self, draw: np.random.Generator, trials: int, count: int) -> np.ndarray:
        """ln(t / t0) of timed iterations, (trials, count, 2 sizes, 10), of one session of `count` launches."""
        times = np.empty((trials, count, len(TIMES_S), TIMED))
        session = draw.normal(0, self.session_sd, trials)
        drift, slow = draw.normal(0, self.drift_sd, trials), np.zeros(trials, dtype=bool)
        every, lasts, by = self.throttle
        if every:
            slow = draw.random(trials) < lasts / (every + lasts)
        now = before = 0.0
        for launch in range(count):
            now += OVERHEAD_S
            for size, time_s in enumerate(TIMES_S):
                middle = now + (DROPPED + TIMED / 2) * time_s
                drift = self._drift(draw, drift, middle - before)
                if every:
                    slow = self._throttled(draw, slow, middle - before)
                now, before = now + (DROPPED + TIMED) * time_s, middle
                heat = self.heat[0] * (1 - math.exp(-middle / self.heat[1]))
                level = session + drift + heat + by * slow + self._placement(draw, trials)
                times[:, launch, size] = level[:, None] + self._iterations(draw, trials)
        return times

    def _drift(self, draw: np.random.Generator, drift: np.ndarray, passed_s: float) -> np.ndarray:
        """Ornstein-Uhlenbeck, exact over any step."""
        keep = math.exp(-passed_s / self.drift_s)
        return drift * keep + draw.normal(0, self.drift_sd * math.sqrt(1 - keep * keep), len(drift))

    def _throttled(self, draw: np.random.Generator, slow: np.ndarray, passed_s: float) -> np.ndarray:
        """A two-state Markov process: exponential pauses and spells, exact over any step."""
        every, lasts, _ = self.throttle
        share, forget = lasts / (every + lasts), math.exp(-passed_s * (1 / every + 1 / lasts))
        return draw.random(len(slow)) < share + (slow - share) * forget

    def _placement(self, draw: np.random.Generator, trials: int) -> np.ndarray:
        return draw.normal(0, self.placement_sd, trials) + self.mode[1] * (draw.random(trials) < self.mode[0])

    def _iterations(self, draw: np.random.Generator, trials: int) -> np.ndarray:
        shape = (trials, TIMED)
        odd = draw.random(shape) < self.outliers[0]
        return draw.normal(0, self.iteration_sd, shape) + odd * draw.exponential(self.outliers[1], shape)


QUIET = Machine(
    name="quiet", iteration_sd=0.003, outliers=(0.005, 0.02), placement_sd=0.001, mode=(0, 0), drift_sd=0.0015, drift_s=120,
    session_sd=0.002, throttle=(0, 0, 0), heat=(0.002, 60), round_sd=0.0011,
)  # fmt: skip
TYPICAL = Machine(
    name="typical", iteration_sd=0.006, outliers=(0.01, 0.03), placement_sd=0.002, mode=(0.15, 0.008), drift_sd=0.005,
    drift_s=60, session_sd=0.006, throttle=(300, 8, 0.03), heat=(0.008, 60), round_sd=0.0036,
)  # fmt: skip
NOISY = Machine(
    name="noisy", iteration_sd=0.01, outliers=(0.02, 0.05), placement_sd=0.003, mode=(0.25, 0.015), drift_sd=0.015, drift_s=40,
    session_sd=0.02, throttle=(120, 15, 0.06), heat=(0.03, 90), round_sd=0.0084,
)  # fmt: skip
MACHINES = (QUIET, TYPICAL, NOISY)


def round_effects(draw: np.random.Generator, machine: Machine, trials: int, rounds: int) -> np.ndarray:
    """Effects of each round without a true one, (trials, rounds, 2, 2 sizes): robust, and on the mean time."""
    return effects_of(draw, machine.launches(draw, trials, 4 * rounds))


def noise_of(machine: Machine) -> Callable[[np.random.Generator, int, int], np.ndarray]:
    """Return `round_effects` of this machine, as a function of (generator, trials, rounds)."""
    return lambda draw, trials, rounds: round_effects(draw, machine, trials, rounds)


def effects_of(draw: np.random.Generator, times: np.ndarray, slower: np.ndarray | float = 0.0) -> np.ndarray:
    """Effects of each round from ln t of (trials, 4 rounds, sizes, iterations), ABBA or BAAB by coin: of medians and
    of means. `slower` is added to ln t wherever the candidate runs.
    """
    trials, launches = times.shape[:2]
    shape = (trials, launches // 4, 4)
    coin = draw.random((trials, launches // 4, 1)) < 0.5
    candidate = np.where(coin, [False, True, True, False], [True, False, False, True])
    times = times + slower * candidate.reshape(trials, launches, 1, 1)
    robust = np.median(times, axis=3).reshape(*shape, -1)
    mean = np.exp(times).mean(axis=3).reshape(*shape, -1)
    at = candidate[..., None]
    by_median = np.where(at, -robust, robust).sum(axis=2) / 2
    by_mean = np.log(np.where(at, 0, mean).sum(axis=2) / np.where(at, mean, 0).sum(axis=2))
    effects: np.ndarray = np.stack([by_median, by_mean], axis=2)
    return effects
