"""The conditions of a rule that expctl can verify, and which of them have changed since.

Each has a value then (in the record) and a value now (of `Circumstances`). What can't be looked at here, such as the version of
a compiler that isn't installed, stands as it was. Other words under `conditions` are for readers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from expctl.domain.record import Lapse, Record
from expctl.domain.rule_levels import Level, judged_of
from expctl.domain.side import Side

if TYPE_CHECKING:
    from expctl.domain.ports import Circumstances

COMPILERS = ("ziglang", "hipcc", "nvcc", "cc")
ARCHITECTURE, EPOCH, TARGET = "architecture", "epoch", "target"
REGION, SCHEMA, PROBE = "baseline code in the touched region", "config schema", "probe"
EPOCH_DIGITS = 12
VERIFIED = frozenset((*COMPILERS, ARCHITECTURE, EPOCH, TARGET))


def lapses(record: Record, now: Circumstances, level: Level | None = None) -> tuple[Lapse, ...]:
    """The conditions of the rule of `record` that have changed; of all levels, or of what matters to a match at `level`."""
    return tuple(_lapses(record, now, level))


def verified(record: Record) -> tuple[tuple[str, str], ...]:
    """(condition, value then) of everything that `lapses` looks at."""
    rule = record.rule
    if rule is None:
        return ()
    listed = [(name, value) for name, value in ((ARCHITECTURE, _architecture(record)), (EPOCH, _epoch(record))) if value]
    listed += [] if rule.probe else [(name, rule.conditions[name]) for name in COMPILERS if name in rule.conditions]
    listed += [(REGION, ", ".join(sorted(rule.region)))] if rule.region else []
    listed += [(SCHEMA, ", ".join(sorted(rule.shapes)))] if rule.shapes else []
    listed += [(PROBE, f"fails until it {rule.probe.until} for {rule.probe.arch}")] if rule.probe else []
    return tuple(listed)


def _lapses(record: Record, now: Circumstances, level: Level | None) -> Iterator[Lapse]:
    rule = record.rule
    if rule is None:
        return
    yield from rule.lapsed
    architecture = _architecture(record)
    if architecture and architecture not in now.architectures():
        yield Lapse(condition=ARCHITECTURE, was=architecture, now=", ".join(sorted(now.architectures())))
    for name in COMPILERS if rule.probe is None else ():
        was, found = rule.conditions.get(name, ""), now.version(name) if name in rule.conditions else ""
        if was and found and found != was:
            yield Lapse(condition=name, was=was, now=found)
    epoch = _epoch(record)
    if epoch and not now.epoch().startswith(epoch):
        yield Lapse(condition=EPOCH, was=epoch, now=now.epoch()[:EPOCH_DIGITS])
    if level in (None, Level.PATCH, Level.CHANGE) and not (level is None and rule.settings):
        yield from _region(record, now)
    if level is Level.SETTINGS or (level is None and rule.settings):
        yield from _schema(record, now)
    if rule.probe is not None:
        answer = now.probe(rule.probe)
        if answer.passes:
            yield Lapse(
                condition=PROBE, was=f"failed for {rule.probe.arch}", now=f"it {rule.probe.until}", evidence=answer.said
            )


def _region(record: Record, now: Circumstances) -> Iterator[Lapse]:
    for path, keys in record.rule.region.items() if record.rule is not None else ():
        gone = set(keys) - now.item_keys(path)
        if gone:
            yield Lapse(
                condition=REGION, was=f"{path} as of {record.base[:7]}", now=f"{len(gone)} of {len(keys)} parts changed"
            )


def _schema(record: Record, now: Circumstances) -> Iterator[Lapse]:
    for path, shape in record.rule.shapes.items() if record.rule is not None else ():
        if shape != now.shape(path):
            yield Lapse(condition=SCHEMA, was=f"{path} {shape[:7]}", now=now.shape(path)[:7] or "no such file")


def _architecture(record: Record) -> str:
    """Named by the rule; a record of before that has the target, which is called like its architecture."""
    conditions = record.rule.conditions if record.rule is not None else {}
    return conditions.get(ARCHITECTURE) or conditions.get(TARGET, "")


def _epoch(record: Record) -> str:
    """Of everything that was tested or timed. A build that failed did so whatever the harness."""
    conditions = record.rule.conditions if record.rule is not None else {}
    built = judged_of(record) in record.artifacts.get(Side.CANDIDATE, {})
    return conditions.get(EPOCH) or (record.protocol[:EPOCH_DIGITS] if built else "")
