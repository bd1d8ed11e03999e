"""Pair the kernels of two runs: by name, by name without arguments, then by role (kind of work, share of the time)."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from expctl.domain.patch.function_name import function_name
from expctl.profiles.model.kernel_profile import Kernel

HALF_PERCENT = 50.0


class PairedBy(StrEnum):
    """How a kernel of one run was matched with one of another run: by name, name without arguments, or role."""

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
    """The matched kernels of two runs, most time first. `missing` are kernels only in the first run, `extra` those only in the
    second.
    """

    pairs: tuple[Pair, ...]
    missing: tuple[Kernel, ...]
    extra: tuple[Kernel, ...]


def pair_up(before: Sequence[Kernel], after: Sequence[Kernel]) -> Pairing:
    """Match the kernels of two runs. Each sequence must be ordered by time, most first, without repeated names."""
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
    """Return pairs of kernels for which `name` gives the same text, and remove them from `left` and `right`. A text that two
    kernels of one list share is not used. `by` is noted in the pairs.
    """
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
    """Return the name of the kernel's function, without return type, template arguments and parameters."""
    return function_name(kernel.name)


def _may_replace(kernel: Kernel, other: Kernel, left: Sequence[Kernel], right: Sequence[Kernel]) -> bool:
    """Return whether `other` in the second run may have replaced `kernel` in the first.

    Either both are of one class; or each takes most of its run's time, and neither has an unmatched kernel of its class in the
    other run. `left` and `right` are the unmatched kernels of the first and second run.
    """
    if kernel.kind is other.kind:
        return True
    most = (kernel.share_percent or 0.0) > HALF_PERCENT and (other.share_percent or 0.0) > HALF_PERCENT
    alone = not any(each.kind is kernel.kind for each in right) and not any(each.kind is other.kind for each in left)
    return most and alone


def _likeness(kernel: Kernel, other: Kernel) -> tuple[bool, bool, bool]:
    """Return whether calls, grid and workgroup of two kernels are equal, as a sort key: the greater, the more alike."""
    mine, its = kernel.launch, other.launch
    return kernel.calls == other.calls, mine.grid == its.grid, mine.workgroup == its.workgroup


def _rank(kernel: Kernel, among: Sequence[Kernel]) -> int:
    return [each for each in among if each.kind is kernel.kind].index(kernel)
