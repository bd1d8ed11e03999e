"""Pair the kernels of two runs: by name, by name without arguments, then by role.

The role of a kernel is what it computes: its class, the torch operator that launched it, words that its name shares with
another, its place in the stream between kernels that are paired already, and its calls and launch.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from expctl.domain.patch.function_name import function_name
from expctl.profiles.model.kernel_profile import Kernel, KernelClass
from expctl.profiles.model.name_words import words_of

HALF_PERCENT = 50.0
ALIKE = 0.5
"""Least share of common words (of all words of both) at which two names are alike."""
MOST_BY_ROLE = 200
"""Kernels of each run, most time first, that are compared with each other to pair them by role."""


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
    pairs += _take_by_role(left, right, _Streams.of(before, after, pairs))
    pairs.sort(key=lambda each: -max(each.before.total_ns or 0, each.after.total_ns or 0))
    return Pairing(pairs=tuple(pairs), missing=tuple(left), extra=tuple(right))


@dataclass(frozen=True, slots=True)
class _Streams:
    """The order in which both runs first launch their kernels, as the names before and after each, and what is paired already.
    `factor` is the ratio of calls after / before that most of these pairs have.
    """

    before: Mapping[str, tuple[str, str]]
    after: Mapping[str, tuple[str, str]]
    paired: Mapping[str, str]
    factor: float

    @classmethod
    def of(cls, before: Sequence[Kernel], after: Sequence[Kernel], pairs: Sequence[Pair]) -> "_Streams":
        factors = Counter(pair.after.calls / pair.before.calls for pair in pairs if pair.before.calls)
        factor = factors.most_common(1)[0][0] if factors else 1.0
        return cls(_neighbours(before), _neighbours(after), {pair.before.name: pair.after.name for pair in pairs}, factor)

    def common(self, kernel: Kernel, other: Kernel) -> int:
        """Return how many of the two neighbours of `kernel` in the first run are paired with those of `other` in the second."""
        mine, its = self.before.get(kernel.name, ("", "")), self.after.get(other.name, ("", ""))
        return sum(self.paired.get(each) == paired for each, paired in zip(mine, its, strict=True) if each)


def _neighbours(kernels: Sequence[Kernel]) -> dict[str, tuple[str, str]]:
    ordered = [
        each.name for each in sorted((each for each in kernels if each.place is not None), key=lambda each: each.place or 0)
    ]
    around = ["", *ordered, ""]
    return {name: (around[number], around[number + 2]) for number, name in enumerate(ordered)}


def _take_named(left: list[Kernel], right: list[Kernel], name: Callable[[Kernel], str], by: PairedBy) -> list[Pair]:
    """Return pairs of kernels for which `name` gives the same text, and remove them from `left` and `right`. A text that two
    kernels of one list share is not used. `by` is noted in the pairs.
    """
    mine, theirs = _unique(left, name), _unique(right, name)
    pairs = [Pair(before=kernel, after=theirs[key], by=by) for key, kernel in mine.items() if key in theirs]
    _remove(pairs, left, right)
    return pairs


def _take_by_role(left: list[Kernel], right: list[Kernel], streams: _Streams) -> list[Pair]:
    """Return pairs of kernels with the same role, the most certain first, and remove them from `left` and `right`."""
    ranked = []
    words = {kernel.name: frozenset(words_of(kernel.name).split()) for kernel in (*left[:MOST_BY_ROLE], *right[:MOST_BY_ROLE])}
    for rank, kernel in enumerate(left[:MOST_BY_ROLE]):
        for its_rank, other in enumerate(right[:MOST_BY_ROLE]):
            if not _may_replace(kernel, other, left, right):
                continue
            shared = _shared(words[kernel.name], words[other.name])
            operator = _operator(kernel) != "" and _operator(kernel) == _operator(other)
            common, calls = streams.common(kernel, other), kernel.calls * streams.factor == other.calls
            if shared < ALIKE and not (operator or common or calls or _first_of_class(kernel, other, left, right)):
                continue
            apart = abs(_rank(kernel, left) - _rank(other, right))
            score = (operator, round(shared, 1) if shared >= ALIKE else 0.0, common, calls, *_likeness(kernel, other), -apart)
            ranked.append((score, -rank, -its_rank, kernel, other))
    pairs: list[Pair] = []
    taken: set[tuple[str, str]] = set()
    for *_, kernel, other in sorted(ranked, key=lambda each: each[:3], reverse=True):
        if ("before", kernel.name) in taken or ("after", other.name) in taken:
            continue
        taken |= {("before", kernel.name), ("after", other.name)}
        pairs.append(Pair(before=kernel, after=other, by=PairedBy.ROLE))
    _remove(pairs, left, right)
    return pairs


def _remove(pairs: Sequence[Pair], left: list[Kernel], right: list[Kernel]) -> None:
    for pair in pairs:
        left.remove(pair.before)
        right.remove(pair.after)


def _unique(kernels: Sequence[Kernel], name: Callable[[Kernel], str]) -> dict[str, Kernel]:
    counts = Counter(map(name, kernels))
    return {name(kernel): kernel for kernel in kernels if counts[name(kernel)] == 1}


def short_name(kernel: Kernel) -> str:
    """Return the name of the kernel's function, without return type, template arguments and parameters."""
    return function_name(kernel.name)


def _may_replace(kernel: Kernel, other: Kernel, left: Sequence[Kernel], right: Sequence[Kernel]) -> bool:
    """Return whether `other` in the second run may have replaced `kernel` in the first.

    Either both are of one class; or the class of one isn't known, each takes most of its run's time, and neither has an
    unmatched kernel of its class in the other run. `left` and `right` are the unmatched kernels of the first and second run.
    """
    if kernel.kind is other.kind:
        return True
    if KernelClass.OTHER not in (kernel.kind, other.kind):
        return False  # a product does not replace an activation
    most = (kernel.share_percent or 0.0) > HALF_PERCENT and (other.share_percent or 0.0) > HALF_PERCENT
    alone = not any(each.kind is kernel.kind for each in right) and not any(each.kind is other.kind for each in left)
    return most and alone


def _shared(mine: frozenset[str], its: frozenset[str]) -> float:
    return len(mine & its) / len(mine | its) if mine and its else 0.0


def _operator(kernel: Kernel) -> str:
    return kernel.origins[0].operator if kernel.origins else ""


def _first_of_class(kernel: Kernel, other: Kernel, left: Sequence[Kernel], right: Sequence[Kernel]) -> bool:
    return _rank(kernel, left) == 0 and _rank(other, right) == 0


def _likeness(kernel: Kernel, other: Kernel) -> tuple[bool, bool]:
    """Return whether grid and workgroup of two kernels are equal, as a sort key: the greater, the more alike."""
    mine, its = kernel.launch, other.launch
    return mine.grid == its.grid, mine.workgroup == its.workgroup


def _rank(kernel: Kernel, among: Sequence[Kernel]) -> int:
    return [each for each in among if each.kind is kernel.kind].index(kernel)
