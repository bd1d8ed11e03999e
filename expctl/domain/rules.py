"""Do-not-repeat: what a REJECT forbids, and by which of four levels a repeat is known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from expctl.domain.change_identity import ChangeIdentity, settings_hash
from expctl.domain.measurement import Side
from expctl.domain.record import Artifact, Record, Rule

if TYPE_CHECKING:
    from expctl.domain.experiment import Proposal

LINE_MAX = 400
PATTERN_MAX = 200


class Level(StrEnum):
    """How like a rejected change this one is; the nearest first."""

    PATCH = "patch"
    CHANGE = "normalised change"
    CODE = "machine code"
    SETTINGS = "config values"
    PATTERN = "forbidden pattern"


LIKENESS = {
    Level.PATCH: "the same patch, whatever its line numbers",
    Level.CHANGE: "the same change but for white space, comments, line breaks and the names of locals",
    Level.CODE: "other source, but the same machine code on {judged}",
    Level.SETTINGS: "the same values set: {settings}",
    Level.PATTERN: "an added line matches the forbidden pattern {pattern}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """What is known of a proposed change. `codes` is the machine code of the targets on which it differs from the baseline's,
    `built` all targets that were built on both sides (both empty before), `machine` the one on which that was.
    """

    identity: ChangeIdentity
    codes: Mapping[str, str]
    built: tuple[str, ...] = ()
    machine: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A rejected experiment whose rule forbids a candidate, and how it was known."""

    record: Record
    level: Level
    likeness: str


def rule_of(
    proposal: Proposal,
    reason: str,
    identity: ChangeIdentity,
    *,
    code: str,
    judged: str,
    conditions: Mapping[str, str],
) -> Rule:
    """The rule that a REJECT leaves."""
    return Rule(
        text=f"{proposal.title}: {reason}",
        patch_id=identity.patch_id,
        change=identity.change,
        code=code,
        judged=judged,
        settings=identity.settings,
        forbids=proposal.forbids,
        conditions=conditions,
        region=identity.region,
        shapes=identity.shapes,
        probe=proposal.probe,
    )


def matches(records: Iterable[Record], candidate: Candidate, *, own_id: str = "") -> tuple[Match, ...]:
    """Every rejected experiment whose rule forbids this candidate, each at its nearest level, in the order of levels."""
    found = [match for record in records if record.id != own_id and (match := _match(record, candidate)) is not None]
    return tuple(sorted(found, key=lambda match: list(Level).index(match.level)))


def keys_of(rule: Rule, codes: Iterable[str]) -> Iterator[str]:
    """The words under which an index finds a rule whose candidate had the machine codes `codes`: one that shares none with
    a later candidate can match it by a pattern alone.
    """
    yield from _identity_keys(rule.patch_id, rule.change, settings_hash(rule.settings))
    yield from (f"code:{code}" for code in sorted({*codes, rule.code} - {""}))


def keys_for(candidate: Candidate) -> tuple[str, ...]:
    """The words to ask an index for."""
    identity = candidate.identity
    codes = (f"code:{code}" for code in sorted(set(candidate.codes.values())))
    return (*_identity_keys(identity.patch_id, identity.change, settings_hash(identity.settings)), *codes)


def changed_codes(record: Record) -> Mapping[str, str]:
    """Target -> machine code of a rejected candidate, where it was not the baseline's."""
    return differing_codes(record.artifacts.get(Side.BASELINE, {}), record.artifacts.get(Side.CANDIDATE, {}))


def differing_codes(baseline: Mapping[str, Artifact], candidate: Mapping[str, Artifact]) -> Mapping[str, str]:
    """Target -> code of the candidate, where both sides were built and differ. Equal code identifies nothing."""
    return {name: made.code for name, made in candidate.items() if name in baseline and made.code != baseline[name].code}


def judged_of(record: Record) -> str:
    """The target on which an experiment failed."""
    return record.rule.judged if record.rule is not None and record.rule.judged else record.target


def _identity_keys(patch_id: str, change: str, settings: str) -> Iterator[str]:
    yield from (f"{kind}:{word}" for kind, word in (("patch", patch_id), ("change", change), ("set", settings)) if word)


def _match(record: Record, candidate: Candidate) -> Match | None:
    rule, identity = record.rule, candidate.identity
    if rule is None:
        return None
    if rule.patch_id and rule.patch_id == identity.patch_id:
        return Match(record=record, level=Level.PATCH, likeness=LIKENESS[Level.PATCH])
    if rule.change and rule.change == identity.change:
        return Match(record=record, level=Level.CHANGE, likeness=LIKENESS[Level.CHANGE])
    judged = _same_code(record, candidate)
    if judged:
        return Match(record=record, level=Level.CODE, likeness=LIKENESS[Level.CODE].format(judged=judged))
    if rule.settings and dict(rule.settings) == dict(identity.settings):
        listed = ", ".join(f"{name} = {value}" for name, value in sorted(rule.settings.items()))
        return Match(record=record, level=Level.SETTINGS, likeness=LIKENESS[Level.SETTINGS].format(settings=listed))
    pattern = next((each for each in rule.forbids if forbidden(each, identity.added)), "")
    if pattern:
        return Match(record=record, level=Level.PATTERN, likeness=LIKENESS[Level.PATTERN].format(pattern=pattern))
    return None


def forbidden(pattern: str, added: Iterable[str]) -> bool:
    """Does one of the added lines match?"""
    wanted = re.compile(pattern)
    return any(wanted.search(line[:LINE_MAX]) for line in added)


def pattern_fault(pattern: str) -> str:
    """Why this can't be a forbidden pattern; empty when it can. A repeat inside a repeat may take for ever to match."""
    if not pattern.strip() or len(pattern) > PATTERN_MAX:
        return f"expected a regular expression of at most {PATTERN_MAX} letters, found {len(pattern)}"
    try:
        matches_nothing = re.compile(pattern).search("") is None
    except (re.error, OverflowError, RecursionError) as error:
        return f"{pattern!r} is no regular expression: {error}"
    if not matches_nothing:
        return f"{pattern!r} matches everything"
    if re.search(r"[*+}?]\s*\)+\s*[*+{]", pattern):
        return f"{pattern!r} repeats what repeats already: say it without (x+)*"
    return ""


def _same_code(record: Record, candidate: Candidate) -> str:
    """The target whose machine code was rejected and is the candidate's too; empty when there is none.

    The target that rejected it is asked, where both were built for it on one machine: another target's code may be the same
    although the fault that was found is mended. Else the code at home speaks.
    """
    known, judged = changed_codes(record), judged_of(record)
    same_machine = record.environment.get("machine", "") == candidate.machine
    if judged in known and judged in candidate.built and same_machine:
        return judged if candidate.codes.get(judged) == known[judged] else ""
    code = record.rule.code if record.rule is not None else ""
    return next((name for name, each in candidate.codes.items() if code and each == code), "")
