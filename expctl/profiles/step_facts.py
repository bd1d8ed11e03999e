"""A profile reduced to the facts that go into profile.json: the kernels that take most of the time, by their short names."""

from collections.abc import Iterator, Sequence

from expctl.domain.experiment.record import Fact
from expctl.domain.protocol.model import NumberKind
from expctl.domain.text import one_line
from expctl.profiles.diff.kernel_evidence import signs_of
from expctl.profiles.diff.kernel_pairs import short_name
from expctl.profiles.model.kernel_profile import Kernel

KERNELS = 4
SHARE_PERCENT = 2.0
NAME_SHOWN = 60


def facts_of(kernels: Sequence[Kernel]) -> tuple[Fact, ...]:
    """Of kernels with most time first, whose occupancy has been worked out. Times are means per call."""
    shown = [each for each in kernels if each.share_percent is None or each.share_percent >= SHARE_PERCENT][:KERNELS]
    facts: dict[str, Fact] = {}
    for kernel in shown:
        for fact in _facts(kernel, one_line(short_name(kernel), NAME_SHOWN)):
            facts.setdefault(fact.name, fact)  # two templates of one name: the one with more time speaks
    return tuple(facts.values())


def _facts(kernel: Kernel, name: str) -> Iterator[Fact]:
    signs, time, count, static = signs_of(kernel), NumberKind.DEVICE_TIME, NumberKind.EXACT_COUNT, NumberKind.STATIC
    figures = (
        ("time", None if signs.time_ns is None else round(signs.time_ns / 1e3, 3), "us", time),
        ("clock", None if signs.clock_mhz is None else round(signs.clock_mhz), "MHz", time),
        ("vgpr", signs.vgpr, "", static),
        ("lds", signs.lds_bytes, "B", static),
        ("scratch", signs.scratch_bytes, "B", static),
        ("occupancy", signs.resident_percent, "%", static),
        ("instructions", signs.instructions, "", count),
        ("spill instructions", signs.spills, "", count),
        ("bank conflicts", signs.conflicts, "", count),
    )
    for what, value, unit, kind in figures:
        if value is not None:
            yield Fact(name=f"{name} {what}", value=value, unit=unit, kind=kind)
