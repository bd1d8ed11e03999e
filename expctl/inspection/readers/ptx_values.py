"""What a function of PTX computes, as hashes of its blocks: numbers of registers, the order of independent instructions,
swapped operands and negated comparisons don't count.

A value is the hash of its expression; sums are linear forms. A register that is set in several places is known by what it is
set to. Effects keep their order in their block; a load is held between the effects around it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from expctl.inspection.readers.llvm_sums import Sum, digest
from expctl.inspection.readers.ptx_lines import (
    ASM,
    REGISTER,
    blocks_of,
    given_registers,
    is_sum,
    plain_assembly,
    read_line,
    split_at_registers,
    taken_registers,
)

ROUNDS = 4
_COMMUTATIVE = frozenset({"add", "mul", "mad", "fma", "min", "max", "and", "or", "xor"})
_NEGATED = {"ne": "eq", "ge": "lt", "le": "gt"}
_SETP = re.compile(r"setp\.(\w+)\.([sub]\d+)$")
_NUMBER = re.compile(r"-?\d+$")
_ADDRESS = re.compile(rf"\[({REGISTER.pattern})\+?(-?\d+)?\]")


def block_hashes(lines: Sequence[str]) -> list[str]:
    """Return a hash for each block of a function. `lines` are its instructions, labels and limits, in order; a line that begins
    with ASM is a whole piece of inline assembly.
    """
    reader = _Reader([plain_assembly(line) for line in lines])
    for _ in range(ROUNDS):
        before = reader.names
        made = reader.round()
        if reader.names == before:
            break
    return made


class _Reader:
    """Values of one function, by register."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.blocks = list(blocks_of(lines))
        self.labels = {label: str(at) for at, (label, _) in enumerate(self.blocks) if label}
        given = Counter(each for _, body in self.blocks for line in body for each in given_registers(line))
        self.given = frozenset(given)
        self.several = frozenset(each for each, count in given.items() if count > 1)
        self.names: Mapping[str, str] = {}
        self.sums: dict[str, Sum] = {}
        self.negated: dict[str, str] = {}
        self.values: dict[str, str] = {}
        self.here: dict[str, str] = {}
        self.effects: list[str] = []
        self.takes = [taken_registers(body) for _, body in self.blocks]
        self.read: dict[int, tuple[list[str], dict[str, str], list[str]]] = {}

    def round(self) -> list[str]:
        """Read all blocks, by what registers of several places were set to in the round before."""
        written: list[str] = []
        sets: dict[str, list[str]] = defaultdict(list)
        for at, (_, body) in enumerate(self.blocks):
            self._block(at, body)
            for register, value in self.here.items():
                if register in self.several:
                    sets[register].append(digest(str(at), value))
            last = sorted(digest(self.names.get(each, ""), value) for each, value in self.here.items() if each in self.several)
            written.append(digest(*self.effects, "sets", *last))
        self.names = {register: digest("set", *sorted(values)) for register, values in sets.items()}
        return written

    def _block(self, at: int, body: Sequence[str]) -> None:
        """Read a block, unless what it takes from others is what it was in the round before."""
        self.here, self.effects = {}, []
        taken = [self._value(each) for each in self.takes[at]]
        if at in self.read and self.read[at][0] == taken:
            _, self.here, self.effects = self.read[at]
            return
        for line in body:
            self._step(line)
        self.read[at] = taken, self.here, self.effects

    def _step(self, line: str) -> None:
        read = read_line(line)
        if read is None:
            if line.startswith(ASM):
                self._assembly(line)
            else:
                self.effects.append(digest(self._filled(line)))
            return
        sign, predicate, op, word, operands, given, is_pure = read
        if word == "bra":
            test, is_not = self._test(predicate, is_not=bool(sign)) if predicate else ("", False)
            self.effects.append(digest("bra", test, str(is_not), self.labels.get(operands[-1], operands[-1])))
            return
        if is_pure:
            value = self._computed(op, word, operands[1:])
            for at, each in enumerate(given):
                self._set(each, value if len(given) == 1 else digest(value, str(at)))
            return
        test = digest(*map(str, self._test(predicate, is_not=bool(sign)))) if predicate else ""
        place = "" if ".param" in op else str(len(self.effects))
        value = digest(test, op, *(self._filled(each) for each in operands[bool(given) :]), place)
        if word not in ("ld", "ldmatrix") or ".volatile" in op:
            self.effects.append(value)
        for at, each in enumerate(given):
            self._set(each, digest(value, str(at), *([self._value(each)] if predicate else [])))

    def _set(self, register: str, value: str) -> None:
        self.here[register] = value
        if register not in self.several:
            self.values[register] = value

    def _assembly(self, line: str) -> None:
        registers = list(dict.fromkeys(REGISTER.findall(line)))
        numbers = {each: f"${at}" for at, each in enumerate(registers)}
        value = digest(REGISTER.sub(lambda found: numbers[found[0]], line), *(self._value(each) for each in registers))
        self.effects.append(value)
        for at, each in enumerate(registers):
            self.here[each] = digest(value, str(at), str(len(self.effects)))
            if each not in self.several:
                self.values.setdefault(each, self.here[each])

    def _computed(self, op: str, word: str, operands: Sequence[str]) -> str:
        if word == "mov" and len(operands) == 1:
            return self._filled(operands[0])
        if is_sum(op):
            made = self._sum(word, [self._as_sum(each) for each in operands])
            if made is not None:
                return self._named(made)
        values = [self._filled(each) for each in operands]
        if word == "setp" and (compared := _SETP.match(op)):
            return self._comparison(compared[1], compared[2], values)
        if word in _COMMUTATIVE:
            values[:2] = sorted(values[:2])
        return digest(op, *values)

    def _sum(self, word: str, given: Sequence[Sum]) -> Sum | None:
        if word in ("add", "sub"):
            return given[0].plus(given[1], 1 if word == "add" else -1)
        if word == "neg":
            return Sum(0).plus(given[0], -1)
        if word == "shl":
            by = given[1].constant if not given[1].terms else None
            return given[0].times(Sum(1 << by)) if isinstance(by, int) and 0 <= by < 64 else None
        product = given[0].times(given[1])
        return product.plus(given[2]) if word == "mad" else product

    def _comparison(self, how: str, kind: str, values: Sequence[str]) -> str:
        one, other = values[:2]
        how, is_not = _NEGATED.get(how, how), how in _NEGATED
        if how == "gt":
            how, one, other = "lt", other, one
        if how == "eq":
            one, other = sorted((one, other))
        plain = digest("setp", how, kind, one, other, *values[2:])
        if not is_not:
            return plain
        made = digest("not", plain)
        self.negated[made] = plain
        return made

    def _test(self, register: str, *, is_not: bool) -> tuple[str, bool]:
        value = self._value(register)
        return (self.negated[value], not is_not) if value in self.negated else (value, is_not)

    def _as_sum(self, text: str) -> Sum:
        value = self._filled(text)
        made = self.sums.get(value)
        if made is None:
            made = self.sums[value] = Sum(int(value)) if _NUMBER.match(value) else Sum(0, ((value, 1),))
        return made

    def _named(self, made: Sum) -> str:
        if not made.terms:
            return str(made.constant)
        if not made.constant and len(made.terms) == 1 and made.terms[0][1] == 1:
            return made.terms[0][0]
        value = digest("sum", made.text())
        self.sums[value] = made
        return value

    def _value(self, register: str) -> str:
        if register in self.here:
            return self.here[register]
        if register in self.several:
            return digest("set in several places", self.names.get(register, ""))
        return self.values.get(register, "later" if register in self.given else register)

    def _filled(self, text: str) -> str:
        if "%" not in text:
            return text
        parts = split_at_registers(text)
        if len(parts) == 3 and not parts[0] and not parts[2]:
            return self._value(text)
        address = _ADDRESS.fullmatch(text) if text[0] == "[" else None
        if address:
            return f"[{self._named(self._as_sum(address[1]).plus(Sum(int(address[2] or 0))))}]"
        return "".join([self._value(part) if at & 1 else part for at, part in enumerate(parts)])
