"""The ledger as a view model: everything that ledger.md says, as a pure function of the records.

The ledger is rendered from records and never read back.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from expctl.domain.epochs import epochs_of
from expctl.domain.experiment import Proposal, id_order
from expctl.domain.findings import numbered
from expctl.domain.ledger_baseline import Baseline, ImportedBaseline, baselines, imported_baselines
from expctl.domain.ledger_epochs import Border, borders, epoch_lines, pending
from expctl.domain.ledger_facts import Counts, counts, epoch_facts, opening_facts, reading_facts, working_facts
from expctl.domain.ledger_rows import (
    Debt,
    QueueItem,
    Remark,
    Row,
    RuleRow,
    corrections,
    debts,
    notes,
    queue_items,
    rows,
    rule_rows,
    undecided,
)
from expctl.domain.predictions import Accuracy, Forecast, accuracy_of, forecasts
from expctl.domain.protocol import Protocol
from expctl.domain.queue import Entry, line_up
from expctl.domain.record import Finding, Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What the ledger says, in the order in which it says it. All text in it is as it was written: views escape it."""

    protocol: Protocol
    facts: tuple[str, ...]
    counts: Counts
    baselines: tuple[Baseline, ...]
    imported_baselines: tuple[ImportedBaseline, ...]
    epochs: tuple[str, ...]
    findings: tuple[Finding, ...]
    fallen_findings: tuple[Finding, ...]
    rows: tuple[Row, ...]
    borders: tuple[Border, ...]
    forecasts: tuple[Forecast, ...]
    accuracy: Accuracy
    corrections: tuple[Remark, ...]
    notes: tuple[Remark, ...]
    undecided: tuple[str, ...]
    rules: tuple[RuleRow, ...]
    debts: tuple[Debt, ...]
    queue: tuple[QueueItem, ...]


def ledger_of(
    protocol: Protocol,
    proposals: Sequence[Proposal],
    records: Sequence[Record],
    findings: Sequence[Finding],
    *,
    queue: Sequence[Entry] | None = None,
) -> Ledger:
    """The ledger of these records. The order of `proposals` and `records` doesn't matter. `queue` is given where there are
    tickets or profiles to line it up with.
    """
    entries, epochs = line_up(proposals, records, {}, {}) if queue is None else queue, epochs_of(records)
    lines, standing, given = rows(records, epochs), baselines(records), imported_baselines(records)
    fixes, forbidden, owed, queued = corrections(records), rule_rows(records), debts(records), queue_items(entries)
    number, guesses = counts(lines), forecasts(sorted(records, key=lambda record: id_order(record.id)))
    known = numbered(findings)
    return Ledger(
        protocol=protocol,
        facts=(
            *opening_facts(protocol, lines, standing, given),
            *epoch_facts(standing, epochs, pending(protocol, protocol.decides, epochs)),
            *reading_facts(fixes, lines),
            *working_facts(forbidden, owed, queued),
        ),
        counts=number,
        baselines=standing,
        imported_baselines=given,
        epochs=epoch_lines(epochs),
        findings=tuple(each for each in known if each.stands),
        fallen_findings=tuple(each for each in known if not each.stands),
        rows=lines,
        borders=borders(records, epochs),
        forecasts=guesses,
        accuracy=accuracy_of(guesses),
        corrections=fixes,
        notes=notes(records),
        undecided=undecided(records),
        rules=forbidden,
        debts=owed,
        queue=queued,
    )
