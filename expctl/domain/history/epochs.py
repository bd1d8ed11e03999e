"""Epochs: groups of a target's measurements under equal conditions, whose figures are therefore comparable. Pure.

A measurement joins the most recently used epoch of its target that contradicts none of its known conditions; otherwise it opens
a new one. Two machines that take turns are two epochs, and going back to former conditions goes back to their epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from expctl.domain.experiment.ids import id_order
from expctl.domain.history.comparability import Change, Comparability, changes, measurement_conditions

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record


class Measuring(NamedTuple):
    """One measurement of an experiment or, if `again`, of its replication: target, date, baseline commit and conditions."""

    id: str
    target: str
    date: str
    base: str
    conditions: Comparability
    again: bool = False


class Epoch(Struct, frozen=True, kw_only=True):
    """A group of comparable measurements: the `number`-th of `target`, counted from 1.

    `first` is the measurement that opened it; `conditions` are those that all its measurements share, as far as known;
    `protocols` are the hashes of protocol.yaml and harness they had; `begins` lists what had changed since the epoch before.
    """

    target: str
    number: int
    first: Measuring
    conditions: Comparability
    protocols: frozenset[str]
    begins: tuple[Change, ...] = ()

    @property
    def name(self) -> str:
        """The target and the number of the epoch, e.g. `cpu 2`."""
        return f"{self.target} {self.number}"

    def holds(self, conditions: Comparability) -> bool:
        """Return whether a measurement under `conditions` is comparable with those of this epoch, as far as both are known."""
        return not self.changes_to(conditions)

    def changes_to(self, conditions: Comparability) -> tuple[Change, ...]:
        """Return the differences from this epoch to `conditions`; any of them makes figures incomparable."""
        return changes(self.conditions, conditions, protocols=self.protocols)


class Epochs(Struct, frozen=True, kw_only=True):
    """All epochs (groups of comparable measurements): `all` in order of their beginning, `of` by experiment id. `used` maps a
    target to its epochs, the most recently used one last.
    """

    all: tuple[Epoch, ...] = ()
    of: Mapping[str, Epoch] = field(default_factory=dict)
    used: Mapping[str, tuple[Epoch, ...]] = field(default_factory=dict)

    @property
    def last(self) -> dict[str, Epoch]:
        """For each target, the epoch (group of comparable measurements) that its latest measurement belongs to."""
        return {target: known[-1] for target, known in self.used.items()}

    def current(self, target: str, conditions: Comparability) -> Epoch | None:
        """Return the epoch of `target` with which a measurement under `conditions` would be comparable; None if none is."""
        return next((each for each in reversed(self.used.get(target, ())) if each.holds(conditions)), None)

    def shown_by(self, record: Record, target: str, date: str) -> Epoch | None:
        """Return the epoch of the measurement that `record`, or a replication in it, made on `target` at `date`."""
        found = next((each for each in measurings(record) if (each.target, each.date) == (target, date)), None)
        if found is None:
            return None
        own = None if found.again else self.of.get(record.id)
        return own or self.current(target, found.conditions)

    def at(self, conditions: Mapping[str, Comparability], standing: Mapping[str, Epoch]) -> Epochs:
        """Return a copy where each target's `used` ends with the epoch that a run under `conditions` joins.

        Where it would begin a new one, it ends with that of `standing`, in which the target's baseline was measured.
        """
        joined = {target: self.current(target, ground) for target, ground in conditions.items()}
        ends = {target: joined.get(target) or standing.get(target) for target in self.used}
        return replace(
            self, used={target: (*known, *([end] if (end := ends[target]) else [])) for target, known in self.used.items()}
        )

    def number(self, experiment: str) -> int:
        """Return which epoch of its target, counted from 1, the experiment with this id was measured in; 0 where unknown."""
        found = self.of.get(experiment)
        return found.number if found else 0


def measurings(record: Record) -> tuple[Measuring, ...]:
    """Return the measurement of a record, then those of its replications; nothing for an imported record."""
    return tuple(
        Measuring(id=record.id, target=target, date=date, base=record.base, conditions=conditions, again=index > 0)
        for index, (target, date, conditions) in enumerate(measurement_conditions(record))
    )


def epochs_of(records: Iterable[Record]) -> Epochs:
    """Group all measurements in `records`, given in any order, into epochs (of comparable measurements)."""
    return epochs_from(each for record in records for each in measurings(record))


def epochs_from(found: Iterable[Measuring]) -> Epochs:
    """Group measurements, given in any order, into epochs (of comparable measurements)."""
    by_target: dict[str, tuple[Epoch, ...]] = {}  # the epoch used last comes last
    newest: dict[str, Comparability] = {}
    names: dict[str, tuple[str, int]] = {}
    # Conditions are few and recur: their effect on the epochs so far is computed once, by object identity.
    after: dict[tuple[str, int, int], tuple[Epoch, ...]] = {}
    seen: dict[tuple[int, ...], tuple[Epoch, ...]] = {}
    for each in sorted(found, key=lambda one: (one.date, id_order(one.id), one.again)):
        known = by_target.get(each.target, ())
        before = newest.get(each.target)
        if before is not each.conditions:
            key = (each.target, id(known), id(each.conditions))
            if key not in after:
                joined = known if before == each.conditions else _joined(known, each)
                after[key] = seen.setdefault(tuple(map(id, joined)), joined)
            known = by_target[each.target] = after[key]
            newest[each.target] = each.conditions
        if not each.again:
            names[each.id] = (each.target, known[-1].number)
    every = {(epoch.target, epoch.number): epoch for known in by_target.values() for epoch in known}
    return Epochs(
        all=tuple(sorted(every.values(), key=lambda epoch: (epoch.first.date, epoch.target, epoch.number))),
        of={name: every[key] for name, key in names.items()},
        used=by_target,
    )


def _joined(known: tuple[Epoch, ...], each: Measuring) -> tuple[Epoch, ...]:
    """Return a target's epochs `known` after the measurement `each`, ordered by their last use. The epoch that it belongs to,
    the most recently used comparable one or else a new one, comes last.
    """
    at = next((index for index in reversed(range(len(known))) if known[index].holds(each.conditions)), -1)
    if at < 0:
        return (*known, _opened(known, each))
    return (*known[:at], *known[at + 1 :], _learned(known[at], each.conditions))


def _opened(known: tuple[Epoch, ...], first: Measuring) -> Epoch:
    return Epoch(
        target=first.target,
        number=len(known) + 1,
        first=first,
        conditions=first.conditions,
        protocols=frozenset((first.conditions.protocol,)),
        begins=known[-1].changes_to(first.conditions) if known else (),
    )


def _learned(epoch: Epoch, conditions: Comparability) -> Epoch:
    if conditions.protocol in epoch.protocols and conditions.parts.keys() <= epoch.conditions.parts.keys():
        return epoch
    return Epoch(
        target=epoch.target,
        number=epoch.number,
        first=epoch.first,
        conditions=Comparability(protocol=epoch.conditions.protocol, parts={**conditions.parts, **epoch.conditions.parts}),
        protocols=epoch.protocols | {conditions.protocol},
        begins=epoch.begins,
    )
