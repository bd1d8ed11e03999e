"""Binary floating point, a second time: patterns without a sign are ordered as their values are, so rounding is a search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

Value = Fraction | float
"""A rational; or a float that is an infinity or NaN."""


@dataclass(frozen=True, slots=True)
class Binary:
    """An interchange format of `bits` bits with `fraction` of them behind the point. A result that is any NaN is None."""

    bits: int
    fraction: int

    @property
    def sign(self) -> int:
        return 1 << self.bits - 1

    @property
    def infinity(self) -> int:
        return self.sign - (1 << self.fraction)

    @property
    def quiet(self) -> int:
        return 1 << self.fraction - 1

    def is_nan(self, pattern: int) -> bool:
        return pattern & ~self.sign > self.infinity

    def is_signalling(self, pattern: int) -> bool:
        return self.is_nan(pattern) and not pattern & self.quiet

    def _magnitude(self, pattern: int) -> Fraction:
        """Infinity's pattern is the power of two that would come next."""
        biased, rest = divmod(pattern, 1 << self.fraction)
        significand = rest + (1 << self.fraction) * bool(biased)
        lowest = 2 - (1 << self.bits - self.fraction - 2) - self.fraction
        return significand * Fraction(2) ** (max(biased, 1) - 1 + lowest)

    def value(self, pattern: int) -> Value:
        magnitude = pattern & ~self.sign
        if magnitude > self.infinity:
            return math.nan
        found: Value = math.inf if magnitude == self.infinity else self._magnitude(magnitude)
        return -found if pattern & self.sign else found

    def below(self, exact: Fraction) -> int:
        """The greatest pattern whose value is at most `exact`, which isn't negative: rounding toward zero."""
        low, high = 0, self.infinity
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._magnitude(middle) <= exact else (low, middle)
        return low

    def nearest(self, exact: Fraction, zero: int = 0) -> int:
        """Ties go to the even pattern; `zero` is the sign of an exact zero."""
        magnitude = abs(exact)
        low = self.below(magnitude)
        twice = 2 * magnitude - self._magnitude(low) - self._magnitude(low + 1)
        return low + (twice > 0 or (twice == 0 and low & 1)) + (self.sign if exact < 0 or (exact == 0 and zero) else 0)

    def number(self, text: str) -> int:
        """`0x1.8p-3`, `-0.1`, `max`, `tiny` (the smallest denormal), `inf`, `qnan`, `snan`."""
        negative, word = text.startswith("-"), text.lstrip("-")
        special = {"max": self.infinity - 1, "tiny": 1, "least": 1 << self.fraction, "inf": self.infinity}
        special |= {"qnan": self.infinity | self.quiet | 5, "snan": self.infinity | 5}
        return (special[word] if word in special else self.nearest(exactly(word))) | (self.sign if negative else 0)

    def numbers(self, text: str) -> list[int]:
        return [self.number(word) for word in text.split()]

    def fma(self, a: int, b: int, c: int) -> int | None:
        """a * b + c, rounded once."""
        x, y, z = self.value(a), self.value(b), self.value(c)
        if isinstance(x, Fraction) and isinstance(y, Fraction) and isinstance(z, Fraction):
            return self.nearest(x * y + z, (a ^ b) & c & self.sign)
        product = math.nan if 0 in (x, y) else math.copysign(math.inf, _sign(x) * _sign(y))
        if isinstance(x, Fraction) and isinstance(y, Fraction):
            product = 0.0
        if math.isnan(x) or math.isnan(y):
            product = math.nan
        total = product + (z if isinstance(z, float) else 0.0)
        return None if math.isnan(total) else self.infinity | (self.sign if total < 0 else 0)

    def add(self, a: int, b: int) -> int | None:
        return self.fma(a, self.number("1.0"), b)

    def multiply(self, a: int, b: int) -> int | None:
        return self.fma(a, b, self.sign)

    def lesser(self, a: int | None, b: int | None, *, greater: bool = False) -> int | None:
        """v_min in IEEE mode, or v_max: a signalling NaN makes a NaN, a quiet one loses, and -0 is less than +0."""
        if any(x is not None and self.is_signalling(x) for x in (a, b)):
            return None
        if a is None or self.is_nan(a):
            return None if b is None or self.is_nan(b) else b
        if b is None or self.is_nan(b):
            return a
        return max(a, b, key=self._order) if greater else min(a, b, key=self._order)

    def greater(self, a: int | None, b: int | None) -> int | None:
        return self.lesser(a, b, greater=True)

    def _order(self, pattern: int) -> int:
        return -(pattern & ~self.sign) - 1 if pattern & self.sign else pattern

    def truncated(self, pattern: int, low: int, high: int) -> int:
        """To an integer, held within the limits; a NaN is 0."""
        value = self.value(pattern)
        return 0 if math.isnan(value) else high if value >= high else low if value <= low else int(value)

    def converted(self, pattern: int, to: Binary) -> int | None:
        value = self.value(pattern)
        if isinstance(value, Fraction):
            return to.nearest(value, pattern & self.sign)
        return None if math.isnan(value) else to.infinity | (to.sign if value < 0 else 0)


def _sign(value: Value) -> int:
    return 1 if value > 0 else -1


def exactly(text: str) -> Fraction:
    """Of a sum of hexadecimal or decimal numbers: `0x1p0+0x1p-60`. A sign within begins the next."""
    words = text.replace("p-", "p~").replace("p+", "p").replace("-", "+-").split("+")
    return sum((_one(word.replace("~", "-")) for word in words if word), Fraction(0))


def _one(word: str) -> Fraction:
    if "0x" not in word:
        return Fraction(word)
    digits, _, power = word.partition("p")
    whole, _, rest = digits.replace("0x", "").partition(".")
    return int(whole + rest, 16) * Fraction(2) ** (int(power or 0) - 4 * len(rest))


def rows(form: Binary, text: str) -> tuple[tuple[int, ...], ...]:
    """Rows apart by `;` or a new line, numbers by blanks; one that begins with `#` is an integer of 32 bits."""
    lines = text.replace(";", "\n").strip().splitlines()
    return tuple(tuple(_cell(form, word) for word in line.split()) for line in lines if line.strip())


def _cell(form: Binary, word: str) -> int:
    return int(word[1:], 0) & 0xFFFFFFFF if word[0] == "#" else form.number(word)


HALF, SINGLE, DOUBLE = Binary(16, 10), Binary(32, 23), Binary(64, 52)
