"""The lines of the ledger: experiments, corrections, rules, debts and the queue."""

from collections.abc import Sequence
from dataclasses import dataclass

from expctl.domain.evidence import OBJECTIVE
from expctl.domain.experiment import Kind, Mode, Prediction, Proposal, Verdict, id_order
from expctl.domain.record import Estimate, Origin, Record, Replication

UNMEASURED = "unmeasured at home"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One experiment. A measured one has an `effect` when it was timed; an imported one has what was `given`."""

    id: str
    title: str
    kind: Kind
    target: str
    imported: bool
    verdict: Verdict
    effect: Estimate | None
    given: str
    why: tuple[str, ...]
    notes: tuple[str, ...]
    flags: tuple[str, ...]
    corrected: bool
    again: tuple[Replication, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What is known today about imported rows and was not when they were written."""

    text: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """What must not be repeated, the conditions (name, value) under which it failed, and where the evidence is.

    `enforced`: expctl knows the patch or its machine code and refuses it by itself; else only readers can.
    """

    id: str
    text: str
    conditions: tuple[tuple[str, str], ...]
    reopened_by: str
    enforced: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Debt:
    """A KEEP decided elsewhere that changed the code of the home target."""

    id: str
    flag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueItem:
    """A proposal that nobody has run. `depends_on` pairs an id with its verdict, None while it has none."""

    id: str
    title: str
    kind: Kind
    mode: Mode
    hypothesis: str
    prediction: Prediction
    precondition: str
    depends_on: tuple[tuple[str, Verdict | None], ...]


def rows(records: Sequence[Record]) -> tuple[Row, ...]:
    """One row per record, in the order of ids."""
    return tuple(_row(record) for record in _in_order(records))


def corrections(records: Sequence[Record]) -> tuple[Correction, ...]:
    """Each correction once, with every row that it belongs to, in the order of the first of them."""
    ids: dict[str, list[str]] = {}
    for record in _in_order(records):
        for text in record.history.corrections if record.history else ():
            ids.setdefault(text, []).append(record.id)
    return tuple(Correction(text=text, ids=tuple(found)) for text, found in ids.items())


def rule_rows(records: Sequence[Record]) -> tuple[RuleRow, ...]:
    """Every do-not-repeat rule, in the order of ids; conditions in the order of their names."""
    return tuple(
        RuleRow(
            id=record.id,
            text=record.rule.text,
            conditions=tuple(sorted(record.rule.conditions.items())),
            reopened_by=record.rule.reopened_by,
            enforced=bool(record.rule.patch_id or record.rule.code),
        )
        for record in _in_order(records)
        if record.rule is not None
    )


def debts(records: Sequence[Record]) -> tuple[Debt, ...]:
    """The records with a flag that starts with `unmeasured at home`."""
    return tuple(
        Debt(id=record.id, flag=flag) for record in _in_order(records) for flag in record.flags if flag.startswith(UNMEASURED)
    )


def queue(proposals: Sequence[Proposal], records: Sequence[Record]) -> tuple[QueueItem, ...]:
    """The proposals that have no record, in the order of ids."""
    verdicts = {record.id: record.verdict for record in records}
    return tuple(
        QueueItem(
            id=proposal.id,
            title=proposal.title,
            kind=proposal.kind,
            mode=proposal.mode,
            hypothesis=proposal.hypothesis,
            prediction=proposal.prediction,
            precondition=proposal.precondition,
            depends_on=tuple((name, verdicts.get(name)) for name in proposal.depends_on),
        )
        for proposal in sorted(proposals, key=lambda proposal: id_order(proposal.id))
        if proposal.id not in verdicts
    )


def _row(record: Record) -> Row:
    history = record.history
    return Row(
        id=record.id,
        title=record.title,
        kind=record.kind,
        target=record.target,
        imported=record.origin is Origin.IMPORTED,
        verdict=record.verdict,
        effect=next((estimate for estimate in record.estimates if estimate.size == OBJECTIVE), None),
        given=history.result if history else "",
        why=(history.why,) if history and record.origin is Origin.IMPORTED else record.reasons,
        notes=record.notes,
        flags=tuple(flag for flag in record.flags if not flag.startswith(UNMEASURED)),
        corrected=bool(history and history.corrections),
        again=record.replications,
    )


def _in_order(records: Sequence[Record]) -> list[Record]:
    return sorted(records, key=lambda record: id_order(record.id))
