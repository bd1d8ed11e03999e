"""The private (scratch) memory of the lanes of one wave."""

from __future__ import annotations

import numpy as np

from expctl.gfx11.machine.arrays import LANES, Bytes


class Private:
    """Scratch memory of one wave: (32, `size`) bytes, a row per lane. `undefined` has a mask of the undefined bits of each
    byte.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.data: Bytes = np.full((LANES, size), 0xFF, dtype=np.uint8)
        self.undefined: Bytes = np.full((LANES, size), 0xFF, dtype=np.uint8)
