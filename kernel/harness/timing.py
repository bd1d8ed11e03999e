"""Times products of one size, and checks every output that was timed."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from expctl.harness.clock_check import ClockCheck
from expctl.harness.report import BuildFailed
from expctl.harness.requests import TimedRequest
from kernel.harness import reference
from kernel.harness.input_stream import Draw, InputStream
from kernel.harness.packing import packing_of
from kernel.harness.script_session import ScriptSession
from kernel.harness.shapes import Extents
from kernel.harness.timed_launch import STEP_ON_DEVICE, CpuTimedLauncher, DeviceTimedLauncher, TimedBatch, TimedLauncher
from kernel.runtime.formats import Fp8, Halves

WARM_UP_ITERATIONS = 3
WARM_UP_S = 0.2
PAUSES_S = (0, 0.05, 0.1, 0.2, 0.4)
"""Waited before each further try of a request whose clocks differ. A disturbed host has met two requests in a row. After
the first such request each gets one further try: a build must not have slow ones made again as often as it likes.
"""
MOST_WHOLE_ROWS = 1024
SAMPLED_ROWS, SAMPLED_COLUMNS = 64, 8
"""Elements compared of a matrix with more than MOST_WHOLE_ROWS rows. Of a smaller one: all rows, two columns."""


@dataclass(frozen=True, slots=True)
class SampledOutput:
    """Rows and columns of one output, drawn after its launch, and the values found there, (rows, columns)."""

    draw: Draw
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    values: Halves


class TimedSize:
    """Times products of one size. Inputs come from `seed`; the sampled places from a generator that a build can't know."""

    _pauses_s: tuple[float, ...] = PAUSES_S

    def __init__(self, session: ScriptSession, config: int, fp8: Fp8, extents: Extents, seed: int) -> None:
        build = session.build
        self._extents, self._outside_clock, self._all = extents, session.outside_clock, np.arange(extents.m)
        packing, step = packing_of(build, extents.k, extents.n), STEP_ON_DEVICE if build.is_on_device else 1
        self._stream = InputStream(seed, fp8, extents, packing, step=step, new_b=not build.is_on_device)
        launcher = DeviceTimedLauncher if build.is_on_device else CpuTimedLauncher
        self._launcher: TimedLauncher = launcher(build, session.supervisor, config, self._stream)
        self._secret = secrets.SystemRandom()
        self._clock_check = ClockCheck(session.outside_clock.allowance_ns)
        self._sampled: list[SampledOutput] = []
        self._whole: tuple[Draw, Halves] | None = None

    def warm_up(self) -> None:
        """Launch at least 3 times and for 200 ms."""
        begin, iterations = time.monotonic(), 0
        while iterations < WARM_UP_ITERATIONS or time.monotonic() - begin < WARM_UP_S:
            self._launcher.run([self._stream.draw()])
            iterations += 1

    def time(self, iterations: int) -> TimedRequest:
        """Make `iterations` launches, each on new inputs and into a poisoned C; where the clocks differ, again after each of
        PAUSES_S, and the last counts. Raises BuildFailed.
        """
        ns, *seen = self._launched(iterations)
        for number, pause_s in enumerate(self._pauses_s):
            if self._clock_check.agree(sum(ns), *seen):
                break
            time.sleep(pause_s)
            ns, *seen = self._launched(iterations)
            if number:
                self._pauses_s = PAUSES_S[:1]
        self._clock_check.add(sum(ns), *seen)
        return TimedRequest(ns, seen[0])

    def _launched(self, iterations: int) -> tuple[tuple[int, ...], int, int]:
        """Return the ns of so many launches, those of all together where seen from outside, and the number of batches."""
        batches: list[TimedBatch] = []
        left = iterations
        while left:
            draws = [self._stream.draw() for _ in range(min(self._launcher.batch_size, left))]
            batches.append(self._launcher.run(draws))
            kept = [number for number, draw in enumerate(draws) if self._sample(number, draw)]
            if kept:
                self._whole = draws[kept[-1]], self._launcher.whole(kept[-1])
            left -= len(draws)
        outside_ns = self._outside_clock.outside_ns(batches)
        return tuple(ns for batch in batches for ns in batch.ns), outside_ns, len(batches)

    def _sample(self, number: int, draw: Draw) -> bool:
        """Copy sampled elements of output `number` for `check`; return whether it is the one to compare as a whole. Of k
        outputs each stays that one with probability 1/k. Raises BuildFailed for one that was not written.
        """
        m, n, _ = self._extents
        rows = self._all if m <= MOST_WHOLE_ROWS else np.sort(self._secret.sample(range(m), SAMPLED_ROWS))
        columns = np.array([self._secret.randrange(n) for _ in range(2 if rows is self._all else SAMPLED_COLUMNS)])
        found = self._launcher.rows(number, rows)
        bits = found.view(np.uint16)
        if bits.max() >= reference.POISON and (bits == reference.POISON).any():  # nothing but negative NaNs lies above it
            i, j = (int(x) for x in np.argwhere(bits == reference.POISON)[0])
            raise BuildFailed(
                f"{self._extents.name}, timed output: C[{rows[i]},{j}] is still the poison: it was not written in its time"
            )
        self._sampled.append(SampledOutput(draw, rows, columns, found[:, columns].copy()))
        return self._secret.randrange(len(self._sampled)) == 0

    def check(self, limits: reference.Limits) -> None:
        """Compare all sampled elements and one whole output with the exact product, and the clocks. Raises BuildFailed."""
        for sampled in self._sampled:
            exact = self._stream.exact(sampled.draw, sampled.rows, sampled.columns)
            limit = self._stream.limit(sampled.draw, exact, truncating=limits.truncating)
            bad = ~(np.abs(sampled.values.astype(np.float64) - exact) <= limit)  # a NaN is bad too
            if bad.any():
                i, j = (int(x) for x in np.argwhere(bad)[0])
                raise BuildFailed(
                    f"{self._extents.name}, timed output: "
                    f"C[{sampled.rows[i]},{sampled.columns[j]}] is {sampled.values[i, j]:.6g}, "
                    f"expected {exact[i, j]:.6g}, limit {limit[i, j]:.3g}; "
                    f"{int(bad.sum())} of {bad.size} elements looked at are bad"
                )
        if self._whole is not None:
            draw, output = self._whole
            inputs, rows = self._stream.inputs(draw), reference.rows_to_check(np.random.default_rng(), *self._extents)
            judgement = reference.judge(inputs, rows, reference.expected(inputs, rows), output, limits)
            if judgement.failure is not None:
                raise BuildFailed(f"{self._extents.name}, timed output: {judgement.failure}")
        self._sampled.clear()
        self._whole = None
        self._clock_check.check()

    def release(self) -> None:
        """Free the device memory."""
        self._launcher.release()
