"""Check a patch and, once it is built, its machine code against the do-not-repeat rules of rejected experiments.

Some imports are inside functions because `rules check` imports this module and has to be quick.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from expctl.domain.errors import Refused
from expctl.domain.rules.matching import Candidate, Level, Match, differing_codes, matches, without_void_patterns
from expctl.domain.text import one_line, written_reason
from expctl.domain.verdict.side import Side

if TYPE_CHECKING:
    from expctl.domain.experiment.proposal import Proposal
    from expctl.domain.experiment.record import ChangedCondition, Record, Waiver
    from expctl.domain.protocol.model import Protocol
    from expctl.domain.rules.current_facts import CurrentFacts
    from expctl.domain.rules.told import Near
    from expctl.domain.run.state_machine import Run
    from expctl.ports.rules import Rulebook

SHOWN = 3


class KnownRules(NamedTuple):
    """The rules that match a change, each with those of its conditions that have changed, and those that it is close to."""

    matches: tuple[tuple[Match, tuple[ChangedCondition, ...]], ...]
    near: tuple[Near, ...]


class Repeated(Refused):
    """Raised if a do-not-repeat rule forbids the change: it was rejected before, under conditions that are still the same."""


def check_patch(
    rulebook: Rulebook,
    protocol: Protocol,
    proposal: Proposal,
    patch: bytes,
    *,
    commit: str,
    targets: tuple[str, ...],
) -> tuple[Waiver, ...]:
    """Compare a patch on `commit` with the do-not-repeat rules, also what the compilers that are here make of it and of
    rejected patches, unless a rule knows it without them. Raises Repeated if one forbids it.

    A rule that matches lets the patch pass if one of the rule's conditions has changed, or the proposal states a new
    precondition. For each such rule a waiver with that reason is returned.
    """
    from expctl.domain.protocol.architectures import architectures
    from expctl.flow.rules.once_compiled import compiled_matches

    candidate = Candidate(identity=rulebook.identity(commit, patch), codes={})
    now = rulebook.circumstances(commit, architectures(protocol, targets))
    found = _where_they_hold(
        rulebook, commit, patch, now, matches(rulebook.candidates(commit, candidate), candidate, own_id=proposal.id)
    )
    waivers = _waivers_of(found, now, proposal)
    if waivers:
        return waivers
    found, _ = compiled_matches(rulebook, commit, patch, now, own_id=proposal.id)
    return _waivers_of(found, now, proposal)


def check_patterns(rulebook: Rulebook, proposal: Proposal, patch: bytes, *, commit: str) -> None:
    """Raise Refused if a pattern of the proposal's `forbids` matches no line that the patch adds, or too many of the kernel.
    The kernel is taken at `commit`.
    """
    if not proposal.forbids:
        return
    from expctl.domain.patch.patterns import STANDING_MAX, void_reason

    own, standing = rulebook.identity(commit, patch).added_in(proposal.within), rulebook.circumstances(commit).standing_lines()
    reasons = ((each, void_reason(each, own=own, standing=standing)) for each in proposal.forbids)
    faults = [f"{each!r}: {why}" for each, why in reasons if why]
    if faults:
        raise Refused(
            f"a pattern under `forbids` of {proposal.id} matches nothing new, or too much",
            code="patterns-forbid-too-much",
            expected=f"patterns that match a line which the change adds, and at most {STANDING_MAX} lines of the baseline",
            found="\n".join(one_line(fault) for fault in faults),
            where=f"experiments/{proposal.id}/experiment.yaml, forbids",
            hint="name what is new in the change, such as a builtin or a constant with its value, or leave `forbids` out;"
            " then propose it (under a new id where this one is queued)",
        )


def check_code(rulebook: Rulebook, protocol: Protocol, proposal: Proposal, run: Run, machine: str) -> tuple[Waiver, ...]:
    """Compare a run's machine code, built on `machine`, with the do-not-repeat rules. Raises Repeated if one forbids it.

    A rule that matches lets the run pass if one of the rule's conditions has changed, or the proposal states a new
    precondition. For each such rule a waiver with that reason is returned.
    """
    from expctl.domain.protocol.architectures import architectures

    base = run.begun().base
    built = {side: {name: made for name in run.targets() if (made := run.artifact(side, name))} for side in Side}
    candidate = Candidate(
        identity=rulebook.identity(base, b""),
        codes=differing_codes(built[Side.BASELINE], built[Side.CANDIDATE]),
        built=tuple(name for name in built[Side.BASELINE] if name in built[Side.CANDIDATE]),
        machine=machine,
    )
    now = rulebook.circumstances(base, architectures(protocol, run.targets()))
    return _waivers(rulebook, candidate, now, proposal, base)


def matching_rules(rulebook: Rulebook, commit: str, patch: bytes) -> KnownRules:
    """Return each do-not-repeat rule that matches a patch on `commit`, with those of its conditions that have changed. A rule
    without changed conditions is in force. Where none is, the compilers that are here are asked, and tell what it is close to.
    """
    candidate = Candidate(identity=rulebook.identity(commit, patch), codes={})
    found, now = matches(rulebook.candidates(commit, candidate), candidate), rulebook.circumstances(commit)
    from expctl.flow.rules.once_compiled import compiled_matches

    held = _where_they_hold(rulebook, commit, patch, now, found)
    known = tuple((match, _changed(match, now)) for match in held)
    if any(not changed for _, changed in known):
        return KnownRules(known, ())
    same, near = compiled_matches(rulebook, commit, patch, now)
    return KnownRules((*((match, ()) for match in same), *known), near)


def _where_they_hold(
    rulebook: Rulebook, commit: str, patch: bytes, now: CurrentFacts, found: Iterable[Match]
) -> tuple[Match, ...]:
    """Return matches without those that rest on void patterns, or whose pattern stands elsewhere than the rule says."""
    kept = without_void_patterns(found, now)
    if not any(each.level is Level.PATTERN for each in kept):
        return kept
    from expctl.flow.rules.by_words import stands_elsewhere

    return tuple(each for each in kept if not stands_elsewhere(rulebook, commit, patch, now, each))


def _changed(match: Match, now: CurrentFacts) -> tuple[ChangedCondition, ...]:
    from expctl.domain.rules.conditions import changed_conditions

    return changed_conditions(match.record, now, match.level)


def _waivers(
    rulebook: Rulebook, candidate: Candidate, now: CurrentFacts, proposal: Proposal, commit: str
) -> tuple[Waiver, ...]:
    found = matches(rulebook.candidates(commit, candidate), candidate, own_id=proposal.id)
    return _waivers_of(without_void_patterns(found, now), now, proposal)


def _waivers_of(found: Iterable[Match], now: CurrentFacts, proposal: Proposal) -> tuple[Waiver, ...]:
    from expctl.domain.experiment.record import Waiver

    waivers = []
    for match in found:
        changed = _changed(match, now)
        reason = written_reason(proposal.precondition)
        if not changed and not reason:
            raise refusal(match, proposal.id)
        verified_reason = "; ".join(lapse_text(lapse) for lapse in changed)
        waivers.append(Waiver(rule=match.record.id, level=match.level, reason=verified_reason or reason, written=not changed))
    return tuple(waivers)


def refusal(match: Match, experiment: str, *others: Match) -> Repeated:
    """Return (not raise) the error that says by which experiment a change was rejected before, with the evidence, and which
    other rules know it.
    """
    from expctl.domain.rules.conditions import verified

    record = match.record
    standing = [f"{name} {value}" for name, value in verified(record)]
    also = [f"also {each.record.id}: {each.level}: {one_line(each.likeness)}" for each in others]
    where = f"experiments/{experiment}/experiment.yaml" if experiment else "its experiment.yaml"
    return Repeated(
        f"this change was tried before, as {record.id}, and rejected",
        code="tried-before",
        expected="a change that no do-not-repeat rule forbids, or a new precondition",
        found="\n".join(
            (
                f"likeness: {match.level}: {one_line(match.likeness)}",
                f"evidence: {record.id} on {record.target}{_day(record)}: {evidence(record)}",
                f"the rule holds as long as this does: {one_line('; '.join(standing), 600) or 'nothing that can be verified'}",
                *also,
            )
        ),
        where=f"experiments/{record.id}/record.json",
        hint=f"expctl show {record.id}; if something else has changed since, say what in {where}, `precondition:`",
    )


def evidence(record: Record) -> str:
    """Return the reasons and figures of a rejected experiment on one line of at most 600 characters."""
    from expctl.domain.experiment.figures import effect_text
    from expctl.domain.experiment.record import OBJECTIVE

    effect = next((effect_text(each) for each in record.estimates if each.size == OBJECTIVE), "")
    given = [record.history.result] if record.history else []
    return one_line("; ".join([*record.reasons[:SHOWN], *([f"objective {effect}"] if effect else []), *given]), 600)


def lapse_text(lapse: ChangedCondition) -> str:
    """Return a changed condition of a rule as text, e.g. `ziglang: 0.16.0 -> 0.17.0`."""
    return f"{lapse.condition}: {one_line(lapse.was, 120)} -> {one_line(lapse.now, 120)}"


def _day(record: Record) -> str:
    return f", {record.date[:10]}" if record.date else ""
