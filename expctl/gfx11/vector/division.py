"""The instructions of which a division is made: v_div_scale, v_div_fmas and v_div_fixup. Source: AMD's RDNA3.5 ISA.

The quotient c / b is computed from an approximate reciprocal by fused multiply-adds. v_div_scale moves numerator and
denominator where a step would overflow or be denormal, v_div_fmas moves the result back, v_div_fixup replaces the special ones.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from expctl.gfx11.machine.arrays import Anything
from expctl.gfx11.machine.rounding import fma32, fma64, quiet
from expctl.gfx11.vector.float_parts import biased_exponent, has_class
from expctl.gfx11.vector.operation import F16, F32, F64, IMPLIED_VCC, MASK, U32, VectorOp, ternary


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """The figures of a width: `shift` is the power of two by which is scaled, `far` the distance of exponents from which on a
    quotient needs it, `small` the biased exponent up to which a numerator does, `vanishing` the distance below which the
    quotient is zero.
    """

    shift: int
    far: int
    small: int
    vanishing: int
    fma: Callable[..., Anything]


_SINGLE = Scaling(shift=64, far=96, small=23, vanishing=-150, fma=fma32)
_DOUBLE = Scaling(shift=128, far=768, small=53, vanishing=-1075, fma=fma64)


def _is_denormal(c: Anything, b: Anything) -> Anything:
    """Return whether |c / b| is below the least normal number, exactly; False where one is infinite or NaN. No zeros."""
    (c_part, c_power), (b_part, b_power) = np.frexp(np.abs(c)), np.frexp(np.abs(b))
    denormal = c_power - b_power - (c_part < b_part) < np.finfo(b.dtype).minexp
    return denormal & np.isfinite(c) & np.isfinite(b)


def _scale(by: Scaling) -> Callable[[Anything, Anything, Anything], Anything]:
    """Return v_div_scale: a scaled so that no step overflows or underflows, and a flag that tells v_div_fmas to undo it.

    `a` is equal to b or c. Where the manual is ambiguous, this takes the reading that rounds c / b correctly.
    """

    def scale(a: Anything, b: Anything, c: Anything) -> Anything:
        kind, bits = a.dtype.type, f"u{a.dtype.itemsize}"
        down, up = np.ldexp(a, -by.shift), a * kind(2.0**by.shift)
        numerator, denominator = biased_exponent(c), biased_exponent(b)
        is_denominator, is_numerator = a.view(bits) == b.view(bits), a.view(bits) == c.view(bits)
        reciprocal, quotient = _is_denormal(np.ones_like(b), b), _is_denormal(c, b)
        result, undo = a.copy(), np.zeros(len(a), dtype=np.bool_)
        left = np.ones(len(a), dtype=np.bool_)
        for case, new, flag in (
            ((b == 0) | (c == 0), np.full_like(a, np.nan), False),
            (numerator - denominator >= by.far, np.where(is_denominator, up, a), True),
            ((denominator == 0) & (b != 0), up, False),
            (reciprocal & quotient, np.where(is_denominator, down, a), True),
            (reciprocal, down, False),
            (quotient, np.where(is_numerator, up, a), True),
            (numerator <= by.small, up, False),
        ):
            now = left & case
            result, undo, left = np.where(now, new, result), undo | (now & flag), left & ~case
        return result.astype(a.dtype), undo

    return scale


def _fma_and_unscale(by: Scaling) -> Callable[..., Anything]:
    """Return v_div_fmas: a * b + c, and where `undo`, times 2^shift if c is 2 or above, else times 2^-shift."""

    def fma(a: Anything, b: Anything, c: Anything, undo: Anything) -> Anything:
        product = by.fma(a, b, c)
        one = biased_exponent(np.ones(1, dtype=c.dtype))
        factor = np.where(biased_exponent(c) > one, c.dtype.type(2.0**by.shift), c.dtype.type(2.0**-by.shift))
        return np.where(undo, product * factor, product)

    return fma


def _fix_up(vanishing: int | None) -> Callable[[Anything, Anything, Anything], Anything]:
    """Return v_div_fixup: the quotient `a` with the sign of c / b, or where b or c is zero, infinite or NaN, c / b itself. A
    NaN in `a` means that the division overflowed, and gives infinity. Below a distance of exponents `vanishing` it is zero.
    """

    def fix_up(a: Anything, b: Anything, c: Anything) -> Anything:
        sign = np.where(np.signbit(b) ^ np.signbit(c), a.dtype.type(-1), a.dtype.type(1))
        infinite, zero = sign * a.dtype.type(np.inf), sign * a.dtype.type(0)
        result = np.copysign(a, sign)
        if vanishing is not None:
            far = biased_exponent(c) - biased_exponent(b)
            overflows = (biased_exponent(b) == (1 << np.finfo(b.dtype).iexp) - 1) | np.isnan(a)
            result = np.where(far < vanishing, zero, np.where(overflows, infinite, result))
        result = np.where(np.isinf(b) | (c == 0), zero, result)
        result = np.where((b == 0) | np.isinf(c), infinite, result)
        invalid = ((b == 0) & (c == 0)) | (np.isinf(b) & np.isinf(c))
        result = np.where(invalid, a.dtype.type(np.nan), result)
        return np.where(np.isnan(b), quiet(b), np.where(np.isnan(c), quiet(c), result)).astype(a.dtype)

    return fix_up


OPS: dict[str, VectorOp] = {
    **{
        f"v_div_scale_{kind}": VectorOp(results=(kind, MASK), sources=(kind, kind, kind), evaluate=_scale(by))
        for kind, by in ((F32, _SINGLE), (F64, _DOUBLE))
    },
    **{
        f"v_div_fmas_{kind}": VectorOp(
            results=(kind,), sources=(kind, kind, kind), evaluate=_fma_and_unscale(by), implied=IMPLIED_VCC
        )
        for kind, by in ((F32, _SINGLE), (F64, _DOUBLE))
    },
    "v_div_fixup_f16": ternary(F16, _fix_up(None)),
    "v_div_fixup_f32": ternary(F32, _fix_up(_SINGLE.vanishing)),
    "v_div_fixup_f64": ternary(F64, _fix_up(_DOUBLE.vanishing)),
    **{f"v_cmp_class_{kind}": VectorOp(results=(MASK,), sources=(kind, U32), evaluate=has_class) for kind in (F16, F32, F64)},
}
