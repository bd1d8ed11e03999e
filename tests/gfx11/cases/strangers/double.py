"""Double precision where it is hard: ties, what is too small or too large, signs of zero, NaNs of both kinds."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

from tests.gfx11.cases.case import Case
from tests.gfx11.cases.strangers.form import hard
from tests.gfx11.cases.strangers.numbers import DOUBLE, HALF, SINGLE

D1, D2, D3 = "f64", "f64 f64", "f64 f64 f64"
_SUMS = """
    0x1p0 0x1p-53; 0x1p0+0x1p-52 0x1p-53; 0x1p0 0x1p-53+0x1p-105; 0x1p0 -0x1p-54; 0x1p0+0x1p-52 -0x1p-54; 0x1p53 1.0
    max 0x1p970; max 0x1p970-0x1p917; -max -0x1p970; 0x1p1023 0x1p1023; -max tiny; 0x1p53+0x1p1 1.0
    tiny -tiny; -0.0 -0.0; -0.0 0.0; 0x1p-1022 -tiny; 0x1p-1022-0x1p-1074 tiny; inf -inf; -inf max; snan 1.0; 1.0 qnan
"""
_PRODUCTS = """
    0x1p0+0x1p-52 0x1p0+0x1p-52; 0x1p0+0x1p-52 0x1.8p0; 0x1p0+0x1p-51 0x1.4p0; 0x1p-537 0x1p-538; 0x1p-537 0x1.8p-537
    tiny 0.5; 0x3p-1074 0.5; 0x5p-1074 0.5; tiny 0x1p-1+0x1p-53; -tiny 0x1p-2; -tiny tiny; 0x1p-1022 0x1p0-0x1p-53
    0x1p-1022 0x1p0-0x1p-52; max 0x1p0+0x1p-52; max 0x1p0-0x1p-53; -max max; 0x1p512 0x1p512; 0x1p511 0x1p512
    inf -0.0; -inf tiny; -0.0 max; snan inf
"""
_FUSED = """
    0x1p0+0x1p-26 0x1p0+0x1p-27 0.0; 0x1p0+0x1p-26 0x1p0+0x1p-27 tiny; 0x1p0+0x1p-26 0x1p0+0x1p-27 -tiny
    0x1p0+0x1p-52 0x1p0+0x1p-52 -1.0; 0x1p0+0x1p-52 0x1p0-0x1p-52 -1.0; 0x1p1023 2.0 -max; 0x1p1023 -2.0 max; max max -inf
    0x1p-600 0x1p-474 -tiny; 0x1p-600 0x1p-475 tiny; 0x1p-600 0x1p-475 0.0; 0x1p-600 0x1p-475 0x2p-1074
    -0x1p-600 0x1p-500 0.0; -0x1p-600 0x1p-500 -0.0; 0x1p-600 0x1p-500 -0x1p-1022; 0.0 -5.0 0.0; 0.0 -5.0 -0.0
    2.0 3.0 -6.0; -2.0 3.0 6.0; inf 0.0 qnan; inf 0.0 1.0; inf 1.0 -inf; -inf 1.0 -inf; snan 0.0 0.0
    max 0x1p0+0x1p-52 -0x1p970; 0x1p-1022 0x1p0-0x1p-52 tiny; 3.0 0x1.5555555555555p-2 -1.0
"""
_SCALED = """
    1.0 #-1074; 1.0 #-1075; 0x1p0+0x1p-52 #-1075; 3.0 #-1075; 5.0 #-1075; 0x1p0+0x1p-52 #-1076; 0x1p0+0x1p-51 #-1023
    0x1p0+0x1p-52 #-1023; 0x1p1-0x1p-52 #-1023; tiny #2097; tiny #2098; max #-2097; max #-2098; max #-2099; max #1
    1.0 #1023; 1.0 #1024; -1.0 #0x7fffffff; -1.0 #0x80000000; 0.0 #0x7fffffff; -0.0 #0x80000000; -inf #0x80000000
    tiny #0x7fffffff; qnan #3; snan #0; 0x1p-1022 #-1; 0x1.8p-1022 #-52
"""
_NARROWED = """
    0x1p0+0x1p-24; 0x1p0+0x1p-24+0x1p-52; 0x1p0+0x1p-23+0x1p-24; 0x1p128-0x1p103; 0x1p128-0x1p103-0x1p75; -0x1p128-0x1p104
    0x1p-149; 0x1p-150; 0x1p-150+0x1p-202; 0x3p-150; -0x1p-151; -tiny; 0x1p-126-0x1p-150; 0x1p-126-0x1p-151
    0x1p-126-0x1p-149; max; -inf; snan; -0.0
"""
_TWICE = """
    0x1p0+0x1p-11+0x1p-40; 0x1p0+0x1p-11-0x1p-40; 0x1p0+0x1p-10+0x1p-11-0x1p-30; 0x1p16-0x1p4-0x1p-20; 0x1p-25+0x1p-60
    0x1p-25-0x1p-60; 0x3p-25-0x1p-50; -0x1p-14-0x1p-40; 0x1p200; snan; -0.0; -tiny
"""
_WHOLE = """
    0x1p31-0x1p-1; 0x1p31-0x1p-22; 0x1p31; 0x1p31-0x1p0; -0x1p31; -0x1.00000001ffffp31; -0x1.00000002p31; 0x1p32-0x1p-21
    0x1p32; 0x1p32-0x1p0; -0x1p0+0x1p-53; -1.0; -0.0; 0.5; 0.9999999999999999; -tiny; max; -max; inf; -inf; qnan; -snan
    1.5; -1.5
"""
_ROUNDED = """
    0.5; -0.5; 1.5; -1.5; 2.5; -2.5; 0x1p-1-0x1p-54; -0x1p-1-0x1p-54; 0x1p-1+0x1p-53; 0x1p51-0x1p-1; 0x1p52-0x1p-1
    0x1p52-0x1.8p0; -0x1p52-0x1p-1; 0x1p52+0x1p0; -0x1p53-0x1p0; tiny; -tiny; -0.0; max; -inf; snan; 0x1p0-0x1p-53
    -0x1p0-0x1p-53; 1.0
"""
_PARTED = "tiny; -0x3p-1074; 0x1p-1022-0x1p-1074; least; -max; 1.0; 0x1p0-0x1p-53; 0.0; -0.0; inf; -inf; qnan; snan; 0x1p-1030"
_PICKED = DOUBLE.numbers("0.0 -0.0 tiny -tiny 1.0 -max inf -inf qnan snan -qnan")
_PAIRS = tuple(product(_PICKED, repeat=2))


def scaled(a: int, power: int) -> int | None:
    """Powers beyond all doubles are cut short, so that the rational stays small."""
    value = DOUBLE.value(a)
    if isinstance(value, float):
        return None if math.isnan(value) else a
    power = power - (1 << 32) if power >> 31 else power
    return DOUBLE.nearest(value * Fraction(2) ** max(-4000, min(4000, power)), a & DOUBLE.sign)


def whole(rounding: Callable[[Fraction], int]) -> Callable[[int], int | None]:
    """To a whole number; a zero keeps the sign."""

    def evaluate(a: int) -> int | None:
        value = DOUBLE.value(a)
        if isinstance(value, float):
            return None if math.isnan(value) else a
        return DOUBLE.nearest(Fraction(rounding(value)), a & DOUBLE.sign)

    return evaluate


def exponent(a: int) -> int:
    value = DOUBLE.value(a)
    if isinstance(value, float) or value == 0:
        return 0
    return math.frexp(float(value))[1] & 0xFFFFFFFF


def mantissa(a: int) -> int | None:
    value = DOUBLE.value(a)
    if isinstance(value, float) or value == 0:
        return None if DOUBLE.is_nan(a) else a
    return DOUBLE.number(float.hex(math.frexp(float(value))[0]))


def by_way_of_single(a: int) -> int | None:
    middle = DOUBLE.converted(a, SINGLE)
    return None if middle is None else SINGLE.converted(middle, HALF)


def held(low: int, high: int) -> Callable[[int], int]:
    return lambda a: DOUBLE.truncated(a, low, high) & 0xFFFFFFFF


def compared(holds: Callable[[float, float], bool], *, of_nan: bool) -> Callable[[int, int], int]:
    def evaluate(a: int, b: int) -> int:
        x, y = DOUBLE.value(a), DOUBLE.value(b)
        return int(of_nan if math.isnan(x) or math.isnan(y) else holds(x, y))  # type: ignore[arg-type]

    return evaluate


CASES: tuple[Case, ...] = (
    hard("v_add_f64", D2, "f64", DOUBLE.add, _SUMS),
    hard("v_add_f64", D2, "f64", lambda a, b: DOUBLE.add(a | DOUBLE.sign, b ^ DOUBLE.sign), _SUMS,
         "v_add_f64 v[0:1], -|{0}|, -{1}"),
    hard("v_mul_f64", D2, "f64", DOUBLE.multiply, _PRODUCTS),
    hard("v_mul_f64", D2, "f64", lambda a, b: DOUBLE.multiply(a ^ DOUBLE.sign, b & ~DOUBLE.sign), _PRODUCTS,
         "v_mul_f64 v[0:1], -{0}, |{1}|"),
    hard("v_fma_f64", D3, "f64", DOUBLE.fma, _FUSED),
    hard("v_fma_f64", D3, "f64", lambda a, b, c: DOUBLE.fma(a ^ DOUBLE.sign, b, c ^ DOUBLE.sign), _FUSED,
         "v_fma_f64 v[0:1], -{0}, {1}, -{2}"),
    hard("v_fma_f64", D1, "f64", lambda a: DOUBLE.fma(a, DOUBLE.number("-4.0"), DOUBLE.number("0.5")), _ROUNDED,
         "v_fma_f64 v[0:1], {0}, -4.0, 0.5"),
    hard("v_min_f64", D2, "f64", DOUBLE.lesser, _PAIRS),
    hard("v_max_f64", D2, "f64", DOUBLE.greater, _PAIRS),
    hard("v_max_f64", D1, "f64", lambda a: DOUBLE.greater(a, 0x3FC45F306DC9C882), _ROUNDED,
         "v_max_f64 v[0:1], {0}, 0.15915494309189532"),
    hard("v_max_f64", D1, "f64", lambda a: DOUBLE.greater(a, (-16 & (1 << 64) - 1)), "0.0; inf; -inf; 1.0; -qnan",
         "v_max_f64 v[0:1], {0}, -16"),
    hard("v_ldexp_f64", "f64 i32", "f64", scaled, _SCALED),
    hard("v_ldexp_f64", "f64 i32", "f64", lambda a, n: scaled(a | DOUBLE.sign, n), _SCALED,
         "v_ldexp_f64 v[0:1], -|{0}|, {1}"),
    hard("v_cvt_f32_f64", D1, "f32", lambda a: DOUBLE.converted(a, SINGLE), _NARROWED),
    hard("v_cvt_f32_f64", D1, "f16", by_way_of_single, _TWICE, "v_cvt_f32_f64 v2, {0}\nv_cvt_f16_f32 v0, v2"),
    hard("v_cvt_f64_f32", "f32", "f64", lambda a: SINGLE.converted(a, DOUBLE),
         "tiny; -tiny; 0x1p-126-0x1p-149; max; -inf; snan; -0.0; 0x1.fffffep-1"),
    hard("v_cvt_i32_f64", D1, "i32", held(-(1 << 31), (1 << 31) - 1), _WHOLE),
    hard("v_cvt_u32_f64", D1, "i32", held(0, (1 << 32) - 1), _WHOLE),
    hard("v_cvt_i32_f64", D1, "i32", lambda a: held(-(1 << 31), (1 << 31) - 1)(a ^ DOUBLE.sign), _WHOLE,
         "v_cvt_i32_f64_e64 v0, -{0}"),
    *(hard(f"v_{name}_f64", D1, "f64", whole(rounding), _ROUNDED) for name, rounding in
      (("trunc", int), ("ceil", math.ceil), ("floor", math.floor), ("rndne", round))),
    hard("v_frexp_exp_i32_f64", D1, "i32", exponent, _PARTED),
    hard("v_frexp_mant_f64", D1, "f64", mantissa, _PARTED),
    *(hard(f"v_cmp_{name}_f64", D2, "mask", compared(holds, of_nan=of_nan), _PAIRS) for name, holds, of_nan in (
        ("lg", lambda x, y: x != y, False), ("nlg", lambda x, y: x == y, True), ("nge", lambda x, y: x < y, True),
        ("neq", lambda x, y: x != y, True), ("le", lambda x, y: x <= y, False), ("u", lambda x, y: False, True))),
)  # fmt: skip
