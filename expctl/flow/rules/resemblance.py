"""How like two changes are by what compilers make of them, with no more compiling than it takes to tell them apart.

What decides is what a change makes of each function, so two changes are comparable where those functions were the same before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from expctl.domain.protocol.alone import compiles_in_part, first_alone
from expctl.domain.rules.match_levels import Level
from expctl.domain.rules.meaning import (
    NEAR_PERCENT,
    CompiledChange,
    Likeness,
    Version,
    View,
    Wanted,
    comparable,
    likeness,
    near_percent,
)

if TYPE_CHECKING:
    from expctl.ports.rules import Meanings

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


class Look(NamedTuple):
    """How much two changes have in common in one config, in percent; if they are `other` ones there, that is enough."""

    is_other: bool
    percent: int


def resemblance(meanings: Meanings, rejected: Pair, candidate: Pair, targets: Sequence[str]) -> Resemblance:
    """Compare two changes on `targets`, quick ones first, with no more compiling than it takes to tell them apart. A target
    finds them the same if one of its views does: what an optimiser does with two spellings may differ, a proof is one.
    """
    percents: dict[str, int] = {}
    for target in targets:
        look = _look(meanings, rejected, candidate, target)
        if look is not None and look.is_other:
            return Resemblance(level=None, targets=(), percent=look.percent)
        if look is not None:
            percents[target] = look.percent
    seen: dict[str, tuple[CompiledChange, CompiledChange]] = {}
    levels: dict[str, Level] = {}
    for target in targets:
        percent = percents.get(target, 0)
        answer = by_outcomes(meanings, rejected, candidate, target, View.MEANING) if target in percents else None
        if answer is None or (answer is Likeness.SAME) is (percent < 100):  # as they were before, perhaps, or but in a part
            found = _both(meanings, rejected, candidate, target, View.MEANING)
            if found is None:
                continue
            seen[target] = found
            answer, percent = answer_of({target: found}), near_percent(*found)
            if any(each.fault for pair in seen.values() for each in pair) or answer is Likeness.SILENT:
                continue
        same = Level.MEANING if answer is Likeness.SAME else _otherwise(meanings, rejected, candidate, target, percent)
        if same is None:
            return Resemblance(level=None, targets=(), percent=percent)
        levels[target] = same
    if any(each.fault for pair in seen.values() for each in pair):
        one = answer_of(seen) is Likeness.SAME
        return Resemblance(level=Level.MEANING if one else None, targets=_telling(seen), percent=100 if one else 0)
    if not levels:
        return Resemblance(level=None, targets=(), percent=0)
    weakest = Level.CODE if Level.CODE in levels.values() else Level.MEANING
    return Resemblance(level=weakest, targets=tuple(levels), percent=100)


def quickly_seen(
    meanings: Meanings, rejected: Pair, candidate: Pair, target: str
) -> tuple[CompiledChange, CompiledChange] | None:
    """Return both changes as one config of `target`, or a kernel of each kind, has them; as all have where none can be built
    alone, or these don't tell.
    """
    alone = compiles_in_part(meanings.protocol.targets[target])
    found = _both(meanings, rejected, candidate, target, View.MEANING, alone=alone)
    if found is None or not alone:
        return found
    return comparable(*found) or _both(meanings, rejected, candidate, target, View.MEANING)


def seen_by_kernel(
    meanings: Meanings, rejected: Pair, candidate: Pair, target: str
) -> tuple[CompiledChange, CompiledChange] | None:
    """Return both changes as `quickly_seen` does, but all kernels where that asks for one of each kind."""
    if first_alone(meanings.protocol.targets[target]) is not None:
        return quickly_seen(meanings, rejected, candidate, target)
    return _both(meanings, rejected, candidate, target, View.MEANING)


def _look(meanings: Meanings, rejected: Pair, candidate: Pair, target: str) -> Look | None:
    """Compare two changes by one config of `target`; None where none can be built alone, or it doesn't tell: the state before
    doesn't compile, nothing is changed there, or neither compiles any more. Nor does it where `candidate` changes nothing in a
    config alone, which is built with a macro that the whole hasn't: the change may be for builds without it.
    """
    if not compiles_in_part(meanings.protocol.targets[target]):
        return None
    found = quickly_seen(meanings, rejected, candidate, target)
    answer = answer_of({target: found}) if found is not None else Likeness.SILENT
    if found is None or answer is Likeness.SILENT:
        return None
    is_config = first_alone(meanings.protocol.targets[target]) is not None
    if is_config and not found[1].functions and not found[1].fault:
        return None
    if any(each.fault for each in found):
        return Look(True, 0) if answer is Likeness.OTHER and not all(each.fault for each in found) else None
    percent = near_percent(*found) if answer is Likeness.OTHER else 100
    if answer is Likeness.OTHER and _otherwise(meanings, rejected, candidate, target, percent, alone=True) is None:
        return Look(True, percent)
    return Look(False, percent)


def by_outcomes(
    meanings: Meanings, rejected: Pair, candidate: Pair, target: str, view: View, *, alone: bool = False
) -> Likeness | None:
    """Compare what two changes of one version leave, without that version; None where that doesn't tell. Changes that do the
    same to the same functions leave the same hashes of functions, whatever these are called.
    """
    if rejected.before != candidate.before:
        return None
    left = meanings.compiled(outcomes(rejected, candidate, target, view, alone=alone))
    known = [each.functions for each in left if each is not None and not each.fault]
    if len(known) != 2:
        return None
    if known[0] == known[1]:
        return Likeness.SAME
    return Likeness.OTHER if Counter(known[0].values()) != Counter(known[1].values()) else None


def _otherwise(
    meanings: Meanings, rejected: Pair, candidate: Pair, target: str, percent: int, *, alone: bool = False
) -> Level | None:
    """Return the level at which two changes are one where their optimised functions differ, which have `percent` in common."""
    views = other_views(percent)
    meanings.compiled(outcomes(rejected, candidate, target, *views, alone=alone))  # several at a time
    for view in views:
        if by_outcomes(meanings, rejected, candidate, target, view, alone=alone) is Likeness.OTHER:
            continue
        found = _both(meanings, rejected, candidate, target, view, alone=alone)
        if found is not None and answer_of({target: found}) is Likeness.SAME:
            return OTHER_VIEWS[view]
    return None


def other_views(percent: int) -> tuple[View, ...]:
    """Return the views in which two changes are compared whose optimised functions have `percent` in common."""
    return tuple(view for view in OTHER_VIEWS if view is not View.CODE or percent >= CODE_FROM_PERCENT)


def all_four(rejected: Pair, candidate: Pair, target: str, *views: View, alone: bool) -> list[Wanted]:
    """Return two changes as they are compared in `views`: each without and with what it changes."""
    return [Wanted(each, target, view, alone) for view in views for each in (*rejected.versions, *candidate.versions)]


def outcomes(rejected: Pair, candidate: Pair, target: str, *views: View, alone: bool) -> list[Wanted]:
    """Return of what `all_four` does that by which two changes of one version can be told apart, without that version."""
    wanted = all_four(rejected, candidate, target, *views, alone=alone)
    one = rejected.before == candidate.before
    return [each for each in wanted if not one or each.version != candidate.before]


Seen = Mapping[str, tuple[CompiledChange, CompiledChange]]
"""The rejected change and another one, by target."""


def _both(
    meanings: Meanings, rejected: Pair, candidate: Pair, target: str, view: View, *, alone: bool = False
) -> tuple[CompiledChange, CompiledChange] | None:
    """Return both changes as `target` sees them; None where a patch doesn't fit, or the state before it doesn't compile."""
    old, new, base, changed = meanings.compiled(all_four(rejected, candidate, target, view, alone=alone))
    if old is None or new is None or base is None or changed is None or old.fault or base.fault:
        return None
    return CompiledChange(before=old, after=new), CompiledChange(before=base, after=changed)


def answer_of(seen: Seen) -> Likeness:
    """Return what targets say of two changes."""
    return likeness({name: pair[0] for name, pair in seen.items()}, {name: pair[1] for name, pair in seen.items()})


def _telling(seen: Seen) -> tuple[str, ...]:
    return tuple(name for name, (one, _) in seen.items() if one.functions or one.fault)


def compile_meanings(meanings: Meanings, asked: Sequence[tuple[Pair, Pair, str]]) -> None:
    """Compile, several at a time, that alone by which `quickly_seen` compares changes on their targets."""
    held = {name: compiles_in_part(meanings.protocol.targets[name]) for _, _, name in asked}
    wanted = [each for old, new, name in asked for each in all_four(old, new, name, View.MEANING, alone=held[name])]
    meanings.compiled(wanted)
