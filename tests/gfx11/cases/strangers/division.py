"""What compilers write for a quotient of doubles must be the quotient, rounded once; and each step by the manual."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

from tests.gfx11.cases.case import Case, Row
from tests.gfx11.cases.strangers.form import hard
from tests.gfx11.cases.strangers.numbers import DOUBLE, SINGLE, Binary, rows

_D2, _D3 = "f64 f64", "f64 f64 f64"
_QUOTIENT = """
v_div_scale_f64 v[30:31], null, {1}, {1}, {0}
v_div_scale_f64 v[32:33], vcc_lo, {0}, {1}, {0}
v_rcp_f64 v[34:35], v[30:31]
v_fma_f64 v[36:37], -v[30:31], v[34:35], 1.0
v_fma_f64 v[34:35], v[34:35], v[36:37], v[34:35]
v_fma_f64 v[36:37], -v[30:31], v[34:35], 1.0
v_fma_f64 v[34:35], v[34:35], v[36:37], v[34:35]
v_mul_f64 v[36:37], v[32:33], v[34:35]
v_fma_f64 v[30:31], -v[30:31], v[36:37], v[32:33]
v_div_fmas_f64 v[30:31], v[30:31], v[34:35], v[36:37]
v_div_fixup_f64 v[0:1], v[30:31], {1}, {0}""".strip()
_PAIRS = """
    1.0 3.0; 2.0 3.0; -1.0 3.0; 1.0 0x1p0+0x1p-52; 0x1p0+0x1p-52 0x1p0-0x1p-53; 10.0 -0.1; 0x1p53-0x1p0 0x1p53-0x1p1
    max 3.0; max 0.5; max tiny; max max; max 0x1p0+0x1p-52; 1.0 max; 0x1p-1022 0x1p1; 0x1p-1022 3.0; least max; 3.0 0x1p-1022
    tiny 1.0; tiny tiny; 0x1p-1000 0x1p-1000+0x1p-1052; 0x5p-1074 tiny; tiny 0x1p-1060; 0x3p-1074 2.0; tiny max; 1.0 tiny
    1.0 0x1p-1023; 0x1p1023 0x1p-1; 0x1p1000 0x1p-30; 0x1p-500 0x1p523; 0x1p-500 0x1p574; 0x1p-500 0x1p573; 0x1.8p-1 0x1p1023
    7.0 0x1p1023; 0x1p-900 0x1p170; 1.0 0x1p1023; 0x1.123456789abcdp1023 0x1.fedcba9876543p1
    0.0 5.0; -0.0 5.0; 5.0 0.0; -5.0 0.0; 0.0 0.0; inf 5.0; 5.0 -inf; inf inf; qnan 1.0; 1.0 snan; inf 0.0; 0.0 inf; -0.0 -0.0
"""
_SCALES = DOUBLE.numbers("1.0 -3.0 0x1p-1022 0x1p-1000 0x1p-970 0x1p-969 0x1p767 0x1p768 0x1p1020 0x1p-40 inf qnan 0x1.8p1000")
_STEPS: tuple[Row, ...] = tuple((a, b, c) for b, c in product(_SCALES, repeat=2) for a in dict.fromkeys((b, c)))
_SPECIAL = DOUBLE.numbers("0.0 -0.0 1.0 -max tiny inf -inf qnan snan -0x1p-1000 0x1p60")
_FIXES: tuple[Row, ...] = tuple(product(DOUBLE.numbers("-0x1.8p3 tiny inf"), _SPECIAL, _SPECIAL))


def quotient(a: int, b: int) -> int | None:
    x, y, sign = DOUBLE.value(a), DOUBLE.value(b), (a ^ b) & DOUBLE.sign
    if isinstance(x, Fraction) and isinstance(y, Fraction) and y:
        return DOUBLE.nearest(x / y, sign)
    if math.isnan(x) or math.isnan(y) or (x == 0 and y == 0) or (isinstance(x, float) and isinstance(y, float)):
        return None
    return sign | (DOUBLE.infinity if y == 0 or isinstance(x, float) else 0)


def exponent(pattern: int) -> int:
    """Biased."""
    return (pattern & ~DOUBLE.sign) >> 52


def is_denormal(number: Fraction) -> bool:
    return 0 < abs(number) < Fraction(2) ** -1022


def by_power(a: int, power: int) -> int | None:
    value = DOUBLE.value(a)
    if isinstance(value, Fraction):
        return DOUBLE.nearest(value * Fraction(2) ** power, a & DOUBLE.sign)
    return None if math.isnan(value) else a


def scale(a: int, b: int, c: int) -> tuple[int | None, int]:
    """The manual's order of questions. Where it says nothing of the result, it is the first source."""
    x, y = DOUBLE.value(b), DOUBLE.value(c)
    if exponent(c) - exponent(b) >= 768:
        return by_power(a, 128 if a == b else 0), 1
    if isinstance(x, Fraction) and is_denormal(1 / x):
        return by_power(a, -128), 0
    if isinstance(x, Fraction) and isinstance(y, Fraction) and is_denormal(y / x):
        return by_power(a, 128 if a == c else 0), 1
    return by_power(a, 128 if exponent(c) <= 53 else 0), 0


def fixup(a: int, b: int, c: int) -> int | None:
    x, y, sign = DOUBLE.value(b), DOUBLE.value(c), (b ^ c) & DOUBLE.sign
    if math.isnan(x) or math.isnan(y) or (x == 0 and y == 0) or (isinstance(x, float) and isinstance(y, float)):
        return None
    if x == 0 or isinstance(y, float):
        return sign | DOUBLE.infinity
    if isinstance(x, float) or y == 0 or exponent(c) - exponent(b) < -1075:
        return sign
    return sign | a & ~DOUBLE.sign


def fmas(a: int, b: int, c: int, scaled: int) -> int | None:
    """Scaled back by the exponent of c; up from 2 on, down below."""
    found = DOUBLE.fma(a, b, c)
    return found if found is None or not scaled else by_power(found, 128 if exponent(c) > 1023 else -128)


def root_of(form: Binary, a: int) -> int | None:
    value = form.value(a)
    if isinstance(value, float):
        return None if math.isnan(value) or value < 0 else a
    if value < 0:
        return None
    shift = 2 * form.bits * 40
    return form.nearest(Fraction(math.isqrt(int(value * Fraction(2) ** shift)), 2 ** (shift // 2)), a & form.sign)


_ROOT = """
v_rsq_f64 v[30:31], {0}
v_mul_f64 v[32:33], {0}, v[30:31]
v_mul_f64 v[30:31], v[30:31], 0.5
v_fma_f64 v[34:35], -v[30:31], v[32:33], 0.5
v_fma_f64 v[32:33], v[32:33], v[34:35], v[32:33]
v_fma_f64 v[30:31], v[30:31], v[34:35], v[30:31]
v_fma_f64 v[34:35], -v[32:33], v[32:33], {0}
v_fma_f64 v[32:33], v[34:35], v[30:31], v[32:33]
v_fma_f64 v[34:35], -v[32:33], v[32:33], {0}
v_fma_f64 v[0:1], v[34:35], v[30:31], v[32:33]""".strip()
_ROOTS = """
    1.0; 2.0; 3.0; 0.5; 0x1p-500; 0x1.fffffffffffffp-1; 0x1.0000000000001p0; 0x1.fffffffffffffp1; 5.0; 0.1; 1e300; 10.0
    0x1p-767; 0x1.23456789abcdep700
"""
_FUSED: tuple[Row, ...] = tuple((*row, mask) for mask in (0, 1) for row in rows(DOUBLE, """
    0x1p-60 0x1.8p0 1.0; 0x1p-60 0x1.8p0 0x1p0-0x1p-53; 0x1p0 0x1p0 2.0; -0x1p0 0x1p0 -2.0; 0x1p-60 0x1p0 0x1p900
    0x1p-60 0x1p0 0x1p895; 0x1p-900 0x1p-30 0x1p-900; 0x1p-1000 0x1p0 0x1p-950; 0x1p-1000 -0x1p0 0x1p-1000; inf 1.0 1.0
    inf 0.0 1.0; 0.0 1.0 -0.0; max max -inf
"""))  # fmt: skip
CASES: tuple[Case, ...] = (
    hard("v_div_fixup_f64", _D2, "f64", quotient, _PAIRS, _QUOTIENT),
    hard("v_div_scale_f64", _D3, "f64 mask", scale, _STEPS, "v_div_scale_f64 v[0:1], s2, {0}, {1}, {2}"),
    hard("v_div_fmas_f64", f"{_D3} mask", "f64", fmas, _FUSED, "s_mov_b32 vcc_lo, {3}\nv_div_fmas_f64 v[0:1], {0}, {1}, {2}"),
    hard("v_div_fixup_f64", _D3, "f64", fixup, _FIXES),
    hard("v_rsq_f64", "f64", "f64", lambda a: root_of(DOUBLE, a), _ROOTS, _ROOT),
    hard("v_sqrt_f64", "f64", "f64", lambda a: root_of(DOUBLE, a),
         "0.0; -0.0; inf; -inf; qnan; snan; -1.0; -tiny; 4.0; 0x1p-1022; 0x1p1022"),
    hard("v_rcp_f64", "f64", "f64", lambda a: quotient(DOUBLE.number("1.0"), a),
         "0.0; -0.0; inf; -inf; snan; 3.0; 0x1p-1022; max; -0x1p1023; tiny; 0x1p-1024; 0x1p-1023; -0x1p-1024-0x1p-1074"),
    hard("v_sqrt_f32", "f32", "f32", lambda a: root_of(SINGLE, a),
         "0.0; -0.0; inf; -inf; qnan; -1.0; 2.0; 3.0; max; least; 0x1p0-0x1p-24"),
)  # fmt: skip
