"""Compute how well a grid of workgroups fills a GPU: the share of its units that get work, and the tail of the last round.

A round is as many workgroups as fit on the whole GPU at once. Units and slots are given to workgroups as they become free, so
the figures are upper bounds: workgroups that take unequally long leave more empty.
"""

import math
from dataclasses import dataclass

HALF_PERCENT = 50.0
"""Below this share of units with work the larger part of the GPU is idle, however fast the kernel's code is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """How `groups` workgroups fill a GPU of `units` units, on each of which `per_unit` of them fit at once (None if unknown).
    `unit` names them: WGP, CU, SM or unit.

    `units_percent` is the most that can have work at once. `rounds` is workgroups over slots (units x per_unit), `last_percent`
    how full the last round is, `tail_percent` the share of all rounds' slots that stays empty; None below one round.
    `waves_percent` is the occupancy that the grid allows on average over the GPU. Unknown figures are None.
    """

    groups: int
    units: int
    unit: str
    per_unit: int | None
    units_percent: float
    rounds: float | None
    last_percent: float | None
    tail_percent: float | None
    waves_percent: float | None

    @property
    def leaves_most_empty(self) -> bool:
        """Return whether fewer than half of the units can have work."""
        return self.units_percent < HALF_PERCENT


def fill_of(
    groups: int | None,
    units: int | None,
    *,
    unit: str = "unit",
    per_unit: int | None = None,
    resident_percent: float | None = None,
) -> Fill | None:
    """Return how `groups` workgroups fill `units` units; None where either is unknown. `resident_percent` is the share of a
    unit's wave slots that `per_unit` workgroups take.
    """
    if not groups or not units:
        return None
    slots = units * per_unit if per_unit else None
    rounds = groups / slots if slots else None
    whole = math.ceil(rounds) if rounds is not None else 0
    last = 100 * (groups - (whole - 1) * slots) / slots if slots else None
    waves = resident_percent * min(1.0, rounds) if resident_percent is not None and rounds is not None else None
    return Fill(
        groups=groups,
        units=units,
        unit=unit,
        per_unit=per_unit,
        units_percent=100 * min(1.0, groups / units),
        rounds=rounds,
        last_percent=last if whole > 1 else None,
        tail_percent=100 * (1 - groups / (whole * slots)) if slots and whole > 1 else None,
        waves_percent=waves,
    )


def fill_text(fill: Fill) -> str:
    """Return a sentence on the fill, e.g. `140 workgroups for 148 SMs (95 % can have work); 2 fit on each: 0.47 rounds`."""
    groups = f"{fill.groups} workgroup{'' if fill.groups == 1 else 's'}"
    text = f"{groups} for {fill.units} {fill.unit}s ({fill.units_percent:.0f} % can have work)"
    if fill.rounds is None:
        return text
    text += f"; {fill.per_unit} fit on each: {fill.rounds:.2f} rounds"
    if fill.tail_percent is not None:
        text += f", the last {fill.last_percent:.0f} % full, a tail of {fill.tail_percent:.0f} % of all slots"
    return f"{text}; occupancy {fill.waves_percent:.0f} % at most" if fill.waves_percent is not None else text
