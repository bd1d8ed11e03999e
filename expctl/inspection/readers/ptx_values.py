"""What a function of PTX computes, as hashes of its blocks: numbers of registers, the order of independent instructions,
swapped operands and negated comparisons don't count.

A value is the hash of its expression; sums are linear forms. A register that is set in several places is known by what it is
set to. Effects keep their order in their block; a load is held between the effects around it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from expctl.inspection.readers.llvm_sums import Sum, digest

ROUNDS = 4
_REGISTER = re.compile(r"%(?:p|b|rs|rd|rq|r|fd|f|hh|h)\d+\b")
_INSTRUCTION = re.compile(r"(?:@(!?)(%p\d+)\s+)?([a-z][\w.:]*)\s*(.*?);?$", re.DOTALL)
_PURE = frozenset(
    "add sub mul mad fma min max and or xor not shl shr shf prmt cvt cvta mov selp setp set neg abs bfe bfi lop3 rcp "  # noqa: SIM905
    "sqrt rsqrt ex2 lg2 sin cos rem div popc clz brev dp4a cnot sad copysign tanh mma".split()
)
_COMMUTATIVE = frozenset({"add", "mul", "mad", "fma", "min", "max", "and", "or", "xor"})
_SUMS = re.compile(r"(?:add|sub|mul\.lo|mad\.lo|shl)\.[sub](?:32|64)$|neg\.s(?:32|64)$")
_NEGATED = {"ne": "eq", "ge": "lt", "le": "gt"}
_SETP = re.compile(r"setp\.(\w+)\.([sub]\d+)$")
_NUMBER = re.compile(r"-?\d+$")
_VARYING = re.compile(r"%(?:clock|globaltimer)")
_ADDRESS = re.compile(rf"\[({_REGISTER.pattern})\+?(-?\d+)?\]")
_GIVES_NONE = frozenset({"st", "bra", "bar", "ret", "red", "call", "stmatrix", "cp", "fence", "membar"})
_ALONE = re.compile(r"asm (?:\{ ?)?([^;{}]*(?:\{[^;{}]*\}[^;{}]*)*);(?: ?\})?$")
ASM = "asm "
"""Begins the line of a whole piece of inline assembly."""


def block_hashes(lines: Sequence[str]) -> list[str]:
    """Return a hash for each block of a function. `lines` are its instructions, labels and limits, in order; a line that begins
    with ASM is a whole piece of inline assembly.
    """
    reader = _Reader([_plain(line) for line in lines])
    for _ in range(ROUNDS):
        before = reader.names
        made = reader.round()
        if reader.names == before:
            break
    return made


class _Reader:
    """Values of one function, by register."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.blocks = list(_blocks(lines))
        self.labels = {label: str(at) for at, (label, _) in enumerate(self.blocks) if label}
        given = Counter(each for _, body in self.blocks for line in body for each in _given(line))
        self.given = frozenset(given)
        self.several = frozenset(each for each, count in given.items() if count > 1)
        self.names: Mapping[str, str] = {}
        self.sums: dict[str, Sum] = {}
        self.negated: dict[str, str] = {}
        self.values: dict[str, str] = {}
        self.here: dict[str, str] = {}
        self.effects: list[str] = []

    def round(self) -> list[str]:
        """Read all blocks, by what registers of several places were set to in the round before."""
        written: list[str] = []
        sets: dict[str, list[str]] = defaultdict(list)
        for at, (_, body) in enumerate(self.blocks):
            self.here, self.effects = {}, []
            for line in body:
                self._step(line)
            for register, value in self.here.items():
                if register in self.several:
                    sets[register].append(digest(str(at), value))
            last = sorted(digest(self.names.get(each, ""), value) for each, value in self.here.items() if each in self.several)
            written.append(digest(*self.effects, "sets", *last))
        self.names = {register: digest("set", *sorted(values)) for register, values in sets.items()}
        return written

    def _step(self, line: str) -> None:
        if line.startswith(ASM):
            self._assembly(line)
            return
        parsed = _parsed(line)
        if parsed is None or line.startswith((".", "{", "}")):
            self.effects.append(digest(self._filled(line)))
            return
        sign, predicate, op, text, operands = parsed
        given = _given(line)
        word = op.partition(".")[0]
        if word == "bra":
            test, is_not = self._test(predicate, is_not=bool(sign)) if predicate else ("", False)
            self.effects.append(digest("bra", test, str(is_not), self.labels.get(operands[-1], operands[-1])))
            return
        if word in _PURE and not predicate and given and not _VARYING.search(text):
            value = self._computed(op, operands[1:])
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
        registers = list(dict.fromkeys(_REGISTER.findall(line)))
        numbers = {each: f"${at}" for at, each in enumerate(registers)}
        value = digest(_REGISTER.sub(lambda found: numbers[found[0]], line), *(self._value(each) for each in registers))
        self.effects.append(value)
        for at, each in enumerate(registers):
            self.here[each] = digest(value, str(at), str(len(self.effects)))
            if each not in self.several:
                self.values.setdefault(each, self.here[each])

    def _computed(self, op: str, operands: Sequence[str]) -> str:
        word = op.partition(".")[0]
        if word == "mov" and len(operands) == 1:
            return self._filled(operands[0])
        if _SUMS.match(op):
            made = self._sum(word, [self._as_sum(each) for each in operands])
            if made is not None:
                return self._named(made)
        values = [self._filled(each) for each in operands]
        compared = _SETP.match(op)
        if compared:
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
        if _NUMBER.match(text):
            return Sum(int(text))
        value = self._filled(text)
        return self.sums.get(value) or (Sum(int(value)) if _NUMBER.match(value) else Sum(0, ((value, 1),)))

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
        if _REGISTER.fullmatch(text):
            return self._value(text)
        if "%" not in text:
            return text
        address = _ADDRESS.fullmatch(text)
        if address:
            return f"[{self._named(self._as_sum(address[1]).plus(Sum(int(address[2] or 0))))}]"
        return _REGISTER.sub(lambda found: self._value(found[0]), text)


def _plain(line: str) -> str:
    """Return inline assembly of one instruction without effects as that instruction."""
    alone = _ALONE.match(line)
    return alone[1] if alone and alone[1].partition(".")[0] in (*_PURE, "ldmatrix") else line


@cache
def _parsed(line: str) -> tuple[str, str, str, str, tuple[str, ...]] | None:
    """Return the sign and register of a predicate, the instruction, its operands as text, and each of them."""
    match = _INSTRUCTION.match(line)
    return None if match is None else (match[1] or "", match[2] or "", match[3], match[4], _split(match[4]))


@cache
def _given(line: str) -> tuple[str, ...]:
    """Return the registers that an instruction sets; none for inline assembly, of which we can't tell."""
    parsed = None if line.startswith(ASM) else _parsed(line)
    if parsed is None or parsed[2].partition(".")[0] in _GIVES_NONE:
        return ()
    first = parsed[4][:1]
    return tuple(_REGISTER.findall(first[0])) if first and not first[0].startswith("[") else ()


def _split(text: str) -> tuple[str, ...]:
    """Split operands at the commas that stand in no bracket; `%p1|%p2` are one."""
    if not any(letter in text for letter in "{[("):
        return tuple(each.strip() for each in text.split(","))
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "{[(") - (letter in "}])")
        if letter == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    return (*parts, text[start:].strip())


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield blocks with their labels ("": none): they begin at a label and end after a branch."""
    label, body = "", []  # type: str, list[str]
    for line in lines:
        if line.startswith("$") and line.endswith(":"):
            if body or label:
                yield label, body
            label, body = line[:-1], []
            continue
        body.append(line)
        if line.startswith("bra") or (line.startswith("@") and " bra" in line.replace("\t", " ")):
            yield label, body
            label, body = "", []
    yield label, body
