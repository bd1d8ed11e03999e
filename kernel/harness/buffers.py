"""Where a cell launches one size on a CPU, again and again: its operands, side by side, at the same places each time."""

from __future__ import annotations

import time
from collections.abc import Sequence

from kernel.harness.memory import side_by_side
from kernel.runtime.library import Library

Armed = tuple[int, int, int, int, int, tuple[int, int]]
"""Of all launches of one stage: config, b_dtype, m, n, k, row blocks."""


class OperandBuffers:
    """For A, B, C and bias of these `sizes` in bytes, which the warden writes and reads."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._block = side_by_side(sizes)
        self.addresses = [place.address for place in self._block.places]
        self.armed: Armed | None = None

    def launch(self, build: Library, scale: float) -> int:
        """Nanoseconds of one launch by the clock of this process, once it is armed."""
        assert self.armed is not None  # noqa: S101  the cell has looked
        config, fp8, m, n, k, rows = self.armed
        a, b, c, bias = self.addresses
        launch, clock, raw = build.launch, time.clock_gettime_ns, time.CLOCK_MONOTONIC_RAW
        begin = clock(raw)
        launch(config, fp8, a, b, bias, c, scale, m, n, k, rows)  # type: ignore[arg-type]  # b_dtype as a number
        return clock(raw) - begin
