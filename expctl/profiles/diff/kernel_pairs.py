"""Pair the kernels of two runs: by name, by name without arguments, then by role."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from expctl.domain.patch.function_name import function_name
from expctl.profiles.model.kernel_profile import Kernel

HALF_PERCENT = 50.0


class PairedBy(StrEnum):
    """How a kernel of one run was matched with one of another: name, name without arguments, or role (class, share of time)."""

    NAME = "name"
    SHORT_NAME = "name without arguments"
    ROLE = "role"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A kernel of the first run and the kernel of the second run that corresponds to it."""

    before: Kernel
    after: Kernel
    by: PairedBy


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """The matched kernels of two runs, most time first; `missing` are only in the first run, `extra` only in the second."""

    pairs: tuple[Pair, ...]
    missing: tuple[Kernel, ...]
    extra: tuple[Kernel, ...]


def pair_up(before: Sequence[Kernel], after: Sequence[Kernel]) -> Pairing:
    """Match the kernels of two runs; each sequence is ordered by time, most first, and its names are unique."""
    left, right = list(before), list(after)
    pairs = _take_named(left, right, lambda kernel: kernel.name, PairedBy.NAME)
    pairs += _take_named(left, right, short_name, PairedBy.SHORT_NAME)
    for kernel in tuple(left):
        if candidates := [each for each in right if _may_replace(kernel, each, left, right)]:
            rank = _rank(kernel, left)
            best = max(candidates, key=lambda each: (_likeness(kernel, each), -abs(_rank(each, right) - rank)))
            pairs.append(Pair(before=kernel, after=best, by=PairedBy.ROLE))
            left.remove(kernel)
            right.remove(best)
    pairs.sort(key=lambda each: -max(each.before.total_ns or 0, each.after.total_ns or 0))
    return Pairing(pairs=tuple(pairs), missing=tuple(left), extra=tuple(right))


def _take_named(left: list[Kernel], right: list[Kernel], name: Callable[[Kernel], str], by: PairedBy) -> list[Pair]:
    """Return pairs of kernels with equal `name`s that are unique on each side, and remove them from both lists."""
    mine, theirs = _unique(left, name), _unique(right, name)
    pairs = [Pair(before=kernel, after=theirs[key], by=by) for key, kernel in mine.items() if key in theirs]
    for pair in pairs:
        left.remove(pair.before)
        right.remove(pair.after)
    return pairs


def _unique(kernels: Sequence[Kernel], name: Callable[[Kernel], str]) -> dict[str, Kernel]:
    counts = Counter(map(name, kernels))
    return {name(kernel): kernel for kernel in kernels if counts[name(kernel)] == 1}


def short_name(kernel: Kernel) -> str:
    """Return the kernel's function name, without return type, template arguments and parameters."""
    return function_name(kernel.name)


def _may_replace(kernel: Kernel, other: Kernel, left: Sequence[Kernel], right: Sequence[Kernel]) -> bool:
    """May `other`, of the second run, have replaced `kernel`, of the first? Yes if both are of one class, or each has most of
    its run's time and no unmatched kernel of the other run (`left`: first, `right`: second) is of its class."""
    if kernel.kind is other.kind:
        return True
    most = (kernel.share_percent or 0.0) > HALF_PERCENT and (other.share_percent or 0.0) > HALF_PERCENT
    alone = not any(each.kind is kernel.kind for each in right) and not any(each.kind is other.kind for each in left)
    return most and alone


def _likeness(kernel: Kernel, other: Kernel) -> tuple[bool, bool, bool]:
    """Return a sort key, greatest for the most similar kernels: whether calls, grid and workgroup are equal."""
    mine, its = kernel.launch, other.launch
    return kernel.calls == other.calls, mine.grid == its.grid, mine.workgroup == its.workgroup


def _rank(kernel: Kernel, among: Sequence[Kernel]) -> int:
    return [each for each in among if each.kind is kernel.kind].index(kernel)
