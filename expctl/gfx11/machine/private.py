"""The private (scratch) memory of the lanes of one wave."""

from __future__ import annotations

import numpy as np

from expctl.gfx11.machine.arrays import LANES, Bytes


class Private:
    """Memory of (32, `size`) bytes: one row per lane. `undefined` masks the bits that nothing has defined: all at first."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.data: Bytes = np.full((LANES, size), 0xFF, dtype=np.uint8)
        self.undefined: Bytes = np.full((LANES, size), 0xFF, dtype=np.uint8)
