"""Compare two profiled runs: how each kernel changed, and one sentence on why the total changed, if there is a clear reason."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from expctl.domain.experiment.figures import time_text
from expctl.domain.layout import cut_middle
from expctl.domain.text import plain_text
from expctl.profiles.diff.cause import Cause, CauseKind, cause_of
from expctl.profiles.diff.comparable import moved_along
from expctl.profiles.diff.figures import percent_text
from expctl.profiles.diff.kernel_evidence import KernelEvidence, evidence_of
from expctl.profiles.diff.kernel_pairs import Pair, PairedBy, pair_up, short_name
from expctl.profiles.diff.noise import differs, ratio, slowdown
from expctl.profiles.diff.replacement import replacement_words
from expctl.profiles.model.kernel_profile import Kernel

MAIN_SHARE = 0.5
"""Least share of all changes that the named cause must explain."""
AGREED_SHARE = 0.4
MIX_FREEDOM = 4
"""Least degrees of freedom (calls minus launches) from which the noise within equal launches is estimated."""
KERNEL_PERCENT = 1.0
"""Least share of a pass that an added or missing kernel must take to be named."""
NAME_SHOWN = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelChange:
    """The change of a kernel between two runs: its figures before and after, and the cause (None if unknown). `slower` is time
    after / before, None if the change is within the noise.
    """

    pair: Pair
    before: KernelEvidence
    after: KernelEvidence
    slower: float | None
    cause: Cause | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The reason why a run became slower or faster, as one sentence; `kernel` is the name of the kernel that caused it."""

    kind: CauseKind
    kernel: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunChange:
    """The changes between two runs: `missing` kernels are only in the first, `extra` ones only in the second.

    `before_ns` and `after_ns` are the mean times of one pass, i.e. one repetition of the kernels that the program repeats; None
    if it can't be told how often they are repeated. `why` explains the change of this time, None if there is no clear reason.
    """

    changes: tuple[KernelChange, ...]
    missing: tuple[Kernel, ...]
    extra: tuple[Kernel, ...]
    before_ns: float | None
    after_ns: float | None
    why: Explanation | None
    incomparable: str = ""
    """Why the two profiles can't explain a change; "" where they can."""


def compare_runs(before: Sequence[Kernel], after: Sequence[Kernel], *, incomparable: str = "") -> RunChange:
    """Return what changed between the kernels of two runs. Both must be ordered by time, most first, with occupancies computed.
    A non-empty `incomparable` says why the runs can't be compared; then times are compared, but no cause is given.
    """
    paired = pair_up(before, after)
    changes = tuple(replace(each, cause=None) if incomparable else each for each in map(_change, paired.pairs))
    passes = _passes(changes, before, after)
    found = RunChange(
        changes=changes,
        missing=paired.missing,
        extra=paired.extra,
        before_ns=_total(before) / passes[0] if passes else None,
        after_ns=_total(after) / passes[1] if passes else None,
        why=None,
        incomparable=incomparable,
    )
    return replace(found, why=_why(found, passes)) if passes and not incomparable else found


def _change(pair: Pair) -> KernelChange:
    before, after = evidence_of(pair.before), evidence_of(pair.after)
    if _is_same_mix(pair.before, pair.after):  # noise within equal launches, without their mix
        before = replace(before, deviation_ns=pair.before.repeat_sd_ns)
        after = replace(after, deviation_ns=pair.after.repeat_sd_ns)
    cause = cause_of(before, after)
    slower = slowdown(before, after) or (ratio(before.time_ns, after.time_ns) if cause else None)
    if pair.by is PairedBy.ROLE and slower is not None and not _may_compare_times(before, after):
        cause = Cause(kind=CauseKind.KERNEL, words=replacement_words(pair.before, pair.after))
    return KernelChange(pair=pair, before=before, after=after, slower=slower, cause=cause)


def _is_same_mix(before: Kernel, after: Kernel) -> bool:
    """Return whether both kernels were called with the same mix of several launch configurations. There must also be
    MIX_FREEDOM more calls than configurations, enough to compute a deviation within each.
    """
    calls = [[launch.calls or 0 for launch in kernel.launches] for kernel in (before, after)]
    return len(calls[0]) > 1 and calls[0] == calls[1] and sum(calls[0]) - len(calls[0]) >= MIX_FREEDOM


def _may_compare_times(before: KernelEvidence, after: KernelEvidence) -> bool:
    """Return whether times of two kernels with different names may be compared. They may if both use equal resources, or if it
    is known how much work each does.
    """
    mine, its = ((each.vgpr, each.lds_bytes, each.scratch_bytes, each.workgroup) for each in (before, after))
    same_code = before.vgpr is not None and mine == its
    return same_code or (before.work is not None and after.work is not None)


def _passes(changes: Sequence[KernelChange], before: Sequence[Kernel], after: Sequence[Kernel]) -> tuple[int, int] | None:
    """Return how often the first and the second run repeat their kernels; None if that can't be told.

    Pairs of kernels are grouped by their ratio of calls after / before. In the largest group, the calls of the pair with the
    most time are returned. If it makes up less than 40 % of either run's time, the runs are of two programs or phases.
    """
    timed = [each.pair for each in changes if each.pair.before.total_ns and each.pair.after.total_ns]
    if not timed:
        return None
    factors = Counter(pair.after.calls / pair.before.calls for pair in timed)
    most = max(factors.values())
    factor = 1.0 if factors.get(1.0) == most else next(each for each, count in factors.items() if count == most)
    agreed = [pair for pair in timed if pair.after.calls / pair.before.calls == factor]
    sides = (([pair.before for pair in agreed], before), ([pair.after for pair in agreed], after))
    if any(_total(kernels) < AGREED_SHARE * _total(everything) for kernels, everything in sides):
        return None
    return agreed[0].before.calls, agreed[0].after.calls


def _total(kernels: Sequence[Kernel]) -> int:
    return sum(each.total_ns or 0 for each in kernels)


def _why(found: RunChange, passes: tuple[int, int]) -> Explanation | None:
    """Return the explanation of the change of a pass's time by the kernel that changed most; None if none is clear.

    That kernel's change must be at least half of all kernels' changes, and in the direction of the total. `passes` is how often
    each run repeats its kernels.
    """
    moved = [(_per_pass(each.pair.after, passes[1]) - _per_pass(each.pair.before, passes[0]), each) for each in found.changes]
    added = [(_per_pass(each, passes[1]), each) for each in found.extra]
    gone = [(-_per_pass(each, passes[0]), each) for each in found.missing]
    everything = math.fsum(abs(delta) for delta, _ in (*moved, *added, *gone))
    total = (found.after_ns or 0.0) - (found.before_ns or 0.0)
    if not everything or not total:
        return None
    parts: list[tuple[float, KernelChange | Kernel]] = [*moved, *added, *gone]
    delta, what = max(parts, key=lambda each: abs(each[0]))
    if abs(delta) < MAIN_SHARE * everything or (delta > 0) != (total > 0):
        return None
    if isinstance(what, KernelChange):
        return _why_of_pair(what, passes, found.changes, max(found.before_ns or 0.0, found.after_ns or 0.0))
    if what.calls < passes[0 if delta < 0 else 1]:
        return None  # not part of every pass
    share = 100 * abs(delta) / max(found.before_ns or 0.0, found.after_ns or 0.0)
    if share < KERNEL_PERCENT or abs(total) < abs(delta) / 3:
        return None
    word, kind = ("one more kernel", CauseKind.EXTRA) if delta > 0 else ("one kernel less", CauseKind.MISSING)
    name = cut_middle(plain_text(short_name(what)), NAME_SHOWN)
    sentence = (
        f"A pass is {time_text(abs(total))} {'longer' if total > 0 else 'shorter'} with {word}: {name} ({what.kind}),"
        f" {time_text(abs(delta))}, {share:.1f} % of the pass."
    )
    return Explanation(kind=kind, kernel=what.name, sentence=sentence)


def _why_of_pair(
    change: KernelChange, passes: tuple[int, int], changes: Sequence[KernelChange], longest_ns: float
) -> Explanation | None:
    """Return the explanation by a kernel of both runs; None if its figures give none. `longest_ns` is the longer pass."""
    name = cut_middle(plain_text(short_name(change.pair.after)), NAME_SHOWN)
    calls = [change.pair.before.calls / passes[0], change.pair.after.calls / passes[1]]
    if differs(ratio(*calls), KERNEL_PERCENT):
        delta = _per_pass(change.pair.after, passes[1]) - _per_pass(change.pair.before, passes[0])
        if 100 * abs(delta) < KERNEL_PERCENT * longest_ns:
            return None
        words = f"{name} is called {calls[0]:.3g} -> {calls[1]:.3g} times in a pass."
        return Explanation(kind=CauseKind.CALLS, kernel=change.pair.after.name, sentence=words)
    time = ratio(change.before.time_ns, change.after.time_ns)
    if change.cause is None or time is None:
        return None
    others = [(each.before, each.after) for each in changes if each is not change]
    if None in (change.before.cycles, change.after.cycles) and moved_along(time, others):
        return None  # a clock may have changed; only cycles would show it
    return Explanation(
        kind=change.cause.kind, kernel=change.pair.after.name, sentence=f"{name} takes {_longer(time)}: {change.cause.words}."
    )


def _longer(time: float) -> str:
    words = percent_text(time)
    return f"{words.lstrip('+-')} {'longer' if time > 1 else 'less time'}" if words.endswith("%") else f"{words} as long"


def _per_pass(kernel: Kernel, passes: int) -> float:
    return (kernel.total_ns or 0) / passes
