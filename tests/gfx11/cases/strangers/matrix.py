"""Matrix instructions and dot products: special values in one row, accumulators that round, overflow or saturate."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from expctl.gfx11.single_instruction import execute, fresh_wave
from tests.gfx11.cases.case import Case
from tests.gfx11.cases.procedure import Procedure, kinds
from tests.gfx11.cases.strangers.form import hard
from tests.gfx11.cases.strangers.numbers import HALF, SINGLE, Binary, Value

BRAIN = Binary(16, 7)
_LANES, _SIDE = range(32), range(16)
Matrix = list[list[int]]
"""Bit patterns."""


def of(form: Binary, text: Callable[[int, int], str]) -> Matrix:
    return [[form.number(text(i, j)) for j in _SIDE] for i in _SIDE]


def packed(rows: Matrix) -> dict[int, list[int]]:
    """Register r of lane n: values 2 r and 2 r + 1 of row n modulo 16, the first below."""
    return {r: [rows[n % 16][2 * r] | rows[n % 16][2 * r + 1] << 16 for n in _LANES] for r in range(8)}


def total(values: list[Value]) -> Value:
    """With infinities as IEEE adds them, else exact."""
    special = [value for value in values if isinstance(value, float)]
    return sum(special) if special else sum((value for value in values if isinstance(value, Fraction)), Fraction(0))


def times(x: Value, y: Value) -> Value:
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x * y
    if math.isnan(x) or math.isnan(y) or 0 in (x, y):
        return math.nan
    return math.inf if (x > 0) == (y > 0) else -math.inf


def same(found: int, wanted: Value, form: Binary) -> bool:
    """Signs of zeros apart."""
    if isinstance(wanted, float) and math.isnan(wanted):
        return form.is_nan(found)
    if isinstance(wanted, float):
        return form.value(found) == wanted
    return form.value(found) == form.value(form.nearest(wanted))


def check(text: str, form: Binary, result: Binary, upper: int, matrices: tuple[Matrix, Matrix, Matrix]) -> None:
    """A lies in v10.., B's columns in v20.., C in v30... `upper`: which half of its registers a narrow C is in, and D."""
    a, b, c = matrices
    vectors = {10 + r: words for r, words in packed(a).items()} | {20 + r: words for r, words in packed(b).items()}
    shift = 16 * upper
    for r in range(8):
        vectors[30 + r] = [c[2 * r + n // 16][n % 16] << shift for n in _LANES]
    wave = execute(fresh_wave(lanes=0), text, vectors=vectors)
    for r in range(8):
        for n in _LANES:
            i, j = 2 * r + n // 16, n % 16
            wanted = total([times(form.value(a[i][k]), form.value(b[j][k])) for k in _SIDE] + [result.value(c[i][j])])
            found = int(wave.u32[30 + r][n]) >> shift & (1 << result.bits) - 1
            assert same(found, wanted, result), f"{text}: row {i}, column {j} is {found:#x}, expected {wanted}"
    assert kinds(wave) == []


def special(form: Binary, result: Binary) -> tuple[Matrix, Matrix, Matrix]:
    """Row 3 of A has an infinity, row 5 a NaN, row 7 two infinities; column 2 of B is 0, column 4 of C infinite."""
    a = of(
        form,
        lambda i, k: {(3, 9): "inf", (5, 0): "qnan", (7, 1): "inf", (7, 2): "-inf", (9, 15): "-inf"}.get((i, k), f"{i - 8}.0"),
    )
    b = of(form, lambda j, k: "0.0" if j == 2 else f"{k + 1}.0")
    return a, b, of(result, lambda i, j: "-inf" if j == 4 else "snan" if (i, j) == (15, 15) else f"{3 * i - j}.5")


def rounded(form: Binary, result: Binary) -> tuple[Matrix, Matrix, Matrix]:
    """Small products on a large C of every sign and, by C's row, below, at and above a tie."""
    unit = 1 << result.fraction + 1  # half an ulp is 1
    a = of(form, lambda i, k: ("1.0", "-1.0", "0.5", "1.5")[i % 4] if k == i else "0.0")
    b = of(form, lambda j, k: f"{1 + j % 3}.0")
    return a, b, of(result, lambda i, j: f"{(-1) ** j * (unit + 2 * (j // 2))}.0")


def large(form: Binary, result: Binary) -> tuple[Matrix, Matrix, Matrix]:
    """Products beyond what the result holds; in even rows C brings the sum back."""
    a = of(form, lambda i, k: "0x1p8" if k in (i, 15 - i) else "0.0")
    b = of(form, lambda j, k: ("0x1p7", "-0x1p7", "0x1.ep6")[j % 3])
    return a, b, of(result, lambda i, j: ("-0x1p12", "0.0")[i % 2] if j % 3 != 1 else ("0x1p15", "-0x1p5")[i % 2])


def small(form: Binary, result: Binary) -> tuple[Matrix, Matrix, Matrix]:
    """Denormal factors, and sums that are denormal or cancel."""
    a = of(form, lambda i, k: ("tiny", "-tiny", "least", "0x3p-20")[(i + k) % 4] if (i + k) % 3 else "0.0")
    b = of(form, lambda j, k: ("1.0", "-0.5", "0x1p-3", "3.0")[(3 * j + k) % 4])
    return a, b, of(result, lambda i, j: ("tiny", "-tiny", "0.0", "least")[(i + j) % 4])


_KINDS = {"f16": HALF, "bf16": BRAIN, "f32": SINGLE}
Build = Callable[[Binary, Binary], tuple[Matrix, Matrix, Matrix]]


def _case(to: str, kind: str, upper: int) -> Procedure:
    """How single precision adds isn't documented, nor what the machine makes of bfloat16's denormals."""
    form, result, opcode = _KINDS[kind], _KINDS[to], f"v_wmma_{to}_16x16x16_{kind}"
    text = f"{opcode} v[30:37], v[10:17], v[20:27], v[30:37]{' op_sel:[0,0,1]' if upper else ''}"
    builds: list[Build] = [special, large, *([small] if form is HALF else []), *([rounded] if result is form else [])]

    def check_all() -> None:
        for build in builds:
            check(text, form, result, upper, build(form, result))

    return Procedure(opcode=opcode, text=text, check=check_all)


def integers(text: str, bits: int, signs: tuple[bool, bool], clamps: bool) -> None:
    """Extremes only: all the least, all the greatest, and both in turn, on sums that leave 32 bits on either side."""
    low, high = zip(*((-(1 << bits - 1), (1 << bits - 1) - 1) if sign else (0, (1 << bits) - 1) for sign in signs), strict=True)
    a = [[(low[0], high[0], (low[0], high[0])[k % 2])[i % 3] for k in _SIDE] for i in _SIDE]
    b = [[(high[1], low[1], (high[1], low[1])[k % 2])[j % 3] for k in _SIDE] for j in _SIDE]
    c = [[((1 << 31) - 1, -(1 << 31), 0, -1)[(i + j) % 4] for j in _SIDE] for i in _SIDE]
    count, mask = 32 // bits, (1 << bits) - 1
    vectors = {30 + r: [c[2 * r + n // 16][n % 16] & 0xFFFFFFFF for n in _LANES] for r in range(8)}
    for first, rows in ((10, a), (20, b)):
        for r in range(16 // count):
            vectors[first + r] = [sum((rows[n % 16][count * r + k] & mask) << bits * k for k in range(count)) for n in _LANES]
    wave = execute(fresh_wave(), text, vectors=vectors)
    for r in range(8):
        for n in _LANES:
            i, j = 2 * r + n // 16, n % 16
            exact = c[i][j] + sum(x * y for x, y in zip(a[i], b[j], strict=True))
            wanted = max(-(1 << 31), min((1 << 31) - 1, exact)) if clamps else exact
            assert int(wave.u32[r][n]) == wanted & 0xFFFFFFFF, f"{text}: row {i}, column {j}"
    assert kinds(wave) == []


def _integers() -> list[Procedure]:
    found = []
    for bits in (8, 4):
        for signs in ((True, True), (False, False), (False, True)):
            for clamps in (False, True):
                last = 10 + bits // 2 - 1
                text = f"v_wmma_i32_16x16x16_iu{bits} v[0:7], v[10:{last}], v[20:{last + 10}], v[30:37] "
                text += f"neg_lo:[{signs[0]:d},{signs[1]:d},0]{' clamp' if clamps else ''}"
                check_it = partial(integers, text, bits, signs, clamps)
                found.append(Procedure(opcode=text.split()[0], text=text, check=check_it))
    return found


def dot(a: int, b: int, c: int) -> int | None:
    """A NaN, an infinity or, of numbers, the exact sum rounded."""
    parts = [times(HALF.value(a >> s & 0xFFFF), HALF.value(b >> s & 0xFFFF)) for s in (0, 16)]
    value = total([*parts, SINGLE.value(c)])
    if isinstance(value, float):
        return None if math.isnan(value) else SINGLE.infinity | (SINGLE.sign if value < 0 else 0)
    return SINGLE.nearest(value)


def _dots() -> list[tuple[int, int, int]]:
    words = (("inf", "1.0", "0.0", "2.0", "1.0"), ("inf", "1.0", "-1.0", "inf", "1.0"), ("0.0", "max", "inf", "1.0", "1.0"),
             ("max", "max", "max", "max", "0x1p30"), ("tiny", "tiny", "tiny", "tiny", "0x1p-40"),
                  ("snan", "1.0", "1.0", "1.0", "1.0"),
             ("1.0", "1.0", "1.0", "1.0", "-inf"), ("1.0", "inf", "1.0", "1.0", "-inf"),
                  ("max", "tiny", "-max", "max", "0x1p20"))  # fmt: skip
    half = HALF.number
    return [(half(x) | half(y) << 16, half(z) | half(w) << 16, SINGLE.number(c)) for x, y, z, w, c in words]


CASES: tuple[Case | Procedure, ...] = (
    *(_case(*given) for given in (("f32", "f16", 0), ("f32", "bf16", 0), ("f16", "f16", 0), ("f16", "f16", 1),
         ("bf16", "bf16", 0),
                                  ("bf16", "bf16", 1))),
    *_integers(),
    hard("v_dot2_f32_f16", "v2f16 v2f16 f32", "f32", dot, tuple(_dots())),
)  # fmt: skip
