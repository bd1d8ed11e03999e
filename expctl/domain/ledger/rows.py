"""Rows of ledger.md: one experiment, one do-not-repeat rule, or one proposal each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.experiment.free_change import UNCOMPARED
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import OBJECTIVE, ChangedCondition, Estimate, Origin, Record, Rule
from expctl.domain.machine.walls import WALLS_OPEN
from expctl.domain.queue.ordering import Entry, State
from expctl.domain.rules.conditions import COMPILERS, conditions_of
from expctl.domain.rules.match_levels import levels_of
from expctl.domain.text import one_line

if TYPE_CHECKING:
    from expctl.domain.experiment.proposal import Kind, Mode, Prediction

DEBTS = ("unmeasured at home", UNCOMPARED)  # how flags begin that name a target on which a kept change has yet to be seen
WHY_MAX, TRIED_MAX = 160, 120  # letters; a view shows fewer


class Row(Struct, frozen=True, kw_only=True):
    """One experiment as a row of ledger.md. Effect and 95 % interval of the objective are in percent (None: not timed). `given`
    are the hand-written figures of an imported experiment, which has no effect.
    """

    id: str
    title: str
    target: str
    verdict: Verdict
    imported: bool
    date: str
    effect_percent: float | None
    low_percent: float | None
    high_percent: float | None
    given: str
    why: str


class RuleRow(Struct, frozen=True, kw_only=True):
    """A do-not-repeat rule for the ledger: what was tried, why it failed, under which conditions, and what reopens it.

    `known_by` lists what expctl compares to recognise a repeat (empty: only people can). `lapses` are the conditions that
    records state as changed; a change that only shows on this machine is not among them (`expctl rules` shows those).
    `in_epoch` says that the rule ends when figures stop being comparable.
    """

    id: str
    text: str
    tried: str
    why: str
    opens: str
    conditions: tuple[tuple[str, str], ...]
    reopened_by: str
    known_by: tuple[str, ...]
    lapses: tuple[ChangedCondition, ...]
    in_epoch: bool = False


class QueueItem(Struct, frozen=True, kw_only=True):
    """A row of the queue: a proposal, its state and the reason. `depends_on` has each condition with what is known about it."""

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
    """Return the do-not-repeat rule of `record` as the ledger shows it; None if the record has no rule."""
    rule = record.rule
    if rule is None:
        return None
    in_epoch = bool(conditions_of(record).epoch)
    return RuleRow(
        id=record.id,
        text=rule.text,
        tried=one_line(record.title if rule.text.startswith(f"{record.title}:") else rule.text, TRIED_MAX),
        why=one_line(_failure(record), TRIED_MAX),
        opens=one_line(rule.reopened_by or ", ".join(_openings(rule, in_epoch=in_epoch)), TRIED_MAX),
        conditions=_conditions(rule),
        reopened_by=rule.reopened_by,
        known_by=levels_of(record),
        lapses=rule.lapsed,
        in_epoch=in_epoch,
    )


def queue_items(entries: Sequence[Entry]) -> tuple[QueueItem, ...]:
    """Return the rows of queued proposals in the order of the queue."""
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


def why_of(record: Record) -> str:
    """Explain a verdict in one line: open walls, why a repeat was allowed, what profiles say, the reasons except the effect."""
    if record.origin is Origin.IMPORTED:
        return one_line(record.history.why if record.history else "; ".join(record.reasons), WHY_MAX)
    parts = (
        *(flag.partition(" acts ")[0] for flag in record.flags if flag.startswith(WALLS_OPEN)),  # the acts: `expctl show`
        *_let_through(record),
        record.explanation,
        *map(_without_objective, record.reasons),
        *_states(record),
        *_replications(record),
        *_flags(record),
    )
    return one_line("; ".join(part.rstrip(".") for part in parts if part), WHY_MAX)


def _replications(record: Record) -> Iterator[str]:
    """Yield the verdict of each replication, with its effect if it was timed: it may contradict the figure of the record."""
    for each in record.replications:
        effect = _objective_text(each.estimates)
        yield f"again on {each.target}: {each.verdict}{f', {effect}' if effect else ''}"


def _objective_text(estimates: Sequence[Estimate]) -> str:
    """Return the effect on the objective as text, e.g. `-0.82 %`; empty if it wasn't timed."""
    return next((f"{each.effect_percent:+.2f} %" for each in estimates if each.size == OBJECTIVE), "")


def _without_objective(reason: str) -> str:
    return re.sub(r"^objective [-+][\d.]+ % \[[^\]]*\]:? ?", "", reason)


def _states(record: Record) -> Iterator[str]:
    most = max((len(each.states) for each in record.times), default=1)
    if most > 1:
        yield f"{most} states of the machine"


def _flags(record: Record) -> Iterator[str]:
    return (flag for flag in record.flags if not flag.startswith((*DEBTS, WALLS_OPEN)))


def _let_through(record: Record) -> Iterator[str]:
    for waiver in record.waivers:
        what = "for the written reason" if waiver.written else "because"
        yield f"the rule of {waiver.rule} ({waiver.level}) let it pass {what}: {waiver.reason}"


def _failure(record: Record) -> str:
    """Return why a record's change failed: its measured effect or, if it wasn't timed, the step that failed."""
    history = record.history
    if record.origin is Origin.IMPORTED and history is not None:
        weak = "weak: " if history.corrections else ""
        return weak + (history.why if record.verdict is Verdict.KEEP else history.result)
    effect = _objective_text(record.estimates)
    if effect:
        again = (_objective_text(each.estimates) for each in record.replications)
        return ", ".join((f"{effect} on {record.target}", *(f"again {text}" for text in again if text)))
    step = record.reasons[0].split(":")[0] if record.reasons else ""
    return f"{step} failed" if step.startswith("test") else step


def _openings(rule: Rule, *, in_epoch: bool) -> Iterator[str]:
    """Yield what will make expctl reopen the rule by itself, in words; `in_epoch` says that incomparable figures will."""
    if rule.probe:
        yield f"a probe that {rule.probe.until} for {rule.probe.arch}"
    tools = [] if rule.probe else [name for name in COMPILERS if rule.conditions.get(name)]
    files = sorted({path.rsplit("/", 1)[-1] for path in (*rule.region, *rule.shapes)})
    others = [*(["epoch"] if in_epoch else []), *tools, *files]
    if others:
        yield f"another {' or '.join(others)}"


def _conditions(rule: Rule) -> tuple[tuple[str, str], ...]:
    named = dict(rule.conditions)
    named |= {"touched": ", ".join(sorted(rule.region))} if rule.region else {}
    named |= {"probe": f"fails until it {rule.probe.until} for {rule.probe.arch}"} if rule.probe else {}
    return tuple(sorted(named.items()))
