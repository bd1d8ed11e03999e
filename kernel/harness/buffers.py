"""Operand buffers of one size in the sandbox worker's memory (CPU), and the timed launch on them."""

from __future__ import annotations

import time
from collections.abc import Sequence

from kernel.harness.memory import side_by_side
from kernel.runtime.library import Library

Armed = tuple[int, int, int, int, int, tuple[int, int]]
"""Arguments that all launches on one set of buffers share: config, b_dtype, m, n, k, row blocks [first, end)."""


class OperandBuffers:
    """Holds A, B, C and bias, of these `sizes` in bytes. The supervisor writes and reads them from its own process."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._block = side_by_side(sizes)
        self.addresses = [place.address for place in self._block.places]
        self.armed: Armed | None = None

    def launch(self, build: Library, scale: float) -> int:
        """Make the launch in `armed`, which must have been set, and return its ns by this process's CLOCK_MONOTONIC_RAW."""
        assert self.armed is not None  # noqa: S101  the sandbox worker has looked
        config, fp8, m, n, k, rows = self.armed
        a, b, c, bias = self.addresses
        launch, clock, raw = build.launch, time.clock_gettime_ns, time.CLOCK_MONOTONIC_RAW
        begin = clock(raw)
        launch(config, fp8, a, b, bias, c, scale, m, n, k, rows)  # type: ignore[arg-type]  # b_dtype as a number
        return clock(raw) - begin
