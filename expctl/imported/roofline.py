"""Limits that no kernel can exceed, for the audit of a hand-kept ledger: the GPU's peak, and the work of one iteration."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from expctl.domain.protocol.model import Protocol
from expctl.imported.figures import Figure, Quantity

SLIP = 1000
"""Factor between a unit and the next, e.g. ms and us."""

CUBE = re.compile(r"n=(\d+)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roofline:
    """The GPU's peak in FLOP/s (0: unknown), and the FLOP of one iteration by problem size, e.g. `n=8192`. `source` says where
    they were stated.
    """

    peak_flops: float = 0.0
    flop: Mapping[str, int] = field(default_factory=dict)
    source: str = ""

    def work(self, size: str) -> int:
        """Return the FLOP of one iteration at `size` (`n=8192`), 0 if unknown. For a size not in `flop` they are 2 n^3,
        provided that all known sizes follow this formula.
        """
        if size in self.flop:
            return self.flop[size]
        cube = CUBE.fullmatch(size)
        squares = [CUBE.fullmatch(name) for name in self.flop]
        if cube and squares and all(
            found and self.flop[found[0]] == 2 * int(found[1]) ** 3 for found in squares
        ):  # fmt: skip
            return 2 * int(cube[1]) ** 3
        return 0

    def times_peak(self, figure: Figure) -> float:
        """Return the throughput that a figure states or implies, as a multiple of the peak; 0 where that can't be computed. A
        time without a size is taken as that of the least work of all sizes, so that it isn't wrongly found too fast.
        """
        if not self.peak_flops:
            return 0.0
        if figure.quantity is Quantity.THROUGHPUT:
            return figure.value / self.peak_flops
        if figure.quantity is not Quantity.TIME or figure.value <= 0:
            return 0.0
        work = self.work(figure.size) if figure.size else min(self.flop.values(), default=0)
        return work / (figure.value * 1e-9) / self.peak_flops


def roofline_of(protocol: Protocol, target: str) -> Roofline:
    """Return the peak and the work per size that protocol.yaml gives for `target`; fields that it doesn't give stay empty."""
    found = protocol.targets.get(target)
    benchmark = found.benchmark if found else None
    if benchmark is None:
        return Roofline()
    flop = {size.name: size.flop for size in benchmark.sizes if size.flop}
    source = f"protocol.yaml, {target}: {benchmark.peak_tflops:g} TFLOP/s" if benchmark.peak_tflops else ""
    return Roofline(peak_flops=benchmark.peak_tflops * 1e12, flop=flop, source=source)


def agrees(throughput: float, time_ns: float, work: int) -> bool:
    """Return whether `work` FLOP in `time_ns` are `throughput` FLOP/s within 5 %; False for unknown work (0)."""
    return bool(work) and math.isclose(work / (time_ns * 1e-9), throughput, rel_tol=0.05)
