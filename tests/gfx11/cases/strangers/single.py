"""Single precision: fused rounding that a double would spoil, choices of three with NaNs, conversions at their ends, clamps."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

from tests.gfx11.cases.case import Case, Row
from tests.gfx11.cases.strangers.form import hard
from tests.gfx11.cases.strangers.numbers import SINGLE

F1, F2, F3 = "f32", "f32 f32", "f32 f32 f32"
_FUSED = """
    0x1p0+0x1p-12 0x1p0+0x1p-12 0.0; 0x1p0+0x1p-12 0x1p0+0x1p-12 0x1p-80; 0x1p0+0x1p-12 0x1p0+0x1p-12 -0x1p-80
    0x1p0+0x1p-12 0x1p0+0x1p-12 tiny; 0x1p0+0x1p-12 0x1p0+0x1p-12 -tiny; -0x1p0-0x1p-12 0x1p0+0x1p-12 -tiny
    0x1p127 2.0 -max; max max -inf; 0x1p-100 0x1p-49 -tiny; 0x1p-100 0x1p-50 tiny; 0x1p-100 0x1p-50 0.0; 0x1.8p-100 0x1p-50 0.0
    0x1p-100 -0x1p-100 0.0; 0x1p-100 -0x1p-100 least; 0x1p-126 0x1p0-0x1p-24 0.0; 0x1p-126 0x1p0-0x1p-23 tiny
    max 1.0 0x1p103; max 1.0 0x1p103-0x1p79; max 0x1p0+0x1p-23 -0x1p104; inf 0.0 qnan; snan 1.0 1.0; 2.0 3.0 -6.0; 0.0 -1.0 -0.0
    0x1p0+0x1p-23 0x1p0+0x1p-23 -1.0; 0x1p60 0x1p60 0x1p96+0x1p73; 0x1p24-0x1p0 0x1p24+0x1p1 0x1p-149; 0x1p-75 0x1p-75 0x1p-126
"""
_SIX = SINGLE.numbers("0.0 -0.0 1.0 qnan snan -inf")
_PAIRS, _TRIPLES = tuple(product(_SIX, repeat=2)), tuple(product(_SIX, repeat=3))
_LIMITED = "0x1p0+0x1p-23; 1.0; 0x1p0-0x1p-24; tiny; -1.0; max; -max; inf; -inf; qnan; snan; 0.25"
_WHOLE = """
    0x1p31-0x1p7; 0x1p31; -0x1p31; -0x1p31-0x1p8; 0x1p32-0x1p8; 0x1p32; -0x1p0+0x1p-24; -1.0; -0.0; 0.5; 0x1p0-0x1p-24; -tiny
    max; -max; inf; -inf; qnan; -snan; 1.5; -1.5; 2.5; -2.5; 0x1p23+0x1p0; 0x1p23-0x1p-1; 0x1p22-0x1p-2
"""
_INTEGERS: tuple[Row, ...] = tuple((n,) for n in (0, 1, 0x1000000, 0x1000001, 0x1000003, 0x2000002, 0x2000003, 0x2000006,
     0x7FFFFFBF,
    0x7FFFFFC0, 0x7FFFFFFF, 0x80000000, 0x80000040, 0x80000041, 0x800000C0, 0xFFFFFF7F, 0xFFFFFF80, 0xFFFFFFFF,
         0xFEFFFFFF))  # fmt: skip
_SCALED = """
    1.0 #-149; 1.0 #-150; 0x1p0+0x1p-23 #-150; 3.0 #-150; 0x1p0+0x1p-22 #-127; tiny #276; tiny #277; max #-276; max #-277
    max #-278; max #1; 1.0 #127; 1.0 #128; -1.0 #0x7fffffff; -1.0 #0x80000000; 0.0 #0x7fffffff; -0.0 #0x80000000
    -inf #0x80000000; tiny #0x7fffffff; qnan #3; 0x1p-126 #-1; 0x1p1-0x1p-23 #-127
"""
_BYTES: tuple[Row, ...] = tuple((a, place, 0x89ABCDEF) for a, place in product(
    SINGLE.numbers("0.0 -0.0 -5.0 255.0 256.0 254.0 max -max inf -inf qnan snan 17.0 tiny"),
         (0, 3, 6, 0xFFFFFFFD)))  # fmt: skip


def scaled(a: int, power: int) -> int | None:
    value = SINGLE.value(a)
    if isinstance(value, float):
        return None if math.isnan(value) else a
    power = power - (1 << 32) if power >> 31 else power
    return SINGLE.nearest(value * Fraction(2) ** max(-999, min(999, power)), a & SINGLE.sign)


def middle(a: int, b: int, c: int) -> int | None:
    """The manual: with a NaN among them the least; else the greater of the two that aren't the greatest."""
    if any(SINGLE.is_nan(x) for x in (a, b, c)):
        return SINGLE.lesser(SINGLE.lesser(a, b), c)
    greatest = SINGLE.value(SINGLE.greater(SINGLE.greater(a, b), c) or 0)
    if greatest == SINGLE.value(a):
        return SINGLE.greater(b, c)
    return SINGLE.greater(a, c) if greatest == SINGLE.value(b) else SINGLE.greater(a, b)


def clamped(found: int | None) -> int:
    """To 0..1; a NaN is 0."""
    return 0 if found is None or found & SINGLE.sign else min(found, SINGLE.number("1.0"))


def whole(rounding: Callable[[Fraction], int], low: int, high: int) -> Callable[[int], int]:
    def evaluate(a: int) -> int:
        value = SINGLE.value(a)
        if isinstance(value, float):
            return SINGLE.truncated(a, low, high) & 0xFFFFFFFF
        return max(low, min(high, rounding(value))) & 0xFFFFFFFF

    return evaluate


def byte_placed(a: int, place: int, old: int) -> int:
    shift = place % 4 * 8
    return old & ~(0xFF << shift) & 0xFFFFFFFF | SINGLE.truncated(a, 0, 255) << shift


def narrowed(low: int, high: int) -> Callable[[int, int], int]:
    return lambda a, b: (SINGLE.truncated(a, low, high) & 0xFFFF) | (SINGLE.truncated(b, low, high) & 0xFFFF) << 16


def signed(n: int) -> int:
    return n - (1 << 32) if n >> 31 else n


_INT, _UINT = (-(1 << 31), (1 << 31) - 1), (0, (1 << 32) - 1)
_SHORTS = """
    32767.5 -inf; 32768.0 snan; -32768.9 1.5; -32769.0 -1.5; 65535.9 32766.0; 65536.0 max; -0.9 0.0; -1.0 -0.0; inf -32768.0
    qnan 65534.5; -max -tiny; tiny 2.0; 1.9 32769.0
"""
CASES: tuple[Case, ...] = (
    hard("v_fma_f32", F3, "f32", SINGLE.fma, _FUSED),
    hard("v_fma_f32", F3, "f32", lambda a, b, c: clamped(SINGLE.fma(a, b, c)),
         "1.0 1.0 tiny; 3.0 -1.0 2.0; inf 0.0 1.0; 0.5 0.5 0x1p-24; snan 1.0 1.0; 2.0 inf 1.0; 0x1p0-0x1p-24 0x1p0+0x1p-23 0.0",
         "v_fma_f32 v0, {0}, {1}, {2} clamp"),
    hard("v_dual_fmac_f32", F3, "f32", SINGLE.fma, _FUSED,
         "v_mov_b32 v0, {2}\nv_mov_b32 v13, 0\nv_dual_fmac_f32 v0, {0}, {1} :: v_dual_mov_b32 v3, v13"),
    *(hard(f"v_{name}_f32", F3, "f32", exact, _TRIPLES) for name, exact in (
        ("min3", lambda a, b, c: SINGLE.lesser(SINGLE.lesser(a, b), c)),
        ("max3", lambda a, b, c: SINGLE.greater(SINGLE.greater(a, b), c)),
        ("minmax", lambda a, b, c: SINGLE.greater(SINGLE.lesser(a, b), c)),
        ("maxmin", lambda a, b, c: SINGLE.lesser(SINGLE.greater(a, b), c)), ("med3", middle))),
    hard("v_med3_f32", F3, "f32", lambda a, b, c: middle(a ^ SINGLE.sign, b & ~SINGLE.sign, c), _TRIPLES,
         "v_med3_f32 v0, -{0}, |{1}|, {2}"),
    hard("v_ldexp_f32", "f32 i32", "f32", scaled, _SCALED),
    hard("v_max_f32", F1, "f32", lambda a: clamped(SINGLE.greater(a, a)), _LIMITED, "v_max_f32_e64 v0, {0}, {0} clamp"),
    hard("v_add_f32", F1, "f32", lambda a: SINGLE.add(a, 0x3E22F983), _LIMITED, "v_add_f32 v0, 0.15915494, {0}"),
    hard("v_mul_f32", F1, "f32", lambda a: SINGLE.multiply(a, 0xFFFFFFF0), _LIMITED, "v_mul_f32 v0, -16, {0}"),
    hard("v_cvt_i32_f32", F1, "i32", whole(int, *_INT), _WHOLE),
    hard("v_cvt_u32_f32", F1, "i32", whole(int, *_UINT), _WHOLE),
    hard("v_cvt_floor_i32_f32", F1, "i32", whole(math.floor, *_INT), _WHOLE),
    hard("v_cvt_f32_u32", "i32", "f32", lambda n: SINGLE.nearest(Fraction(n)), _INTEGERS),
    hard("v_cvt_f32_i32", "i32", "f32", lambda n: SINGLE.nearest(Fraction(signed(n))), _INTEGERS),
    hard("v_cvt_pk_u8_f32", "f32 i32 i32", "i32", byte_placed, _BYTES),
    hard("v_cvt_pk_i16_f32", F2, "i32", narrowed(-32768, 32767), _SHORTS),
    hard("v_cvt_pk_u16_f32", F2, "i32", narrowed(0, 65535), _SHORTS),
    hard("s_min_f32", F2, "f32", SINGLE.lesser, _PAIRS),
    hard("s_max_f32", F2, "f32", SINGLE.greater, _PAIRS),
    hard("s_cvt_i32_f32", F1, "i32", whole(int, *_INT), _WHOLE),
    hard("s_cvt_u32_f32", F1, "i32", whole(int, *_UINT), _WHOLE),
    hard("s_fmac_f32", F3, "f32", SINGLE.fma, _FUSED, "s_mov_b32 s0, {2}\ns_fmac_f32 s0, {0}, {1}"),
)  # fmt: skip
