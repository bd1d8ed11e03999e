"""The conditions under which a do-not-repeat rule holds, and which of them have changed.

A condition has the value that was recorded when the experiment failed, and a value now (from `CurrentFacts`). One that can't be
looked up, such as the version of a compiler that isn't installed, counts as unchanged. Conditions in a record that expctl can't
look up at all are for human readers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from expctl.domain.experiment.record import ChangedCondition, Record
from expctl.domain.rules.current_facts import ARCHITECTURE as ARCHITECTURE
from expctl.domain.rules.current_facts import COMPILERS as COMPILERS
from expctl.domain.rules.current_facts import EPOCH as EPOCH
from expctl.domain.rules.match_levels import Level
from expctl.domain.rules.open_conditions import PROBE, REGION, SCHEMA, RuleConditions

if TYPE_CHECKING:
    from expctl.domain.rules.current_facts import CurrentFacts

TARGET = "target"
VERIFIED = frozenset((*COMPILERS, ARCHITECTURE, EPOCH, TARGET))


def changed_conditions(record: Record, now: CurrentFacts, level: Level | None = None) -> tuple[ChangedCondition, ...]:
    """Return the conditions of the do-not-repeat rule of `record` that have changed, so that the rule refuses nobody any more.
    With `level`, how a candidate matched the rule, only conditions that matter for such a match are checked.
    """
    return tuple(conditions_of(record, level).changed(now))


def conditions_of(record: Record, level: Level | None = None) -> RuleConditions:
    """Return the recorded conditions of the do-not-repeat rule of `record`; all empty if it has no rule. With `level`, how a
    candidate matched the rule, only conditions that matter for such a match are returned.
    """
    rule = record.rule
    if rule is None:
        return RuleConditions()
    by_shape = level is Level.SETTINGS or (level is None and bool(rule.settings))
    by_region = level in (None, Level.PATCH, Level.CHANGE, Level.MEANING) and not by_shape
    probe = rule.probe
    return RuleConditions(
        lapsed=tuple((each.condition, each.was, each.now, each.evidence) for each in rule.lapsed),
        architecture=_architecture(record),
        versions=() if probe else tuple((name, rule.conditions[name]) for name in COMPILERS if rule.conditions.get(name)),
        epoch=record.id if small_effect(record) else "",
        base=record.base[:7],
        region=tuple((path, tuple(keys)) for path, keys in rule.region.items()) if by_region else (),
        shapes=tuple(rule.shapes.items()) if by_shape else (),
        probe=(probe.source, probe.arch, probe.until.value) if probe else (),
    )


def verified(record: Record) -> tuple[tuple[str, str], ...]:
    """Return (condition, recorded value) pairs, for printing, of those conditions of a rule that expctl can check by itself."""
    rule = record.rule
    if rule is None:
        return ()
    epoch = f"of {record.id} on {record.target}" if small_effect(record) else ""
    listed = [(name, value) for name, value in ((ARCHITECTURE, _architecture(record)), (EPOCH, epoch)) if value]
    listed += [] if rule.probe else [(name, rule.conditions[name]) for name in COMPILERS if name in rule.conditions]
    listed += [(REGION, ", ".join(sorted(rule.region)))] if rule.region else []
    listed += [(SCHEMA, ", ".join(sorted(rule.shapes)))] if rule.shapes else []
    listed += [(PROBE, f"fails until it {rule.probe.until} for {rule.probe.arch}")] if rule.probe else []
    return tuple(listed)


def _architecture(record: Record) -> str:
    """Return the architecture that the rule is about; older records have only the target, which is named after it."""
    conditions = record.rule.conditions if record.rule is not None else {}
    return conditions.get(ARCHITECTURE) or conditions.get(TARGET, "")


def small_effect(record: Record) -> bool:
    """Could the loss for which a change was rejected vanish on another machine or with another harness?

    It could, unless the objective or a size is a clear loss: the upper end of its 95 % interval, plus the smallest worthwhile
    gain, lies below zero. False after a failed build or test.
    """
    margin = record.rule.worthwhile_percent if record.rule is not None else 0.0
    return bool(record.estimates) and all(each.high_percent + margin >= 0 for each in record.estimates)
