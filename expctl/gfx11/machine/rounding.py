"""Floating-point operations that numpy lacks, rounded once, as the hardware does."""

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


def _odd_sum(x: Anything, y: Anything) -> Anything:
    """Return float64 x + y rounded to odd: an inexact sum with last bit 0 becomes its neighbour towards the exact sum."""
    total = x + y
    part = total - x
    error = (x - (total - part)) + (y - part)
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


def _unless_signalling(a: Anything, b: Anything, result: Anything) -> Anything:
    if not (np.isnan(a) | np.isnan(b)).any():
        return result
    return np.where(_is_signalling(a) | _is_signalling(b), a.dtype.type(np.nan), result)


def _is_signalling(a: Anything) -> Anything:
    """Flag the values that are signalling NaNs: NaNs whose highest bit of the mantissa is 0."""
    quiet = np.float16(np.nan).view(np.uint16) if a.dtype == np.float16 else np.float32(np.nan).view(np.uint32)
    return np.isnan(a) & ((a.view(quiet.dtype) & quiet) != quiet)


def to_integer(values: Anything, low: int, high: int) -> Anything:
    """Truncate to integers and clamp to low..high; a NaN becomes 0. Returns int64."""
    whole = np.trunc(np.where(np.isnan(values), 0.0, values.astype(np.float64)))
    return np.clip(whole, low, high).astype(np.int64)
