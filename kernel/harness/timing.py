"""Times one product of one size, and checks every output that was timed."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernel.harness import reference
from kernel.harness.fresh import Draw, FreshInputs
from kernel.harness.held import HeldBuild
from kernel.harness.meter import Account, Meter
from kernel.harness.report import BuildFailed
from kernel.harness.rig import STEP_ON_DEVICE, CpuRig, DeviceRig, Rig, Timed
from kernel.harness.warden import Warden
from kernel.runtime.formats import Fp8, Halves

WARM_UP_ITERATIONS = 3
WARM_UP_S = 0.2
MOST_WHOLE_ROWS = 1024
SPOT_ROWS, SPOT_COLUMNS = 64, 8
"""Of a matrix with more rows than that; of a smaller one all rows and two columns."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where one output was looked at, which the build couldn't know, and what stood there."""

    draw: Draw
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    values: Halves


@dataclass(frozen=True, slots=True)
class Visit:
    """The times of single launches by the build's own clock, and the whole visit seen from outside."""

    ns: tuple[int, ...]
    outside_ns: int


class TimedSize:
    """n x n x n products. The inputs come from `seed`; where outputs are looked at, from nowhere that a build could know."""

    def __init__(self, build: HeldBuild, warden: Warden, meter: Meter, config: int, fp8: Fp8, n: int, seed: int) -> None:
        self.n, self._meter, self._all = n, meter, np.arange(n)
        self._fresh = FreshInputs(seed, fp8, n, step=STEP_ON_DEVICE if build.is_on_device else 1, new_b=not build.is_on_device)
        self._rig: Rig = (DeviceRig if build.is_on_device else CpuRig)(build, warden, config, self._fresh)
        self._secret = secrets.SystemRandom()
        self._account = Account(meter.allowance_ns)
        self._spots: list[Spot] = []
        self._whole: tuple[Draw, Halves] | None = None

    @property
    def work_flop(self) -> int:
        """Floating-point operations of one product."""
        return 2 * self.n**3

    def warm_up(self) -> None:
        """At least 3 iterations and 200 ms."""
        begin, iterations = time.monotonic(), 0
        while iterations < WARM_UP_ITERATIONS or time.monotonic() - begin < WARM_UP_S:
            self._rig.run([self._fresh.draw()])
            iterations += 1

    def time(self, iterations: int) -> Visit:
        """Each launch on inputs of its own and into a poisoned C. Raises BuildFailed."""
        batches: list[Timed] = []
        left = iterations
        while left:
            draws = [self._fresh.draw() for _ in range(min(self._rig.at_once, left))]
            batches.append(self._rig.run(draws))
            for number, draw in enumerate(draws):
                self._look(number, draw)
            left -= len(draws)
        outside_ns = self._meter.outside_ns(batches)
        self._account.add(batches, outside_ns)
        return Visit(tuple(ns for batch in batches for ns in batch.ns), outside_ns)

    def _look(self, number: int, draw: Draw) -> None:
        """Nothing of what is looked at may be poison; what its values should be is worked out in `check`."""
        n = self.n
        rows = self._all if n <= MOST_WHOLE_ROWS else np.sort(self._secret.sample(range(n), SPOT_ROWS))
        columns = np.array([self._secret.randrange(n) for _ in range(2 if rows is self._all else SPOT_COLUMNS)])
        found = self._rig.rows(number, rows)
        bits = found.view(np.uint16)
        if bits.max() >= reference.POISON and (bits == reference.POISON).any():  # nothing but negative NaNs lies above it
            i, j = (int(x) for x in np.argwhere(bits == reference.POISON)[0])
            raise BuildFailed(f"n={n}, timed output: C[{rows[i]},{j}] is still the poison: it was not written in its time")
        self._spots.append(Spot(draw, rows, columns, found[:, columns].copy()))
        if self._secret.randrange(len(self._spots)) == 0:  # of k outputs each stays the one that is kept with probability 1/k
            self._whole = draw, self._rig.whole(number)

    def check(self, limits: reference.Limits) -> None:
        """Every spot, one whole output drawn afterwards, and the times of this visit's clocks. Raises BuildFailed."""
        for spot in self._spots:
            exact = self._fresh.exact(spot.draw, spot.rows, spot.columns)
            limit = self._fresh.limit(spot.draw, exact, truncating=limits.truncating)
            bad = ~(np.abs(spot.values.astype(np.float64) - exact) <= limit)  # a NaN is bad too
            if bad.any():
                i, j = (int(x) for x in np.argwhere(bad)[0])
                raise BuildFailed(
                    f"n={self.n}, timed output: C[{spot.rows[i]},{spot.columns[j]}] is {spot.values[i, j]:.6g}, expected "
                    f"{exact[i, j]:.6g}, limit {limit[i, j]:.3g}; {int(bad.sum())} of {bad.size} elements looked at are bad"
                )
        if self._whole is not None:
            draw, output = self._whole
            inputs, rows = self._fresh.inputs(draw), reference.rows_to_check(np.random.default_rng(), self.n, self.n, self.n)
            judgement = reference.judge(inputs, rows, reference.expected(inputs, rows), output, limits)
            if judgement.failure is not None:
                raise BuildFailed(f"n={self.n}, timed output: {judgement.failure}")
        self._spots.clear()
        self._whole = None
        self._account.settle()

    def release(self) -> None:
        """Gives device memory back."""
        self._rig.release()
