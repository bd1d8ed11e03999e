"""Tables of half-precision and 16-bit vector operations: plain, packed, and mixed with single precision.

Plain operations use the low half of their registers and leave the high half of the destination unchanged, as on gfx10 and
later.
"""

from collections.abc import Callable

import numpy as np

from expctl.gfx11.machine.arrays import Anything
from expctl.gfx11.machine.definedness import chosen, same_bits
from expctl.gfx11.machine.rounding import fma16, fma32, maximum, minimum, to_integer
from expctl.gfx11.operands.vector_source import Type
from expctl.gfx11.vector.float_parts import exponent_of, mantissa_of
from expctl.gfx11.vector.floats import sine
from expctl.gfx11.vector.operation import F16, F32, I16, I32, MASK, U16, U32, VectorOp, binary, ternary, unary

_15 = np.uint16(15)


def _dot(a_low: Anything, a_high: Anything, b_low: Anything, b_high: Anything, c: Anything) -> Anything:
    """Return a_low * b_low + a_high * b_high + c, summed in double and rounded once. The hardware's is not documented."""
    wide = [x.astype(np.float64) for x in (a_low, a_high, b_low, b_high, c)]
    return (wide[0] * wide[2] + wide[1] * wide[3] + wide[4]).astype(np.float32)


def shift_left_16(a: Anything, b: Anything) -> Anything:
    """Return 16-bit b << (a modulo 16)."""
    return b << (a & _15)


def shift_right_16(a: Anything, b: Anything) -> Anything:
    """Return unsigned 16-bit b >> (a modulo 16)."""
    return b >> (a & _15)


def _arithmetic_shift_right_16(a: Anything, b: Anything) -> Anything:
    return b >> (a & np.int16(15))


_FUNCTIONS: dict[str, Callable[[Anything], Anything]] = {
    "rcp": np.reciprocal, "rsq": lambda a: 1.0 / np.sqrt(a), "sqrt": np.sqrt, "exp": np.exp2, "log": np.log2,
    "sin": lambda a: sine(a, 0), "cos": lambda a: sine(a, 1),
    "trunc": np.trunc, "ceil": np.ceil, "floor": np.floor, "rndne": np.rint,
}  # fmt: skip
"""Functions of one half, computed in double and rounded. Of the first seven the hardware's may differ in the last bit."""


def _half_of(function: Callable[[Anything], Anything]) -> VectorOp:
    return unary(F16, F16, lambda a: function(a.astype(np.float64)).astype(np.float16))


PLAIN: dict[str, VectorOp] = {
    "v_add_f16": binary(F16, np.add),
    "v_sub_f16": binary(F16, np.subtract),
    "v_subrev_f16": binary(F16, lambda a, b: b - a),
    "v_mul_f16": binary(F16, np.multiply),
    "v_fma_f16": ternary(F16, fma16),
    "v_fmac_f16": VectorOp(results=(F16,), sources=(F16, F16, F16), evaluate=fma16, accumulates=True),
    "v_max_f16": binary(F16, maximum),
    "v_min_f16": binary(F16, minimum),
    "v_mov_b16": unary(U16, U16, lambda a: a, same_bits),
    "v_add_nc_u16": binary(U16, np.add),
    "v_sub_nc_u16": binary(U16, np.subtract),
    "v_mul_lo_u16": binary(U16, np.multiply),
    "v_mad_u16": ternary(U16, lambda a, b, c: a * b + c),
    "v_mad_i16": ternary(I16, lambda a, b, c: a * b + c),
    "v_add_nc_i16": binary(I16, np.add),
    "v_sub_nc_i16": binary(I16, np.subtract),
    "v_not_b16": unary(U16, U16, np.invert, same_bits),
    "v_cndmask_b16": VectorOp(
        results=(U16,), sources=(U16, U16, MASK), evaluate=lambda a, b, mask: np.where(mask, b, a), rule=chosen
    ),
    "v_fmamk_f16": ternary(F16, fma16),
    "v_fmaak_f16": ternary(F16, fma16),
    "v_lshlrev_b16": binary(U16, shift_left_16),
    "v_lshrrev_b16": binary(U16, shift_right_16),
    "v_ashrrev_i16": binary(I16, _arithmetic_shift_right_16),
    "v_max_u16": binary(U16, np.maximum),
    "v_min_u16": binary(U16, np.minimum),
    "v_max_i16": binary(I16, np.maximum),
    "v_min_i16": binary(I16, np.minimum),
    "v_and_b16": binary(U16, np.bitwise_and),
    "v_or_b16": binary(U16, np.bitwise_or),
    "v_xor_b16": binary(U16, np.bitwise_xor),
    **{f"v_{name}_f16": _half_of(function) for name, function in _FUNCTIONS.items()},
    "v_fract_f16": unary(F16, F16, lambda a: np.minimum(a - np.floor(a), np.float16(1.0 - 2.0**-11))),
    "v_ldexp_f16": VectorOp(
        results=(F16,),
        sources=(F16, I16),
        evaluate=lambda a, b: np.ldexp(a.astype(np.float64), np.clip(b.astype(np.int32), -100, 100)).astype(np.float16),
    ),
    "v_frexp_exp_i16_f16": unary(I16, F16, lambda a: exponent_of(a).astype(np.int16)),
    "v_frexp_mant_f16": unary(F16, F16, mantissa_of),
    "v_cvt_i16_f16": unary(I16, F16, lambda a: to_integer(a, -(1 << 15), (1 << 15) - 1).astype(np.int16)),
    "v_cvt_u16_f16": unary(U16, F16, lambda a: to_integer(a, 0, (1 << 16) - 1).astype(np.uint16)),
    "v_cvt_f16_u16": unary(F16, U16, lambda a: a.astype(np.float32).astype(np.float16)),
    "v_cvt_f16_i16": unary(F16, I16, lambda a: a.astype(np.float16)),
    "v_cvt_i32_i16": unary(I32, I16, lambda a: a.astype(np.int32)),
    "v_cvt_u32_u16": unary(U32, U16, lambda a: a.astype(np.uint32)),
    "v_pack_b32_f16": VectorOp(
        results=(U32,),
        sources=(F16, F16),
        evaluate=lambda a, b: a.view(np.uint16).astype(np.uint32) | b.view(np.uint16).astype(np.uint32) << np.uint32(16),
    ),
}

PACKED: dict[str, VectorOp] = {
    "v_pk_add_f16": binary(F16, np.add),
    "v_pk_mul_f16": binary(F16, np.multiply),
    "v_pk_fma_f16": ternary(F16, fma16),
    "v_pk_max_f16": binary(F16, maximum),
    "v_pk_min_f16": binary(F16, minimum),
    "v_pk_add_u16": binary(U16, np.add),
    "v_pk_add_i16": binary(I16, np.add),
    "v_pk_sub_u16": binary(U16, np.subtract),
    "v_pk_sub_i16": binary(I16, np.subtract),
    "v_pk_mul_lo_u16": binary(U16, np.multiply),
    "v_pk_mad_u16": ternary(U16, lambda a, b, c: a * b + c),
    "v_pk_mad_i16": ternary(I16, lambda a, b, c: a * b + c),
    "v_pk_lshlrev_b16": binary(U16, shift_left_16),
    "v_pk_lshrrev_b16": binary(U16, shift_right_16),
    "v_pk_ashrrev_i16": binary(I16, _arithmetic_shift_right_16),
    "v_pk_max_u16": binary(U16, np.maximum),
    "v_pk_min_u16": binary(U16, np.minimum),
    "v_pk_max_i16": binary(I16, np.maximum),
    "v_pk_min_i16": binary(I16, np.minimum),
}
"""Operations that are executed twice, for the low and the high half of the result."""

MIXED: dict[str, Type] = {"v_fma_mix_f32": Type.F32, "v_fma_mixlo_f16": Type.F16, "v_fma_mixhi_f16": Type.F16_HIGH}
"""Mixed opcode -> type of the result: a fused multiply-add in single precision whose sources are each a float or a half."""


def mixed(a: Anything, b: Anything, c: Anything) -> Anything:
    """Return a * b + c in float32, rounded once: the result of v_fma_mix_f32. v_fma_mixlo and v_fma_mixhi round it again, to
    float16; LLVM selects them for fptrunc(fma(...)).
    """
    return fma32(a.astype(np.float32), b.astype(np.float32), c.astype(np.float32))


DOT = VectorOp(results=(F32,), sources=(F16, Type.F16_HIGH, F16, Type.F16_HIGH, F32), evaluate=_dot)
