"""The lines of the ledger: experiments, corrections, rules, debts and the queue."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from expctl.domain.epochs import NONE_KNOWN, Epochs
from expctl.domain.evidence import OBJECTIVE
from expctl.domain.experiment import Kind, Mode, Prediction, Verdict, id_order
from expctl.domain.queue import Entry, State
from expctl.domain.record import Estimate, Lapse, Origin, Record, Replication, Rule
from expctl.domain.rule_states import Pass, levels_of, passes_by_rule

UNMEASURED = "unmeasured at home"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One experiment. A measured one has an `effect` when it was timed, with that at each of several `sizes`, in `measured`
    when and on which baseline, and the `epoch` of its target; an imported one has what was `given`, and epoch 0.
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
    again: tuple[Replication, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A sentence about one or more rows, said once: a note, or what is known today of imported rows and was not then."""

    text: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """What must not be repeated, the conditions (name, value) under which it failed, and where the evidence is.

    `known_by` are the levels at which expctl knows a repeat and refuses it by itself (none: only readers can). `lapses` are the
    conditions that are recorded as changed, `waived` the experiments that a written reason let pass. What has changed on this
    machine or in this commit is not here: the ledger is a function of records alone, `expctl rules` looks.
    """

    id: str
    text: str
    conditions: tuple[tuple[str, str], ...]
    reopened_by: str
    known_by: tuple[str, ...]
    lapses: tuple[Lapse, ...]
    waived: tuple[Pass, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Debt:
    """A KEEP decided elsewhere that changed the code of the home target."""

    id: str
    flag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueItem:
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


def rows(records: Sequence[Record], epochs: Epochs = NONE_KNOWN) -> tuple[Row, ...]:
    """One row per record, in the order of ids."""
    return tuple(_row(record, epochs.number(record.id)) for record in _in_order(records))


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
    passes = passes_by_rule(_in_order(records))
    return tuple(
        RuleRow(
            id=record.id,
            text=record.rule.text,
            conditions=_conditions(record.rule),
            reopened_by=record.rule.reopened_by,
            known_by=levels_of(record),
            lapses=record.rule.lapsed,
            waived=tuple(each for each in passes.get(record.id, ()) if each.written),
        )
        for record in _in_order(records)
        if record.rule is not None
    )


def _conditions(rule: Rule) -> tuple[tuple[str, str], ...]:
    named = dict(rule.conditions)
    named |= {"touched": ", ".join(sorted(rule.region))} if rule.region else {}
    named |= {"probe": f"fails until it {rule.probe.until} for {rule.probe.arch}"} if rule.probe else {}
    return tuple(sorted(named.items()))


def debts(records: Sequence[Record]) -> tuple[Debt, ...]:
    """The records with a flag that starts with `unmeasured at home`."""
    return tuple(
        Debt(id=record.id, flag=flag) for record in _in_order(records) for flag in record.flags if flag.startswith(UNMEASURED)
    )


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


def _row(record: Record, epoch: int) -> Row:
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
        again=record.replications,
    )


def _let_through(record: Record) -> Iterator[str]:
    for waiver in record.waivers:
        what = "for the written reason" if waiver.written else "because"
        yield f"the rule of {waiver.rule} ({waiver.level}) let it pass {what}: {waiver.reason}"


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
