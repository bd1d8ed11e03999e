"""The LDS (local data share) of one workgroup: its bytes, their undefined bits, and the log of accesses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from expctl.gfx11.machine.accesses import AccessLog
from expctl.gfx11.machine.arrays import ALL_BITS, LANES, Bytes, Flags, Indices, Words, lanes_of
from expctl.gfx11.machine.banks import passes
from expctl.gfx11.machine.clocks import Clocks
from expctl.gfx11.machine.counts import Tally
from expctl.gfx11.machine.pieces import Pieces

MOST_PLANS, MOST_TEAM_PLANS = 4096, 512


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamPlan:
    """The plans of one access for all waves of a team, whose active lanes are all inside."""

    pieces: Pieces
    lanes: Flags
    """(waves * 32,) flags of the active ones."""
    owners: Indices
    """Number of the wave of each of the pieces."""
    overlaps: bool
    """Two lanes of one wave touch a byte in common."""
    passes: int
    least: int


class Lds:
    """LDS of `size` bytes. `undefined[i]` is a mask of the undefined bits of byte i, 0xff at first."""

    def __init__(self, size: int, tally: Tally, clocks: Clocks | None = None) -> None:
        self.size = size
        self.data: Bytes = np.full(size, 0xFF, dtype=np.uint8)
        self.undefined: Bytes = np.full(size, 0xFF, dtype=np.uint8)
        self.log = AccessLog([(0, size)], shared=False, clocks=clocks)
        self._plans, self._team_plans = tally.plans, tally.team_plans

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

    def team_plan(self, addresses: Words, offset: int, masks: list[int], width: int) -> TeamPlan | None:
        """Return the plan of all waves, whose active lanes are `masks`; None if one is not inside.
        The result is cached.
        """
        key = (addresses.tobytes(), offset, tuple(masks), width, self.size)
        if key not in self._team_plans:
            if len(self._team_plans) >= MOST_TEAM_PLANS:
                self._team_plans.clear()
            rows = addresses.reshape(len(masks), LANES)
            plans = [self.plan(row, offset, mask, width) for row, mask in zip(rows, masks, strict=True)]
            self._team_plans[key] = _joined(plans, width, self.size)
        plan: TeamPlan | None = self._team_plans[key]
        return plan


def _joined(plans: list[Plan], width: int, size: int) -> TeamPlan | None:
    if any(plan.outside for plan in plans):
        return None
    lanes = np.concatenate([plan.lanes for plan in plans])
    return TeamPlan(
        pieces=Pieces(np.concatenate([plan.pieces.where for plan in plans]), width, size),
        lanes=lanes,
        owners=np.flatnonzero(lanes) // LANES,
        overlaps=any(plan.overlaps for plan in plans),
        passes=sum(plan.passes for plan in plans),
        least=sum(plan.least for plan in plans),
    )


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
