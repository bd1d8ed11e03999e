"""The levels at which a do-not-repeat rule recognises a repeat, from an identical patch to a single forbidden line."""

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
    """In which respect a change equals a rejected one: same patch, same normalised change, same machine code, ..."""

    PATCH = "patch"
    CHANGE = "normalised change"
    CODE = "machine code"
    MEANING = "compiled meaning"
    SETTINGS = "config values"
    INSTRUCTION = "instruction"
    PATTERN = "forbidden pattern"
    NEAR = "close by meaning"


class WaivedRepeat(Struct, frozen=True, kw_only=True):
    """An experiment that ran although a do-not-repeat rule matched it, and the `reason`; `written` if a person wrote it."""

    id: str
    verdict: Verdict
    reason: str
    written: bool


def levels_of(record: Record) -> tuple[Level, ...]:
    """Return the levels (same patch, same machine code, ...) at which the rule of `record` recognises a repeat. Empty if
    `record` has no rule.
    """
    rule = record.rule
    if rule is None:
        return ()
    from expctl.domain.rules.words import checked_words

    has = {
        Level.PATCH: bool(rule.patch_id),
        Level.CHANGE: bool(rule.change),
        Level.CODE: bool(rule.code or changed_codes(record)),
        Level.MEANING: bool(rule.patch_id),
        Level.SETTINGS: bool(rule.settings),
        Level.INSTRUCTION: checked_words(rule) is not None,
        Level.PATTERN: bool(rule.forbids),
        Level.NEAR: rule.refuses_near and bool(rule.patch_id),
    }
    return tuple(level for level, known in has.items() if known)


def changed_codes(record: Record) -> Mapping[str, str]:
    """Return, by target, the hash of the candidate's machine code where it differs from the baseline's."""
    return differing_codes(record.artifacts.get(Side.BASELINE, {}), record.artifacts.get(Side.CANDIDATE, {}))


def differing_codes(baseline: Mapping[str, Artifact], candidate: Mapping[str, Artifact]) -> Mapping[str, str]:
    """Return, by target, the hash of the candidate's machine code. Targets not built for both sides, or with equal code, are
    left out.
    """
    return {name: made.code for name, made in candidate.items() if name in baseline and made.code != baseline[name].code}


def failing_target_of(record: Record) -> str:
    """Return the target on which a rejected experiment failed."""
    return record.rule.judged if record.rule is not None and record.rule.judged else record.target
