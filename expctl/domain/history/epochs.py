"""Epochs: the stretches of a target's history inside which figures are comparable. A pure function of the records.

An epoch is a ground, not a date: a measurement joins the epoch of its target that nothing it knows contradicts, the one
used last where there are several, and opens a new one where there is none. Two machines that take turns are two epochs, and
what returns to an old ground returns to its epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from expctl.domain.experiment.proposal import id_order
from expctl.domain.history.comparability import Change, Comparability, changes, grounds_of

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record


class Measuring(NamedTuple):
    """One measurement of an experiment, or of its replication: when, where, from which baseline, on which ground.

    A named tuple, for ten thousand are folded at once.
    """

    id: str
    target: str
    date: str
    base: str
    ground: Comparability
    again: bool = False


class Epoch(Struct, frozen=True, kw_only=True):
    """The `number`-th epoch of `target`, from 1. `first` is the measurement that opened it, on the commit `first.base`;
    `ground` all that is known of it by now, `protocols` the identities under which it was measured; `begins` says what
    changed since the epoch before it.
    """

    target: str
    number: int
    first: Measuring
    ground: Comparability
    protocols: frozenset[str]
    begins: tuple[Change, ...] = ()

    @property
    def name(self) -> str:
        """`cpu 2`."""
        return f"{self.target} {self.number}"

    def holds(self, ground: Comparability) -> bool:
        """Does nothing that is known of `ground` contradict this epoch?"""
        return not self.changes_to(ground)

    def changes_to(self, ground: Comparability) -> tuple[Change, ...]:
        """What would begin a new epoch."""
        return changes(self.ground, ground, protocols=self.protocols)


class Epochs(Struct, frozen=True, kw_only=True):
    """Every epoch, in the order in which they began, and the epoch of each experiment's own measurement by its id."""

    all: tuple[Epoch, ...] = ()
    of: Mapping[str, Epoch] = field(default_factory=dict)
    last: Mapping[str, Epoch] = field(default_factory=dict)

    def current(self, target: str, ground: Comparability) -> Epoch | None:
        """The epoch that a measurement on `ground` would join; None where it would open a new one."""
        used = self.last.get(target)
        if used is not None and used.holds(ground):
            return used
        return next((each for each in reversed(self.all) if each.target == target and each.holds(ground)), None)

    def number(self, experiment: str) -> int:
        """Of an experiment; 0 where nobody knows, which is never equal to any epoch."""
        found = self.of.get(experiment)
        return found.number if found else 0


NONE_KNOWN = Epochs()


def measurings(record: Record) -> tuple[Measuring, ...]:
    """The measurements of one record, its own first; none of an imported one."""
    return tuple(
        Measuring(id=record.id, target=target, date=date, base=record.base, ground=ground, again=index > 0)
        for index, (target, date, ground) in enumerate(grounds_of(record))
    )


def epochs_of(records: Iterable[Record]) -> Epochs:
    """The epochs of these records, in whatever order they come."""
    return epochs_from(each for record in records for each in measurings(record))


def epochs_from(found: Iterable[Measuring]) -> Epochs:
    """As `epochs_of`, from measurements."""
    by_target: dict[str, tuple[Epoch, ...]] = {}  # the one used last is the last
    newest: dict[str, Comparability] = {}
    names: dict[str, tuple[str, int]] = {}
    # Grounds are few and return often: what one makes of the epochs so far is found once, by the very objects.
    after: dict[tuple[str, int, int], tuple[Epoch, ...]] = {}
    seen: dict[tuple[int, ...], tuple[Epoch, ...]] = {}
    for each in sorted(found, key=lambda one: (one.date, id_order(one.id), one.again)):
        known = by_target.get(each.target, ())
        before = newest.get(each.target)
        if before is not each.ground:
            key = (each.target, id(known), id(each.ground))
            if key not in after:
                joined = known if before == each.ground else _joined(known, each)
                after[key] = seen.setdefault(tuple(map(id, joined)), joined)
            known = by_target[each.target] = after[key]
            newest[each.target] = each.ground
        if not each.again:
            names[each.id] = (each.target, known[-1].number)
    every = {(epoch.target, epoch.number): epoch for known in by_target.values() for epoch in known}
    return Epochs(
        all=tuple(sorted(every.values(), key=lambda epoch: (epoch.first.date, epoch.target, epoch.number))),
        of={name: every[key] for name, key in names.items()},
        last={target: known[-1] for target, known in by_target.items()},
    )


def _joined(known: tuple[Epoch, ...], each: Measuring) -> tuple[Epoch, ...]:
    """The epochs of a target after this measurement, the one that it joins or opens the last."""
    at = next((index for index in reversed(range(len(known))) if known[index].holds(each.ground)), -1)
    if at < 0:
        return (*known, _opened(known, each))
    return (*known[:at], *known[at + 1 :], _learned(known[at], each.ground))


def _opened(known: tuple[Epoch, ...], first: Measuring) -> Epoch:
    return Epoch(
        target=first.target,
        number=len(known) + 1,
        first=first,
        ground=first.ground,
        protocols=frozenset((first.ground.protocol,)),
        begins=known[-1].changes_to(first.ground) if known else (),
    )


def _learned(epoch: Epoch, ground: Comparability) -> Epoch:
    """The epoch, with what a further measurement knows of its ground."""
    if ground.protocol in epoch.protocols and ground.parts.keys() <= epoch.ground.parts.keys():
        return epoch
    return Epoch(
        target=epoch.target,
        number=epoch.number,
        first=epoch.first,
        ground=Comparability(protocol=epoch.ground.protocol, parts={**ground.parts, **epoch.ground.parts}),
        protocols=epoch.protocols | {ground.protocol},
        begins=epoch.begins,
    )
