"""The lines of the ledger: experiments, corrections, rules, debts and the queue."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from expctl.domain.evidence import OBJECTIVE
from expctl.domain.experiment import Kind, Mode, Prediction, Proposal, Verdict, id_order
from expctl.domain.record import Estimate, Origin, Record, Replication

UNMEASURED = "unmeasured at home"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One experiment. A measured one has an `effect` when it was timed, in `measured` when and on which baseline; an imported
    one has what was `given`.
    """

    id: str
    title: str
    kind: Kind
    target: str
    imported: bool
    verdict: Verdict
    effect: Estimate | None
    measured: str
    given: str
    why: tuple[str, ...]
    flags: tuple[str, ...]
    corrected: bool
    again: tuple[Replication, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A sentence about one or more rows, said once: a note, or what is known today of imported rows and was not then."""

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


def corrections(records: Sequence[Record]) -> tuple[Remark, ...]:
    """What is known today of imported rows, in the order of the first row that it belongs to."""
    return _remarks((record.id, text) for record in _in_order(records) if record.history for text in record.history.corrections)


def notes(records: Sequence[Record]) -> tuple[Remark, ...]:
    """The notes of all rows, in the order of the first row that each belongs to."""
    return _remarks((record.id, text) for record in _in_order(records) for text in record.notes)


def undecided(records: Sequence[Record]) -> tuple[str, ...]:
    """Ids of what was measured to the end of its rounds without a verdict about the idea."""
    return tuple(record.id for record in _in_order(records) if record.verdict is Verdict.INCONCLUSIVE)


def _remarks(said: Iterable[tuple[str, str]]) -> tuple[Remark, ...]:
    """Each sentence once, with every row that it belongs to."""
    ids: dict[str, list[str]] = {}
    for row, text in said:
        ids.setdefault(text, []).append(row)
    return tuple(Remark(text=text, ids=tuple(found)) for text, found in ids.items())


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
        measured=_measured(record),
        given=history.result if history else "",
        why=(history.why,) if history and record.origin is Origin.IMPORTED else _why(record),
        flags=tuple(flag for flag in record.flags if not flag.startswith(UNMEASURED)),
        corrected=bool(history and history.corrections),
        again=record.replications,
    )


def _why(record: Record) -> tuple[str, ...]:
    """The reasons of the verdict, and what the profiles say made the difference."""
    return (*record.reasons, record.explanation) if record.explanation else record.reasons


def _in_order(records: Sequence[Record]) -> list[Record]:
    return sorted(records, key=lambda record: id_order(record.id))


def _measured(record: Record) -> str:
    """`2026-02-18 09:30 on 4f2c91a`: to the minute, because the order of rows is that of ids and not of time."""
    if not record.base:
        return ""
    return f"{record.date[:16].replace('T', ' ')} on {record.base[:7]}"
