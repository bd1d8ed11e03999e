"""Compare a change with rejected ones by what compilers make of them, before anything is built.

Each rejected patch is compiled on the state that the new one is for, or on its own where it no longer fits. What decides is
what a change makes of each function, so the two are comparable where those functions were the same before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.protocol.alone import first_alone
from expctl.domain.rules.match_levels import Level, failing_target_of
from expctl.domain.rules.matching import LIKENESS, Match
from expctl.domain.rules.meaning import (
    NEAR_PERCENT,
    CompiledChange,
    Likeness,
    Version,
    View,
    Wanted,
    likeness,
    near_percent,
    share_percent,
    union_percent,
)
from expctl.domain.rules.told import Near

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record
    from expctl.domain.protocol.model import Protocol
    from expctl.domain.rules.current_facts import CurrentFacts
    from expctl.ports.rules import Meanings, Rulebook

COMBINED_FROM_PERCENT = 30
"""A change that does this much of what each of two rejected ones does may be both of them."""
COMBINED_MOST = 4
CODE_FROM_PERCENT = 30
"""From this likeness on, machine code is compared too: it is the slower half of compiling."""
OTHER_VIEWS = {View.CODE: Level.CODE, View.PLAIN: Level.MEANING}
"""How two changes are compared that an optimiser makes other code of, and the level at which they are one then."""


class Pair(Struct, frozen=True, kw_only=True):
    """A version of the sources without and with a change."""

    before: Version
    after: Version

    @property
    def versions(self) -> tuple[Version, Version]:
        """Return both."""
        return self.before, self.after


class Resemblance(Struct, frozen=True, kw_only=True):
    """How like a rejected change another one is: the `level` at which it is the same (None: it isn't), the targets that say so,
    and how much of what the two do is common.
    """

    level: Level | None
    targets: tuple[str, ...]
    percent: int

    @property
    def is_near(self) -> bool:
        """Is it another change, but one that does nearly the same?"""
        return self.level is None and self.percent >= NEAR_PERCENT


def resemblance(meanings: Meanings, rejected: Pair, candidate: Pair, targets: Sequence[str]) -> Resemblance:
    """Compare two changes on `targets`, quick ones first, with no more compiling than it takes to tell them apart. A target
    finds them the same if one of its views does: what an optimiser does with two spellings may differ, a proof is one.
    """
    for target in targets:
        percent = _other_percent(meanings, rejected, candidate, target)
        if percent is not None:
            return Resemblance(level=None, targets=(), percent=percent)
    seen: dict[str, tuple[CompiledChange, CompiledChange]] = {}
    levels: dict[str, Level] = {}
    for target in targets:
        found = _both(meanings, rejected, candidate, target, View.MEANING)
        if found is None:
            continue
        seen[target] = found
        answer = _answer({target: found})
        if any(each.fault for pair in seen.values() for each in pair) or answer is Likeness.SILENT:
            continue
        level, percent = Level.MEANING, near_percent(*found)
        if answer is Likeness.OTHER:
            other = _otherwise(meanings, rejected, candidate, target, percent)
            if other is None:
                return Resemblance(level=None, targets=(), percent=percent)
            level = other
        levels[target] = level
    if any(each.fault for pair in seen.values() for each in pair):
        same = _answer(seen) is Likeness.SAME
        return Resemblance(level=Level.MEANING if same else None, targets=_telling(seen), percent=100 if same else 0)
    if not levels:
        return Resemblance(level=None, targets=(), percent=0)
    weakest = Level.CODE if Level.CODE in levels.values() else Level.MEANING
    return Resemblance(level=weakest, targets=tuple(levels), percent=100)


def _other_percent(meanings: Meanings, rejected: Pair, candidate: Pair, target: str) -> int | None:
    """Return how much two changes have in common that one config tells apart; None where it doesn't, or none is built alone."""
    if first_alone(meanings.protocol.targets[target]) is None:
        return None
    found = _both(meanings, rejected, candidate, target, View.MEANING, alone=True)
    if found is None or _answer({target: found}) is not Likeness.OTHER:
        return None
    if any(each.fault for each in found):
        return None if all(each.fault for each in found) else 0
    percent = near_percent(*found)
    return None if _otherwise(meanings, rejected, candidate, target, percent, alone=True) else percent


def _otherwise(
    meanings: Meanings, rejected: Pair, candidate: Pair, target: str, percent: int, *, alone: bool = False
) -> Level | None:
    """Return the level at which two changes are one where their optimised functions differ, which have `percent` in common."""
    views = _other_views(percent)
    meanings.compiled(_outcomes(rejected, candidate, target, *views, alone=alone))  # several at a time
    for view in views:
        if _is_told_apart(meanings, rejected, candidate, target, view, alone=alone):
            continue
        found = _both(meanings, rejected, candidate, target, view, alone=alone)
        if found is not None and _answer({target: found}) is Likeness.SAME:
            return OTHER_VIEWS[view]
    return None


def _other_views(percent: int) -> tuple[View, ...]:
    """Return the views in which two changes are compared whose optimised functions have `percent` in common."""
    return tuple(view for view in OTHER_VIEWS if view is not View.CODE or percent >= CODE_FROM_PERCENT)


def _wanted(rejected: Pair, candidate: Pair, target: str, *views: View, alone: bool) -> list[Wanted]:
    return [Wanted(each, target, view, alone) for view in views for each in (*rejected.versions, *candidate.versions)]


def _outcomes(rejected: Pair, candidate: Pair, target: str, *views: View, alone: bool) -> list[Wanted]:
    """Return of what `_wanted` does that by which two changes of one version can be told apart, without that version."""
    wanted = _wanted(rejected, candidate, target, *views, alone=alone)
    one = rejected.before == candidate.before
    return [each for each in wanted if not one or each.version != candidate.before]


def _is_told_apart(meanings: Meanings, rejected: Pair, candidate: Pair, target: str, view: View, *, alone: bool) -> bool:
    """Do two changes of one version surely differ in `view`, because they don't leave the same hashes of functions, whatever
    these are called? Changes that do the same to the same functions leave the same ones.
    """
    if rejected.before != candidate.before:
        return False
    left = meanings.compiled(_outcomes(rejected, candidate, target, view, alone=alone))
    known = [each for each in left if each is not None and not each.fault]
    return len(known) == 2 and Counter(known[0].functions.values()) != Counter(known[1].functions.values())


Seen = Mapping[str, tuple[CompiledChange, CompiledChange]]
"""The rejected change and another one, by target."""


def _both(
    meanings: Meanings, rejected: Pair, candidate: Pair, target: str, view: View, *, alone: bool = False
) -> tuple[CompiledChange, CompiledChange] | None:
    """Return both changes as `target` sees them; None where a patch doesn't fit, or the state before it doesn't compile."""
    old, new, base, changed = meanings.compiled(_wanted(rejected, candidate, target, view, alone=alone))
    if old is None or new is None or base is None or changed is None or old.fault or base.fault:
        return None
    return CompiledChange(before=old, after=new), CompiledChange(before=base, after=changed)


def _answer(seen: Seen) -> Likeness:
    return likeness({name: pair[0] for name, pair in seen.items()}, {name: pair[1] for name, pair in seen.items()})


def _telling(seen: Seen) -> tuple[str, ...]:
    return tuple(name for name, (one, _) in seen.items() if one.functions or one.fault)


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
    from expctl.domain.rules.conditions import ARCHITECTURE, changed_conditions

    asking = [
        (record, old)
        for record in rulebook.ruled(commit)
        if record.rule is not None and record.id != own_id and record.rule.patch_id
        if (old := rulebook.rejected_patch(commit, record.id)) and not changed_conditions(record, now, Level.MEANING)
    ]
    meanings = rulebook.meanings(commit) if asking else None
    here = meanings.targets() if meanings is not None else ()
    if meanings is None:
        return (), ()
    candidate = Pair(before=Version(commit), after=Version(commit, patch))
    rejected = []
    for record, old in asking:
        architecture = record.rule.conditions.get(ARCHITECTURE, "") if record.rule is not None else ""
        judges = judging_targets(meanings.protocol, here, failing_target_of(record), architecture)
        if not any(meanings.differ(*candidate.versions, name) for name in judges):
            continue
        start = record.base if rulebook.misfits(commit, old) else commit
        rejected.append((record, Pair(before=Version(start), after=Version(start, old)), judges))
    there = meanings.here([(version, judges[0]) for _, pair, judges in rejected for version in pair.versions])
    rejected = [each for each, *is_here in zip(rejected, there[::2], there[1::2], strict=True) if all(is_here)]
    _compile_ahead(meanings, [(pair, candidate, judges[0]) for _, pair, judges in rejected])
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


def _compile_ahead(meanings: Meanings, asked: Sequence[tuple[Pair, Pair, str]]) -> None:
    """Compile, several at a time, what comparing changes on a target begins with, then what is asked where they differ."""
    alone = {name: first_alone(meanings.protocol.targets[name]) is not None for _, _, name in asked}
    first = [each for old, new, name in asked for each in _wanted(old, new, name, View.MEANING, alone=alone[name])]
    meanings.compiled(first)
    later: list[tuple[Pair, Pair, str, View]] = []
    for old, new, name in asked:
        found = _both(meanings, old, new, name, View.MEANING, alone=alone[name])
        if found is not None and _answer({name: found}) is Likeness.OTHER and not any(each.fault for each in found):
            later += [(old, new, name, view) for view in _other_views(near_percent(*found))]
    meanings.compiled([wanted for each in later for wanted in _outcomes(*each, alone=alone[each[2]])])
    alike = [each for each in later if not _is_told_apart(meanings, *each, alone=alone[each[2]])]
    meanings.compiled([wanted for each in alike for wanted in _wanted(*each, alone=alone[each[2]])])


def _combined(
    meanings: Meanings, rejected: Sequence[tuple[Record, Pair, tuple[str, ...]]], candidate: Pair
) -> tuple[Match, ...]:
    """Return two rejected changes that are, one beside the other, the same as `candidate`; () if no two are."""
    shares = []
    for each in rejected:
        _, pair, judges = each
        alone = first_alone(meanings.protocol.targets[judges[0]]) is not None
        fits = pair.before == candidate.before
        made = _both(meanings, pair, candidate, judges[0], View.MEANING, alone=alone) if fits else None
        if made is not None and (share := share_percent(*made)) >= COMBINED_FROM_PERCENT:
            shares.append((share, each, made))
    likely = [each[1:] for each in sorted(shares, key=lambda share: -share[0])[:COMBINED_MOST]]
    merged = []
    for ((one, first, here), made), ((other, second, there), beside) in combinations(likely, 2):
        if here[0] == there[0] and union_percent(made[0], beside[0], made[1]) < COMBINED_FROM_PERCENT:
            continue
        both = Version(candidate.before.commit, first.after.patch, second.after.patch)
        merged.append((one, other, Pair(before=candidate.before, after=both), tuple(dict.fromkeys((*here, *there)))))
    _compile_ahead(meanings, [(change, candidate, targets[0]) for _, _, change, targets in merged])
    for one, other, change, targets in merged:
        found = resemblance(meanings, change, candidate, targets)
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
