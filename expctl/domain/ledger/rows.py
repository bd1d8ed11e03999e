"""The lines of the ledger: experiments, rules and the queue."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from expctl.domain.experiment.proposal import Kind
from expctl.domain.experiment.record import OBJECTIVE, ChangedCondition, Estimate, Origin, Record, Replication, Rule
from expctl.domain.queue.ordering import Entry, State
from expctl.domain.rules.conditions import EPOCH, conditions_of
from expctl.domain.rules.match_levels import WaivedRepeat, levels_of

if TYPE_CHECKING:
    from expctl.domain.experiment.proposal import Mode, Prediction, Verdict
    from expctl.domain.ledger.epoch_lines import Border

UNMEASURED = "unmeasured at home"


class Lines(NamedTuple):
    """What a view has drawn of one record before: its row, its prediction and its rule, empty where there is none. The text is
    that view's own, and means nothing to anybody else.
    """

    row: str
    forecast: str
    rule: str


class Line(NamedTuple):
    """One of these, with what other records say of it."""

    id: str
    drawn: str
    epoch: int = 0
    waived: tuple[WaivedRepeat, ...] = ()


class PieceLines(NamedTuple):
    """Some lines of each table."""

    rows: tuple[Line, ...]
    borders: tuple[Border, ...]
    forecasts: tuple[Line, ...]
    rules: tuple[Line, ...]


class Piece(NamedTuple):
    """Lines of consecutive ids, to be read where nobody has drawn them before; `key` stands for all that they say."""

    key: str
    read: Callable[[], PieceLines]


Widths = tuple[tuple[int, ...], ...]
"""Of the columns of each table: rules, experiments, predictions."""


class DrawnPiece(NamedTuple):
    """A piece as a view drew it: the widths that its own cells ask for, those it was drawn for, each table's lines (UTF-8)."""

    widths: Widths
    aligned: Widths
    texts: tuple[bytes, ...]


class Row(Struct, frozen=True, kw_only=True):
    """One experiment. A measured one has an `effect` when it was timed, with that at each of several `sizes`, in `measured`
    when and on which baseline, and the `epoch` of its target; an imported one has what was `given`, and epoch 0.
    `noted` is an imported analysis of which a note says what became of its code.
    """

    id: str
    title: str
    kind: Kind
    target: str
    imported: bool
    verdict: Verdict
    effect: Estimate | None
    sizes: tuple[Estimate, ...]
    timed_once: bool
    measured: str
    epoch: int
    given: str
    why: tuple[str, ...]
    flags: tuple[str, ...]
    corrected: bool
    noted: bool
    again: tuple[Replication, ...]


class RuleRow(Struct, frozen=True, kw_only=True):
    """What must not be repeated, the conditions (name, value) under which it failed, and where the evidence is.

    `known_by` are the levels at which expctl knows a repeat and refuses it by itself (none: only readers can). `lapses` are the
    conditions that are recorded as changed, `waived` the experiments that a written reason let pass. `in_epoch` says that it
    ends with its epoch, `weak` why its evidence is. What has changed on this machine or in this commit is not here: the ledger
    is a function of records alone, `expctl rules` looks.
    """

    id: str
    text: str
    conditions: tuple[tuple[str, str], ...]
    reopened_by: str
    known_by: tuple[str, ...]
    lapses: tuple[ChangedCondition, ...]
    waived: tuple[WaivedRepeat, ...]
    in_epoch: bool = False
    weak: str = ""


class QueueItem(Struct, frozen=True, kw_only=True):
    """A proposal without a verdict, where it stands and why. `depends_on` pairs a condition with what is known of it."""

    id: str
    title: str
    kind: Kind
    mode: Mode
    hypothesis: str
    prediction: Prediction
    precondition: str
    depends_on: tuple[tuple[str, str], ...]
    state: State = State.READY
    why: str = ""
    priority: int = 0


def rule_row(record: Record) -> RuleRow | None:
    """The do-not-repeat rule of one record, conditions in the order of their names. Whom it let pass is not in it."""
    if record.rule is None:
        return None
    return RuleRow(
        id=record.id,
        text=record.rule.text,
        conditions=_conditions(record.rule),
        reopened_by=record.rule.reopened_by,
        known_by=levels_of(record),
        lapses=record.rule.lapsed,
        waived=(),
        in_epoch=bool(conditions_of(record).epoch),
        weak=_weak(record),
    )


def _weak(record: Record) -> str:
    """Why nobody should lean on a row that was kept by hand. What a probe shows needs no figures."""
    history, rule = record.history, record.rule
    if history is None or record.origin is not Origin.IMPORTED:
        return ""
    probed = rule is not None and rule.probe is not None
    return "see Corrections" if history.corrections else "" if probed or re.search(r"\d", history.result) else "no figures"


def _conditions(rule: Rule) -> tuple[tuple[str, str], ...]:
    named = {name: value for name, value in rule.conditions.items() if name != EPOCH}  # of older records: a hash
    named |= {"touched": ", ".join(sorted(rule.region))} if rule.region else {}
    named |= {"probe": f"fails until it {rule.probe.until} for {rule.probe.arch}"} if rule.probe else {}
    return tuple(sorted(named.items()))


def queue_items(entries: Sequence[Entry]) -> tuple[QueueItem, ...]:
    """What waits, in the order of the queue."""
    return tuple(
        QueueItem(
            id=entry.id,
            title=entry.proposal.title,
            kind=entry.proposal.kind,
            mode=entry.proposal.mode,
            hypothesis=entry.proposal.hypothesis,
            prediction=entry.proposal.prediction,
            precondition=entry.proposal.precondition,
            depends_on=tuple((text, found.why) for text, found in entry.answers),
            state=entry.state,
            why=entry.why,
            priority=entry.priority,
        )
        for entry in entries
    )


def row_of(record: Record, epoch: int = 0) -> Row:
    """The row of one experiment, whose measurement is of that epoch of its target."""
    history = record.history
    sizes = tuple(estimate for estimate in record.estimates if estimate.size != OBJECTIVE)
    return Row(
        id=record.id,
        title=record.title,
        kind=record.kind,
        target=record.target,
        imported=record.origin is Origin.IMPORTED,
        verdict=record.verdict,
        effect=next((estimate for estimate in record.estimates if estimate.size == OBJECTIVE), None),
        sizes=sizes if len(sizes) > 1 else (),
        timed_once=bool(sizes) and record.procedure is None,
        measured=_measured(record),
        epoch=epoch,
        given=history.result if history else "",
        why=(history.why,) if history and record.origin is Origin.IMPORTED else _why(record),
        flags=(*(flag for flag in record.flags if not flag.startswith(UNMEASURED)), *_let_through(record)),
        corrected=bool(history and history.corrections),
        noted=record.origin is Origin.IMPORTED and record.kind is Kind.ANALYSIS and bool(record.notes),
        again=record.replications,
    )


def _let_through(record: Record) -> Iterator[str]:
    for waiver in record.waivers:
        what = "for the written reason" if waiver.written else "because"
        yield f"the rule of {waiver.rule} ({waiver.level}) let it pass {what}: {waiver.reason}"


def _why(record: Record) -> tuple[str, ...]:
    """The reasons of the verdict, and what the profiles say made the difference."""
    return (*record.reasons, record.explanation) if record.explanation else record.reasons


def _measured(record: Record) -> str:
    """`2026-02-18 09:30:12 on 4f2c91a`: to the second, because the order of rows is that of ids and not of time."""
    if not record.base:
        return ""
    return f"{record.date[:19].replace('T', ' ')} on {record.base[:7]}"
