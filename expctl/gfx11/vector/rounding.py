"""Floating-point operations that numpy has no name for, rounded once as the machine does."""

import numpy as np

from expctl.gfx11.machine.arrays import Anything


def fma32(a: Anything, b: Anything, c: Anything) -> Anything:
    """float32 a * b + c with one rounding, to nearest even.

    The product of two floats is exact in a double. The sum is rounded to odd there (Boldo and Melquiond, "Emulation of FMA and
    correctly rounded sums", 2008), so that the rounding to float sees on which side of a tie the exact sum lies.
    """
    return _odd_sum(a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)).astype(np.float32)


def fma16(a: Anything, b: Anything, c: Anything) -> Anything:
    """float16 a * b + c with one rounding."""
    return _odd_sum(a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)).astype(np.float16)


def _odd_sum(x: Anything, y: Anything) -> Anything:
    """x + y in float64, rounded to odd: if inexact, the last bit is made 1 by taking the neighbour towards the exact sum."""
    total = x + y
    part = total - x
    error = (x - (total - part)) + (y - part)
    wrong = (error != 0) & np.isfinite(total) & ((total.view(np.int64) & 1) == 0)
    if wrong.any():
        towards = np.where(error > 0, np.inf, -np.inf)
        total = np.where(wrong, np.nextafter(total, towards), total)
    return total


def maximum(a: Anything, b: Anything) -> Anything:
    """IEEE maxNum: of a number and a quiet NaN the number, of a signalling one a NaN (ieee_mode); +0 above -0."""
    same = np.where(np.signbit(a), b, a)
    return _unless_signalling(a, b, np.where(a == b, same, np.fmax(a, b)))


def minimum(a: Anything, b: Anything) -> Anything:
    """IEEE minNum, likewise; -0 below +0."""
    same = np.where(np.signbit(a), a, b)
    return _unless_signalling(a, b, np.where(a == b, same, np.fmin(a, b)))


def _unless_signalling(a: Anything, b: Anything, result: Anything) -> Anything:
    if not (np.isnan(a) | np.isnan(b)).any():
        return result
    return np.where(_is_signalling(a) | _is_signalling(b), a.dtype.type(np.nan), result)


def _is_signalling(a: Anything) -> Anything:
    """A NaN whose highest bit of mantissa is 0."""
    quiet = np.float16(np.nan).view(np.uint16) if a.dtype == np.float16 else np.float32(np.nan).view(np.uint32)
    return np.isnan(a) & ((a.view(quiet.dtype) & quiet) != quiet)


def to_integer(values: Anything, low: int, high: int) -> Anything:
    """Cut to an integer and held within low..high; a NaN is 0. As int64."""
    whole = np.trunc(np.where(np.isnan(values), 0.0, values.astype(np.float64)))
    return np.clip(whole, low, high).astype(np.int64)
