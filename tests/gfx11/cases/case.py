"""One form of one instruction: where its operands lie, the operand sets, and what decides the result.

Source i lies in v4, v6, v8, ... (a pair where it is wide), a mask or a scalar in s4, s6, ...; result j in v0 or s0, v2 or s2.
A value of 16 bits is the low half of its register.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.single_instruction import execute, fresh_wave
from expctl.gfx11.text.operand import EXEC, SCC, VCC
from tests.gfx11.exact import DOUBLE, F16, F32, F64, HALF, SINGLE, U32, Format

Row = tuple[int, ...]
ROWS = 48
"""Operand sets of a case; all of them where the corners give fewer."""
BEFORE = 0x5A5A_A5A5
"""What results overwrite."""
_U16 = (0, 1, 2, 15, 16, 17, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x1234, 0xBEEF)
_WORDS = (*U32, 5, 63, 64)
_F32 = (
    *F32, 0x477FF000, 0x477FEFFF, 0x33000000, 0x33000001, 0x3F801000, 0x3F803000, 0x3F000000, 0x3FC00000, 0x40200000,
    0xBF000000,
    0xC0200000, 0x3EFFFFFF, 0x4F000000, 0xCF000000, 0x4F800000, 0x40490FDB, 0x477FE000, 0xC77FF000,
)  # fmt: skip
"""Ties and the ends of the ranges of half and integer, besides."""
CORNERS: dict[str, tuple[int, ...]] = {
    "i32": _WORDS, "i16": _U16, "f32": _F32, "f16": (*F16, 0x3801, 0xB800, 0x7BFE, 0x4248), "mask": (0, 1), "scc": (0, 1),
    "f64": F64,
    "i64": tuple(a | b << 32 for a in U32[::3] for b in U32[1::3]),
    "v2f16": tuple(a | b << 16 for a, b in product(F16, F16[::-1])),
    "v2i16": tuple(a | b << 16 for a, b in product(_U16, _U16[::2])),
}  # fmt: skip
WIDTHS = {"i64": 64, "f64": 64, "i16": 16, "f16": 16, "mask": 1, "scc": 1, "exec": 1}
_FORMATS: dict[str, Format] = {"f32": SINGLE, "f16": HALF, "f64": DOUBLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Exactly one of `ir` and `exact` says what the results are."""

    opcode: str
    text: str
    sources: tuple[str, ...]
    results: tuple[str, ...]
    ir: str = ""
    """LLVM: from %a, %b, ... to %r (and %s), to be folded."""
    exact: Callable[..., Any] | None = None
    """Integers to an integer, or one per result; None is a NaN."""
    places: tuple[str, ...] = ()
    """Registers of the sources, where they aren't the usual ones."""
    rows: tuple[Row, ...] = ()
    scalar: bool = False

    def __str__(self) -> str:
        return self.text

    def operand_sets(self) -> tuple[Row, ...]:
        corners = [CORNERS[kind] for kind in self.sources]
        if self.rows:
            return self.rows
        if prod(len(corner) for corner in corners) <= ROWS:
            return tuple(product(*corners))
        chance = random.Random(self.text)
        return tuple(tuple(chance.choice(corner) for corner in corners) for _ in range(ROWS))


def width(kind: str) -> int:
    return WIDTHS.get(kind, 32)


def computed(case: Case) -> Iterator[tuple[Row, tuple[int, ...]]]:
    """What the interpreter makes of every operand set."""
    rows, wave = case.operand_sets(), fresh_wave()
    lanes = 1 if case.scalar else 32
    for first in range(0, len(rows), lanes):
        yield from _batch(case, rows[first : first + lanes], wave)
    assert not wave.group.faults.all(), case.text


def _batch(case: Case, rows: tuple[Row, ...], wave: Wave) -> Iterator[tuple[Row, tuple[int, ...]]]:
    places = case.places or usual_places(case.sources, scalar=case.scalar)
    vectors: dict[int, list[int]] = {} if case.scalar else {n: [BEFORE] for n in range(4)}
    lanes = 0xFFFFFFFF
    scalars = dict.fromkeys(range(4), BEFORE)
    scalars[SCC] = 0
    for i, (place, kind) in enumerate(zip(places, case.sources, strict=True)):
        values = [row[i] | (0xDEAD << 16 if width(kind) == 16 else 0) for row in rows]
        n = int(place[1:]) if place[1:].isdigit() else {"vcc": VCC, "scc": SCC, "exec": EXEC}[place]
        lanes = values[0] if place == "exec" else lanes
        if kind == "mask":
            scalars[n] = sum(value << lane for lane, value in enumerate(values))
        elif place[0] == "v":
            vectors[n] = [value & 0xFFFFFFFF for value in values]
            if width(kind) == 64:
                vectors[n + 1] = [value >> 32 for value in values]
        else:
            scalars[n] = values[0] & 0xFFFFFFFF
            if width(kind) == 64:
                scalars[n + 1] = values[0] >> 32
    wave.set_exec(lanes)
    execute(wave, case.text, vectors=vectors, scalars=scalars)
    for lane, row in enumerate(rows):
        yield row, tuple(_result(case, wave, j, kind, lane) for j, kind in enumerate(case.results))


def usual_places(sources: tuple[str, ...], *, scalar: bool) -> tuple[str, ...]:
    registers = iter(range(4, 24, 2))
    return tuple("scc" if kind == "scc" else f"{'s' if scalar or kind == 'mask' else 'v'}{next(registers)}" for kind in sources)


def _result(case: Case, wave: Any, j: int, kind: str, lane: int) -> int:
    if kind == "active":
        return int(wave.exec)
    if kind in ("mask", "exec"):
        return int(wave.scalar[EXEC if kind == "exec" else 2 * j]) >> lane & 1
    if kind == "scc":
        return int(wave.scalar[SCC])
    low, high = wave.scalar[2 * j : 2 * j + 2] if case.scalar else (int(wave.u32[2 * j + k][lane]) for k in (0, 1))
    if width(kind) == 64:
        return low | high << 32
    if width(kind) == 16:
        assert low >> 16 == (0 if case.scalar else BEFORE >> 16), f"{case.text} changes the other half"
        return low & 0xFFFF
    return int(low)


def agree(found: int, wanted: int | None, kind: str) -> bool:
    """Bit by bit, but a NaN is a NaN."""
    if kind == "v2f16" and wanted is not None:
        return all(agree(found >> s & 0xFFFF, wanted >> s & 0xFFFF, "f16") for s in (0, 16))
    form = _FORMATS.get(kind)
    if form is None:
        return found == wanted
    if wanted is None or form.is_nan(wanted):
        return form.is_nan(found)
    return found == wanted
