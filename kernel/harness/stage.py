"""Where a cell launches one size on a CPU, again and again: operands side by side, brought from memory that is shared."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence

from kernel.harness.library import Library
from kernel.harness.memory import Block, side_by_side


class Stage:
    """`sizes` are the bytes of A, B, bias and C, which lie at the offsets `at` of the shared memory.

    The build sees huge pages at the same places each time; the shared memory has none. C is poisoned, brought anew with the
    rest, launched into, and taken back after its time: whatever is not there by then is seen as missing.
    """

    def __init__(self, shared: Block, sizes: Sequence[int], at: Sequence[int], poison: int) -> None:
        a, b, bias, c = sizes
        self._block = side_by_side([a, b, c, bias, c])  # as callers' matrices lie; the last one is what C is poisoned with
        a_at, b_at, c_at, bias_at, poison_at = (place.address for place in self._block.places)
        ctypes.memmove(poison_at, poison.to_bytes(2, "little") * (c // 2), c)
        theirs = [shared.address + offset for offset in at]
        # C first: what is written last is nearest in the caches.
        self._bring = (
            (c_at, poison_at, c),
            (bias_at, theirs[2], bias),
            (b_at, theirs[1], b),
            (a_at, theirs[0], a),
        )
        self._take = (theirs[3], c_at, c)
        self._addresses = (a_at, b_at, bias_at, c_at)

    def bring(self) -> None:
        """The operands of the next launch."""
        for to, source, size in self._bring:
            ctypes.memmove(to, source, size)

    def take(self) -> None:
        """The output of the last launch."""
        ctypes.memmove(*self._take)

    def launch(self, build: Library, call: Sequence[float], rows: tuple[int, int]) -> int:
        """Nanoseconds of one launch by the clock of this process. `call`: config, b_dtype, scale, m, n, k."""
        config, fp8, scale, m, n, k = call
        launch, clock, raw = build.launch, time.clock_gettime_ns, time.CLOCK_MONOTONIC_RAW
        arguments = (config, fp8, *self._addresses, scale, m, n, k, rows)
        begin = clock(raw)
        launch(*arguments)  # type: ignore[arg-type]  # b_dtype as a number
        return clock(raw) - begin
