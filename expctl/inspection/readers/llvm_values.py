"""Values of a function of LLVM IR, each as the hash of its expression, whatever it is called and however it is spelt."""

from __future__ import annotations

import re
from functools import cache

from expctl.inspection.readers.llvm_loops import Growing
from expctl.inspection.readers.llvm_module import Surroundings
from expctl.inspection.readers.llvm_numbers import Numbers
from expctl.inspection.readers.llvm_rooms import LOCAL
from expctl.inspection.readers.llvm_sums import Sum, digest, number
from expctl.inspection.readers.llvm_text import Instruction, closing, split_list, text_type

_NAMES = re.compile(rf"({LOCAL.pattern})")
ARMS_MOST = 6
MATH = frozenset({"nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast"})
CASTS = tuple("zext sext uitofp sitofp trunc fpext fptrunc bitcast addrspacecast".split())  # noqa: SIM905
BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "half": 16, "bfloat": 16, "float": 32, "double": 64}
OPERATIONS = tuple("add sub mul shl lshr ashr sdiv udiv srem urem xor or and fadd fsub fmul fdiv".split())  # noqa: SIM905
_COMMUTATIVE = frozenset({"add", "mul", "and", "or", "xor", "fadd", "fmul"})
_SWAPPED = {"ugt": "ult", "sgt": "slt", "uge": "ule", "sge": "sle", "ogt": "olt", "oge": "ole"}
_NEGATED = {"ne": "eq", "ule": "ult", "sle": "slt", "une": "oeq"}
_SMALL = frozenset({"i8", "i16"})
_SCALAR = re.compile(r"(?:i(?:32|64)|float|double)$")
_ORDERS = frozenset({"eq", "ne", "slt", "sle", "sgt", "sge"})


class Values(Numbers):
    """Values of one function, by the name of what gives them. Sums, bits and negations are known as such."""

    def __init__(self, module: Surroundings) -> None:
        super().__init__()
        self.module = module
        self.values: dict[str, str] = {}
        self.made_of: dict[str, tuple[str, int, str]] = {}

    def _operand(self, text: str) -> str:
        text = text.strip()
        if text[:1] == "%" and text[1:].isdigit():
            return self.values.get(text, "later")
        return self._spelt(text)

    def _spelt(self, text: str) -> str:
        parts = _parts(self.module.spelt(text))
        values = self.values
        return "".join([values.get(part, "later") if at & 1 else part for at, part in enumerate(parts)])

    def _typed(self, text: str) -> str:
        """`i32 %5` as type and value."""
        kind = text_type(text)
        value = text[len(kind) :].strip()
        return f"{self.module.spelt(kind)} {self._operand(value)}"

    def _arithmetic(self, each: Instruction) -> str:
        op, kind, one, other, flags = _operands(each.text)
        sums = self._as_sum(one), self._as_sum(other)
        small = kind in _SMALL and all(self._fits(each, kind) for each in sums)
        if (small or _SCALAR.match(kind)) and (made := self._computed(op, *sums, kind)) is not None:
            return self._named(made)
        values = [self._operand(one), self._operand(other)]
        if op == "xor" and kind == "i1" and other.strip() == "true":
            return self._negation(values[0])
        if kind == "i1" and op in ("and", "or"):
            return self._both(*values) if op == "and" else self._either(*values)
        if op in _COMMUTATIVE:
            values.sort()
        return digest(op, *flags, self.module.spelt(kind), *values)

    def _as_sum(self, text: str) -> Sum:
        text = text.strip()
        constant = None if text[:1] == "%" else number(text)
        if constant is not None:
            return Sum(constant)
        return self._of(self._operand(text))

    def _fits(self, made: Sum, kind: str) -> bool:
        """Is a number known to be one of a type, and not negative?"""
        most = self._most(made)
        return most is not None and most < 1 << BITS[kind] - 1

    def _frozen(self, each: Instruction) -> str:
        """A number stays what it is."""
        kind = text_type(each.text[7:])
        return self._operand(each.text[7 + len(kind) :])

    def _address(self, each: Instruction) -> str:
        return self._pointer(each.text.removeprefix("getelementptr ").strip())

    def _pointer(self, text: str) -> str:
        kind, held, indices = _address_parts(text)
        nested = held.startswith("getelementptr (")
        value = self._pointer(held.removeprefix("getelementptr ")) if nested else self._operand(held)
        made = self._of(value)
        current = self.module.type(kind) if kind.startswith("%") else kind
        for place, index in enumerate(indices):
            if place and current.startswith(("{", "<{")):
                current, offset = self.module.member(current, int(index))
                made = made.plus(Sum(offset))
            else:
                current = current[1:-1].partition(" x ")[2] if place else current
                made = made.plus(self._as_sum(index).times(Sum(self.module.size(current)[0])))
            current = self.module.type(current) if current.startswith("%") else current
        return self._named(made)

    def _comparison(self, each: Instruction) -> str:
        op, predicate, kind, texts = _compared(each.text)
        ordered = _ORDERS if _SCALAR.match(kind) else ("eq", "ne") if kind.startswith("ptr") else ()
        if op == "icmp" and predicate in ordered:
            return self._order(predicate, *(self._as_sum(text) for text in texts))
        if predicate in _SWAPPED:
            predicate, texts = _SWAPPED[predicate], texts[::-1]
        negated = predicate in _NEGATED
        if predicate in ("ule", "sle"):
            texts = texts[::-1]
        predicate = _NEGATED.get(predicate, predicate)
        one, other = (self._operand(text) for text in texts)
        if predicate in ("eq", "oeq"):
            one, other = sorted((one, other))
        value = digest(op, predicate, self.module.spelt(kind), one, other)
        if predicate == "ult" and _SCALAR.match(kind):
            self.tests[value] = Growing(False, self._as_sum(texts[1]).plus(self._as_sum(texts[0]), -1).plus(Sum(-1)))
        return self._negation(value) if negated else value

    def _select(self, each: Instruction) -> str:
        condition, one, other = split_list(" ".join(word for word in each.text.split(" ")[1:] if word not in MATH))
        kind = text_type(condition)
        value, negated = self._condition(self._operand(condition[len(kind) :]))
        if kind == text_type(one) == "i1":
            known = self._chosen(value, *(self._operand(each[3:]) for each in ((other, one) if negated else (one, other))))
            if known:
                return known
        remainder = self._remainder(value, *((other, one) if negated else (one, other)))
        if remainder is not None:
            return self._named(remainder)
        whole = text_type(one)
        if value and kind == "i1" and whole in ("i32", "i64"):
            sums = [self._as_sum(text[len(whole) :]) for text in ((other, one) if negated else (one, other))]
            if max(len(each.terms) for each in sums) <= ARMS_MOST:
                less = self._where(value, sums[0].plus(sums[1], -1))
                return self._named(sums[1].plus(less.times(self._as_bit(value))))
        arms = [self._typed(one), self._typed(other)]
        return digest("select", kind, value, *(arms[::-1] if negated else arms))

    def _chosen(self, condition: str, one: str, other: str) -> str:
        """Return a choice of conditions, one of which is known, as that two hold, or one of them; "" for any other."""
        if "false" in (one, other):
            return self._both(condition, one) if other == "false" else self._both(self._negation(condition), other)
        if "true" in (one, other):
            return self._either(condition, other) if one == "true" else self._either(self._negation(condition), one)
        return ""

    def _remainder(self, condition: str, one: str, other: str) -> Sum | None:
        """Return what `x < 8 ? x : x - 8` is, or its multiple, if it is a remainder of a number that is less than 16."""
        test, kind = self.tests.get(condition), text_type(one)
        if test is None or test.is_zero or len(test.sum.terms) != 1 or kind not in ("i32", "i64"):
            return None
        (term, sign), constant = test.sum.terms[0], test.sum.constant
        below, above = (self._as_sum(text[len(kind) :]) for text in ((one, other) if sign < 0 else (other, one)))
        limit = constant + 1 if sign == -1 else -constant if sign == 1 else 0
        factor = dict(below.terms).get(term, 0)
        less = below.plus(above, -1)
        if (
            not isinstance(limit, int)
            or limit < 1
            or limit & (limit - 1)
            or not factor
            or less.terms
            or less.constant != factor * limit
        ):
            return None
        rest = below.plus(Sum(0, ((term, factor),)), -1)
        return rest.plus(self._masked(Sum(0, ((term, 1),)), limit - 1, int(kind[1:])).times(Sum(factor)))

    def _cast(self, each: Instruction) -> str:
        """A number stays the same in a wider type; so do bits of which nobody asks more."""
        word, source, target = _cast_parts(each.text)
        if source.startswith("i1 ") and word in ("zext", "sext") and target in ("i32", "i64"):
            bit = self._as_bit(self._operand(source[3:]))
            return self._named(bit if word == "zext" else Sum(0).plus(bit, -1))
        if source.startswith(("i32 ", "i64 ")) and target in ("i32", "i64", "float", "double"):
            return self._named(self._as_sum(source[4:]))
        kind = text_type(source)
        if word in ("zext", "sext", "trunc") and kind in BITS and target in BITS:
            made = self._as_sum(source[len(kind) :])
            if self._fits(made, min(kind, target, key=BITS.__getitem__)):
                return self._named(made)
        if word == "addrspacecast":
            return self._operand(source[len(kind) :])
        value = digest(word, self._typed(source), self.module.spelt(target))
        if word in ("zext", "sext", "trunc", "bitcast") and kind in BITS and target in BITS:
            self.made_of[value] = self._operand(source[len(kind) :]), min(BITS[kind], BITS[target]), kind
            if word == "zext":
                self.possible[value] = (1 << BITS[kind]) - 1
        return value

    def _low_bits(self, value: str, kind: str) -> tuple[str, str]:
        """Return the value of which one is a wider, narrower or otherwise named form, as far as its low bits are the same, and
        whether it is a real number: 1 and 1.0 have other bits.
        """
        bits = BITS[kind]
        while value in self.made_of and self.made_of[value][1] >= bits:
            value, _, kind = self.made_of[value]
        return value, "" if kind.startswith("i") else "real"

    def _negative(self, each: Instruction) -> str:
        text = " ".join(word for word in each.text.split(" ")[1:] if word not in MATH)
        kind = text_type(text)
        one = text[len(kind) :].strip()
        if not _SCALAR.match(kind):
            return digest("fneg", self.module.spelt(kind), self._operand(one))
        return self._named(Sum(0).plus(self._as_sum(one), -1))


@cache
def _parts(text: str) -> list[str]:
    """Split a text at the names of values in it, which are every second part."""
    return _NAMES.split(text)


@cache
def _cast_parts(text: str) -> tuple[str, str, str]:
    """Split a cast: its name, its operand with the type, and the type that it gives."""
    word, rest = text.split(" ", 1)
    if rest.startswith("nneg "):
        word, rest = ("sext" if word == "zext" else "sitofp" if word == "uitofp" else word), rest[5:]
    source, _, target = " ".join(part for part in rest.split(" ") if part not in MATH).rpartition(" to ")
    return word, source, target


@cache
def _compared(text: str) -> tuple[str, str, str, tuple[str, ...]]:
    """Split a comparison: its name, its predicate, the type and the operands."""
    words = [word for word in text.split(" ") if word not in MATH]
    rest = " ".join(words[2:])
    kind = text_type(rest)
    return words[0], words[1], kind, split_list(rest[len(kind) :])


@cache
def _address_parts(text: str) -> tuple[str, str, tuple[str, ...]]:
    """Split an address: the type that its indices count, what it begins at, and the indices."""
    text = text[1 : closing(text, 0)] if text.startswith("(") else text
    kind, *typed = split_list(text)
    base, *indices = (each[len(text_type(each)) :].strip() for each in typed)
    return kind, base, tuple(indices)


@cache
def _operands(text: str) -> tuple[str, str, str, str, list[str]]:
    """Split an operation with two operands: its name, type, operands and flags of arithmetic."""
    words = text.split(" ")
    flags = [word for word in words[1:4] if word in MATH]
    rest = " ".join(word for word in words[1:] if word not in MATH and word != "disjoint")
    kind = text_type(rest)
    one, other = split_list(rest[len(kind) :])
    return ("add" if words[0] == "or" and "disjoint" in words[1:3] else words[0]), kind, one, other, flags
