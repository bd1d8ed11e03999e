"""What comparing changes begins with is compiled several at a time, before it is asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from expctl.domain.protocol.alone import compiles_in_part, first_alone
from expctl.domain.rules.meaning import Likeness, View, Wanted, near_percent
from expctl.flow.rules.combined import likely_two
from expctl.flow.rules.resemblance import Pair, all_four, answer_of, by_outcomes, other_views, outcomes, quickly_seen

if TYPE_CHECKING:
    from expctl.ports.rules import Meanings


def begins_with(meanings: Meanings, change: Pair, target: str) -> list[Wanted]:
    """Return what of a change is compiled for `target` to compare another one with it."""
    held = meanings.protocol.targets[target]
    parts = dict.fromkeys((compiles_in_part(held), first_alone(held) is not None))  # all kernels, too: they are made once
    begun = [Wanted(*each) for each in product(change.versions, (target,), (View.MEANING, View.PLAIN), parts)]
    ends = Wanted(change.after, target)  # all configs: they are asked of a change that is the same in the first
    return [*begun, *(Wanted(change.after, target, View.CODE, each) for each in parts), ends]


def compile_ahead(meanings: Meanings, candidate: Pair, rejected: Sequence[tuple[Pair, str]]) -> None:
    """Compile what comparing `candidate` with each rejected change on its target begins with."""
    by_target: dict[str, list[Pair]] = {}
    for old, name in rejected:
        by_target.setdefault(name, []).append(old)
    with ThreadPoolExecutor(max(len(by_target), 1)) as pool:
        deque(pool.map(partial(_compile_ahead, meanings, candidate), by_target, by_target.values()), maxlen=0)


def _compile_ahead(meanings: Meanings, candidate: Pair, target: str, rejected: Sequence[Pair]) -> None:
    """Compile what comparing changes on `target` begins with, then what is asked where they differ, or are one in a part."""
    held = meanings.protocol.targets[target]
    alone = compiles_in_part(held)
    first = [each for old in rejected for each in all_four(old, candidate, target, View.MEANING, alone=alone)]
    # What the optimiser makes of it differs but where two changes are one, so the plain form of a config is asked next.
    first += [Wanted(candidate.after, target, View.PLAIN, alone)] if first_alone(held) is not None else []
    meanings.compiled(first)
    seen = [(old, quickly_seen(meanings, old, candidate, target)) for old in rejected]
    told = [(old, found, answer_of({target: found})) for old, found in seen if found and not any(each.fault for each in found)]
    others = [
        (old, view) for old, found, answer in told if answer is Likeness.OTHER for view in other_views(near_percent(*found))
    ]
    same = [old for old, _, answer in told if answer is Likeness.SAME]
    wanted = [each for old in same for each in outcomes(old, candidate, target, View.MEANING, alone=False)]
    wanted += [each for old, view in others for each in outcomes(old, candidate, target, view, alone=alone)]
    if not same:
        two = likely_two(meanings, [(old, target) for old in rejected], candidate)
        wanted += [Wanted(each.change.after, target, View.MEANING, alone) for each in two]
    meanings.compiled(wanted)
    alike = [
        each for each in others if by_outcomes(meanings, each[0], candidate, target, each[1], alone=alone) is not Likeness.OTHER
    ]
    meanings.compiled([wanted for old, view in alike for wanted in all_four(old, candidate, target, view, alone=alone)])
