"""The state of every do-not-repeat rule: in force, reopened because something changed, or waived. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.experiment.ids import id_order
from expctl.domain.rules.conditions import VERIFIED, changed_conditions, verified
from expctl.domain.rules.match_levels import Level, WaivedRepeat, levels_of
from expctl.domain.rules.matching import void_patterns
from expctl.domain.rules.words import checked_words

if TYPE_CHECKING:
    from expctl.domain.experiment.record import ChangedCondition, Record, Rule
    from expctl.domain.rules.current_facts import CurrentFacts


class State(StrEnum):
    """State of a do-not-repeat rule: active, reopened by a changed condition, or waived. A waived rule has let one repeat run
    for a written reason; it still refuses all others.
    """

    ACTIVE = "active"
    REOPENED = "reopened"
    WAIVED = "waived"


class RuleState(Struct, frozen=True, kw_only=True):
    """The do-not-repeat rule of experiment `id` with its present state.

    `known_by` are the levels at which it recognises a repeat. `verified` are (condition, value) pairs that expctl checks,
    `told` those that only a person can check; `lapses` are changed conditions, `passes` experiments that ran although the rule
    matched. `void` are (forbidden pattern, why it is not applied), `checked` what is
    looked for of a text without a patch.
    """

    id: str
    state: State
    text: str
    target: str
    reasons: tuple[str, ...]
    known_by: tuple[Level, ...]
    verified: tuple[tuple[str, str], ...]
    told: tuple[tuple[str, str], ...]
    lapses: tuple[ChangedCondition, ...]
    passes: tuple[WaivedRepeat, ...]
    void: tuple[tuple[str, str], ...] = ()
    checked: str = ""


def rule_states(records: Sequence[Record], now: CurrentFacts) -> tuple[RuleState, ...]:
    """Return the do-not-repeat rules of `records` with their states, in the order of their ids."""
    passes = passes_by_rule(records)
    ruled = sorted((record for record in records if record.rule is not None), key=lambda record: id_order(record.id))
    return tuple(_state(record, record.rule, passes.get(record.id, ()), now) for record in ruled if record.rule is not None)


def passes_by_rule(records: Iterable[Record]) -> Mapping[str, tuple[WaivedRepeat, ...]]:
    """Return, by the id of a rule, the experiments that ran although the rule matched them."""
    found: dict[str, list[WaivedRepeat]] = {}
    for record in records:
        for waiver in record.waivers:
            entry = WaivedRepeat(id=record.id, verdict=record.verdict, reason=waiver.reason, written=waiver.written)
            found.setdefault(waiver.rule, []).append(entry)
    return {name: tuple(entries) for name, entries in found.items()}


def _state(record: Record, rule: Rule, passes: tuple[WaivedRepeat, ...], now: CurrentFacts) -> RuleState:
    changed = changed_conditions(record, now)
    waived = any(each.written for each in passes)
    void = void_patterns(record, now)
    powerless = {Level.PATTERN} if len(void) == len(rule.forbids) else set()
    return RuleState(
        id=record.id,
        state=State.REOPENED if changed else State.WAIVED if waived else State.ACTIVE,
        text=rule.text,
        target=record.target,
        reasons=record.reasons,
        known_by=tuple(level for level in levels_of(record) if level not in powerless),
        verified=verified(record),
        told=tuple((name, value) for name, value in rule.conditions.items() if name not in VERIFIED),
        lapses=changed,
        passes=passes,
        void=tuple(void.items()),
        checked=str(checked_words(rule) or ""),
    )
