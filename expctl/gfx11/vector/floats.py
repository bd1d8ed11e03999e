"""Single-precision vector operations and conversions. Rounding is to nearest even and denormals are kept (descriptor.py).

The hardware approximates v_rcp, v_rsq, v_sqrt, v_exp, v_log, v_sin and v_cos to about one unit in the last place; here their
results are correctly rounded, so values computed from them may differ from the hardware's in the last bits. All but v_sin and
v_cos treat a denormal source as zero, and return zero instead of a denormal, whatever the mode is.
"""

from collections.abc import Callable

import numpy as np

from expctl.gfx11.machine.arrays import Anything
from expctl.gfx11.machine.rounding import fma32, maximum, minimum, to_integer
from expctl.gfx11.vector.operation import F16, F32, I32, IMPLIED_VCC, MASK, U32, VectorOp, binary, ternary, unary

_INT32, _UINT32 = (-(1 << 31), (1 << 31) - 1), (0, (1 << 32) - 1)


def _flushed(a: Anything) -> Anything:
    """Replace denormals with zeros of the same sign."""
    return np.where(np.abs(a) < np.float32(2.0**-126), np.copysign(np.float32(0), a), a)


def _sine(turns: Anything, quarter: int) -> Anything:
    """Return sin(2 pi (turns + quarter / 4)) as float32; exact at multiples of a quarter turn, however large `turns` is."""
    quarters = np.fmod(turns.astype(np.float64), 1.0) * 4.0
    whole = np.rint(quarters)
    angle = (quarters - whole) * (np.pi / 2.0)
    which = np.where(np.isfinite(whole), whole, 0.0).astype(np.int64) + quarter & 3
    magnitude = np.where(which & 1, np.cos(angle), np.sin(angle))
    # A result of zero is +0, except that of an argument of zero, whose sign it has.
    result = np.where(which & 2, -magnitude, magnitude)
    return np.where((result == 0) & (turns != 0), 0.0, result).astype(np.float32)


def _to_i32(a: Anything) -> Anything:
    return to_integer(a, *_INT32).astype(np.int32)


def _to_u32(a: Anything) -> Anything:
    return to_integer(a, *_UINT32).astype(np.uint32)


def _exponent(a: Anything) -> Anything:
    """Return the biased exponent field of float32 values, 0..255."""
    return (a.view(np.uint32) >> np.uint32(23)).astype(np.int64) & 0xFF


def _scale(a: Anything, b: Anything, c: Anything) -> Anything:
    """Return v_div_scale_f32, which prepares the division c / b: a scaled so that no step overflows or underflows, and a flag.

    `a` is equal to b or c. The flag tells v_div_fmas to undo the scaling. Where the manual is ambiguous, this takes the reading
    that rounds c / b correctly.
    """
    down = (a.astype(np.float64) * 2.0**-64).astype(np.float32)
    top = np.float32(2.0) ** 64
    numerator, denominator = _exponent(c), _exponent(b)
    denormal = (denominator == 0) & (b != 0)
    is_denominator = a.view(np.uint32) == b.view(np.uint32)
    is_numerator = a.view(np.uint32) == c.view(np.uint32)
    reciprocal_denormal = np.abs(1.0 / b.astype(np.float64)) < 2.0**-126
    quotient_denormal = np.abs(c.astype(np.float64) / b.astype(np.float64)) < 2.0**-126
    result, undo = a.copy(), np.zeros(len(a), dtype=np.bool_)
    left = np.ones(len(a), dtype=np.bool_)
    for case, new, flag in (
        ((b == 0) | (c == 0), np.full_like(a, np.nan), False),
        (numerator - denominator >= 96, np.where(is_denominator, a * top, a), True),
        (denormal, a * top, False),
        (reciprocal_denormal & quotient_denormal, np.where(is_denominator, down, a), True),
        (reciprocal_denormal, down, False),
        (quotient_denormal, np.where(is_numerator, a * top, a), True),
        (numerator <= 23, a * top, False),
    ):
        now = left & case
        result, undo, left = np.where(now, new, result), undo | (now & flag), left & ~case
    return result.astype(np.float32), undo


def _fma_and_unscale(a: Anything, b: Anything, c: Anything, undo: Anything) -> Anything:
    """Return v_div_fmas_f32: a * b + c, and where `undo`, times 2^64 if c's unbiased exponent is positive, else times 2^-64."""
    product = fma32(a, b, c)
    factor = np.where(_exponent(c) > 127, np.float32(2.0**64), np.float32(2.0**-64))
    return np.where(undo, product * factor, product)


def _fix_up(a: Anything, b: Anything, c: Anything) -> Anything:
    """Return v_div_fixup_f32: the quotient `a` with the sign of c / b, or where b or c is zero, infinite or NaN, c / b itself.
    A NaN in `a` means that the division overflowed, and gives infinity.
    """
    negative = np.signbit(b) ^ np.signbit(c)
    sign = np.where(negative, np.float32(-1), np.float32(1))
    infinite, zero = sign * np.float32(np.inf), sign * np.float32(0)
    far = _exponent(c) - _exponent(b)
    result = np.where(far < -150, zero, np.where((_exponent(b) == 255) | np.isnan(a), infinite, np.copysign(a, sign)))
    result = np.where(np.isinf(b) | (c == 0), zero, result)
    result = np.where((b == 0) | np.isinf(c), infinite, result)
    invalid = ((b == 0) & (c == 0)) | (np.isinf(b) & np.isinf(c))
    result = np.where(invalid, np.float32(np.nan), result)
    return np.where(np.isnan(b), b, np.where(np.isnan(c), c, result)).astype(np.float32)


def _classes(a: Anything, wanted: Anything) -> Anything:
    """Return v_cmp_class_f32: whether `wanted` has the bit of the class of a. Bits 0..9 are signalling NaN, quiet NaN, -inf,
    -normal, -denormal, -0, +0, +denormal, +normal, +inf.
    """
    bits = a.view(np.uint32)
    quiet = (bits >> np.uint32(22)) & np.uint32(1)
    tiny = (_exponent(a) == 0) & (a != 0)
    magnitude = np.where(np.isinf(a), 3, np.where(a == 0, 0, np.where(tiny, 1, 2)))
    number = np.where(np.signbit(a), 5 - magnitude, 6 + magnitude)
    return (wanted >> np.where(np.isnan(a), quiet, number).astype(np.uint32)) & np.uint32(1) != 0


def _byte(i: int) -> VectorOp:
    return unary(F32, U32, lambda a: ((a >> np.uint32(8 * i)) & np.uint32(0xFF)).astype(np.float32))


def _approximate(function: Callable[[Anything], Anything]) -> VectorOp:
    return unary(F32, F32, lambda a: _flushed(function(_flushed(a).astype(np.float64)).astype(np.float32)))


def _to_zero(a: Anything) -> Anything:
    """Convert float32 values to float16 bits, rounded toward zero; a value too large becomes the largest finite half."""
    nearest = a.astype(np.float16)
    too_large = np.abs(nearest.astype(np.float64)) > np.abs(a.astype(np.float64))
    return np.where(too_large, np.nextafter(nearest, np.float16(0)), nearest).view(np.uint16).astype(np.uint32)


def _exponent_of(a: Anything) -> Anything:
    return np.asarray(np.where(np.isfinite(a), np.frexp(a)[1], 0), dtype=np.int32)


def _mantissa_of(a: Anything) -> Anything:
    return np.asarray(np.where(np.isfinite(a), np.frexp(a)[0], a), dtype=np.float32)


_SUMS = {
    "v_add_f32": binary(F32, np.add),
    "v_sub_f32": binary(F32, np.subtract),
    "v_subrev_f32": binary(F32, lambda a, b: b - a),
    "v_mul_f32": binary(F32, np.multiply),
    "v_fma_f32": ternary(F32, fma32),
    "v_fmac_f32": VectorOp(results=(F32,), sources=(F32, F32, F32), evaluate=fma32, accumulates=True),
    # a * K + b and a * b + K, with K in the text
    "v_fmamk_f32": ternary(F32, fma32),
    "v_fmaak_f32": ternary(F32, fma32),
    "v_max_f32": binary(F32, maximum),
    "v_min_f32": binary(F32, minimum),
}
_DIVISION = {
    "v_div_scale_f32": VectorOp(results=(F32, MASK), sources=(F32, F32, F32), evaluate=_scale),
    "v_div_fmas_f32": VectorOp(results=(F32,), sources=(F32, F32, F32), evaluate=_fma_and_unscale, implied=IMPLIED_VCC),
    "v_div_fixup_f32": ternary(F32, _fix_up),
    "v_rcp_f32": _approximate(np.reciprocal),
    "v_rcp_iflag_f32": _approximate(np.reciprocal),
    "v_rsq_f32": _approximate(lambda a: 1.0 / np.sqrt(a)),
    "v_sqrt_f32": _approximate(np.sqrt),
    "v_exp_f32": _approximate(np.exp2),
    "v_log_f32": _approximate(np.log2),
    "v_sin_f32": unary(F32, F32, lambda a: _sine(a, 0)),
    "v_cos_f32": unary(F32, F32, lambda a: _sine(a, 1)),
}
_ROUNDINGS = {
    "v_trunc_f32": unary(F32, F32, np.trunc),
    "v_ceil_f32": unary(F32, F32, np.ceil),
    "v_floor_f32": unary(F32, F32, np.floor),
    "v_rndne_f32": unary(F32, F32, np.rint),
    "v_fract_f32": unary(F32, F32, lambda a: np.minimum(a - np.floor(a), np.float32(1.0 - 2.0**-24))),
    "v_ldexp_f32": VectorOp(
        results=(F32,),
        sources=(F32, I32),
        evaluate=lambda a, b: np.ldexp(a.astype(np.float64), np.clip(b, -400, 400)).astype(np.float32),
    ),
    "v_frexp_exp_i32_f32": unary(I32, F32, _exponent_of),
    "v_frexp_mant_f32": unary(F32, F32, _mantissa_of),
}  # fmt: skip
_CONVERSIONS = {
    "v_cvt_f32_f16": unary(F32, F16, lambda a: a.astype(np.float32)),
    "v_cvt_f16_f32": unary(F16, F32, lambda a: a.astype(np.float16)),
    "v_cvt_f32_i32": unary(F32, I32, lambda a: a.astype(np.float32)),
    "v_cvt_f32_u32": unary(F32, U32, lambda a: a.astype(np.float32)),
    "v_cvt_i32_f32": unary(I32, F32, _to_i32),
    "v_cvt_u32_f32": unary(U32, F32, _to_u32),
    "v_cvt_floor_i32_f32": unary(I32, F32, lambda a: _to_i32(np.floor(a))),
    "v_cvt_nearest_i32_f32": unary(I32, F32, lambda a: _to_i32(np.floor(a.astype(np.float64) + 0.5))),
    **{f"v_cvt_f32_ubyte{i}": _byte(i) for i in range(4)},
    "v_cvt_pk_rtz_f16_f32": VectorOp(
        results=(U32,), sources=(F32, F32), evaluate=lambda a, b: _to_zero(a) | _to_zero(b) << np.uint32(16)
    ),
}
_CLASS = {"v_cmp_class_f32": VectorOp(results=(MASK,), sources=(F32, U32), evaluate=_classes)}
OPS: dict[str, VectorOp] = {**_SUMS, **_DIVISION, **_ROUNDINGS, **_CONVERSIONS, **_CLASS}
