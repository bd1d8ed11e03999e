"""Times one product of one size, and checks every output that was timed."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from kernel.harness import reference
from kernel.harness.formats import Fp8, Halves
from kernel.harness.library import Library
from kernel.harness.operands import place
from kernel.harness.report import BuildFailed

WARM_UP_ITERATIONS = 3
WARM_UP_S = 0.2


class TimedSize:
    """An n x n x n product with inputs drawn from `seed`. On a GPU only the last output of each request can be checked."""

    def __init__(self, library: Library, config: int, fp8: Fp8, n: int, seed: int) -> None:
        self.n = n
        self._config = config
        self._rng = np.random.default_rng([seed, n])
        drawn = reference.draw(self._rng, fp8, n, n, n)
        self._inputs = replace(drawn, a=drawn.a.copy())
        self._operands = place(library, self._inputs, guarded=False)
        self._at_once = 1 if library.target == "cpu" else 64
        self._last: Halves | None = None
        self._fresh: list[tuple[Halves, Halves]] = []

    @property
    def work_flop(self) -> int:
        """Floating-point operations of one product."""
        return 2 * self.n**3

    def warm_up(self) -> None:
        """At least 3 iterations and 200 ms."""
        begin, iterations = time.monotonic(), 0
        while iterations < WARM_UP_ITERATIONS or time.monotonic() - begin < WARM_UP_S:
            self._operands.launch(self._config)
            iterations += 1

    def time(self, iterations: int) -> list[int]:
        """Nanoseconds of each. Before each, outside of the timed region, C is poisoned and one row of A gets new values, so
        that no answer can be kept from before; after it, all other rows must have the bits they had. Raises BuildFailed.
        """
        durations_ns: list[int] = []
        while len(durations_ns) < iterations:
            row = int(self._rng.integers(self.n))
            values = self._rng.standard_normal(self.n).astype(np.float16)
            self._inputs.a[row] = values
            self._operands.set_row(row, values)
            self._operands.poison()
            durations_ns += self._operands.time(self._config, min(self._at_once, iterations - len(durations_ns)))
            output = self._operands.output()
            if self._last is not None:
                self._compare(self._last, output, row)
            self._last = output
            self._fresh.append((values, output[row].copy()))
        return durations_ns

    def _compare(self, last: Halves, output: Halves, row: int) -> None:
        differs = last.view(np.uint16) != output.view(np.uint16)
        differs[row] = False
        if differs.any():
            i, j = (int(x) for x in np.argwhere(differs)[0])
            raise BuildFailed(
                f"n={self.n}: timed iterations differ where the inputs do not: C[{i},{j}] is {output[i, j]}, was {last[i, j]}"
            )

    def check(self, limits: reference.Limits) -> None:
        """The last timed output, and every row that was new in its iteration, against the exact product. Raises BuildFailed."""
        if self._last is None or not self._fresh:
            return
        self._judge(
            self._inputs, self._last, reference.rows_to_check(self._rng, self.n, self.n, self.n), "timed output", limits
        )
        values, outputs = (np.stack(each) for each in zip(*self._fresh, strict=True))
        self._judge(replace(self._inputs, a=values), outputs, np.arange(len(values)), "rows new in their iteration", limits)
        self._fresh.clear()

    def _judge(
        self, inputs: reference.Inputs, result: Halves, rows: np.typing.NDArray[np.intp], what: str, limits: reference.Limits
    ) -> None:
        judgement = reference.judge(inputs, rows, reference.expected(inputs, rows), result, limits)
        if judgement.failure is not None:
            raise BuildFailed(f"n={self.n}, {what}: {judgement.failure}")

    def release(self) -> None:
        """Gives device memory back."""
        self._operands.release()
