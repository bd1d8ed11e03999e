"""Floating-point operations that numpy lacks, rounded once, as the hardware does."""

import math
from fractions import Fraction

import numpy as np

from expctl.gfx11.machine.arrays import Anything


def fma32(a: Anything, b: Anything, c: Anything) -> Anything:
    """Return float32 a * b + c with one rounding, to nearest even.

    The product of two floats is exact in double precision. The sum is first rounded to odd in double (Boldo and Melquiond,
    "Emulation of FMA and correctly rounded sums", 2008), so that the final rounding to float32 can't hit a false tie.
    """
    return _odd_sum(a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)).astype(np.float32)


def fma16(a: Anything, b: Anything, c: Anything) -> Anything:
    """Return float16 a * b + c with one rounding, to nearest even."""
    return _odd_sum(a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)).astype(np.float16)


def fma64(a: Anything, b: Anything, c: Anything) -> Anything:
    """Return float64 a * b + c with one rounding, to nearest even.

    The product is split into two doubles (Dekker, 1971), whose sum with c is rounded to odd and then to nearest. Lanes whose
    parts might overflow or be denormal are computed in fractions.
    """
    # a product that overflows is finite all the same
    plain = np.where(np.isfinite(a) & np.isfinite(b) & np.isinf(c), c, a * b + c)
    exponents = [np.where(x == 0, 0, np.frexp(x)[1]) for x in (a, b, c)]
    near = np.isfinite(plain) & (np.abs(exponents[0]) < _NEAR) & (np.abs(exponents[1]) < _NEAR) & (np.abs(exponents[2]) < _NEAR)
    x, y, z = (np.where(near, each, 1.0) for each in (a, b, c))
    high, low = _product(x, y)
    above, below = _sum(z, low)
    top, rest = _sum(high, above)
    exact = top + _odd_sum(rest, below)
    result = np.where(near & (exact != 0), exact, plain)
    for lane in np.flatnonzero(~near & np.isfinite(a) & np.isfinite(b) & np.isfinite(c)):
        result[lane] = _exactly(float(a[lane]), float(b[lane]), float(c[lane]), float(plain[lane]))
    return result


_NEAR = 300
"""Exponents below it leave room for products and for the low parts of them."""


def _exactly(a: float, b: float, c: float, plain: float) -> float:
    """Return a * b + c, of finite numbers; `plain`, rounded twice, has the right sign where the result is zero."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not exact:
        return plain
    try:
        magnitude = float(abs(exact))
    except OverflowError:
        magnitude = math.inf
    return magnitude if exact > 0 else -magnitude


def _product(a: Anything, b: Anything) -> tuple[Anything, Anything]:
    """Return two doubles whose sum is a * b."""
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    product = a * b
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _halves(a: Anything) -> tuple[Anything, Anything]:
    scaled = a * (2.0**27 + 1)
    high = scaled - (scaled - a)
    return high, a - high


def _sum(a: Anything, b: Anything) -> tuple[Anything, Anything]:
    """Return two doubles whose sum is a + b: the rounded sum and its error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _odd_sum(x: Anything, y: Anything) -> Anything:
    """Return float64 x + y rounded to odd: an inexact sum with last bit 0 becomes its neighbour towards the exact sum."""
    total, error = _sum(x, y)
    wrong = (error != 0) & np.isfinite(total) & ((total.view(np.int64) & 1) == 0)
    if wrong.any():
        towards = np.where(error > 0, np.inf, -np.inf)
        total = np.where(wrong, np.nextafter(total, towards), total)
    return total


def maximum(a: Anything, b: Anything) -> Anything:
    """Return IEEE maxNum: a quiet NaN gives way to a number, a signalling NaN makes the result NaN; +0 is above -0."""
    same = np.where(np.signbit(a), b, a)
    return _unless_signalling(a, b, np.where(a == b, same, np.fmax(a, b)))


def minimum(a: Anything, b: Anything) -> Anything:
    """Return IEEE minNum: a quiet NaN gives way to a number, a signalling NaN makes the result NaN; -0 is below +0."""
    same = np.where(np.signbit(a), a, b)
    return _unless_signalling(a, b, np.where(a == b, same, np.fmin(a, b)))


def quiet(a: Anything) -> Anything:
    """Return `a` with signalling NaNs made quiet, as arithmetic does."""
    return a * a.dtype.type(1)


def _unless_signalling(a: Anything, b: Anything, result: Anything) -> Anything:
    if not (np.isnan(a) | np.isnan(b)).any():
        return result
    return np.where(_is_signalling(a) | _is_signalling(b), a.dtype.type(np.nan), result)


def _is_signalling(a: Anything) -> Anything:
    """Flag the values that are signalling NaNs: NaNs whose highest bit of the mantissa is 0."""
    quiet = a.dtype.type(np.nan).view(f"u{a.dtype.itemsize}")
    return np.isnan(a) & ((a.view(quiet.dtype) & quiet) != quiet)


def to_integer(values: Anything, low: int, high: int) -> Anything:
    """Truncate to integers and clamp to low..high; a NaN becomes 0. Returns int64."""
    whole = np.trunc(np.where(np.isnan(values), 0.0, values.astype(np.float64)))
    return np.clip(whole, low, high).astype(np.int64)
