"""Totals over all records for ledger.md, computed from summaries or by queries of an index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from expctl.domain.experiment.ids import id_order
from expctl.domain.experiment.predictions import Accuracy, accuracy_of
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.history.baselines import ImportedBaseline, Landing
from expctl.domain.history.epochs import Epochs, epochs_from
from expctl.domain.ledger.kept_gains import Landed
from expctl.domain.ledger.record_summary import RecordSummary, given_baselines, in_order, landings, standing
from expctl.domain.ledger.remarks import Debt, Remark, corrections, debts, remarks
from expctl.domain.ledger.rows import Row

PREDICTIONS = 20  # the newest ones that the ledger shows


class Count(NamedTuple):
    """A number of records that have the same target, verdict and origin (imported from a hand-kept ledger, or measured)."""

    target: str
    verdict: Verdict
    imported: bool
    number: int


class LedgerRule(NamedTuple):
    """A do-not-repeat rule for the ledger: what was tried, why it failed (`why`), and what would reopen it (`opens`).

    `known` says that expctl recognises a repeat by itself, `lapsed` that a condition has changed, `in_epoch` that the rule ends
    when figures stop being comparable.
    """

    id: str
    known: bool
    lapsed: bool
    target: str
    in_epoch: bool
    tried: str
    why: str
    opens: str


class LedgerTotals(Struct, frozen=True, kw_only=True):
    """Totals over all records for ledger.md. Lists are sorted by id; `landings` and `landed` are in branch order.

    `landed` are the kept changes with their effects. `predictions` come newest first. `standing` maps a target to the id of the
    record last timed on it; `epochs.of` maps at least these ids to their epochs. `numbers` are the numbers in all ids (15 for
    P15), each once.
    """

    epochs: Epochs
    standing: Mapping[str, str]
    landings: tuple[Landing, ...]
    landed: tuple[Landed, ...]
    given: tuple[ImportedBaseline, ...]
    counts: tuple[Count, ...]
    by_older_rule: tuple[str, ...]
    rows: tuple[Row, ...]
    rules: tuple[LedgerRule, ...]
    corrections: tuple[Remark, ...]
    notes: tuple[Remark, ...]
    undecided: tuple[str, ...]
    debts: tuple[Debt, ...]
    accuracy: Accuracy
    predictions: tuple[str, ...]
    numbers: tuple[int, ...]


def sums_of(digests: Sequence[RecordSummary]) -> LedgerTotals:
    """Compute totals over summaries of all records, which may come in any order."""
    by_id = sorted(digests, key=lambda each: id_order(each.id))
    ordered = in_order(by_id)
    return LedgerTotals(
        epochs=epochs_from(one for each in ordered for one in each.measurings),
        standing=standing(ordered),
        landings=landings(ordered),
        landed=tuple(landed_of(each) for each in ordered if each.lands),
        given=given_baselines(by_id),
        counts=_counts(by_id),
        by_older_rule=tuple(each.id for each in by_id if each.by_older_rule),
        rows=tuple(each.row for each in by_id),
        rules=tuple(
            LedgerRule(each.id, rule.known, rule.lapsed, each.target, rule.in_epoch, rule.tried, rule.why, rule.opens)
            for each in by_id
            if (rule := each.ban)
        ),
        corrections=corrections(by_id),
        notes=remarks((each.id, text) for each in by_id for text in each.notes),
        undecided=tuple(each.id for each in by_id if each.verdict is Verdict.INCONCLUSIVE),
        debts=debts(by_id),
        accuracy=accuracy_of(each.told for each in by_id if each.told),
        predictions=tuple(each.told.sentence for each in reversed(by_id) if each.told)[:PREDICTIONS],
        numbers=tuple(dict.fromkeys(id_order(each.id)[0] for each in by_id)),
    )


def landed_of(digest: RecordSummary) -> Landed:
    """Return the kept change, with its measured effects, of an experiment (`digest`) that moved the branch."""
    return Landed(digest.id, digest.title, digest.target, digest.measurings, digest.gains)


def _counts(digests: Iterable[RecordSummary]) -> tuple[Count, ...]:
    found: dict[tuple[str, Verdict, bool], int] = {}
    for each in digests:
        key = (each.target, each.verdict, each.imported)
        found[key] = found.get(key, 0) + 1
    return tuple(Count(*key, number) for key, number in sorted(found.items()))
