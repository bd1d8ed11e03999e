"""By which levels a repeat of one rejected experiment is known: what its record alone says."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.verdict.side import Side

if TYPE_CHECKING:
    from expctl.domain.experiment.proposal import Verdict
    from expctl.domain.experiment.record import Artifact, Record


class Level(StrEnum):
    """How like a rejected change this one is; the nearest first."""

    PATCH = "patch"
    CHANGE = "normalised change"
    CODE = "machine code"
    SETTINGS = "config values"
    PATTERN = "forbidden pattern"


class WaivedRepeat(Struct, frozen=True, kw_only=True):
    """An experiment that a rule let through, for what reason, and how it ended."""

    id: str
    verdict: Verdict
    reason: str
    written: bool


def levels_of(record: Record) -> tuple[Level, ...]:
    """The levels at which a repeat of a rejected experiment is known."""
    rule = record.rule
    if rule is None:
        return ()
    has = {
        Level.PATCH: bool(rule.patch_id),
        Level.CHANGE: bool(rule.change),
        Level.CODE: bool(rule.code or changed_codes(record)),
        Level.SETTINGS: bool(rule.settings),
        Level.PATTERN: bool(rule.forbids),
    }
    return tuple(level for level, known in has.items() if known)


def changed_codes(record: Record) -> Mapping[str, str]:
    """Target -> machine code of a rejected candidate, where it was not the baseline's."""
    return differing_codes(record.artifacts.get(Side.BASELINE, {}), record.artifacts.get(Side.CANDIDATE, {}))


def differing_codes(baseline: Mapping[str, Artifact], candidate: Mapping[str, Artifact]) -> Mapping[str, str]:
    """Target -> code of the candidate, where both sides were built and differ. Equal code identifies nothing."""
    return {name: made.code for name, made in candidate.items() if name in baseline and made.code != baseline[name].code}


def judged_of(record: Record) -> str:
    """The target on which an experiment failed."""
    return record.rule.judged if record.rule is not None and record.rule.judged else record.target
