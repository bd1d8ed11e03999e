"""Numbers of a function of LLVM IR as sums: bits, remainders, conditions as 0 or 1, and negations are known as such.

Arithmetic is taken as exact, and what is divided or masked as not negative.
"""

from __future__ import annotations

import math
import operator

from expctl.inspection.readers.llvm_loops import Growing
from expctl.inspection.readers.llvm_sums import Sum, as_exact, digest

_BITWISE = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}


class Numbers:
    """Sums of one function by the name of their value, and what is known of bits, conditions, and the most that a value is."""

    def __init__(self) -> None:
        self.sums: dict[str, Sum] = {}
        self.masks: dict[str, tuple[Sum, int]] = {}
        self.flipped: dict[str, str] = {"true": "false", "false": "true"}
        self.conjuncts: dict[str, frozenset[str]] = {}
        self.tests: dict[str, Growing] = {}
        self.zeros: dict[str, str] = {}
        self.bits: set[str] = set()
        self.bounds: dict[str, float] = {}
        self.possible: dict[str, int] = {}
        self.learnt = 0

    def _most(self, value: Sum) -> float | None:
        """Return what a sum is at most if it is at least 0 for sure; None where that can't be told."""
        if value.constant < 0 or any(by < 0 or term not in self.bounds for term, by in value.terms):
            return None
        return value.constant + sum(self.bounds[term] * by for term, by in value.terms)

    def _at_most(self, value: str, most: float) -> None:
        """Remember that a value is between 0 and `most`. What was read before may depend on it only if it was another bound."""
        self.learnt += self.bounds.get(value, most) != most
        self.bounds[value] = most

    def _is_multiple(self, value: Sum, size: int) -> bool:
        """Is a sum a multiple of a power of two, as far as its factors tell?"""
        lows = [by * (mask & -mask) for term, by in value.terms for _, mask in [self.masks.get(term, (None, 1))]]
        return all(each % size == 0 for each in (value.constant, *lows))

    def _ones(self, value: Sum) -> int | None:
        """Return the bits that a sum may have, whose parts have none in common; None where that can't be told."""
        found = value.constant if isinstance(value.constant, int) and value.constant >= 0 else None
        for term, by in value.terms:
            ones = self._ones_of_term(term)
            if found is None or ones is None or not isinstance(by, int) or by < 1 or by & (by - 1) or ones * by & found:
                return None
            found |= ones * by
        return found

    def _ones_of_term(self, term: str) -> int | None:
        factors = [each for each in term.split("*") if each not in self.bits] or [term]
        if len(factors) > 1:
            return None
        if factors[0] in self.possible or factors[0] in self.masks:
            return self.possible[factors[0]] if factors[0] in self.possible else self.masks[factors[0]][1]
        most = self.bounds.get(factors[0], -1)
        return (1 << math.ceil(most).bit_length()) - 1 if most >= 0 else None

    def _computed(self, op: str, one: Sum, other: Sum, kind: str) -> Sum | None:
        """Return a sum for what can be one; None for other operations."""
        by = other.constant if not other.terms else None
        if op in _BITWISE and not one.terms and isinstance(one.constant, int) and isinstance(by, int):
            return Sum(_BITWISE[op](one.constant, by))
        if op in ("xor", "or") and Sum(0) in (one, other):
            return one.plus(other)
        if op in ("and", "xor"):
            for value, sign in ((one, other), (other, one)):
                if not sign.constant and len(sign.terms) == 1 and sign.terms[0][1] == -1 and sign.terms[0][0] in self.bits:
                    bit = Sum(0, ((sign.terms[0][0], 1),))  # all bits of `sign`, or none
                    return value.times(bit) if op == "and" else value.plus(bit.times(Sum(-1).plus(value.times(Sum(-2)))))
        if op in ("or", "xor") and one.terms and other.terms:
            ones = self._ones(one), self._ones(other)
            if ones[0] is not None and ones[1] is not None and not ones[0] & ones[1]:
                return one.plus(other)
        if op in ("add", "fadd"):
            return one.plus(other)
        if op in ("sub", "fsub"):
            return one.plus(other, -1)
        if op in ("mul", "fmul"):
            return one.times(other)
        if not isinstance(by, int) or kind[0] != "i":
            return None
        if op in ("or", "xor") and by > 0 and self._is_multiple(one, 1 << by.bit_length()):
            return one.plus(other)
        if op == "shl" and 0 <= by < 64:
            return one.times(Sum(1 << by))
        if op == "xor" and by == -1:
            return Sum(-1).plus(one, -1)
        bits = int(kind[1:])
        power = by.bit_length() - 1 if by > 0 and by & (by - 1) == 0 else -1
        if op in ("lshr", "ashr") and 0 <= by < bits:
            return self._masked(one, -(1 << by), bits).times(Sum(as_exact(2.0**-by)))
        if op in ("sdiv", "udiv") and power >= 0:
            return self._masked(one, -(1 << power), bits).times(Sum(as_exact(2.0**-power)))
        if op in ("srem", "urem") and power >= 0:
            return self._masked(one, by - 1, bits)
        if op == "and":
            return self._masked(one, by, bits)
        return None

    def _masked(self, value: Sum, mask: int, bits: int) -> Sum:
        """Return some bits of a value. Bits of a shifted value are shifted bits; bits of bits are fewer bits."""
        factor: int | float = 1
        if not value.constant and len(value.terms) == 1 and value.terms[0][1] > 0 and _is_power(value.terms[0][1]):
            factor = value.terms[0][1]
            mask = int((mask if factor < 1 else mask % (1 << bits)) / factor)
            value = Sum(0, ((value.terms[0][0], 1),))
        mask %= 1 << bits
        most = self._most(value)
        if not mask or (most is not None and most < mask & -mask):
            return Sum(0)
        if most is not None:  # bits that it can't have don't matter
            top = (1 << math.ceil(most).bit_length()) - 1
            gone = top & ~mask
            if not gone:
                return value.times(Sum(factor))
            mask = (1 << bits) - 1 - gone if gone & (gone + 1) == 0 else mask & top
        low = mask - (1 << (bits - 1))
        if low > 0 and low & (low + 1) == 0:  # the remainder of a number with a sign, which counts as none
            mask = low
        ones = _trailing(mask if mask & 1 else (mask ^ ((1 << bits) - 1)))
        whole = Sum(0)
        if mask == (1 << ones) - 1 or mask == (1 << bits) - (1 << ones):  # its low bits, or all but those
            whole, value = _split(value, 1 << ones)
            whole = Sum(0) if mask & 1 else whole
            if not mask & 1 and value.constant == (1 << ones) - 1 and value.terms:  # rounded up
                value = Sum(0, value.terms)
                rest = self._masked(value, (1 << ones) - 1, bits)
                up = self._as_bit(self._order("ne", rest, Sum(0))).times(Sum(1 << ones))
                return self._masked(value, mask, bits).plus(whole).plus(up).times(Sum(factor))
        held = (
            self.masks.get(value.terms[0][0])
            if len(value.terms) == 1 and value.terms[0][1] == 1 and not value.constant
            else None
        )
        if held is not None:
            value, mask = held[0], held[1] & mask
        if not value.terms and isinstance(value.constant, int):
            return Sum(value.constant & mask).plus(whole).times(Sum(factor))
        made = digest("bits", value.text(), str(mask))
        self.masks[made] = (value, mask)
        self._at_most(made, min(mask, mask if most is None else most))
        if mask == 1:
            self.bits.add(made)
        return Sum(0, ((made, 1),)).plus(whole).times(Sum(factor))

    def _rest(self, difference: Sum) -> Sum:
        """Return the low bits of a number for its difference to the number without them."""
        for term, by in difference.terms:
            held, mask = self.masks.get(term, (None, 0))
            if held is not None and abs(by) == 1 and difference.plus(Sum(0, ((term, by),)), -1) == held.times(Sum(-by)):
                size = mask & -mask
                if size > 1 and (mask + size) & mask == 0:
                    return self._masked(held, size - 1, max(mask.bit_length(), 32)).times(Sum(-by))
        return difference

    def _negation(self, value: str) -> str:
        if value in self.flipped:
            return self.flipped[value]
        made = digest("not", value)
        self.flipped[made] = value
        self.flipped[value] = made
        return made

    def _both(self, one: str, other: str) -> str:
        """Return the condition that two hold."""
        parts = frozenset[str]().union(*(self.conjuncts.get(each, {each}) for each in (one, other))) - {"true"}
        if "false" in parts or any(self.flipped.get(each) in parts for each in parts):
            return "false"
        if len(parts) < 2:
            return next(iter(parts), "true")
        made = digest("both", *sorted(parts))
        self.conjuncts[made] = parts
        return made

    def _either(self, one: str, other: str) -> str:
        """Return the condition that one of two holds, or both: not that neither does."""
        return self._negation(self._both(self._negation(one), self._negation(other)))

    def _condition(self, value: str) -> tuple[str, bool]:
        """The value, and whether it is the negation of what is returned."""
        other = self.flipped.get(value)
        if other is None:
            return value, False
        return (other, True) if digest("not", other) == value else (value, False)

    def _where(self, condition: str, made: Sum) -> Sum:
        """Return a sum as it is where a condition holds: without a term that is 0 then."""
        test = self.tests.get(condition)
        if test is None or not test.is_zero or test.sum.constant or len(test.sum.terms) != 1:
            return made
        return Sum(made.constant, tuple(each for each in made.terms if each[0] != test.sum.terms[0][0]))

    def _as_bit(self, condition: str) -> Sum:
        """Return 1 if a condition holds, or else 0."""
        value, negated = self._condition(condition)
        if value in self.zeros:
            value, negated = self.zeros[value], not negated
        else:
            value = digest("number", value)
            self.bits.add(value)
            self._at_most(value, 1)
        bit = Sum(0, ((value, 1),))
        return Sum(1).plus(bit, -1) if negated else bit

    def _order(self, predicate: str, one: Sum, other: Sum) -> str:
        """A comparison of whole numbers is a sum that is at least 0, or is 0. Of it and its negation, one is named."""
        if predicate in ("eq", "ne"):
            bit = self._rest(one.plus(other, -1))
            held = self.masks.get(bit.terms[0][0]) if len(bit.terms) == 1 and abs(bit.terms[0][1]) == 1 else None
            if held is not None and held[1].bit_count() == 1 and bit.constant == -held[1] * bit.terms[0][1]:  # it is set
                return self._order("ne" if predicate == "eq" else "eq", Sum(0, ((bit.terms[0][0], 1),)), Sum(0))
            value = digest("zero", min(bit.text(), Sum(0).plus(bit, -1).text()))
            self.tests[value] = Growing(True, bit)
            if not bit.constant and len(bit.terms) == 1 and bit.terms[0][0] in self.bits:
                self.zeros[value] = bit.terms[0][0]
            return self._negation(value) if predicate == "ne" else value
        below, strict = predicate in ("slt", "sle"), predicate in ("slt", "sgt")
        difference = (other.plus(one, -1) if below else one.plus(other, -1)).plus(Sum(-1 if strict else 0))
        opposite = Sum(-1).plus(difference, -1)
        negated = difference.text() > opposite.text()
        asked = opposite if negated else difference
        value = digest("at least 0", asked.text())
        self.tests[value] = Growing(False, asked)
        return self._negation(value) if negated else value

    def _rounded(self, made: Sum) -> Sum:
        """Return a sum with `x / 8 * 8` for `x - x % 8`."""
        for term, by in made.terms:
            held, mask = self.masks.get(term, (None, 0))
            if held is None or mask < 2 or mask & (mask + 1) or held.constant:
                continue
            given, wanted = dict(made.terms), {each: -by * factor for each, factor in held.terms}
            if all(given.get(each) == factor for each, factor in wanted.items()):
                width = max(mask.bit_length() + 1, 32)
                less = made.plus(Sum(0, ((term, by),)), -1).plus(held.times(Sum(by)))
                return less.plus(self._masked(held, (1 << width) - 1 - mask, width).times(Sum(-by)))
        return made

    def _of(self, value: str) -> Sum:
        """Return the sum that has a name."""
        return self.sums.get(value) or Sum(0, ((value, 1),))

    def _named(self, made: Sum) -> str:
        """Return the name of a sum: that of its only term, if it is nothing else."""
        made = self._rounded(made)
        if not made.constant and len(made.terms) == 1 and made.terms[0][1] == 1:
            return made.terms[0][0]
        value = digest("sum", made.text()) if made.terms else str(made.constant)
        self.sums[value] = made
        return value


def _trailing(value: int) -> int:
    """Return how many of the lowest bits are ones."""
    return ((value + 1) & -(value + 1)).bit_length() - 1


def _split(value: Sum, size: int) -> tuple[Sum, Sum]:
    """Return those parts of a sum that are multiples of `size`, a power of two, and the rest."""
    constant = value.constant // size * size if isinstance(value.constant, int) else 0
    terms = tuple((term, by) for term, by in value.terms if isinstance(by, int) and by % size == 0)
    return Sum(constant, terms), Sum(value.constant - constant, tuple(each for each in value.terms if each not in terms))


def _is_power(value: float) -> bool:
    """Is it a power of two, of which there are fractions as well?"""
    return math.frexp(value)[0] == 0.5
