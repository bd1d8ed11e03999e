"""Say what bounds a loop, of what can be counted: the SIMD, the LDS, memory; and what its accesses could not do better.

A SIMD starts at most one vector instruction of a wave of 32 lanes each cycle, and is busy with a matrix instruction for as long
as its operations take at the GPU's peak rate. The LDS serves one pass each cycle, for the two SIMDs of a compute unit. Sources:
AMD's RDNA 3 white paper and ISA guide; peak rates and bandwidths: expctl/profiles/roofline/peaks.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from expctl.domain.text import plain_text
from expctl.explain.figures import Figures, Group, Line, group_of
from expctl.profiles.roofline.peaks import ARITHMETIC, peak_of

SIMDS = 2
"""Of a compute unit, which share its LDS."""
LINE_BYTES = 128
MATRIX_OPERATIONS = 2 * 16 * 16 * 16
_UNIT_RATE = ARITHMETIC["gfx1151"].per_cycle["f16"]
"""Operations of a compute unit and cycle: of halves, bfloat16 and bytes alike; of 4-bit integers twice as many."""


def simd_cycles(mnemonic: str) -> float:
    """Return the fewest cycles for which an instruction occupies its SIMD; 0 unless it is a matrix or vector instruction."""
    group = group_of(mnemonic)
    if group is Group.MATRIX:
        return MATRIX_OPERATIONS * SIMDS / _UNIT_RATE / (2 if mnemonic.endswith("_iu4") else 1)
    return 1 if group is Group.VECTOR else 0


def bounds_of(total: Figures, lines: Sequence[Line], arch: str) -> Iterator[str]:
    """Yield sentences on the figures `total` of an iteration, and on the `lines` where they could be better."""
    yield _busiest(total)
    if total.lines:
        yield _memory(total, arch)
    for what, name in (("LDS passes", "passes"), ("Memory lines", "lines")):
        if getattr(total, name):
            yield _against_least(what, name, total, lines)


def _busiest(total: Figures) -> str:
    lds = SIMDS * total.passes
    simd = _cycles(total.cycles)
    if total.matrix:
        simd += f" ({shown(total.matrix)} matrix, {shown(total.instructions.get(Group.VECTOR, 0))} vector instructions)"
    if lds > total.cycles:
        passes = f"{shown(total.passes)} passes for each of the {SIMDS} SIMDs that share it take {_cycles(lds)}"
        return f"Bound by the LDS, of what is counted: {passes}; a SIMD is busy for at least {simd}."
    others = f"; the LDS, which {SIMDS} SIMDs share, for {shown(lds)}" if lds else ""
    return f"Bound by its SIMD, of what is counted: it is busy for at least {simd}{others}."


def _cycles(number: float) -> str:
    return f"{shown(number)} cycle{'' if number == 1 else 's'}"


def _memory(total: Figures, arch: str) -> str:
    need = total.lines * LINE_BYTES / max(total.cycles, SIMDS * total.passes, 1)
    said = f"Memory: {shown(total.lines * LINE_BYTES)} bytes of lines, {shown(need)} for each of these cycles"
    peak = peak_of(arch, "", None, None)
    if peak is None or peak.bandwidth_gbs is None:
        return f"{said}."
    simds = peak.flops_per_cycle["f16"] / _UNIT_RATE * SIMDS
    given = peak.bandwidth_gbs * 1e3 / peak.clock_mhz / simds
    if need <= given:
        return f"{said}, fewer than memory delivers ({shown(given)})."
    return f"{said}; memory delivers {shown(given)}, so it is the bound unless caches serve {100 * (1 - given / need):.0f} %."


def _against_least(what: str, name: str, total: Figures, lines: Sequence[Line]) -> str:
    def excess(figures: Figures) -> float:
        return float(getattr(figures, name) - getattr(figures, f"{name}_least"))

    count, least = shown(getattr(total, name)), shown(getattr(total, f"{name}_least"))
    if count == least:
        return f"{what}: {count}, the fewest that these accesses can do with."
    worst = max(lines, key=lambda each: excess(each.figures))
    where = f" at {plain_text(str(worst.place))}" if worst.place else " at no line"
    too_many = f"of the {shown(excess(total))} too many {shown(excess(worst.figures))} are{where}"
    return f"{what}: {count} where {least} would do; {too_many}."


def shown(number: float) -> str:
    """Return a number of three or more digits, without zeros after its point."""
    return f"{number:.{2 if number < 10 else 1}f}".rstrip("0").rstrip(".")
