"""Reduce a profile to the figures that a record keeps: those of the kernels with the most time, under short names."""

from collections.abc import Iterator, Sequence

from expctl.domain.experiment.record import Fact
from expctl.domain.protocol.model import NumberKind
from expctl.domain.text import one_line
from expctl.profiles.diff.kernel_evidence import evidence_of
from expctl.profiles.diff.kernel_pairs import short_name
from expctl.profiles.model.kernel_profile import Kernel

KERNELS = 4
SHARE_PERCENT = 2.0
NAME_SHOWN = 60
SHARE_OF = "share of "


def facts_of(kernels: Sequence[Kernel]) -> tuple[Fact, ...]:
    """Return the figures (us per call, clock, registers, ...) of the kernels that take most of the time. They are at most 4,
    with 2 % of the time or more each. `kernels` must be ordered by time, most first, with occupancy computed.
    """
    shown = [each for each in kernels if each.share_percent is None or each.share_percent >= SHARE_PERCENT][:KERNELS]
    facts: dict[str, Fact] = {}
    for kernel in shown:
        for fact in _facts(kernel, one_line(short_name(kernel), NAME_SHOWN)):
            facts.setdefault(fact.name, fact)  # of two instances of one template, the one with more time is kept
    return tuple(facts.values())


def class_shares(kernels: Sequence[Kernel]) -> Iterator[Fact]:
    """Yield the share of each class of kernels in the time of all, in percent, largest first."""
    total_ns = sum(kernel.total_ns or 0 for kernel in kernels)
    by_class: dict[str, int] = {}
    for kernel in kernels:
        by_class[kernel.kind.value] = by_class.get(kernel.kind.value, 0) + (kernel.total_ns or 0)
    for name, spent_ns in sorted(by_class.items(), key=lambda each: -each[1]):
        share = round(100 * spent_ns / total_ns, 2) if total_ns else 0.0
        yield Fact(name=f"{SHARE_OF}{name}", value=share, unit="%", kind=NumberKind.DEVICE_TIME)


def _facts(kernel: Kernel, name: str) -> Iterator[Fact]:
    evidence, time, count, static = evidence_of(kernel), NumberKind.DEVICE_TIME, NumberKind.EXACT_COUNT, NumberKind.STATIC
    figures = (
        ("time", None if evidence.time_ns is None else round(evidence.time_ns / 1e3, 3), "us", time),
        ("clock", None if evidence.clock_mhz is None else round(evidence.clock_mhz), "MHz", time),
        ("vgpr", evidence.vgpr, "", static),
        ("lds", evidence.lds_bytes, "B", static),
        ("scratch", evidence.scratch_bytes, "B", static),
        ("occupancy", evidence.resident_percent, "%", static),
        ("instructions", evidence.instructions, "", count),
        ("spill instructions", evidence.spills, "", count),
        ("bank conflicts", evidence.conflicts, "", count),
    )
    for what, value, unit, kind in figures:
        if value is not None:
            yield Fact(name=f"{name} {what}", value=value, unit=unit, kind=kind)
