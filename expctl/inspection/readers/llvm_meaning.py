"""What a function of LLVM IR computes, as one hash: names, the order of independent instructions, swapped operands, negated
comparisons and other spellings of one sum don't count.

A value is the hash of its expression. Sums are kept as linear forms, so that `a + (b + 1)` and `1 + b + a` are one. What has an
effect (stores, barriers, calls) keeps its order in its block; a load is held between the effects around it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from expctl.inspection.readers.llvm_sums import Sum, as_exact as _exact, number as _number
from expctl.inspection.readers.llvm_text import NAME, Block, Function, Instruction, Module, closing, split_list, text_type

ROUNDS_MOST = 6
LOCAL = re.compile(r"%\d+\b")
_GLOBAL = re.compile(rf"@({NAME})")
_NAMED_TYPE = re.compile(rf'%(?:"[^"]*"|[A-Za-z_][\w.$-]*)')
_MATH = frozenset({"nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast"})
_OPERATIONS = ("add", "sub", "mul", "shl", "lshr", "ashr", "sdiv", "udiv", "srem", "urem", "xor", "or", "and", "fadd", "fsub", "fmul", "fdiv")
_COMMUTATIVE = frozenset({"add", "mul", "and", "or", "xor", "fadd", "fmul"})
_MULTIPLY_ADD = frozenset(f"llvm.{name}.{kind}" for name in ("fma", "fmuladd") for kind in ("f32", "f64"))
_SYMMETRIC = re.compile(r"llvm\.(?:[su](?:min|max)|minnum|maxnum|fma|fmuladd)\b")
_SWAPPED = {"ugt": "ult", "sgt": "slt", "uge": "ule", "sge": "sle", "ogt": "olt", "oge": "ole"}
_NEGATED = {"ne": "eq", "ule": "ult", "sle": "slt", "une": "oeq"}
_DROPPED = re.compile(r"@llvm\.(?:lifetime|assume|dbg|experimental\.noalias|invariant)\b|@llvm\.amdgcn\.sched\.barrier\(i32 2047\)")
_ASM = re.compile(r'asm (sideeffect )?(?:alignstack )?(?:inteldialect )?"((?:[^"\\]|\\.)*)", "([^"]*)"\((.*)\)$')
_PLAIN_ASM = re.compile(r"^[\s;]*([a-z]\w*)(?:\s+(-?\w+))?[\s;]*$")
_CALL = re.compile(rf"^(?:fastcc |amdgpu_gfx |ccc )*(.*?)(@{NAME}|%\d+)\((.*)\)(.*)$")
_INT = re.compile(r"i(\d+)$")
_SCALAR = re.compile(r"(?:i(?:32|64)|float|double)$")
_ORDERS = frozenset({"eq", "ne", "slt", "sle", "sgt", "sge"})
_PURE_GROUP = re.compile(r"^attributes #(\d+) = \{.*memory\(none\)", re.MULTILINE)
_DECLARED = re.compile(rf"^declare .*?@({NAME})\(.*?#(\d+)$", re.MULTILINE)


def digest(*parts: str) -> str:
    """A hash of texts, 16 hex digits."""
    return blake2b("\x1f".join(parts).encode(errors="surrogateescape"), digest_size=8).hexdigest()


class Meaning(NamedTuple):
    """What a function computes: `whole` is equal for functions that do the same, `parts` counts its instructions, each with
    what its operands are made of and the effects around it.
    """

    whole: str
    parts: Mapping[str, int]


def pure_functions(text: str) -> frozenset[str]:
    """Return the functions that a module declares to neither read nor write memory."""
    groups = {match[1] for match in _PURE_GROUP.finditer(text)}
    return frozenset(match[1].strip('"') for match in _DECLARED.finditer(text) if match[2] in groups)


def meanings(module: Module, pure: frozenset[str]) -> dict[str, Meaning]:
    """Return what each function does that other files may call; by its name, or, where it is one of many that templates make, by
    what it does, since its name is that of its template.
    """
    reader = _Reader(module, pure)
    kept = [each for each in module.functions if not {"internal", "private"} & {*each.head.split()}]
    found = ((each, reader.meaning(each.name)) for each in kept)
    return {made.whole if "odr" in each.head else each.name: made for each, made in found}


class _Reader:
    """Functions and globals of one module; each is read once, on demand."""

    def __init__(self, module: Module, pure: frozenset[str]) -> None:
        self._module = module
        self.pure = pure
        self._functions = {each.name: each for each in module.functions}
        self._found: dict[str, Meaning] = {}
        self._open: set[str] = set()
        self._types: dict[str, str] = {}
        self._sizes: dict[str, int] = {}
        self._globals: dict[str, str] = {}

    def meaning(self, name: str) -> Meaning:
        if name not in self._found:
            self._open.add(name)
            self._found[name] = _FunctionReader(self, self._functions[name]).read()
            self._open.discard(name)
        return self._found[name]

    def of_global(self, name: str) -> str:
        name = name.strip('"')
        if name in self._globals:
            return self._globals[name]
        if name in self._functions and "internal" not in self._functions[name].head and "odr" not in self._functions[name].head:
            return name
        if name in self._open:
            return "itself"
        if name in self._functions:
            return self.meaning(name).whole
        text = self._module.variables.get(name, "")
        if "internal" in text or "private" in text or "linkonce" in text:
            self._globals[name] = "itself"
            self._globals[name] = digest("variable", self.spelt(text))
            return self._globals[name]
        return name

    def spelt(self, text: str) -> str:
        """Return `text` with globals as what they hold, and named types as what they are made of."""
        if "@" in text:
            text = _GLOBAL.sub(lambda match: self.of_global(match[1]), text)
        if "%" in text:
            text = _NAMED_TYPE.sub(lambda match: self.type(match[0]), text)
        return text

    def type(self, name: str) -> str:
        if name not in self._types:
            self._types[name] = name
            made = self._module.types.get(name, name)
            self._types[name] = _NAMED_TYPE.sub(lambda match: self.type(match[0]), made) if made != name else name
        return self._types[name]

    def size(self, kind: str) -> tuple[int, int]:
        """Size and alignment of a type in bytes; (0, 0) where we can't tell."""
        kind = kind.strip()
        if kind.startswith("%"):
            return self.size(self.type(kind))
        if kind.startswith("ptr"):
            return (4, 4) if "(3)" in kind or "(5)" in kind else (8, 8)
        simple = {"float": 4, "double": 8, "half": 2, "bfloat": 2}.get(kind)
        if simple:
            return simple, simple
        match = _INT.match(kind)
        if match:
            found = max(1, 1 << (max(int(match[1]) - 1, 0) // 8).bit_length())
            return found, found
        if kind.startswith(("[", "<")) and " x " in kind and not kind.startswith("<{"):
            count, _, inner = kind[1:-1].partition(" x ")
            size, align = self.size(inner)
            return size * int(count), (size * int(count) if kind[0] == "<" else align)
        packed = kind.startswith("<{")
        if kind.startswith(("{", "<{")):
            at = most = 1
            at = 0
            for each in split_list(kind.strip("<>")[1:-1]):
                size, align = self.size(each)
                align = 1 if packed else max(align, 1)
                at, most = (at + align - 1) // align * align + size, max(most, align)
            return (at + most - 1) // most * most, most
        return 0, 0

    def member(self, kind: str, index: int) -> tuple[str, int]:
        """Type and offset of a member of a structure."""
        kind = self.type(kind) if kind.startswith("%") else kind
        packed, at = kind.startswith("<{"), 0
        for place, each in enumerate(split_list(kind.strip("<>").strip()[1:-1])):
            size, align = self.size(each)
            align = 1 if packed else max(align, 1)
            at = (at + align - 1) // align * align
            if place == index:
                return each, at
            at += size
        raise ValueError(f"{kind} has no member {index}")


@dataclass(slots=True)
class _FunctionReader:
    """Values of one function by the name of their result."""

    module: _Reader
    function: Function
    values: dict[str, str] = field(default_factory=dict)
    sums: dict[str, Sum] = field(default_factory=dict)
    masks: dict[str, tuple[Sum, int]] = field(default_factory=dict)
    flipped: dict[str, str] = field(default_factory=dict)
    order: dict[str, int] = field(default_factory=dict)
    effects: list[tuple[str, str]] = field(default_factory=list)

    def read(self) -> Meaning:
        blocks = self._ordered()
        self.order = {block.label: at for at, block in enumerate(blocks)}
        for at, (name, kind) in enumerate(self.function.parameters):
            self.values[name] = digest("argument", str(at), self.module.spelt(kind))
        phis = [(block, each) for block in blocks for each in block.body if each.text.startswith("phi ")]
        self.values |= {each.result: digest("phi", str(self.order[block.label]), each.text.split(" [")[0]) for block, each in phis}
        distinct = 0
        for _ in range(ROUNDS_MOST):
            written = self._round(blocks)
            found = {each.result: self._phi(block, each) for block, each in phis}
            self.values |= found
            now = len(set(found.values()))
            if now == distinct or not phis:
                break
            distinct = now
        written = self._round(blocks)
        kinds = " ".join(self.module.spelt(kind) for _, kind in self.function.parameters)
        return Meaning(digest(self.function.head, kinds, *written), self._parts(blocks))

    def _ordered(self) -> list[Block]:
        """Blocks in reverse post-order of a walk from the entry."""
        by_label = {block.label: block for block in self.function.blocks}
        seen, done = set(), []  # type: set[str], list[Block]
        stack = [(self.function.blocks[0].label, iter(successors(self.function.blocks[0])))]
        seen.add(stack[0][0])
        while stack:
            label, rest = stack[-1]
            following = next((each for each in rest if each not in seen), None)
            if following is None:
                done.append(by_label[label])
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(successors(by_label[following]))))
        return done[::-1]

    def _round(self, blocks: Sequence[Block]) -> list[str]:
        written = []
        for block in blocks:
            self.effects = []
            at = self.order[block.label]
            for each in block.body:
                self._step(each, at)
            written.append(digest(*(value for value, _ in self.effects)))
        return written

    # Each kind of instruction.

    def _step(self, each: Instruction, block: int) -> None:
        word = each.text.split(" ", 1)[0]
        if word == "phi":
            return
        method = _METHODS.get(word)
        if method is not None:
            value = method(self, each, block)
        else:
            value = digest(self._spelt(each.text))
        if each.result:
            self.values[each.result] = value

    def _operand(self, text: str) -> str:
        text = text.strip()
        if LOCAL.fullmatch(text):
            return self.values.get(text, "later")
        return self._spelt(text)

    def _spelt(self, text: str) -> str:
        text = self.module.spelt(text)
        return LOCAL.sub(lambda match: self.values.get(match[0], "later"), text)

    def _typed(self, text: str) -> str:
        """`i32 %5` as type and value."""
        kind = text_type(text)
        value = text[len(kind) :].strip()
        return f"{self.module.spelt(kind)} {self._operand(value)}"

    def _phi(self, block: Block, each: Instruction) -> str:
        head, _, _ = each.text.partition(" [")
        pairs = re.findall(rf"\[ (.*?), %({NAME}) \]", each.text)
        found = sorted(f"{self.order.get(label, -1)} {self._operand(value)}" for value, label in pairs)
        return digest("phi", self.module.spelt(head), str(self.order[block.label]), *found)

    def _arithmetic(self, each: Instruction, block: int) -> str:
        op, kind, one, other, flags = _operands(each.text)
        if _SCALAR.match(kind) and (made := self._computed(op, self._as_sum(one), self._as_sum(other), kind)) is not None:
            return self._named(made)
        values = [self._operand(one), self._operand(other)]
        if op == "xor" and kind == "i1" and other.strip() == "true":
            return self._negation(values[0])
        if op in _COMMUTATIVE:
            values.sort()
        return digest(op, *flags, self.module.spelt(kind), *values)

    def _computed(self, op: str, one: Sum, other: Sum, kind: str) -> Sum | None:
        """Return a sum for what can be one; None for other operations."""
        number = other.constant if not other.terms else None
        if op in ("add", "fadd"):
            return one.plus(other)
        if op in ("sub", "fsub"):
            return one.plus(other, -1)
        if op in ("mul", "fmul"):
            return one.times(other)
        if number is None or not isinstance(number, int):
            return None
        if op == "shl" and 0 <= number < 64:
            return one.times(Sum(1 << number))
        if op == "xor" and number == -1:
            return Sum(-1).plus(one, -1)
        bits = int(kind[1:])
        power = number.bit_length() - 1 if number > 0 and number & (number - 1) == 0 else -1
        if op in ("lshr", "ashr") and 0 <= number < bits:
            return self._masked(one, -(1 << number), bits).times(Sum(_exact(2.0**-number)))
        if op in ("sdiv", "udiv") and power >= 0:
            return self._masked(one, -(1 << power), bits).times(Sum(_exact(2.0**-power)))
        if op in ("srem", "urem") and power >= 0:
            return self._masked(one, number - 1, bits)
        if op == "and":
            return self._masked(one, number, bits)
        return None

    def _masked(self, value: Sum, mask: int, bits: int) -> Sum:
        """Return some bits of a value. Bits of a shifted value are shifted bits; bits of bits are fewer bits."""
        factor: int | float = 1
        if not value.constant and len(value.terms) == 1 and 0 < value.terms[0][1] < 1:
            factor = value.terms[0][1]
            mask = int(mask / factor)
            value = Sum(0, ((value.terms[0][0], 1),))
        mask %= 1 << bits
        held = self.masks.get(value.terms[0][0]) if len(value.terms) == 1 and value.terms[0][1] == 1 and not value.constant else None
        if held is not None:
            value, mask = held[0], held[1] & mask
        made = digest("bits", value.text(), str(mask))
        self.masks[made] = (value, mask)
        return Sum(0, ((made, factor),))

    def _negation(self, value: str) -> str:
        if value in self.flipped:
            return self.flipped[value]
        made = digest("not", value)
        self.flipped[made] = value
        self.flipped[value] = made
        return made

    def _as_sum(self, text: str) -> Sum:
        text = text.strip()
        number = _number(text)
        if number is not None:
            return Sum(number)
        value = self._operand(text)
        return self.sums.get(value) or Sum(0, ((value, 1),))

    def _named(self, made: Sum) -> str:
        """Return the name of a sum: that of its only term, if it is nothing else."""
        if not made.constant and len(made.terms) == 1 and made.terms[0][1] == 1:
            return made.terms[0][0]
        if not made.terms:
            return str(made.constant)
        value = digest("sum", made.text())
        self.sums[value] = made
        return value

    def _address(self, each: Instruction, block: int) -> str:
        return self._pointer(each.text.removeprefix("getelementptr ").strip())

    def _pointer(self, text: str) -> str:
        text = text[1 : closing(text, 0)] if text.startswith("(") else text
        kind, base, *indices = split_list(text)
        held = base[len(text_type(base)) :].strip()
        nested = held.startswith("getelementptr (")
        value = self._pointer(held.removeprefix("getelementptr ")) if nested else self._operand(held)
        made = self.sums.get(value) or Sum(0, ((value, 1),))
        current = self.module.type(kind) if kind.startswith("%") else kind
        for place, index in enumerate(indices):
            number = index[len(text_type(index)) :].strip()
            if place and current.startswith(("{", "<{")):
                current, offset = self.module.member(current, int(number))
                made = made.plus(Sum(offset))
            else:
                current = current[1:-1].partition(" x ")[2] if place else current
                made = made.plus(self._as_sum(number).times(Sum(self.module.size(current)[0])))
            current = self.module.type(current) if current.startswith("%") else current
        return self._named(made)

    def _comparison(self, each: Instruction, block: int) -> str:
        words = [word for word in each.text.split(" ") if word not in _MATH]
        op, predicate, rest = words[0], words[1], " ".join(words[2:])
        kind = text_type(rest)
        texts = split_list(rest[len(kind) :])
        if op == "icmp" and _SCALAR.match(kind) and predicate in _ORDERS:
            return self._order(predicate, *(self._as_sum(text) for text in texts))
        one, other = (self._operand(text) for text in texts)
        if predicate in _SWAPPED:
            predicate, one, other = _SWAPPED[predicate], other, one
        negated = predicate in _NEGATED
        if predicate in ("ule", "sle"):
            one, other = other, one
        predicate = _NEGATED.get(predicate, predicate)
        if predicate in ("eq", "oeq"):
            one, other = sorted((one, other))
        value = digest(op, predicate, self.module.spelt(kind), one, other)
        return self._negation(value) if negated else value

    def _order(self, predicate: str, one: Sum, other: Sum) -> str:
        """A comparison of whole numbers is a sum that is at least 0 or, for eq and ne, 0; of it and its negation, one is named."""
        if predicate in ("eq", "ne"):
            value = digest("zero", min(one.plus(other, -1).text(), other.plus(one, -1).text()))
            return self._negation(value) if predicate == "ne" else value
        below, strict = predicate in ("slt", "sle"), predicate in ("slt", "sgt")
        difference = (other.plus(one, -1) if below else one.plus(other, -1)).plus(Sum(-1 if strict else 0))
        opposite = Sum(-1).plus(difference, -1)
        if difference.text() <= opposite.text():
            return digest("at least 0", difference.text())
        return self._negation(digest("at least 0", opposite.text()))

    def _condition(self, value: str) -> tuple[str, bool]:
        """The value, and whether it is the negation of what is returned."""
        other = self.flipped.get(value)
        if other is None:
            return value, False
        return (other, True) if digest("not", other) == value else (value, False)

    def _select(self, each: Instruction, block: int) -> str:
        condition, one, other = split_list(" ".join(word for word in each.text.split(" ")[1:] if word not in _MATH))
        kind = text_type(condition)
        value, negated = self._condition(self._operand(condition[len(kind) :]))
        arms = [self._typed(one), self._typed(other)]
        return digest("select", kind, value, *(arms[::-1] if negated else arms))

    def _cast(self, each: Instruction, block: int) -> str:
        """A number stays the same in a wider type; so do bits of which nobody asks more."""
        word, rest = each.text.split(" ", 1)
        if rest.startswith("nneg "):
            word, rest = ("sext" if word == "zext" else "sitofp" if word == "uitofp" else word), rest[5:]
        rest = " ".join(part for part in rest.split(" ") if part not in _MATH)
        source, _, target = rest.rpartition(" to ")
        if source.startswith(("i32 ", "i64 ")) and target in ("i32", "i64", "float", "double"):
            return self._named(self._as_sum(source[4:]))
        return digest(word, self._typed(source), self.module.spelt(target))

    def _alloca(self, each: Instruction, block: int) -> str:
        """Memory of the function itself, whatever it has room for."""
        kind = text_type(each.text[7:])
        while kind.startswith("["):
            kind = kind[1:-1].partition(" x ")[2]
        return digest("alloca", self.module.spelt(kind))

    def _load(self, each: Instruction, block: int) -> str:
        volatile = each.text.startswith("load volatile") or each.text.startswith("load atomic")
        value = digest(self._spelt(each.text), str(block), str(len(self.effects)))
        if volatile:
            self.effects.append((value, "load volatile"))
        return value

    def _effect(self, each: Instruction, block: int) -> str:
        text = each.text
        value = digest(self._spelt(text))
        self.effects.append((value, text.split(" ", 1)[0]))
        return value

    def _branch(self, each: Instruction, block: int) -> str:
        labels = [str(self.order[label]) for label in re.findall(rf"label %({NAME})", each.text)]
        if len(labels) == 1:
            value = digest("br", *labels)
        else:
            condition, negated = self._condition(self._operand(split_list(each.text[3:])[0].removeprefix("i1 ")))
            value = digest("br", condition, *(labels[::-1] if negated else labels))
        self.effects.append((value, "br"))
        return value

    def _switch(self, each: Instruction, block: int) -> str:
        head = split_list(each.text[7:])[0]
        cases = sorted((value, self.order[label]) for value, label in re.findall(rf"i\d+ (-?\d+), label %({NAME})", each.text))
        default = re.search(rf", label %({NAME}) \[", each.text)
        value = digest("switch", self._typed(head), str(self.order[default[1]]) if default else "", str(cases))
        self.effects.append((value, "switch"))
        return value

    def _call(self, each: Instruction, block: int) -> str:
        text = " ".join(word for word in each.text.split(" ")[1:] if word not in _MATH)
        if _DROPPED.search(text):
            return ""
        assembly = _ASM.search(text)
        if assembly:
            return self._assembly(text, assembly)
        match = _CALL.match(text)
        if match is None:
            return self._effect(each, block)
        kind, callee, given, _ = match.groups()
        name = callee[1:].strip('"')
        if name in _MULTIPLY_ADD:
            one, other, third = (self._as_sum(each.partition(" ")[2]) for each in split_list(given))
            return self._named(one.times(other).plus(third))
        arguments = [self._typed(one) for one in split_list(given)]
        if _SYMMETRIC.match(name):
            arguments[:2] = sorted(arguments[:2])
        target = self.module.of_global(name) if callee[0] == "@" else self._operand(callee)
        value = digest("call", target, self.module.spelt(kind.strip()), *arguments)
        if name not in self.module.pure or kind.strip() == "void":
            plain = all(re.fullmatch(r"i\d+ -?\d+", one) for one in arguments)
            if plain and name.startswith("llvm.amdgcn.s.") and kind.strip() == "void":
                value = digest("instruction", name[12:].replace(".", "_"), *(one.split(" ")[1] for one in arguments))
            self.effects.append((value, f"call {name if name.startswith('llvm') else ''} {' '.join(arguments) if plain else ''}"))
        return value

    def _assembly(self, text: str, match: re.Match[str]) -> str:
        alone = _PLAIN_ASM.match(match[2].replace("\\0A", " ").replace("\\09", " "))
        if alone and match[1] and not match[4] and all(each.startswith("~") for each in match[3].split(",") if each):
            value = digest("instruction", *(word for word in alone.groups() if word))
            self.effects.append((value, f"instruction {alone[1]} {alone[2]}"))
            return value
        arguments = [self._typed(one) for one in split_list(match[4])]
        value = digest("asm", match[2], match[3], self.module.spelt(text[: match.start()]), *arguments)
        if match[1]:
            value = digest(value, str(len(self.effects)))
            self.effects.append((value, f"asm {match[2]}"))
        return value

    # Parts, to tell how near two functions are.

    def _parts(self, blocks: Sequence[Block]) -> Mapping[str, int]:
        return Counter(LOCAL.sub("%", self.module.spelt(each.text)) for block in blocks for each in block.body)


def _operands(text: str) -> tuple[str, str, str, str, list[str]]:
    """Split an operation with two operands: its name, type, operands and flags of arithmetic."""
    words = text.split(" ")
    flags = [word for word in words[1:4] if word in _MATH]
    rest = " ".join(word for word in words[1:] if word not in _MATH and word != "disjoint")
    kind = text_type(rest)
    one, other = split_list(rest[len(kind) :])
    return ("add" if words[0] == "or" and "disjoint" in words[1:3] else words[0]), kind, one, other, flags


def successors(block: Block) -> Iterator[str]:
    """Yield the labels to which a block may go on."""
    last = block.body[-1].text
    if last.startswith(("br ", "switch ")):
        yield from re.findall(rf"label %({NAME})", last)


_METHODS = {
    **dict.fromkeys(_OPERATIONS, _FunctionReader._arithmetic),
    **dict.fromkeys(("icmp", "fcmp"), _FunctionReader._comparison),
    **dict.fromkeys(("zext", "sext", "uitofp", "sitofp", "trunc", "fpext", "fptrunc", "bitcast"), _FunctionReader._cast),
    **dict.fromkeys(("store", "fence", "atomicrmw", "cmpxchg", "ret", "unreachable"), _FunctionReader._effect),
    "getelementptr": _FunctionReader._address,
    "select": _FunctionReader._select,
    "alloca": _FunctionReader._alloca,
    "load": _FunctionReader._load,
    "br": _FunctionReader._branch,
    "switch": _FunctionReader._switch,
    "call": _FunctionReader._call,
}
