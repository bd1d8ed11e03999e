"""The ledger as a view model: everything that ledger.md says, as a pure function of the records.

The ledger is rendered from records and never read back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from expctl.domain.experiment.findings import numbered
from expctl.domain.experiment.predictions import Accuracy, Forecast, forecast_of
from expctl.domain.experiment.proposal import Proposal, id_order
from expctl.domain.history.baselines import Baseline, ImportedBaseline, baseline_of
from expctl.domain.history.epochs import Epochs
from expctl.domain.ledger.epoch_lines import Border, Place, borders_between, epoch_lines, pending
from expctl.domain.ledger.opening_facts import Counts, counts_of, epoch_facts, opening_facts, reading_facts, working_facts
from expctl.domain.ledger.record_summary import RecordSummary, summary_of
from expctl.domain.ledger.remarks import Debt, Remark
from expctl.domain.ledger.rows import Line, Piece, QueueItem, Row, RuleRow, queue_items, row_of, rule_row
from expctl.domain.ledger.totals import LedgerTotals, sums_of
from expctl.domain.queue.ordering import Entry, line_up

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Finding, Record
    from expctl.domain.protocol.model import Protocol
    from expctl.domain.rules.match_levels import WaivedRepeat


class Ledger(Struct, frozen=True, kw_only=True):
    """What the ledger says. All text in it is as it was written: views escape it, but for a `Line`, which the view of the
    ledger has drawn before. `unused` are ids between others that nothing is called. Where there are `pieces`, they hold the
    lines of the long tables, and `rows` to `rules` are empty.
    """

    protocol: Protocol
    facts: tuple[str, ...]
    counts: Counts
    baselines: tuple[Baseline, ...]
    imported_baselines: tuple[ImportedBaseline, ...]
    epochs: tuple[str, ...]
    findings: tuple[Finding, ...]
    fallen_findings: tuple[Finding, ...]
    accuracy: Accuracy
    corrections: tuple[Remark, ...]
    notes: tuple[Remark, ...]
    undecided: tuple[str, ...]
    debts: tuple[Debt, ...]
    queue: tuple[QueueItem, ...]
    unused: tuple[str, ...] = ()
    rows: tuple[Row | Line, ...] = ()
    borders: tuple[Border, ...] = ()
    forecasts: tuple[Forecast | Line, ...] = ()
    rules: tuple[RuleRow | Line, ...] = ()
    pieces: tuple[Piece, ...] = ()


def ledger_of(
    protocol: Protocol, proposals: Sequence[Proposal], records: Sequence[Record], findings: Sequence[Finding]
) -> Ledger:
    """The ledger of these records, nothing of it drawn. The order of `proposals` and `records` doesn't matter."""
    return ledger_from(
        protocol,
        [summary_of(record) for record in records],
        {record.id: record for record in records},
        findings=findings,
        queue=line_up(proposals, records, {}, {}),
    )


def ledger_from(
    protocol: Protocol,
    digests: Sequence[RecordSummary],
    records: Mapping[str, Record],
    *,
    findings: Sequence[Finding],
    queue: Sequence[Entry],
) -> Ledger:
    """The ledger of `digests`. Among `records` are those that show a baseline, and all of which no lines were drawn."""
    told = sorted(digests, key=lambda each: id_order(each.id))
    sums = sums_of(told)
    return replace(
        ledger_from_sums(protocol, sums, records, findings=findings, queue=queue),
        rows=tuple(_row(each, records, sums.epochs) for each in told),
        borders=borders_between(place_of(each, sums.epochs) for each in told),
        forecasts=tuple(guess for each in told if (guess := _forecast(each, records)) is not None),
        rules=tuple(rule for each in told if (rule := _rule(each, records, sums.passes)) is not None),
    )


def ledger_from_sums(
    protocol: Protocol,
    sums: LedgerTotals,
    records: Mapping[str, Record],
    *,
    findings: Sequence[Finding],
    queue: Sequence[Entry],
) -> Ledger:
    """The ledger of records that come to `sums`, without a line of its long tables. Among `records` are those that show a
    baseline.
    """
    shown = tuple(baseline_of(target, records[name], sums.landings) for target, name in sorted(sums.standing.items()))
    number, queued, known = counts_of(sums.counts), queue_items(queue), numbered(findings)
    ending = pending(protocol, protocol.decides, sums.epochs)
    return Ledger(
        protocol=protocol,
        facts=(
            *opening_facts(protocol, sums.counts, shown, sums.given),
            *epoch_facts(shown, sums.epochs, ending),
            *reading_facts(sums.corrections, sums.timed_once, number.imported),
            *working_facts(sums.bans, sums.debts, queued, ending.keys()),
        ),
        counts=number,
        baselines=shown,
        imported_baselines=sums.given,
        epochs=epoch_lines(sums.epochs),
        findings=tuple(each for each in known if each.stands),
        fallen_findings=tuple(each for each in known if not each.stands),
        accuracy=sums.accuracy,
        corrections=sums.corrections,
        notes=sums.notes,
        undecided=sums.undecided,
        debts=sums.debts,
        queue=queued,
        unused=unused_ids({*sums.numbers, *(id_order(each.id)[0] for each in queue)}),
    )


def unused_ids(numbers: Collection[int]) -> tuple[str, ...]:
    """`P21`, `P30 to P35`: what neither a record nor a proposal is called, below the largest number."""
    ordered = sorted(numbers)
    gaps = [(below + 1, above - 1) for below, above in pairwise(ordered) if above - below > 1]
    return tuple(f"P{first}" if first == last else f"P{first} to P{last}" for first, last in gaps)


def _row(digest: RecordSummary, records: Mapping[str, Record], epochs: Epochs) -> Row | Line:
    number = epochs.number(digest.id)
    return Line(digest.id, digest.lines.row, number) if digest.lines else row_of(records[digest.id], number)


def _forecast(digest: RecordSummary, records: Mapping[str, Record]) -> Forecast | Line | None:
    if digest.told is None:
        return None
    return Line(digest.id, digest.lines.forecast) if digest.lines else forecast_of(records[digest.id])


def _rule(
    digest: RecordSummary, records: Mapping[str, Record], passes: Mapping[str, tuple[WaivedRepeat, ...]]
) -> RuleRow | Line | None:
    if digest.ban is None:
        return None
    through = passes.get(digest.id, ())
    if digest.lines:
        return Line(digest.id, digest.lines.rule, waived=through)
    row = rule_row(records[digest.id])
    return replace(row, waived=through) if row else None


def place_of(digest: RecordSummary, epochs: Epochs) -> Place:
    """Return where the row of `digest` stands: its target, and the epoch of it where anybody knows."""
    return Place(digest.id, digest.target, digest.imported, epochs.of.get(digest.id))
