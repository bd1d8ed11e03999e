"""Floating point by rational arithmetic: an oracle that shares nothing with numpy's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Format:
    """An IEEE binary format."""

    mantissa: int
    exponent: int

    @property
    def bias(self) -> int:
        return (1 << self.exponent - 1) - 1

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent) - 1) << self.mantissa

    @property
    def sign(self) -> int:
        return 1 << self.mantissa + self.exponent

    def is_nan(self, bits: int) -> bool:
        return bits & ~self.sign > self.infinity

    def value(self, bits: int) -> Fraction | float | None:
        """None for a NaN."""
        magnitude = bits & (self.sign - 1)
        if magnitude > self.infinity:
            return None
        negative = -1 if bits & self.sign else 1
        if magnitude == self.infinity:
            return negative * math.inf
        exponent, mantissa = magnitude >> self.mantissa, magnitude & (1 << self.mantissa) - 1
        if exponent == 0:
            return negative * Fraction(mantissa) * Fraction(2) ** (1 - self.bias - self.mantissa)
        return negative * Fraction(mantissa | 1 << self.mantissa) * Fraction(2) ** (exponent - self.bias - self.mantissa)

    def nearest(self, number: Fraction, *, negative_zero: bool = False) -> int:
        """Bits of the nearest value, ties to even; too large is infinite."""
        sign = self.sign if number < 0 or (number == 0 and negative_zero) else 0
        magnitude = abs(number)
        if magnitude == 0:
            return sign
        power = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        if Fraction(2) ** power > magnitude:
            power -= 1
        step = Fraction(2) ** (max(power, 1 - self.bias) - self.mantissa)
        count = round(magnitude / step)  # Python's round is to even
        if power < 1 - self.bias:
            return sign | count  # a denormal, or the smallest normal number
        bits = (power + self.bias << self.mantissa) + count - (1 << self.mantissa)
        return sign | min(bits, self.infinity)


SINGLE, HALF, DOUBLE = Format(23, 8), Format(10, 5), Format(52, 11)
F32 = (
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x3F800001, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF,
    0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3EAAAAAB, 0x4B7FFFFF, 0x4B000001, 0xC2F6E979, 0x33800000, 0x5F000001,
)  # fmt: skip
F16 = (
    0x0000, 0x8000, 0x3C00, 0xBC00, 0x3C01, 0x0001, 0x8001, 0x03FF, 0x0400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x3555,
    0x6400,
)  # fmt: skip
F64 = (
    0, 1 << 63, 0x3FF0000000000000, 0xBFF0000000000000, 0x3FF0000000000001, 1, 0x8000000000000001, 0x000FFFFFFFFFFFFF,
    0x0010000000000000, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000,
    0x3FD5555555555555, 0x433FFFFFFFFFFFFF, 0xC05EDD2F1A9FBE77, 0x3CA0000000000000, 0x43E0000000000001, 0x3FE0000000000000,
    0xBFE0000000000000, 0x4004000000000000, 0x41DFFFFFFFC00000, 0x41E0000000000000, 0x41EFFFFFFFE00000, 0xC1E0000000200000,
    0x36A0000000000000, 0x380FFFFFE0000001, 0x47EFFFFFF0000000, 0x3FF0000010000000, 0x3FF0000030000000, 0x400921FB54442D18,
)  # fmt: skip
"""The last eight are near the ends and ties of single precision."""
U32 = (
    0, 1, 2, 31, 32, 33, 0x7F, 0x80, 0xFF, 0xFFFF, 0x10000, 0xFFFFFF, 0x1000000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x12345678,
    0xDEADBEEF,
)  # fmt: skip
"""Corner values, as bits."""


def add(a: int, b: int, form: Format) -> int | None:
    """None for a NaN."""
    x, y = form.value(a), form.value(b)
    if x is None or y is None or (isinstance(x, float) and isinstance(y, float) and x != y):
        return None
    if isinstance(x, float) or isinstance(y, float):
        return a if isinstance(x, float) else b
    return form.nearest(x + y, negative_zero=bool(a & b & form.sign))


def multiply(a: int, b: int, form: Format) -> int | None:
    x, y = form.value(a), form.value(b)
    sign = (a ^ b) & form.sign
    if x is None or y is None or (isinstance(x, float) and y == 0) or (isinstance(y, float) and x == 0):
        return None
    if isinstance(x, float) or isinstance(y, float):
        return form.infinity | sign
    return form.nearest(x * y, negative_zero=bool(sign))


def fused(a: int, b: int, c: int, form: Format) -> int | None:
    """a * b + c, rounded once."""
    x, y, z = form.value(a), form.value(b), form.value(c)
    product = multiply(a, b, form)
    if product is None or z is None:
        return None
    if isinstance(x, float) or isinstance(y, float):
        return None if isinstance(z, float) and (product ^ c) & form.sign else product
    if isinstance(z, float):
        return c
    assert isinstance(x, Fraction)
    assert isinstance(y, Fraction)
    total = x * y + z
    return form.nearest(total, negative_zero=bool((a ^ b) & c & form.sign))
