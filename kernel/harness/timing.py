"""Times one product of one size, and checks every output that was timed."""

from __future__ import annotations

import time

import numpy as np

from kernel.harness import reference
from kernel.harness.formats import Fp8
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
        self._inputs = reference.draw(self._rng, fp8, n, n, n)
        self._operands = place(library, self._inputs, guarded=False)
        self._at_once = 1 if library.target == "cpu" else 64
        self._first: np.typing.NDArray[np.float16] | None = None
        self._timed = 0

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
        """Nanoseconds of each. C is poisoned before and compared after, outside of the timed region; raises BuildFailed."""
        durations_ns: list[int] = []
        while len(durations_ns) < iterations:
            self._operands.poison()
            durations_ns += self._operands.time(self._config, min(self._at_once, iterations - len(durations_ns)))
            output = self._operands.output()
            if self._first is None:
                self._first = output
            elif not np.array_equal(self._first.view(np.uint16), output.view(np.uint16)):
                row, column = (int(x) for x in np.argwhere(self._first.view(np.uint16) != output.view(np.uint16))[0])
                raise BuildFailed(
                    f"n={self.n}: timed iterations differ: C[{row},{column}] is {output[row, column]}, "
                    f"was {self._first[row, column]} in the first"
                )
        self._timed += iterations
        return durations_ns

    def check(self, limits: reference.Limits) -> None:
        """The first timed output against the exact product; all others had the same bits. Raises BuildFailed."""
        if self._first is None:
            return
        rows = reference.rows_to_check(self._rng, self.n, self.n, self.n)
        exact = reference.expected(self._inputs, rows)
        judgement = reference.judge(self._inputs, rows, exact, self._first, limits)
        if judgement.failure is not None:
            raise BuildFailed(f"n={self.n}, timed output: {judgement.failure}")

    def release(self) -> None:
        """Gives device memory back."""
        self._operands.release()
