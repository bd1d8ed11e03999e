"""Compare a change with rejected ones by what compilers make of them, before anything is built.

Each rejected patch is compiled on the state that the new one is for. One that no longer fits it is carried there by a three-way
merge, or, where that is in conflict, compiled on its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from expctl.domain.rules.match_levels import Level, failing_target_of
from expctl.domain.rules.matching import LIKENESS, Match
from expctl.domain.rules.meaning import Version, Wanted
from expctl.domain.rules.told import Near
from expctl.flow.rules.ahead import begins_with, compile_ahead
from expctl.flow.rules.combined import closest_two
from expctl.flow.rules.resemblance import Pair, Resemblance, resemblance

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record
    from expctl.domain.protocol.model import Protocol
    from expctl.domain.rules.current_facts import CurrentFacts
    from expctl.ports.rules import Meanings, Rulebook

    Rejected = tuple[Record, Pair, tuple[str, ...]]


def judging_targets(protocol: Protocol, here: Iterable[str], judged: str, architecture: str) -> tuple[str, ...]:
    """Return those targets of `here` that can speak for the one on which an experiment failed: itself, those that stand for it,
    and those for its architecture. All of them, if there is none of these.
    """
    known = [name for name in here if name in protocol.targets]
    wanted = {judged, architecture} - {""}
    found = [
        name
        for name in known
        if wanted & {name, protocol.targets[name].stands_for, protocol.targets[name].build.arch.rstrip("af")}
    ]
    return tuple(found or known)


def by_meaning(
    rulebook: Rulebook, commit: str, patch: bytes, now: CurrentFacts, *, own_id: str = ""
) -> tuple[tuple[Match, ...], tuple[Near, ...]]:
    """Return the rules in force that know `patch`, which fits `commit`, by what it compiles to, and those that it is close to,
    the closest first. Nothing is compiled if no rule asks for it.
    """
    asking = _asking(rulebook, commit, now, own_id)
    meanings = rulebook.meanings(commit) if asking else None
    if meanings is None:
        return (), ()
    candidate = Pair(before=Version(commit), after=Version(commit, patch))
    rejected = []
    for record, old in asking:
        judges = _judges(meanings, record)
        if any(meanings.differ(*candidate.versions, name) for name in judges):
            rejected.append((record, _pair(rulebook, commit, record, old), judges))
    there = meanings.here([(version, judges[0]) for _, pair, judges in rejected for version in pair.versions])
    rejected = [each for each, *is_here in zip(rejected, there[::2], there[1::2], strict=True) if all(is_here)]
    compile_ahead(meanings, candidate, [(pair, judges[0]) for _, pair, judges in rejected])
    matches, near = [], []  # type: list[Match], list[Near]
    for record, pair, judges in rejected:
        found = resemblance(meanings, pair, candidate, judges)
        if found.level is not None:
            matches.append(Match(record=record, level=found.level, likeness=_likeness(found)))
        elif found.is_near and record.rule is not None and record.rule.refuses_near:
            matches.append(Match(record=record, level=Level.NEAR, likeness=LIKENESS[Level.NEAR].format(percent=found.percent)))
        elif found.is_near:
            near.append(Near(record=record, percent=found.percent))
    matches += () if matches else _combined(meanings, rejected, candidate)
    return tuple(matches), tuple(sorted(near, key=lambda each: -each.percent))


def rejected_compiled(rulebook: Rulebook, commit: str, now: CurrentFacts) -> tuple[Wanted, ...]:
    """Return what of rejected changes is compiled to compare a change of `commit` with them, whatever change that is."""
    asking = _asking(rulebook, commit, now)
    meanings = rulebook.meanings(commit) if asking else None
    if meanings is None:
        return ()
    wanted: list[Wanted] = []
    for record, old in asking:
        judges, pair = _judges(meanings, record), _pair(rulebook, commit, record, old)
        if judges and all(meanings.here([(version, judges[0]) for version in pair.versions])):
            wanted += begins_with(meanings, pair, judges[0])
    return tuple(dict.fromkeys(wanted))


def _asking(rulebook: Rulebook, commit: str, now: CurrentFacts, own_id: str = "") -> list[tuple[Record, bytes]]:
    """Return the rules in force of which a patch is known, with it."""
    from expctl.domain.rules.conditions import changed_conditions

    return [
        (record, old)
        for record in rulebook.ruled(commit)
        if record.rule is not None and record.id != own_id and record.rule.patch_id
        if (old := rulebook.rejected_patch(commit, record.id)) and not changed_conditions(record, now, Level.MEANING)
    ]


def _judges(meanings: Meanings, record: Record) -> tuple[str, ...]:
    from expctl.domain.rules.conditions import ARCHITECTURE

    architecture = record.rule.conditions.get(ARCHITECTURE, "") if record.rule is not None else ""
    return judging_targets(meanings.protocol, meanings.targets(), failing_target_of(record), architecture)


def _pair(rulebook: Rulebook, commit: str, record: Record, old: bytes) -> Pair:
    start, patch = commit, old
    if rulebook.misfits(commit, old):
        carried = rulebook.carried(commit, record.base, old)
        start, patch = (record.base, old) if carried is None else (commit, carried)
    return Pair(before=Version(start), after=Version(start, patch))


def _combined(meanings: Meanings, rejected: Sequence[Rejected], candidate: Pair) -> tuple[Match, ...]:
    """Return two rejected changes that are, one beside the other, the same as `candidate`; () if no two are."""
    for two in closest_two(meanings, [(pair, judges[0]) for _, pair, judges in rejected], candidate):
        (one, _, here), (other, _, there) = rejected[two.one], rejected[two.other]
        found = resemblance(meanings, two.change, candidate, tuple(dict.fromkeys((*here, *there))))
        if found.level is not None:
            said = _likeness(found)
            pairs = ((one, other), (other, one))
            return tuple(
                Match(record=record, level=found.level, likeness=f"{said}, together with {with_it.id}")
                for record, with_it in pairs
            )
    return ()


def _likeness(found: Resemblance) -> str:
    return LIKENESS[found.level].format(judged=", ".join(found.targets)) if found.level is not None else ""
