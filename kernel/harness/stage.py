"""Where a cell launches one size on a CPU, again and again: its operands, side by side, at the same places each time."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence

from kernel.harness.library import Library
from kernel.harness.memory import side_by_side


class Stage:
    """For A, B, C and bias of these `sizes` in bytes. The warden writes and reads them; C is poisoned here."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._block = side_by_side(sizes)
        self.addresses = [place.address for place in self._block.places]
        self._a, self._b, self._c, self._bias = self.addresses
        self._c_bytes = sizes[2]

    def poison(self, byte: int) -> None:
        """Every byte of C."""
        ctypes.memset(self._c, byte, self._c_bytes)

    def launch(self, build: Library, call: Sequence[float], rows: tuple[int, int]) -> int:
        """Nanoseconds of one launch by the clock of this process. `call`: config, b_dtype, scale, m, n, k."""
        config, fp8, scale, m, n, k = call
        launch, clock, raw = build.launch, time.clock_gettime_ns, time.CLOCK_MONOTONIC_RAW
        arguments = (config, fp8, self._a, self._b, self._bias, self._c, scale, m, n, k, rows)
        begin = clock(raw)
        launch(*arguments)  # type: ignore[arg-type]  # b_dtype as a number
        return clock(raw) - begin
