"""Exponents, mantissas and classes of floating-point numbers of any width, as the vector instructions see them."""

import numpy as np

from expctl.gfx11.machine.arrays import Anything


def biased_exponent(a: Anything) -> Anything:
    """Return the exponent fields of floats: 0..255 of float32, 0..2047 of float64, 0..31 of float16."""
    info = np.finfo(a.dtype)
    bits = a.view(f"u{a.dtype.itemsize}")
    return (bits >> bits.dtype.type(info.nmant)).astype(np.int64) & ((1 << info.iexp) - 1)


def exponent_of(a: Anything) -> Anything:
    """Return v_frexp_exp: the int32 exponents of `a` as 0.5..1 times a power of two; 0 of infinities and NaN."""
    return np.asarray(np.where(np.isfinite(a), np.frexp(a)[1], 0), dtype=np.int32)


def mantissa_of(a: Anything) -> Anything:
    """Return v_frexp_mant: the mantissas, in 0.5..1, with the type of `a`; infinities and NaN stay."""
    return np.asarray(np.where(np.isfinite(a), np.frexp(a)[0], a), dtype=a.dtype)


def has_class(a: Anything, wanted: Anything) -> Anything:
    """Return v_cmp_class: whether `wanted` has the bit of the class of a. Bits 0..9 are signalling NaN, quiet NaN, -inf,
    -normal, -denormal, -0, +0, +denormal, +normal, +inf.
    """
    info = np.finfo(a.dtype)
    bits = a.view(f"u{a.dtype.itemsize}")
    quiet = (bits >> bits.dtype.type(info.nmant - 1)).astype(np.uint32) & np.uint32(1)
    tiny = (biased_exponent(a) == 0) & (a != 0)
    magnitude = np.where(np.isinf(a), 3, np.where(a == 0, 0, np.where(tiny, 1, 2)))
    number = np.where(np.signbit(a), 5 - magnitude, 6 + magnitude)
    return (wanted >> np.where(np.isnan(a), quiet, number).astype(np.uint32)) & np.uint32(1) != 0
