"""Sums of products with constant factors, as one form: `2 * (a + b)`, `b + a + a + b` and `(a << 1) + 2 * b` are one.

Numbers are exact: nothing overflows and nothing is rounded. So it tells which arithmetic somebody wants, not to the last bit
what a machine answers.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

TERMS_MOST = 16
TERM_MOST = 4000
NUMBER_MOST = 1 << 500
_WHOLE = re.compile(r"-?\d+$")
_REAL = re.compile(r"-?\d+\.\d+e[+-]\d+$")
_BITS = re.compile(r"0x([0-9A-F]{16})$")
_DIGEST = re.compile(r"[0-9a-f]{16}")


def digest(*parts: str) -> str:
    """Return a hash of texts, 16 hex digits."""
    return blake2b("\x1f".join(parts).encode(errors="surrogateescape"), digest_size=8).hexdigest()


def is_digest(text: object) -> bool:
    """Is it what `digest` may have returned?"""
    return isinstance(text, str) and _DIGEST.fullmatch(text) is not None


class Sum(NamedTuple):
    """`constant` plus each term times its factor. A term is the hash of a value, or several joined by `*`, sorted."""

    constant: int | float
    terms: tuple[tuple[str, int | float], ...] = ()

    def plus(self, other: Sum, sign: int = 1) -> Sum:
        """Add `other`, or subtract it."""
        if not other.terms:
            return Sum(as_exact(self.constant + sign * other.constant), self.terms)
        return _collected(
            self.constant + sign * other.constant, [*self.terms, *((term, sign * by) for term, by in other.terms)]
        )

    def times(self, other: Sum) -> Sum:
        """Multiply; where that has very many terms, it is one term."""
        if not other.terms and other.constant == 1:
            return self
        if self._is_long() or other._is_long():
            return Sum(0, ((digest("product", *sorted((self.text(), other.text()))), 1),))
        if len(self.terms) * len(other.terms) > TERMS_MOST:
            return Sum(0, ((_product(f"({self.text()})", f"({other.text()})"), 1),))
        products = [(_product(one, two), by * to) for one, by in self.terms for two, to in other.terms]
        products += [(term, by * other.constant) for term, by in self.terms]
        products += [(term, by * self.constant) for term, by in other.terms]
        return _collected(self.constant * other.constant, products)

    def _is_long(self) -> bool:
        """Would a product of it, of its own kind, be too long to be written out?"""
        numbers = (self.constant, *(by for _, by in self.terms))
        return any(len(term) > TERM_MOST for term, _ in self.terms) or any(abs(each) >= NUMBER_MOST for each in numbers)

    def text(self) -> str:
        """Return it as text, the same for the same sum."""
        return " + ".join([str(self.constant), *[f"{by} {term}" for term, by in self.terms]])


def _product(one: str, other: str) -> str:
    return "*".join(sorted((*one.split("*"), *other.split("*"))))


def _collected(constant: int | float, terms: Iterable[tuple[str, int | float]]) -> Sum:
    found: dict[str, int | float] = {}
    for term, by in terms:
        found[term] = found.get(term, 0) + by
    return Sum(as_exact(constant), tuple(sorted([(term, as_exact(by)) for term, by in found.items() if by])))


def as_exact(value: float) -> int | float:
    """Return a whole number as an int."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@cache
def number(text: str) -> int | float | None:
    """Return the value of a constant of a scalar type; None for anything else."""
    if _WHOLE.match(text):
        return int(text)
    if _REAL.match(text):
        return as_exact(float(text))
    bits = _BITS.match(text)
    if bits:
        value = struct.unpack(">d", bytes.fromhex(bits[1]))[0]
        return as_exact(value) if value == value and abs(value) != float("inf") else None
    return None
