"""Half precision: every rounding, packed with modifiers, mixed with single precision, and functions where they are exact."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

from tests.gfx11.cases.case import Case, Row
from tests.gfx11.cases.strangers.form import hard
from tests.gfx11.cases.strangers.numbers import HALF, SINGLE, rows

H1, H2, H3 = "f16", "f16 f16", "f16 f16 f16"
_FUSED = """
    0x1p0+0x1p-5 0x1p0+0x1p-6 0.0; 0x1p0+0x1p-5 0x1p0+0x1p-6 tiny; 0x1p0+0x1p-5 0x1p0+0x1p-6 -tiny; 0x1p15 2.0 -max
    max max -inf; tiny 0x1p-1 0.0; tiny 0x1p-1 tiny; tiny 0x1.8p-1 0.0; -tiny 0x1p-2 0.0; -tiny 0x1p-2 -0.0; inf 0.0 1.0
    0x1p-14 0x1p0-0x1p-11 0.0; 0x1p-14 0x1p0-0x1p-10 tiny; max 1.0 0x1p4; max 1.0 0x1p4-0x1p-6; -max 1.0 -0x1p4; 2.0 3.0 -6.0
    0x1p0+0x1p-10 0x1p0+0x1p-10 -1.0; 0x1p0+0x1p-10 0x1p0-0x1p-10 -1.0; snan 1.0 1.0; 0.0 -1.0 0.0; 0.0 -1.0 -0.0; inf 1.0 -inf
"""
_PAIRS = tuple(product(HALF.numbers("0.0 -0.0 tiny -tiny 1.0 -max inf -inf qnan snan"), repeat=2))
_TRIPLES = tuple(product(HALF.numbers("0.0 -0.0 1.0 -inf qnan snan"), repeat=3))
_SCALED = """
    1.0 #-24; 1.0 #-25; 0x1p0+0x1p-10 #-25; 3.0 #-25; 5.0 #-25; 0x1p0+0x1p-10 #-15; 0x1p1-0x1p-10 #-15; tiny #39; tiny #40
    max #-39; max #-40; max #-41; max #1; 1.0 #15; 1.0 #16; -1.0 #0x7fff; -1.0 #0x8000; 0.0 #0x7fff; -0.0 #0x8000; inf #0x8000
    tiny #0x7fff; qnan #7; 1.0 #-32768; 0x1p-14 #-1
"""
_EVERY: tuple[Row, ...] = tuple((n,) for n in (*range(0, 0x7C00, 37), 1, 2, 3, 0x3FF, 0x400, 0x401, 0x7BFF))
_INTEGERS: tuple[Row, ...] = tuple((n,) for n in (0, 1, 2047, 2048, 2049, 2050, 2051, 4098, 4099, 4101, 4102, 32767, 32768,
     32784,
    32785, 65503, 65504, 65519, 65520, 65535, 0x8001, 0xFFFF, 0xF7FF, 0xF7FD))  # fmt: skip
_FROM_SINGLE = """
    0x1p0+0x1p-11; 0x1p0+0x1p-11+0x1p-23; 0x1p0+0x1p-10+0x1p-11; 0x1p16-0x1p4; 0x1p16-0x1p4-0x1p-8; 0x1p16-0x1p5; -0x1p16
    0x1p-24; 0x1p-25; 0x1p-25+0x1p-48; 0x3p-25; -0x3p-25; 0x1p-26; -0x1p-26; 0x1p-14-0x1p-25; 0x1p-14-0x1p-24; 0x1p-14-0x1p-26
    max; -max; tiny; -tiny; inf; -inf; qnan; snan; 0.0; -0.0; 0x1.ffcp15; 0x1.ffdfffp15; 0.1; -0.1
"""
_CLAMPED = (
    "0x1p0+0x1p-11; 0x1p0+0x1p-12; 0x1p0-0x1p-12; 0x1p0-0x1p-13; tiny; -0x1p-24; -1.0; max; -max; inf; -inf; qnan; snan; 0.0"
)
_WHOLE = "0.5; -0.5; 1.5; 2.5; -2.5; 0x1p10-0x1p-1; 0x1p10+0x1p0; max; -max; tiny; -tiny; 0x1p-1-0x1p-12; -0.0; inf; -inf; qnan"
_MASK = 0xFFFF
_SIGN = HALF.sign


def scaled(a: int, power: int) -> int | None:
    value = HALF.value(a)
    power = (power & _MASK) - (1 << 16) if power & 0x8000 else power & _MASK
    if isinstance(value, float):
        return None if math.isnan(value) else a
    return HALF.nearest(value * Fraction(2) ** max(-99, min(99, power)), a & _SIGN)


def root(a: int) -> int | None:
    """From 60 bits of it; no root of a half is near enough to a tie."""
    value = HALF.value(a)
    assert isinstance(value, Fraction)
    return HALF.nearest(Fraction(math.isqrt(int(value * 2**120)), 2**60), a & _SIGN)


def inverse(a: int) -> int | None:
    value = HALF.value(a)
    if isinstance(value, float):
        return None if math.isnan(value) else a & _SIGN
    return HALF.nearest(1 / value) if value else HALF.infinity | a & _SIGN


def toward_zero(a: int) -> int | None:
    """What is too large stays finite."""
    value = SINGLE.value(a)
    if isinstance(value, float):
        return SINGLE.converted(a, HALF)
    return (HALF.below(min(abs(value), Fraction(65504)))) | (_SIGN if a & SINGLE.sign else 0)


def power_of_two(a: int) -> int:
    return HALF.nearest(Fraction(2) ** int(HALF.value(a)))


def of_halves(function: Callable[..., int | None], *words: int, flip_low: int = 0, flip_high: int = 0, swap: int = 0) -> int:
    """`function` of the low halves and of the high ones; a bit in the flips negates that operand, one in `swap` turns it."""
    turned = [word >> 16 | (word & _MASK) << 16 if swap >> i & 1 else word for i, word in enumerate(words)]
    low, high = (
        function(*((word >> shift & _MASK) ^ (_SIGN if flips >> i & 1 else 0) for i, word in enumerate(turned)))
        for shift, flips in ((0, flip_low), (16, flip_high))
    )
    return joined(low, high)


def joined(low: int | None, high: int | None) -> int:
    parts = (HALF.number("qnan") if part is None else part for part in (low, high))
    return sum(part << shift for part, shift in zip(parts, (0, 16), strict=True))


def pairs(given: str | tuple[Row, ...], width: int) -> tuple[Row, ...]:
    """Row i in the low halves and row i + 1 in the high ones."""
    low = rows(HALF, given) if isinstance(given, str) else given
    return tuple(
        tuple(x | y << 16 for x, y in zip(row[:width], low[(i + 1) % len(low)], strict=False)) for i, row in enumerate(low)
    )


def mixed(a: int, b: int, c: int) -> int | None:
    """a's high half times |b|'s low one, less the single c."""
    x, y = HALF.converted(a >> 16, SINGLE), HALF.converted(b & 0x7FFF, SINGLE)
    return None if x is None or y is None or SINGLE.is_nan(c) else SINGLE.fma(x, y, c ^ SINGLE.sign)


def mixed_and_narrowed(a: int, b: int, c: int) -> int | None:
    """Rounded to single, then to half."""
    middle = SINGLE.fma(a, b, c)
    return None if middle is None else SINGLE.converted(middle, HALF)


def clamped(found: int | None) -> int:
    """To 0..1; a NaN is 0."""
    return 0 if found is None or found & _SIGN else min(found, HALF.number("1.0"))


def high_parts(a: int, b: int, old: int) -> int:
    return joined(old & _MASK, HALF.add(a >> 16, b & _MASK))


_MIXED = tuple(
    (HALF.number(x) << 16 | 0x1234, HALF.number(y), SINGLE.number(z))
    for x, y, z in (
        ("1.5", "-2.0", "3.0"),
        ("max", "max", "0x1p8"),
        ("tiny", "-tiny", "tiny"),
        ("inf", "0.0", "1.0"),
        ("inf", "1.0", "inf"),
        ("-0.0", "1.0", "0.0"),
        ("0x1p0+0x1p-10", "0x1p0+0x1p-10", "0x1p-44"),
        ("1.0", "-inf", "max"),
        ("1.0", "-1.0", "1.0"),
    )
)
_NARROW = "0x1p0 0x1p0+0x1p-11 0x1p-30; 0x1p0+0x1p-12 0x1p0+0x1p-12 0x1p-80; 1.0 0x1p16-0x1p4 -0x1p-20; 0x1p-25 1.0 0x1p-60"
_NARROW += "; -0x1p-13 0x1p-12 0x1p-49; 1.0 inf -inf; max max -inf; 0x1p-30 -0x1p-30 0.0; 3.0 0x1p-25 -0x1p-60"
CASES: tuple[Case, ...] = (
    hard("v_fma_f16", H3, "f16", HALF.fma, _FUSED),
    hard("v_fma_f16", H3, "f16", lambda a, b, c: HALF.fma(a & ~_SIGN ^ _SIGN, b, c ^ _SIGN), _FUSED,
         "v_fma_f16 v0, -|{0}|, {1}, -{2}"),
    hard("v_pk_fma_f16", "v2f16 v2f16 v2f16", "v2f16", lambda *x: of_halves(HALF.fma, *x), pairs(_FUSED, 3)),
    hard("v_pk_fma_f16", "v2f16 v2f16 v2f16", "v2f16", lambda *x: of_halves(HALF.fma, *x, flip_low=0b001, flip_high=0b100),
         pairs(_FUSED, 3), "v_pk_fma_f16 v0, {0}, {1}, {2} neg_lo:[1,0,0] neg_hi:[0,0,1]"),
    hard("v_pk_fma_f16", "v2f16 v2f16 v2f16", "v2f16", lambda *x: of_halves(HALF.fma, *x, swap=0b101),
         pairs(_FUSED, 3), "v_pk_fma_f16 v0, {0}, {1}, {2} op_sel:[1,0,1] op_sel_hi:[0,1,0]"),
    hard("v_pk_add_f16", "v2f16", "v2f16", lambda a: of_halves(HALF.add, a, 0x3C003C00), pairs(_WHOLE, 1),
         "v_pk_add_f16 v0, {0}, 1.0 op_sel_hi:[1,0]"),
    hard("v_pk_mul_f16", "v2f16 v2f16", "v2f16", lambda *x: of_halves(HALF.multiply, *x), pairs(_FUSED, 2)),
    hard("v_pk_min_f16", "v2f16 v2f16", "v2f16", lambda *x: of_halves(HALF.lesser, *x), pairs(_PAIRS, 2)),
    hard("v_pk_max_f16", "v2f16 v2f16", "v2f16", lambda *x: of_halves(HALF.greater, *x), pairs(_PAIRS, 2)),
    hard("v_min_f16", H2, "f16", HALF.lesser, _PAIRS),
    hard("v_max_f16", H2, "f16", HALF.greater, _PAIRS),
    hard("v_min3_f16", H3, "f16", lambda a, b, c: HALF.lesser(HALF.lesser(a, b), c), _TRIPLES),
    hard("v_max3_f16", H3, "f16", lambda a, b, c: HALF.greater(HALF.greater(a, b), c), _TRIPLES),
    hard("v_minmax_f16", H3, "f16", lambda a, b, c: HALF.greater(HALF.lesser(a, b), c), _TRIPLES),
    hard("v_maxmin_f16", H3, "f16", lambda a, b, c: HALF.lesser(HALF.greater(a, b), c), _TRIPLES),
    hard("v_ldexp_f16", "f16 i16", "f16", scaled, tuple((a, n & _MASK) for a, n in rows(HALF, _SCALED))),
    hard("v_sqrt_f16", H1, "f16", root, _EVERY),
    hard("v_rcp_f16", H1, "f16", inverse, (*_EVERY, (0x8000,), (0xFC00,), (0x8001,), (0x7E00,), (0x0100,), (0x8101,))),
    hard("v_exp_f16", H1, "f16", power_of_two, "; ".join(f"{n}.0" for n in range(-27, 17))),
    hard("v_log_f16", H1, "f16", lambda a: HALF.nearest(Fraction(math.frexp(float(HALF.value(a)))[1] - 1)),
         "; ".join(f"0x1p{n}" for n in range(-24, 16))),
    hard("v_cvt_f16_f32", "f32", "f16", lambda a: SINGLE.converted(a, HALF), _FROM_SINGLE),
    hard("v_cvt_f16_f32", "f32", "f16", lambda a: clamped(SINGLE.converted(a, HALF)), _CLAMPED,
         "v_cvt_f16_f32_e64 v0, {0} clamp"),
    hard("v_cvt_f32_f16", H1, "f32", lambda a: HALF.converted(a, SINGLE),
         (*_EVERY, (0xFC00,), (0x7D01,), (0x83FF,), (0x8000,))),
    hard("v_cvt_pk_rtz_f16_f32", "f32 f32", "v2f16", lambda a, b: joined(toward_zero(a), toward_zero(b)),
         tuple((a, b) for (a,), (b,) in zip(rows(SINGLE, _FROM_SINGLE), reversed(rows(SINGLE, _FROM_SINGLE)), strict=True))),
    hard("v_cvt_f16_u16", "i16", "f16", lambda n: HALF.nearest(Fraction(n)), _INTEGERS),
    hard("v_cvt_f16_i16", "i16", "f16", lambda n: HALF.nearest(Fraction(n - (n >> 15 << 16))), _INTEGERS),
    hard("v_cvt_u16_f16", H1, "i16", lambda a: HALF.truncated(a, 0, 65535), _WHOLE),
    hard("v_cvt_i16_f16", H1, "i16", lambda a: HALF.truncated(a, -32768, 32767) & _MASK, _WHOLE),
    hard("v_frexp_exp_i16_f16", H1, "i16", lambda a: math.frexp(float(HALF.value(a)))[1] & _MASK, _EVERY[1:]),
    hard("v_frexp_mant_f16", H1, "f16", lambda a: HALF.number(float.hex(math.frexp(float(HALF.value(a)))[0])), _EVERY[1:]),
    hard("v_fma_mix_f32", "v2f16 v2f16 f32", "f32", mixed, _MIXED,
         "v_fma_mix_f32 v0, {0}, |{1}|, -{2} op_sel:[1,0,0] op_sel_hi:[1,1,0]"),
    hard("v_fma_mixlo_f16", "f32 f32 f32", "f16", mixed_and_narrowed, _NARROW),
    hard("v_add_f16", "v2f16 v2f16", "v2f16", lambda a, b: high_parts(a, b, 0x5A5AA5A5), pairs(_PAIRS, 2),
         "v_add_f16 v0.h, {0}.h, {1}.l"),
)  # fmt: skip
