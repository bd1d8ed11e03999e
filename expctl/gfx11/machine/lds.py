"""The LDS (local data share) of one workgroup: its bytes, their undefined bits, and the log of accesses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from expctl.gfx11.machine.accesses import AccessLog
from expctl.gfx11.machine.arrays import ALL_BITS, Bytes, Flags, Words, lanes_of
from expctl.gfx11.machine.banks import passes
from expctl.gfx11.machine.clocks import Clocks
from expctl.gfx11.machine.counts import Tally
from expctl.gfx11.machine.pieces import Pieces

MOST_PLANS = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Which bytes one LDS access of a wave touches, and in how many passes. Computed from addresses, lanes, width and size
    alone.
    """

    pieces: Pieces
    """Of the lanes inside."""
    lanes: Flags
    """(32,) flags: active, and wholly inside the LDS."""
    outside: tuple[int, ...]
    """Addresses of active lanes that reach beyond the end of the LDS."""
    overlaps: bool
    """Two lanes touch a byte in common."""
    passes: int
    least: int


class Lds:
    """LDS of `size` bytes. `undefined[i]` is a mask of the undefined bits of byte i, 0xff at first."""

    def __init__(self, size: int, tally: Tally, clocks: Clocks | None = None) -> None:
        self.size = size
        self.data: Bytes = np.full(size, 0xFF, dtype=np.uint8)
        self.undefined: Bytes = np.full(size, 0xFF, dtype=np.uint8)
        self.log = AccessLog([(0, size)], shared=False, clocks=clocks)
        self._plans = tally.plans

    def plan(self, addresses: Words, offset: int, active: int, width: int) -> Plan:
        """Return which bytes an access touches; the result is cached. The access takes `width` bytes at `addresses` + `offset`
        for each lane in the mask `active`.
        """
        key = (addresses.tobytes(), offset, active, width, self.size)
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= MOST_PLANS:  # an endless loop may have another address in each turn
                self._plans.clear()
            plan = self._plans[key] = _plan(addresses, offset, active, width, self.size)
        return plan


def _plan(addresses: Words, offset: int, active: int, width: int, size: int) -> Plan:
    begin = addresses.astype(np.int64) + offset & ALL_BITS  # compilers add an offset to a negative register
    lanes = lanes_of(active)
    inside = lanes & (begin + width <= size)
    outside = tuple(begin[lanes & ~inside].tolist())
    needed, least = passes(begin, inside, width)
    pieces = Pieces(begin[inside], width, size)
    where = pieces.bytes()
    overlaps = len(np.unique(where)) != where.size
    return Plan(pieces=pieces, lanes=inside, outside=outside, overlaps=overlaps, passes=needed, least=least)
