"""What all records come to for the ledger, beside its long tables: a fold of digests, which an index may know without them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from expctl.domain.experiment.predictions import Accuracy, accuracy_of
from expctl.domain.experiment.proposal import Verdict, id_order
from expctl.domain.history.baselines import ImportedBaseline, Landing
from expctl.domain.history.epochs import Epochs, epochs_from
from expctl.domain.ledger.record_summary import RecordSummary, given_baselines, in_order, landings, standing
from expctl.domain.ledger.remarks import Debt, Remark, corrections, debts, notes, undecided, waived
from expctl.domain.rules.match_levels import WaivedRepeat


class Count(NamedTuple):
    """So many records of one kind."""

    target: str
    verdict: Verdict
    imported: bool
    number: int


class BanState(NamedTuple):
    """Of one rule: does expctl know a repeat by itself, has a condition `lapsed`, does it name one that would open it, does it
    end with the epoch of its target?
    """

    id: str
    known: bool
    lapsed: bool
    waits: bool
    target: str
    in_epoch: bool


class LedgerTotals(Struct, frozen=True, kw_only=True):
    """Lists are in the order of ids, `landings` in that of the branch. `standing` is by target the record that shows its
    baseline, and `epochs.of` tells the epoch of these at least. `numbers` are those of all ids, each once.
    """

    epochs: Epochs
    standing: Mapping[str, str]
    landings: tuple[Landing, ...]
    given: tuple[ImportedBaseline, ...]
    counts: tuple[Count, ...]
    timed_once: tuple[str, ...]
    bans: tuple[BanState, ...]
    corrections: tuple[Remark, ...]
    notes: tuple[Remark, ...]
    undecided: tuple[str, ...]
    debts: tuple[Debt, ...]
    passes: Mapping[str, tuple[WaivedRepeat, ...]]
    accuracy: Accuracy
    numbers: tuple[int, ...]


def sums_of(digests: Sequence[RecordSummary]) -> LedgerTotals:
    """Fold `digests`, in whatever order they come."""
    told = sorted(digests, key=lambda each: id_order(each.id))
    ordered = in_order(told)
    return LedgerTotals(
        epochs=epochs_from(one for each in ordered for one in each.measurings),
        standing=standing(ordered),
        landings=landings(ordered),
        given=given_baselines(told),
        counts=_counts(told),
        timed_once=tuple(each.id for each in told if each.timed_once),
        bans=tuple(
            BanState(each.id, ban.known, ban.lapsed, ban.waits, each.target, ban.in_epoch) for each in told if (ban := each.ban)
        ),
        corrections=corrections(told),
        notes=notes(told),
        undecided=undecided(told),
        debts=debts(told),
        passes=waived(told),
        accuracy=accuracy_of(each.told for each in told if each.told),
        numbers=tuple(dict.fromkeys(id_order(each.id)[0] for each in told)),
    )


def _counts(digests: Iterable[RecordSummary]) -> tuple[Count, ...]:
    found: dict[tuple[str, Verdict, bool], int] = {}
    for each in digests:
        key = (each.target, each.verdict, each.imported)
        found[key] = found.get(key, 0) + 1
    return tuple(Count(*key, number) for key, number in sorted(found.items()))
