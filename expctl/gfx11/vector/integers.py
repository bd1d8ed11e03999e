"""Table of integer vector operations, by the manual's definitions (AMD, "RDNA3.5" Instruction Set Architecture, chapter 16).

Shift amounts are taken modulo the width. An opcode ending in "rev" takes its first two sources in reverse order.
"""

from collections.abc import Callable

import numpy as np

from expctl.gfx11.machine.arrays import ALL_BITS, LANES, Anything
from expctl.gfx11.machine.definedness import (
    and_or,
    bit_choice,
    bits_above,
    chosen,
    conjunction,
    disjunction,
    disjunction_of_three,
    highest_one,
    lowest_one,
    moved_by,
    of_bits,
    same_bits,
    shifted_or,
)
from expctl.gfx11.operands.vector_source import Type
from expctl.gfx11.vector.byte_permute import permute_bytes, permuted_undefined
from expctl.gfx11.vector.operation import I16, I32, I64, MASK, U16, U32, U64, VectorOp, binary, ternary, unary

_SHORT = -(1 << 15), (1 << 15) - 1
_31, _63, _32 = np.uint32(31), np.uint64(63), np.uint64(32)


def _high(product: Anything) -> Anything:
    return (product >> _32).astype(np.uint32)


def _wide(a: Anything) -> Anything:
    return a.astype(np.uint64)


_ABOVE_OF_24 = of_bits(0xFFFFFF, bits_above)


def _low24(a: Anything) -> Anything:
    return a & np.uint32(0xFFFFFF)


def _signed24(a: Anything) -> Anything:
    return (a << 8) >> 8


def _bit_field(a: Anything, offset: Anything, width: Anything) -> Anything:
    return (a >> (offset & _31)) & ((np.uint32(1) << (width & _31)) - np.uint32(1))


def _signed_bit_field(a: Anything, offset: Anything, width: Anything) -> Anything:
    """Return v_bfe_i32: `width` bits of a from `offset`, sign-extended; bits past 31 repeat the sign, a width of 0 gives 0."""
    wide = a.view(np.int32).astype(np.int64) >> (offset & _31).astype(np.int64)
    up = 64 - (width & _31).astype(np.int64)
    return np.where(up == 64, 0, (wide << (up & 63)) >> (up & 63)).astype(np.int32).view(np.uint32)


def _add_carry(a: Anything, b: Anything, carry: Anything) -> Anything:
    total = _wide(a) + b + carry
    return total.astype(np.uint32), total >> _32 != 0


def _subtract_borrow(a: Anything, b: Anything, borrow: Anything) -> Anything:
    total = a.astype(np.int64) - b - borrow
    return total.astype(np.uint32), total < 0


def _multiply_add_64(a: Anything, b: Anything, c: Anything) -> Anything:
    total = _wide(a) * b + c
    return total, total < c


def _multiply_add_i64(a: Anything, b: Anything, c: Anything) -> Anything:
    """Return v_mad_i64_i32: a * b + c modulo 2^64, and for each lane whether the exact sum is negative."""
    product = a.astype(np.int64) * b
    total = product + c
    return total, np.where((product < 0) == (c < 0), product < 0, total < 0)


def _count_leading(a: Anything) -> Anything:
    """Return the number of zero bits above the highest one bit (v_clz); -1 for 0."""
    return np.where(a == 0, -1, 32 - np.frexp(a.astype(np.float64))[1]).astype(np.int32).view(np.uint32)


def _count_trailing(a: Anything) -> Anything:
    lowest = a & (~a + np.uint32(1))
    return np.where(a == 0, -1, np.frexp(lowest.astype(np.float64))[1] - 1).astype(np.int32).view(np.uint32)


def _reversed(a: Anything) -> Anything:
    bits = np.unpackbits(np.ascontiguousarray(a).view(np.uint8).reshape(-1, 4), axis=1, bitorder="little")
    return np.packbits(bits[:, ::-1], axis=1, bitorder="little").view(np.uint32).reshape(-1)


def _count_sign_bits(a: Anything) -> Anything:
    """Return how many bits from the top are like the sign (v_cls); -1 if all are."""
    return _count_leading(a ^ (a.view(np.int32) >> 31).view(np.uint32))


def _bytes(a: Anything) -> Anything:
    """Return the four bytes of words, lowest first, on a new last axis, as int64."""
    return (a[..., None] >> np.array([0, 8, 16, 24], dtype=np.uint32) & np.uint32(0xFF)).astype(np.int64)


def _byte_distance(a: Anything, b: Anything) -> Anything:
    return np.abs(_bytes(a) - _bytes(b))


def _masked_distance(a: Anything, b: Anything) -> Anything:
    """Return the distances of bytes; 0 where that of b, the reference, is 0 (v_msad)."""
    return np.where(_bytes(b) == 0, 0, _byte_distance(a, b))


def _short_distance(a: Anything, b: Anything) -> Anything:
    pairs = [(x & np.uint32(0xFFFF), x >> np.uint32(16)) for x in (a, b)]
    return sum(np.abs(x.astype(np.int64) - y) for x, y in zip(*pairs, strict=True))


def _mean(a: Anything, b: Anything, c: Anything) -> Anything:
    """Return v_lerp_u8: for each byte the mean of a and b, rounded up where the lowest bit of c's byte is 1."""
    means = _bytes(a) + _bytes(b) + (_bytes(c) & 1) >> 1
    return (means << np.array([0, 8, 16, 24])).sum(axis=-1).astype(np.uint32)


def _pair(low: Anything, high: Anything) -> Anything:
    """Pack the low 16 bits of two integers into words."""
    return low.astype(np.uint32) & np.uint32(0xFFFF) | high.astype(np.uint32) << np.uint32(16)


def _limited(a: Anything, low: int, high: int) -> Anything:
    return np.clip(a.astype(np.int64), low, high)


def _saturated_bytes(a: Anything) -> Anything:
    """Return v_sat_pk_u8_i16: two signed halves limited to 0..255, as the two bytes of a half."""
    low, high = ((a << np.uint32(n)).view(np.int32) >> 16 for n in (16, 0))
    return _limited(low, 0, 255).astype(np.uint16) | _limited(high, 0, 255).astype(np.uint16) << np.uint16(8)


def _align_bits(a: Anything, b: Anything, shift: Anything) -> Anything:
    return ((_wide(a) << _32 | b) >> _wide(shift & _31)).astype(np.uint32)


def _align_bytes(a: Anything, b: Anything, shift: Anything) -> Anything:
    return ((_wide(a) << _32 | b) >> (_wide(shift & np.uint32(3)) * np.uint64(8))).astype(np.uint32)


def _shift_left(a: Anything, b: Anything) -> Anything:
    return b << (a & _31)


def _shift_right(a: Anything, b: Anything) -> Anything:
    return b >> (a & _31)


def _count_below(a: Anything, b: Anything) -> Anything:
    """Return v_mbcnt_lo: b plus the number of bits that are set in mask a for lanes with lower numbers than this one."""
    below = (np.uint32(1) << np.arange(len(a), dtype=np.uint32) % np.uint32(LANES)) - np.uint32(1)
    return np.bitwise_count(a & below).astype(np.uint32) + b


def _carrying(evaluate: Callable[..., Anything], *, carry_in: bool) -> VectorOp:
    sources = (U32, U32, MASK) if carry_in else (U32, U32)
    return VectorOp(results=(U32, MASK), sources=sources, evaluate=evaluate)


def _shift_64(kind: Type, evaluate: Callable[[Anything, Anything], Anything]) -> VectorOp:
    return VectorOp(results=(kind,), sources=(U32, kind), evaluate=evaluate, rule=moved_by(evaluate, 0, used=63))


OPS: dict[str, VectorOp] = {
    "v_mov_b32": unary(U32, U32, lambda a: a, same_bits),
    "v_not_b32": unary(U32, U32, np.invert, same_bits),
    "v_and_b32": binary(U32, np.bitwise_and, conjunction),
    "v_or_b32": binary(U32, np.bitwise_or, disjunction),
    "v_xor_b32": binary(U32, np.bitwise_xor, same_bits),
    "v_xnor_b32": binary(U32, lambda a, b: ~(a ^ b), same_bits),
    "v_and_or_b32": ternary(U32, lambda a, b, c: (a & b) | c, and_or),
    "v_or3_b32": ternary(U32, lambda a, b, c: a | b | c, disjunction_of_three),
    "v_xor3_b32": ternary(U32, lambda a, b, c: a ^ b ^ c, same_bits),
    "v_bfi_b32": ternary(U32, lambda a, b, c: (a & b) | (~a & c), bit_choice),
    "v_lshlrev_b32": binary(U32, _shift_left, moved_by(_shift_left, 0)),
    "v_lshrrev_b32": binary(U32, _shift_right, moved_by(_shift_right, 0)),
    "v_ashrrev_i32": VectorOp(
        results=(I32,),
        sources=(U32, I32),
        evaluate=lambda a, b: b >> (a & _31).view(np.int32),
        rule=moved_by(lambda a, b: b >> (a & _31).view(np.int32), 0),
    ),
    "v_lshl_or_b32": ternary(U32, lambda a, b, c: (a << (b & _31)) | c, shifted_or),
    "v_lshl_add_u32": ternary(U32, lambda a, b, c: (a << (b & _31)) + c, bits_above),
    "v_add_lshl_u32": ternary(U32, lambda a, b, c: (a + b) << (c & _31)),
    "v_xad_u32": ternary(U32, lambda a, b, c: (a ^ b) + c, bits_above),
    "v_bfe_u32": ternary(U32, _bit_field, moved_by(_bit_field, 1, 2)),
    "v_bfe_i32": ternary(U32, _signed_bit_field, moved_by(_signed_bit_field, 1, 2)),
    "v_bfm_b32": binary(U32, lambda a, b: ((np.uint32(1) << (a & _31)) - np.uint32(1)) << (b & _31)),
    "v_alignbit_b32": ternary(U32, _align_bits, moved_by(_align_bits, 2)),
    "v_alignbyte_b32": ternary(U32, _align_bytes, moved_by(_align_bytes, 2)),
    "v_perm_b32": ternary(U32, permute_bytes, moved_by(permuted_undefined, 2, used=ALL_BITS)),
    "v_bfrev_b32": unary(U32, U32, _reversed, moved_by(_reversed)),
    "v_bcnt_u32_b32": binary(U32, lambda a, b: np.bitwise_count(a).astype(np.uint32) + b),
    "v_mbcnt_lo_u32_b32": binary(U32, _count_below),
    # In wave32 none of lanes 32..63 is below a lane, so the count is 0 and the result is b.
    "v_mbcnt_hi_u32_b32": binary(U32, lambda a, b: b, lambda values, undefined: undefined[1]),
    "v_clz_i32_u32": unary(U32, U32, _count_leading, highest_one),
    "v_ctz_i32_b32": unary(U32, U32, _count_trailing, lowest_one),
    "v_cls_i32": unary(U32, U32, _count_sign_bits),
    "v_sad_u8": ternary(U32, lambda a, b, c: (_byte_distance(a, b).sum(axis=-1) + c).astype(np.uint32)),
    "v_sad_hi_u8": ternary(U32, lambda a, b, c: ((_byte_distance(a, b).sum(axis=-1) << 16) + c).astype(np.uint32)),
    "v_msad_u8": ternary(U32, lambda a, b, c: (_masked_distance(a, b).sum(axis=-1) + c).astype(np.uint32)),
    "v_sad_u16": ternary(U32, lambda a, b, c: (_short_distance(a, b) + c).astype(np.uint32)),
    "v_lerp_u8": ternary(U32, _mean),
    "v_sat_pk_u8_i16": unary(U16, U32, _saturated_bytes),
    "v_cvt_pk_i16_i32": VectorOp(
        results=(U32,), sources=(I32, I32), evaluate=lambda a, b: _pair(_limited(a, *_SHORT), _limited(b, *_SHORT))
    ),
    "v_cvt_pk_u16_u32": binary(U32, lambda a, b: _pair(_limited(a, 0, 0xFFFF), _limited(b, 0, 0xFFFF))),
    "v_mad_u32_u16": VectorOp(results=(U32,), sources=(U16, U16, U32), evaluate=lambda a, b, c: a.astype(np.uint32) * b + c),
    "v_mad_i32_i16": VectorOp(results=(I32,), sources=(I16, I16, I32), evaluate=lambda a, b, c: a.astype(np.int32) * b + c),
    "v_mul_hi_i32_i24": binary(I32, lambda a, b: (_signed24(a).astype(np.int64) * _signed24(b) >> 32).astype(np.int32)),
    **{f"v_{name}_nc_i32": binary(I32, function, bits_above) for name, function in (("add", np.add), ("sub", np.subtract))},
    "v_add_nc_u32": binary(U32, np.add, bits_above),
    "v_sub_nc_u32": binary(U32, np.subtract, bits_above),
    "v_subrev_nc_u32": binary(U32, lambda a, b: b - a, bits_above),
    "v_add3_u32": ternary(U32, lambda a, b, c: a + b + c, bits_above),
    "v_add_co_u32": _carrying(lambda a, b: _add_carry(a, b, np.uint32(0)), carry_in=False),
    "v_sub_co_u32": _carrying(lambda a, b: _subtract_borrow(a, b, np.uint32(0)), carry_in=False),
    "v_subrev_co_u32": _carrying(lambda a, b: _subtract_borrow(b, a, np.uint32(0)), carry_in=False),
    "v_add_co_ci_u32": _carrying(_add_carry, carry_in=True),
    "v_sub_co_ci_u32": _carrying(_subtract_borrow, carry_in=True),
    "v_subrev_co_ci_u32": _carrying(lambda a, b, borrow: _subtract_borrow(b, a, borrow), carry_in=True),
    "v_mul_lo_u32": binary(U32, np.multiply, bits_above),
    "v_mul_hi_u32": binary(U32, lambda a, b: _high(_wide(a) * b)),
    "v_mul_hi_i32": binary(I32, lambda a, b: (a.astype(np.int64) * b >> 32).astype(np.int32)),
    "v_mul_u32_u24": binary(U32, lambda a, b: _low24(a) * _low24(b), _ABOVE_OF_24),
    "v_mul_i32_i24": binary(I32, lambda a, b: _signed24(a) * _signed24(b), _ABOVE_OF_24),
    "v_mul_hi_u32_u24": binary(U32, lambda a, b: _high(_wide(_low24(a)) * _low24(b))),
    "v_mad_u32_u24": ternary(U32, lambda a, b, c: _low24(a) * _low24(b) + c, bits_above),
    "v_mad_i32_i24": ternary(I32, lambda a, b, c: _signed24(a) * _signed24(b) + c, bits_above),
    "v_mad_u64_u32": VectorOp(results=(U64, MASK), sources=(U32, U32, U64), evaluate=_multiply_add_64, rule=bits_above),
    "v_mad_i64_i32": VectorOp(results=(I64, MASK), sources=(I32, I32, I64), evaluate=_multiply_add_i64, rule=bits_above),
    "v_lshlrev_b64": _shift_64(U64, lambda a, b: b << (_wide(a) & _63)),
    "v_lshrrev_b64": _shift_64(U64, lambda a, b: b >> (_wide(a) & _63)),
    "v_ashrrev_i64": _shift_64(I64, lambda a, b: b >> (_wide(a) & _63).view(np.int64)),
    "v_cndmask_b32": VectorOp(
        results=(U32,), sources=(U32, U32, MASK), evaluate=lambda a, b, mask: np.where(mask, b, a), rule=chosen
    ),
    "v_sad_u32": ternary(U32, lambda a, b, c: np.maximum(a, b) - np.minimum(a, b) + c),
    **{f"v_{name}_{kind}": binary(kind, evaluate) for kind in (U32, I32) for name, evaluate in
       (("min", np.minimum), ("max", np.maximum))},
}  # fmt: skip


def _saturating(kind: Type, evaluate: Callable[[Anything, Anything], Anything]) -> VectorOp:
    def limited(a: Anything, b: Anything) -> Anything:
        limits = np.iinfo(a.dtype)
        return np.clip(evaluate(a.astype(np.int64), b.astype(np.int64)), limits.min, limits.max).astype(a.dtype)

    return binary(kind, limited)


SATURATING: dict[str, VectorOp] = {
    f"v_{name}_nc_{kind}": _saturating(kind, function)
    for kind in (U32, I32, U16, I16)
    for name, function in (("add", np.add), ("sub", np.subtract), ("subrev", lambda a, b: b - a))
}
"""Sums and differences with the modifier `clamp`: limited to their type."""
