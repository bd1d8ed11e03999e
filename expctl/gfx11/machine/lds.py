"""The LDS of one workgroup: its bytes, which of their bits are undefined, and who touched them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from expctl.gfx11.machine.accesses import AccessLog
from expctl.gfx11.machine.arrays import Bytes, Flags, Indices, Words, lanes_of
from expctl.gfx11.machine.banks import passes
from expctl.gfx11.machine.counts import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one access of a wave touches. It depends on nothing but addresses, lanes, width and size."""

    where: Indices
    """(lanes inside, width) bytes"""
    lanes: Flags
    """(32,) active and inside the LDS"""
    outside: tuple[int, ...]
    """Addresses beyond its end."""
    overlaps: bool
    """Lanes share bytes."""
    passes: int
    least: int


class Lds:
    """`undefined[i]` has the bits of byte i that this workgroup hasn't written: all of them at first."""

    def __init__(self, size: int, tally: Tally) -> None:
        self.size = size
        self.data: Bytes = np.full(size, 0xFF, dtype=np.uint8)
        self.undefined: Bytes = np.full(size, 0xFF, dtype=np.uint8)
        self.log = AccessLog(size)
        self._plans = tally.plans

    def plan(self, addresses: Words, offset: int, active: int, width: int) -> Plan:
        """For byte addresses (32,) of the lanes in `active`."""
        key = (addresses.tobytes(), offset, active, width, self.size)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = _plan(addresses, offset, active, width, self.size)
        return plan


def _plan(addresses: Words, offset: int, active: int, width: int, size: int) -> Plan:
    begin = addresses.astype(np.int64) + offset
    lanes = lanes_of(active)
    inside = lanes & (begin + width <= size)
    outside = tuple(begin[lanes & ~inside].tolist())
    taken, least = passes(begin, inside, width)
    where = begin[inside][:, None] + np.arange(width)
    overlaps = len(np.unique(where)) != where.size
    return Plan(where=where, lanes=inside, outside=outside, overlaps=overlaps, passes=taken, least=least)
