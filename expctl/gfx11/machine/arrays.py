"""Names of the array types, and lane masks. A lane array has shape (32,): one element per lane of a wave."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

LANES = 32
MOST_LANES = 1024
"""Of a workgroup."""
ALL_BITS = 0xFFFFFFFF

Words = NDArray[np.uint32]
Bits = NDArray[np.uint32] | NDArray[np.uint64]
"""Masks of the undefined bits of 32- or 64-bit values."""
Flags = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Indices = NDArray[np.int64]
Anything = Any
"""A lane array of a type that the operation decides. (numpy's stubs can't follow a type through a table.)"""

MOST_MASKS = 1 << 16
_lanes_of: dict[int, Flags] = {}


def lanes_of(bits: int) -> Flags:
    """Return a 32-bit lane mask as (32,) flags, lane 0 from bit 0. The array is shared and read-only."""
    lanes = _lanes_of.get(bits)
    if lanes is None:
        if len(_lanes_of) >= MOST_MASKS:  # random data may make another mask in each turn of a loop
            _lanes_of.clear()
        packed = np.frombuffer(bits.to_bytes(4, "little"), dtype=np.uint8)
        lanes = np.unpackbits(packed, bitorder="little").astype(np.bool_)
        lanes.flags.writeable = False
        _lanes_of[bits] = lanes
    return lanes


def bits_of(lanes: Flags) -> int:
    """Return (32,) flags as a 32-bit lane mask, lane 0 in bit 0."""
    return int.from_bytes(np.packbits(lanes, bitorder="little").tobytes(), "little")


def masks_of(lanes: Flags) -> list[int]:
    """Return the flags of several waves, (waves * 32,), as a 32-bit lane mask of each."""
    masks: list[int] = np.packbits(lanes, bitorder="little").view(np.uint32).tolist()
    return masks
