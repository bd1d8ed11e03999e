"""Rank the classes of kernels by what working on them can give, with the rung of the ladder that applies to each."""

from collections.abc import Mapping
from dataclasses import dataclass

from expctl.profiles.bottleneck.amdahl import most_saved
from expctl.profiles.bottleneck.ladder import MEND, Rung, rung_of, rung_of_idle
from expctl.profiles.model.kernel_profile import MEND_PERCENT, KernelClass, Profile, class_shares, unidentified_percent
from expctl.profiles.roofline.ceilings import Position

TWICE = 2.0
IDLE = "idle GPU"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One class of kernels, or the idle GPU; percentages are of the run's time, kernels and gaps.

    The share is also what is saved if the part takes no time at all: the run is `most_times` as fast then (None: nothing is
    left). `twice_percent` is saved if it becomes twice as fast, `roof_percent` if its kernels run at the roofline (None unless
    known for most of their time).
    """

    name: str
    share_percent: float
    most_times: float | None
    twice_percent: float
    roof_percent: float | None
    rung: Rung


@dataclass(frozen=True, slots=True, kw_only=True)
class BottleneckReport:
    """The parts of a run, largest share first, and which to work on next with the reason; `whole_ns` is the run's time."""

    whole_ns: int
    unidentified_percent: float
    parts: tuple[Part, ...]
    next_part: str
    next_rung: Rung
    reason: str


def bottlenecks(profile: Profile, positions: Mapping[str, Position]) -> BottleneckReport | None:
    """Return the bottleneck report of `profile`; None for a profile without times. `positions` are roofline positions by kernel
    name. Idle time counts where the profiler recorded when kernels ran, and it never counts below the kernels' own time.
    """
    if not profile.total_ns:
        return None
    idle = sum(each.idle_ns for each in profile.timelines)
    gaps = sum(each.launch_gap_ns for each in profile.timelines)
    whole = profile.total_ns + idle
    parts = [
        _part(
            each.kind.value, each.total_ns, whole, _at_roof(profile, each.kind, positions), rung_of(each.kind, profile.kernels)
        )
        for each in class_shares(profile.kernels, profile.total_ns)
    ]
    if idle:
        parts.append(_part(IDLE, idle, whole, None, rung_of_idle(gaps, idle)))
    parts.sort(key=lambda each: -each.share_percent)
    unknown = unidentified_percent(profile)
    largest = parts[0]
    if unknown > MEND_PERCENT:
        reason = f"{unknown:.1f} % of the kernels' time is unidentified, more than {MEND_PERCENT:.0f} %"
        chosen, rung = KernelClass.OTHER.value, MEND
    else:
        reason = f"the largest share, {largest.share_percent:.1f} % of the time; without it the run would take {_left(largest)}"
        chosen, rung = largest.name, largest.rung
    return BottleneckReport(
        whole_ns=whole, unidentified_percent=unknown, parts=tuple(parts), next_part=chosen, next_rung=rung, reason=reason
    )


def _part(name: str, time_ns: int, whole_ns: int, roof_saved_ns: float | None, rung: Rung) -> Part:
    share = 100 * time_ns / whole_ns
    return Part(
        name=name,
        share_percent=share,
        most_times=100 / (100 - share) if share < 100 else None,
        twice_percent=most_saved(share, TWICE),
        roof_percent=None if roof_saved_ns is None else 100 * roof_saved_ns / whole_ns,
        rung=rung,
    )


def _at_roof(profile: Profile, kind: KernelClass, positions: Mapping[str, Position]) -> float | None:
    """Return the time (ns) that the kernels of one class would save at their roofline; None unless their position is known for
    at least half of their time. Where it isn't known nothing is saved.
    """
    saved, known, total = 0.0, 0, 0
    for kernel in profile.kernels:
        if kernel.kind is not kind:
            continue
        time, place = kernel.total_ns or 0, positions.get(kernel.name)
        total += time
        shares = [each for each in (place.compute_percent, place.memory_percent) if each is not None] if place else []
        if shares:
            known += time
            saved += time * max(0.0, 1 - max(shares) / 100)
    return saved if 2 * known >= total > 0 else None


def _left(part: Part) -> str:
    return f"1/{part.most_times:.2f} of the time" if part.most_times is not None else "no time"
