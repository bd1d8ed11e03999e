"""The contents of ledger.md, a pure function of the records. ledger.md is rendered from it and never read back."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from heapq import nlargest
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.experiment.findings import audit_opening, numbered
from expctl.domain.experiment.ids import id_order
from expctl.domain.experiment.predictions import Accuracy
from expctl.domain.experiment.proposal import Proposal, Verdict
from expctl.domain.history.baselines import Baseline, ImportedBaseline, baseline_of, standing_epochs
from expctl.domain.history.blind import BlindRates, BlindSlot, blind_rates
from expctl.domain.ledger.epoch_lines import epoch_lines
from expctl.domain.ledger.hot_loop_card import HotLoopCard, cards, keep_changes, newest_keeps
from expctl.domain.ledger.kept_gains import Path, kept_gains
from expctl.domain.ledger.record_summary import summary_of
from expctl.domain.ledger.remarks import Debt, Remark
from expctl.domain.ledger.rows import QueueItem, Row, queue_items
from expctl.domain.ledger.totals import Count, LedgerRule, LedgerTotals, sums_of
from expctl.domain.queue.ordering import Entry, State, line_up

if TYPE_CHECKING:
    from expctl.domain.experiment.finding import Finding
    from expctl.domain.experiment.hot_loop import HotLoop
    from expctl.domain.experiment.record import Record
    from expctl.domain.experiment.rivals import Rivals
    from expctl.domain.history.comparability import Change, Comparability
    from expctl.domain.history.epochs import Epoch
    from expctl.domain.protocol.model import Protocol

LATEST = 10  # verdicts shown in detail
COMING = (State.READY, State.WAITING)


class TargetState(Struct, frozen=True, kw_only=True):
    """The current state of a target that may decide: its measured `baseline`, or imported hand-written figures (`given`).

    `epoch` is the number, from 1, of the epoch that the next run joins. If that run begins a new epoch, `epoch` is the one in
    which the baseline was measured and `next_epoch` says what has changed. `path` is the combined gain of the changes kept in
    it (None: no such change). `audits` are the texts of findings by audits, which measure kept changes together again.
    `rivals` are its newest (None: never measured).
    """

    name: str
    peak_tflops: float
    main_size: str
    decided: bool
    baseline: Baseline | None
    given: ImportedBaseline | None
    path: Path | None
    epoch: int
    next_epoch: tuple[Change, ...]
    audits: tuple[str, ...]
    rivals: Rivals | None = None


class Counts(Struct, frozen=True, kw_only=True):
    """Numbers of experiments by origin (measured or imported), in total and by verdict; verdicts without any are left out."""

    measured: int
    imported: int
    measured_verdicts: tuple[tuple[Verdict, int], ...]
    imported_verdicts: tuple[tuple[Verdict, int], ...]


class Ledger(Struct, frozen=True, kw_only=True):
    """The contents of ledger.md. Texts are as people wrote them: views must escape them.

    `latest` are the ten newest verdicts, newest first; `earlier` are the other measured experiments and `imported` those of a
    hand-kept ledger, both by id. `held` are the do-not-repeat rules that hold according to records; `reopened` are the ids of
    the other rules, `ending` those of `held` that the next run will end, because its figures won't be comparable. `unused` are
    ids below the largest one that no experiment has. `hot_loops` are cards of the committed counts, `changes` say what
    each of the newest KEEPs changed in builds and profile. `template` is the text of the repository's own template, "" for the
    built-in one.
    """

    protocol: Protocol
    counts: Counts
    targets: tuple[TargetState, ...]
    other_baselines: tuple[Baseline, ...]
    coming: tuple[QueueItem, ...]
    queue: tuple[QueueItem, ...]
    undecided: tuple[str, ...]
    debts: tuple[Debt, ...]
    latest: tuple[Row, ...]
    earlier: tuple[Row, ...]
    imported: tuple[Row, ...]
    held: tuple[LedgerRule, ...]
    reopened: tuple[str, ...]
    ending: tuple[str, ...]
    findings: tuple[Finding, ...]
    fallen_findings: tuple[Finding, ...]
    corrections: tuple[Remark, ...]
    notes: tuple[Remark, ...]
    by_older_rule: tuple[str, ...]
    epochs: tuple[str, ...]
    accuracy: Accuracy
    predictions: tuple[str, ...]
    blind: tuple[BlindRates, ...] = ()
    unused: tuple[str, ...] = ()
    hot_loops: tuple[HotLoopCard, ...] = ()
    changes: tuple[str, ...] = ()
    template: str = ""

    def beginning_epochs(self) -> dict[str, list[str]]:
        """Return why the next run of a target begins a new epoch, and the targets for which that holds."""
        found: dict[str, list[str]] = {}
        for target in self.targets:
            if target.next_epoch:
                found.setdefault("; ".join(map(str, target.next_epoch)), []).append(target.name)
        return found


def ledger_of(
    protocol: Protocol,
    proposals: Sequence[Proposal],
    records: Sequence[Record],
    findings: Sequence[Finding],
    conditions: Mapping[str, Comparability] | None = None,
) -> Ledger:
    """Return the contents of ledger.md for records and proposals, given in any order. `conditions` maps a target to the
    conditions of its next run.
    """
    return ledger_from(
        protocol,
        sums_of([summary_of(record) for record in records]),
        {record.id: record for record in records},
        findings=findings,
        queue=line_up(proposals, records, {}, {}),
        conditions=conditions or {},
    )


def ledger_from(
    protocol: Protocol,
    totals: LedgerTotals,
    records: Mapping[str, Record],
    *,
    findings: Sequence[Finding],
    queue: Sequence[Entry],
    conditions: Mapping[str, Comparability],
    template: str = "",
    blind: Sequence[BlindSlot] = (),
    rivals: Sequence[Rivals] = (),
    hot_loops: Sequence[HotLoop] = (),
) -> Ledger:
    """Return the contents of ledger.md for the records that `totals` sums up; `records` has at least each target's last,
    and the newest KEEPs. `conditions` maps a target to the conditions of its next run, as far as the commit determines them.
    """
    queued, known = queue_items(queue), numbered(findings)
    standing = {target: baseline_of(target, records[name], totals.landings) for target, name in totals.standing.items()}
    measured = [row for row in totals.rows if not row.imported]
    oldest = min(nlargest(LATEST, [row.date for row in measured]), default="")
    newest = [row for row in measured if row.date >= oldest]
    latest = sorted(newest, key=lambda row: (row.date, id_order(row.id)), reverse=True)[:LATEST]
    shown = {row.id for row in latest}
    stand = tuple(each for each in known if each.stands)
    epochs = totals.epochs.at(conditions, standing_epochs(totals.epochs, records, standing.values()))
    targets = _targets(protocol, totals, standing, stand, conditions, epochs.last, {each.target: each for each in rivals})
    ending = {each.name for each in targets if each.next_epoch}
    kept = [records[name] for name in newest_keeps(totals.rows) if name in records]
    return Ledger(
        protocol=protocol,
        counts=counts_of(totals.counts),
        targets=targets,
        other_baselines=tuple(each for name, each in sorted(standing.items()) if name not in protocol.decides),
        coming=tuple(item for item in queued if item.state in COMING),
        queue=queued,
        undecided=totals.undecided,
        debts=totals.debts,
        latest=tuple(latest),
        earlier=tuple(row for row in measured if row.id not in shown),
        imported=tuple(row for row in totals.rows if row.imported),
        held=tuple(rule for rule in totals.rules if not rule.lapsed),
        reopened=tuple(rule.id for rule in totals.rules if rule.lapsed),
        ending=tuple(rule.id for rule in totals.rules if rule.in_epoch and rule.target in ending and not rule.lapsed),
        findings=stand,
        fallen_findings=tuple(each for each in known if not each.stands),
        corrections=totals.corrections,
        notes=totals.notes,
        by_older_rule=totals.by_older_rule,
        epochs=epoch_lines(totals.epochs),
        accuracy=totals.accuracy,
        predictions=totals.predictions,
        blind=blind_rates(blind, conditions),
        unused=unused_ids({*totals.numbers, *(id_order(each.id)[0] for each in queue)}),
        hot_loops=cards(protocol, hot_loops, tuple(standing.values()), rivals, totals.given, kept),
        changes=keep_changes(kept) if hot_loops else (),
        template=template,
    )


def counts_of(found: Sequence[Count]) -> Counts:
    """Add up numbers of experiments by origin (measured or imported) and by verdict."""
    measured, imported = ([each for each in found if each.imported is kind] for kind in (False, True))
    return Counts(
        measured=sum(each.number for each in measured),
        imported=sum(each.number for each in imported),
        measured_verdicts=_by_verdict(measured),
        imported_verdicts=_by_verdict(imported),
    )


def unused_ids(numbers: Collection[int]) -> tuple[str, ...]:
    """Return the unused experiment ids below the largest of `numbers`, e.g. `P21`, `P30 to P35`."""
    ordered = sorted(numbers)
    gaps = [(below + 1, above - 1) for below, above in pairwise(ordered) if above - below > 1]
    return tuple(f"P{first}" if first == last else f"P{first} to P{last}" for first, last in gaps)


def _targets(
    protocol: Protocol,
    totals: LedgerTotals,
    standing: Mapping[str, Baseline],
    findings: Sequence[Finding],
    conditions: Mapping[str, Comparability],
    shown: Mapping[str, Epoch],
    rivals: Mapping[str, Rivals],
) -> tuple[TargetState, ...]:
    paths = {path.target: path for path in kept_gains(totals.landed, shown)}
    given = {each.target: each for each in totals.given}
    found = []
    for name in protocol.decides:
        benchmark = protocol.targets[name].benchmark if name in protocol.targets else None
        last = shown.get(name)
        epoch = last.number if last else 0
        found.append(
            TargetState(
                name=name,
                peak_tflops=benchmark.peak_tflops if benchmark else 0.0,
                main_size=max(benchmark.sizes, key=lambda size: size.weight).name if benchmark else "",
                decided=any(each.target == name and not each.imported for each in totals.counts),
                baseline=standing.get(name),
                given=given.get(name),
                path=paths.get(name),
                epoch=epoch,
                next_epoch=last.changes_to(conditions[name]) if last and name in conditions else (),
                rivals=rivals.get(name),
                audits=tuple(each.id for each in findings if each.text.startswith(audit_opening(name, epoch))),
            )
        )
    return tuple(found)


def _by_verdict(found: Sequence[Count]) -> tuple[tuple[Verdict, int], ...]:
    numbers = [(verdict, sum(each.number for each in found if each.verdict is verdict)) for verdict in Verdict]
    return tuple((verdict, number) for verdict, number in numbers if number)
