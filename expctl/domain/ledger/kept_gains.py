"""The combined gain of the changes that were kept in a target's current epoch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct

from expctl.domain.history.epochs import Epoch, Measuring
from expctl.domain.ledger.record_summary import Interval


class Landed(NamedTuple):
    """A kept change that moved the branch. `gains` are its effects in each of `measurings` (None: not timed there)."""

    id: str
    title: str
    target: str
    measurings: tuple[Measuring, ...]
    gains: tuple[Interval | None, ...]


class Step(Struct, frozen=True, kw_only=True):
    """One kept change: its own effect, and that of all kept changes up to it (`total`), each in percent with 95 % interval."""

    id: str
    title: str
    effect: Interval
    total: Interval


class Path(Struct, frozen=True, kw_only=True):
    """The changes kept in one epoch (group of comparable measurements) of `target`, in branch order, with combined effects."""

    target: str
    epoch: int
    steps: tuple[Step, ...]


def kept_gains(landed: Iterable[Landed], epochs: Mapping[str, Epoch]) -> tuple[Path, ...]:
    """Return the combined gains of each target's kept changes in its epoch; `landed` is in branch order. A target is left out
    if none of these changes was measured in its epoch.
    """
    found, everything = [], tuple(landed)
    for target, epoch in sorted(epochs.items()):
        steps: list[Step] = []
        held: dict[int, bool] = {}  # by identity of conditions, which are few
        for each in everything:
            effect = _effect_in(each, epoch, held)
            if effect is not None:
                total = product(steps[-1].total, effect) if steps else effect
                steps.append(Step(id=each.id, title=each.title, effect=effect, total=total))
        if steps:
            found.append(Path(target=target, epoch=epoch.number, steps=tuple(steps)))
    return tuple(found)


def _effect_in(landed: Landed, epoch: Epoch, held: dict[int, bool]) -> Interval | None:
    """Return a change's effect measured in `epoch`: the verdict's, else its newest replication's; None if there is none."""
    found: list[Interval] = []
    for one, gain in zip(landed.measurings, landed.gains, strict=True):
        if gain and one.target == epoch.target:
            known = held.get(id(one.conditions))
            if known is None:
                known = held[id(one.conditions)] = epoch.holds(one.conditions)
            found += [gain] if known else []
    return None if not found else found[0] if landed.target == epoch.target else found[-1]


def product(one: Interval, other: Interval) -> Interval:
    """Combine two effects in percent: log effects add up, and so do the squares of how far their intervals reach, each way."""
    logs = [tuple(math.log1p(percent / 100) for percent in each) for each in (one, other)]
    effect = math.fsum(log for log, _, _ in logs)
    below, above = math.hypot(*(log - low for log, low, _ in logs)), math.hypot(*(high - log for log, _, high in logs))
    return _percent(effect), _percent(effect - below), _percent(effect + above)


def _percent(log: float) -> float:
    return 100 * math.expm1(log)
