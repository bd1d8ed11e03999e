"""Do-not-repeat rules: what a REJECT forbids, and how a repeat is recognised.

The types of records are imported inside functions, to save time when `rules check` reads no record.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.patch.constants import plain_values
from expctl.domain.patch.identity import ChangeIdentity, settings_hash
from expctl.domain.patch.patterns import forbidden, void_reason
from expctl.domain.rules.match_levels import Level as Level
from expctl.domain.rules.match_levels import changed_codes as changed_codes
from expctl.domain.rules.match_levels import differing_codes as differing_codes
from expctl.domain.rules.match_levels import failing_target_of

if TYPE_CHECKING:
    from expctl.domain.experiment.proposal import Proposal
    from expctl.domain.experiment.record import Record, Rule
    from expctl.domain.rules.current_facts import CurrentFacts

LIKENESS = {
    Level.PATCH: "the same patch, whatever its line numbers",
    Level.CHANGE: "the same change but for white space, comments, line breaks and the names of locals",
    Level.CODE: "other source, but the same machine code on {judged}",
    Level.MEANING: "other source, but the same for the compiler of {judged}",
    Level.SETTINGS: "the same values set: {settings}",
    Level.INSTRUCTION: "what it compiles to has {words}",
    Level.PATTERN: "an added line matches the forbidden pattern {pattern}",
    Level.NEAR: "another change, but {percent} % of what the two compile to is the same, and the author of the first asks what"
    " is different",
}


class Candidate(Struct, frozen=True, kw_only=True):
    """A proposed change. `codes` has, by target, the hash of its machine code where that differs from the baseline's. `built`
    are the targets for which candidate and baseline were built, on `machine`. Before the builds, both fields are empty.
    """

    identity: ChangeIdentity
    codes: Mapping[str, str]
    built: tuple[str, ...] = ()
    machine: str = ""


class Match(Struct, frozen=True, kw_only=True):
    """A repeat that was found: the record whose rule forbids the candidate, the `level`, and the `likeness` as a sentence.
    `patterns` are the forbidden patterns that matched if the level is PATTERN, else empty.
    """

    record: Record
    level: Level
    likeness: str
    patterns: tuple[str, ...] = ()


def rule_of(
    proposal: Proposal,
    reason: str,
    identity: ChangeIdentity,
    *,
    code: str,
    judged: str,
    conditions: Mapping[str, str],
    worthwhile_percent: float,
) -> Rule:
    """Return the do-not-repeat rule that a rejected proposal leaves. `reason` says why it was rejected, `code` is a hash of its
    machine code, and `judged` the target on which it failed.
    """
    from expctl.domain.experiment.record import Rule

    return Rule(
        text=f"{proposal.title}: {reason}",
        patch_id=identity.patch_id,
        change=identity.change,
        code=code,
        judged=judged,
        settings=identity.settings,
        forbids=proposal.forbids,
        within=proposal.within,
        refuses_near=proposal.refuses_near,
        conditions=conditions,
        region=identity.region,
        shapes=identity.shapes,
        probe=proposal.probe,
        worthwhile_percent=worthwhile_percent,
    )


def matches(records: Iterable[Record], candidate: Candidate, *, own_id: str = "") -> tuple[Match, ...]:
    """Return the records, except `own_id`, whose do-not-repeat rules forbid `candidate`; the strictest level comes first."""
    found = [match for record in records if record.id != own_id and (match := _match(record, candidate)) is not None]
    return tuple(sorted(found, key=lambda match: list(Level).index(match.level)))


def without_void_patterns(found: Iterable[Match], now: CurrentFacts) -> tuple[Match, ...]:
    """Return the matches without those forbidden patterns that are void (`void_patterns`). A match that rests on void patterns
    alone is left out.
    """
    kept = (match if match.level is not Level.PATTERN else _without_void(match, now) for match in found)
    return tuple(match for match in kept if match is not None)


def void_patterns(record: Record, now: CurrentFacts) -> Mapping[str, str]:
    """Return the void forbidden patterns of a record's rule, each with the reason; empty if all are valid. A pattern is void if
    it doesn't match the change that it was written for, or matches too many lines of the baseline.
    """
    forbids = record.rule.forbids if record.rule is not None else ()
    own = now.own_lines(record.id) if forbids else None
    reasons = ((each, void_reason(each, own=own, standing=now.standing_lines())) for each in forbids)
    return {pattern: why for pattern, why in reasons if why}


def _without_void(match: Match, now: CurrentFacts) -> Match | None:
    void = void_patterns(match.record, now)
    return _by_pattern(match.record, tuple(each for each in match.patterns if each not in void))


def keys_of(rule: Rule, codes: Iterable[str]) -> Iterator[str]:
    """Yield the keys under which an index stores a rule. `codes` are hashes of the rejected candidate's machine code. A
    candidate that has none of these keys can match the rule only by a forbidden pattern.
    """
    yield from _identity_keys(rule.patch_id, rule.change, rule.settings)
    yield from (f"code:{code}" for code in sorted({*codes, rule.code} - {""}))


def keys_for(candidate: Candidate) -> tuple[str, ...]:
    """Return the keys by which an index finds the do-not-repeat rules that may match `candidate`."""
    identity = candidate.identity
    codes = (f"code:{code}" for code in sorted(set(candidate.codes.values())))
    return (*_identity_keys(identity.patch_id, identity.change, identity.settings), *codes)


def _identity_keys(patch_id: str, change: str, settings: Mapping[str, str]) -> Iterator[str]:
    hashed = (("patch", patch_id), ("change", change), ("set", settings_hash(settings)))
    yield from (f"{kind}:{word}" for kind, word in hashed if word)


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
    if rule.settings and plain_values(rule.settings) == plain_values(identity.settings):
        listed = ", ".join(f"{name} = {value}" for name, value in sorted(rule.settings.items()))
        return Match(record=record, level=Level.SETTINGS, likeness=LIKENESS[Level.SETTINGS].format(settings=listed))
    lines = identity.added_in(rule.within) if rule.forbids else ()
    return _by_pattern(record, tuple(each for each in rule.forbids if forbidden(each, lines)))


def _by_pattern(record: Record, patterns: tuple[str, ...]) -> Match | None:
    if not patterns:
        return None
    likeness = LIKENESS[Level.PATTERN].format(pattern=patterns[0])
    if record.rule is not None and record.rule.within:
        likeness += f", in {record.rule.within}"
    return Match(record=record, level=Level.PATTERN, likeness=likeness, patterns=patterns)


def _same_code(record: Record, candidate: Candidate) -> str:
    """Return a target on which the candidate's machine code equals the rejected one's; empty if there is none.

    If both were built on the same machine for the target that failed, only that target is compared: the fault may be gone there
    although another target's code is equal. Otherwise the code of the hardware target is compared.
    """
    known, judged = changed_codes(record), failing_target_of(record)
    same_machine = record.environment.get("machine", "") == candidate.machine
    if judged in known and judged in candidate.built and same_machine:
        return judged if candidate.codes.get(judged) == known[judged] else ""
    code = record.rule.code if record.rule is not None else ""
    return next((name for name, each in candidate.codes.items() if code and each == code), "")
