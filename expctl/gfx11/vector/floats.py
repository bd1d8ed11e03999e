"""Single-precision vector operations and conversions. Rounding is to nearest even and denormals are kept (descriptor.py).

The hardware approximates v_rcp, v_rsq, v_sqrt, v_exp, v_log, v_sin and v_cos to about one unit in the last place; here their
results are correctly rounded, so values computed from them may differ from the hardware's in the last bits. All but v_sin and
v_cos treat a denormal source as zero, and return zero instead of a denormal, whatever the mode is.
"""

from collections.abc import Callable

import numpy as np

from expctl.gfx11.machine.arrays import Anything
from expctl.gfx11.machine.definedness import any_bit, of_bits
from expctl.gfx11.machine.rounding import fma32, maximum, minimum, quiet, to_integer
from expctl.gfx11.vector.float_parts import exponent_of, mantissa_of
from expctl.gfx11.vector.operation import F16, F32, I32, U32, VectorOp, binary, ternary, unary

_INT32, _UINT32 = (-(1 << 31), (1 << 31) - 1), (0, (1 << 32) - 1)


def _flushed(a: Anything) -> Anything:
    """Replace denormals with zeros of the same sign."""
    return np.where(np.abs(a) < np.float32(2.0**-126), np.copysign(np.float32(0), a), a)


def sine(turns: Anything, quarter: int) -> Anything:
    """Return sin(2 pi (turns + quarter / 4)) as float64; exact at multiples of a quarter turn, however large `turns` is."""
    quarters = np.fmod(turns.astype(np.float64), 1.0) * 4.0
    whole = np.rint(quarters)
    angle = (quarters - whole) * (np.pi / 2.0)
    which = np.where(np.isfinite(whole), whole, 0.0).astype(np.int64) + quarter & 3
    magnitude = np.where(which & 1, np.cos(angle), np.sin(angle))
    # A result of zero is +0, except that of an argument of zero, whose sign it has.
    result = np.where(which & 2, -magnitude, magnitude)
    return np.where((result == 0) & (turns != 0), 0.0, result)


def _to_i32(a: Anything) -> Anything:
    return to_integer(a, *_INT32).astype(np.int32)


def _to_u32(a: Anything) -> Anything:
    return to_integer(a, *_UINT32).astype(np.uint32)


def _byte_into(a: Anything, place: Anything, c: Anything) -> Anything:
    """Return v_cvt_pk_u8_f32: c with its byte number `place` replaced by a, rounded to nearest and limited to 0..255."""
    shift = (place & np.uint32(3)) << np.uint32(3)
    byte = to_integer(np.rint(a), 0, 255).astype(np.uint32)
    return c & ~(np.uint32(0xFF) << shift) | byte << shift


def _pair_of(low: int, high: int) -> Callable[[Anything, Anything], Anything]:
    """Return v_cvt_pk: two floats truncated and limited to low..high, as the halves of a word."""

    def pack(a: Anything, b: Anything) -> Anything:
        halves = [to_integer(x, low, high).astype(np.uint32) & np.uint32(0xFFFF) for x in (a, b)]
        return halves[0] | halves[1] << np.uint32(16)

    return pack


def _byte(i: int) -> VectorOp:
    byte = of_bits(0xFF << 8 * i, any_bit)
    return unary(F32, U32, lambda a: ((a >> np.uint32(8 * i)) & np.uint32(0xFF)).astype(np.float32), byte)


def _approximate(function: Callable[[Anything], Anything]) -> VectorOp:
    return unary(F32, F32, lambda a: _flushed(function(_flushed(a).astype(np.float64)).astype(np.float32)))


def _to_zero(a: Anything) -> Anything:
    """Convert float32 values to float16 bits, rounded toward zero; a value too large becomes the largest finite half."""
    nearest = a.astype(np.float16)
    too_large = np.abs(nearest.astype(np.float64)) > np.abs(a.astype(np.float64))
    return np.where(too_large, np.nextafter(nearest, np.float16(0)), nearest).view(np.uint16).astype(np.uint32)


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
_APPROXIMATIONS = {
    "v_rcp_f32": _approximate(np.reciprocal),
    "v_rcp_iflag_f32": _approximate(np.reciprocal),
    "v_rsq_f32": _approximate(lambda a: 1.0 / np.sqrt(a)),
    "v_sqrt_f32": _approximate(np.sqrt),
    "v_exp_f32": _approximate(np.exp2),
    "v_log_f32": _approximate(np.log2),
    "v_sin_f32": unary(F32, F32, lambda a: sine(a, 0).astype(np.float32)),
    "v_cos_f32": unary(F32, F32, lambda a: sine(a, 1).astype(np.float32)),
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
    "v_frexp_exp_i32_f32": unary(I32, F32, exponent_of),
    "v_frexp_mant_f32": unary(F32, F32, mantissa_of),
}  # fmt: skip
_CONVERSIONS = {
    "v_cvt_f32_f16": unary(F32, F16, lambda a: quiet(a.astype(np.float32))),
    "v_cvt_f16_f32": unary(F16, F32, lambda a: quiet(a).astype(np.float16)),
    "v_cvt_f32_i32": unary(F32, I32, lambda a: a.astype(np.float32)),
    "v_cvt_f32_u32": unary(F32, U32, lambda a: a.astype(np.float32)),
    "v_cvt_i32_f32": unary(I32, F32, _to_i32),
    "v_cvt_u32_f32": unary(U32, F32, _to_u32),
    "v_cvt_floor_i32_f32": unary(I32, F32, lambda a: _to_i32(np.floor(a))),
    "v_cvt_nearest_i32_f32": unary(I32, F32, lambda a: _to_i32(np.floor(a.astype(np.float64) + 0.5))),
    **{f"v_cvt_f32_ubyte{i}": _byte(i) for i in range(4)},
    "v_cvt_pk_u8_f32": VectorOp(results=(U32,), sources=(F32, U32, U32), evaluate=_byte_into),
    **{
        f"v_cvt_pk_{kind}16_f32": VectorOp(results=(U32,), sources=(F32, F32), evaluate=_pair_of(low, high))
        for kind, low, high in (("i", -(1 << 15), (1 << 15) - 1), ("u", 0, 0xFFFF))
    },
    "v_cvt_pk_rtz_f16_f32": VectorOp(
        results=(U32,), sources=(F32, F32), evaluate=lambda a, b: _to_zero(a) | _to_zero(b) << np.uint32(16)
    ),
}
OPS: dict[str, VectorOp] = {**_SUMS, **_APPROXIMATIONS, **_ROUNDINGS, **_CONVERSIONS}
