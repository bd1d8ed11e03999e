"""Two rejected changes in one patch: which two may be in it, and which of them, one beside the other, are close to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from expctl.domain.rules.meaning import CompiledChange, Version, nearness, share_percent, union_percent
from expctl.flow.rules.resemblance import Pair, compile_meanings, quickly_seen, seen_by_kernel

if TYPE_CHECKING:
    from expctl.ports.rules import Meanings

    Both = tuple[CompiledChange, CompiledChange]
    Seen = Callable[[Meanings, Pair, Pair, str], Both | None]
    Share = tuple[int, int, Both]

FROM_PERCENT = 30
"""A change that does this much of what each of two rejected ones does may be both of them."""
MOST = 4


class Two(NamedTuple):
    """Two rejected changes, by their positions; both in one; and how near a change is to the nearer of them, 0 to 1."""

    one: int
    other: int
    change: Pair
    apart: Fraction


def likely_two(meanings: Meanings, rejected: Sequence[tuple[Pair, str]], candidate: Pair) -> list[Two]:
    """Return those two of `rejected`, each with the target that judges it, that may both be in `candidate`, by what is quickly
    seen of each.
    """
    return _two(rejected, candidate, _shares(meanings, rejected, candidate, quickly_seen))


def closest_two(meanings: Meanings, rejected: Sequence[tuple[Pair, str]], candidate: Pair) -> list[Two]:
    """Return those of `likely_two` that `candidate` is nearer to than to one alone. All kernels are asked where a part hides
    what a change does.
    """
    shares = _shares(meanings, rejected, candidate, quickly_seen)
    # A part may show nothing of what one of two does; all is asked where it shows the other one, or nothing of the candidate.
    in_part = [(share, made[1]) for share, _, made in shares if made[1].after.left_out]
    is_hidden = any(share >= FROM_PERCENT or not change.functions for share, change in in_part)
    seen = seen_by_kernel if is_hidden else quickly_seen
    shares = _shares(meanings, rejected, candidate, seen) if is_hidden else shares
    two = _two(rejected, candidate, shares)
    compile_meanings(meanings, [(each.change, candidate, rejected[each.one][1]) for each in two])
    return [each for each in two if _is_closer(seen(meanings, each.change, candidate, rejected[each.one][1]), each.apart)]


def _two(rejected: Sequence[tuple[Pair, str]], candidate: Pair, shares: Sequence[Share]) -> list[Two]:
    most = sorted(shares, key=lambda share: -share[0])[:MOST]
    likely = [(at, made) for share, at, made in most if share >= FROM_PERCENT]
    found = []
    for (one, made), (other, beside) in combinations(likely, 2):
        (first, here), (second, there) = rejected[one], rejected[other]
        if here == there and union_percent(made[0], beside[0], made[1]) < FROM_PERCENT:
            continue
        both = Version(candidate.before.commit, first.after.patch, second.after.patch)
        change = Pair(before=candidate.before, after=both)
        found.append(Two(one, other, change, max(nearness(*each) for each in (made, beside))))
    return found


def _shares(meanings: Meanings, rejected: Sequence[tuple[Pair, str]], candidate: Pair, seen: Seen) -> list[Share]:
    """Return how much of each rejected change `candidate` does, in percent, its position, and both as they are `seen`; not
    where one doesn't compile, which would pass for a change that removes all instructions.
    """
    told = (
        (at, seen(meanings, old, candidate, target))
        for at, (old, target) in enumerate(rejected)
        if old.before == candidate.before
    )
    return [(share_percent(*both), at, both) for at, both in told if both and not any(each.fault for each in both)]


def _is_closer(found: Both | None, apart: Fraction) -> bool:
    """Is a change nearer to two rejected ones together than to the nearer of them, `apart`? Else the other one isn't in it.
    True where that isn't known.
    """
    return found is None or any(each.fault for each in found) or nearness(*found) > apart
