"""The conditions of a rule that expctl can verify, and which of them have changed since.

Each has a value then (in the record) and a value now (of `Circumstances`). What can't be looked at here, such as the version of
a compiler that isn't installed, stands as it was. Other words under `conditions` are for readers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from expctl.domain.experiment.record import ChangedCondition, Record
from expctl.domain.rules.match_levels import Level
from expctl.domain.rules.open_conditions import ARCHITECTURE as ARCHITECTURE
from expctl.domain.rules.open_conditions import EPOCH as EPOCH
from expctl.domain.rules.open_conditions import PROBE, REGION, SCHEMA, RuleConditions

if TYPE_CHECKING:
    from expctl.domain.rules.current_facts import Circumstances

COMPILERS = ("ziglang", "hipcc", "nvcc", "cc")
TARGET = "target"
VERIFIED = frozenset((*COMPILERS, ARCHITECTURE, EPOCH, TARGET))


def changed_conditions(record: Record, now: Circumstances, level: Level | None = None) -> tuple[ChangedCondition, ...]:
    """The conditions of the rule of `record` that have changed; of all levels, or of what matters to a match at `level`."""
    return tuple(conditions_of(record, level).changed(now))


def conditions_of(record: Record, level: Level | None = None) -> RuleConditions:
    """What the rule of `record` hangs on, at all levels or at one."""
    rule = record.rule
    if rule is None:
        return RuleConditions()
    by_shape = level is Level.SETTINGS or (level is None and bool(rule.settings))
    by_region = level in (None, Level.PATCH, Level.CHANGE) and not by_shape
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
    """(condition, value then) of everything that `lapses` looks at."""
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
    """Named by the rule; a record of before that has the target, which is called like its architecture."""
    conditions = record.rule.conditions if record.rule is not None else {}
    return conditions.get(ARCHITECTURE) or conditions.get(TARGET, "")


def small_effect(record: Record) -> bool:
    """Could the measured effect of a rejected change be another one on another machine or harness?

    It could unless the objective or one of the sizes is a clear loss: the upper end of its 95 % interval, plus what
    protocol.yaml calls a worthwhile gain, lies below zero. What was not timed (a build or test that failed) has no effect.
    """
    margin = record.rule.worthwhile_percent if record.rule is not None else 0.0
    return bool(record.estimates) and all(each.high_percent + margin >= 0 for each in record.estimates)
