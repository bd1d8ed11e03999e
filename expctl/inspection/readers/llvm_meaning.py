"""What a function of LLVM IR computes, as one hash: names, the order of independent instructions, swapped operands, negated
comparisons and other spellings of one sum don't count.

A value is the hash of its expression. Sums are kept as linear forms, so that `a + (b + 1)` and `1 + b + a` are one. What has an
effect (stores, barriers, calls) keeps its order in its block; a load is held between the effects around it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from expctl.inspection.readers.llvm_flow import in_one_form
from expctl.inspection.readers.llvm_loops import Counted, counted_values, turns
from expctl.inspection.readers.llvm_module import Surroundings
from expctl.inspection.readers.llvm_sums import Sum, digest
from expctl.inspection.readers.llvm_text import NAME, Block, Function, Instruction, Module, split_list
from expctl.inspection.readers.llvm_values import LOCAL, MATH, OPERATIONS, Values

ROUNDS_MOST = 6
_MULTIPLY_ADD = frozenset(f"llvm.{name}.{kind}" for name in ("fma", "fmuladd") for kind in ("f32", "f64"))
_SYMMETRIC = re.compile(r"llvm\.(?:[su](?:min|max)|minnum|maxnum|fma|fmuladd)\b")
_DROPPED = re.compile(
    r"@llvm\.(?:lifetime|assume|dbg|experimental\.noalias|invariant)\b|@llvm\.amdgcn\.sched\.barrier\(i32 2047\)"
)
_ASM = re.compile(r'asm (sideeffect )?(?:alignstack )?(?:inteldialect )?"((?:[^"\\]|\\.)*)", "([^"]*)"\((.*)\)$')
_PLAIN_ASM = re.compile(r"^[\s;]*([a-z]\w*)(?:\s+(-?\w+))?[\s;]*$")
_PREFETCH = re.compile(
    r'asm sideeffect "prefetch(t0|t1|t2|nta) \$0", "\*m[^"]*"\(ptr (?:nonnull )?elementtype\(\w+\) (%[\w.]+)\).*'
)
_LOCALITY = {"t0": 3, "t1": 2, "t2": 1, "nta": 0}
_WAIT = re.compile(r"s_waitcnt((?: *&? *(?:vmcnt|expcnt|lgkmcnt)\(\d+\))+)")
_COUNTERS = {"vmcnt": 10, "lgkmcnt": 4, "expcnt": 0}
_NO_WAIT = 0xFFF7
_CALL = re.compile(rf"^(?:fastcc |amdgpu_gfx |ccc )*(.*?)(@{NAME}|%\d+)\((.*)\)(.*)$")
_PURE_GROUP = re.compile(r"^attributes #(\d+) = \{.*memory\(none\)", re.MULTILINE)
_DECLARED = re.compile(rf"^declare .*?@({NAME})\(.*?#(\d+)$", re.MULTILINE)


class Meaning(NamedTuple):
    """What a function computes: `whole` is equal for functions that do the same, `parts` counts its instructions by kind and
    constants. `key` is its name, or `whole` for one of many that templates make: its name is that of its template.
    """

    name: str
    key: str
    whole: str
    parts: Mapping[str, int]


def pure_functions(text: str) -> frozenset[str]:
    """Return the functions that a module declares to neither read nor write memory."""
    groups = {match[1] for match in _PURE_GROUP.finditer(text)}
    return frozenset(match[1].strip('"') for match in _DECLARED.finditer(text) if match[2] in groups)


def meanings(module: Module, pure: frozenset[str]) -> tuple[Meaning, ...]:
    """Return what each function does that other files may call."""
    functions = {each.name: each for each in module.functions}
    found: dict[str, Meaning] = {}

    def meaning(name: str) -> str:
        if name not in found:
            each = functions[name]
            found[name] = Meaning(name, name, "itself", {})  # where it calls itself
            whole, parts = FunctionReader(around, each).read()
            found[name] = Meaning(name, name if each.is_named else whole, whole, parts)
        return found[name].whole

    around = Surroundings(module, pure, meaning)
    for each in module.functions:
        if each.is_seen:
            meaning(each.name)
    return tuple(made for name, made in found.items() if functions[name].is_seen)


class FunctionReader(Values):
    """Blocks and effects of one function."""

    def __init__(self, module: Surroundings, function: Function) -> None:
        super().__init__(module)
        self.function = function
        self.order: dict[str, int] = {}
        self.counted: dict[str, Counted] = {}
        self.block = 0
        self.effects: list[str] = []
        self.hints: list[str] = []

    def read(self) -> tuple[str, Mapping[str, int]]:
        """Return the hash of what the function does, and the counts of its instructions."""
        blocks = in_one_form(self.function.blocks)
        self.order = {block.label: at for at, block in enumerate(blocks)}
        self.counted = counted_values(blocks, self.order)
        for at, (name, kind) in enumerate(self.function.parameters):
            self.values[name] = digest("argument", str(at), self.module.spelt(kind))
        phis = [(block, each) for block in blocks for each in block.body if each.text.startswith("phi ")]
        self.values |= {
            each.result: digest("phi", str(self.order[block.label]), each.text.split(" [")[0]) for block, each in phis
        }
        counted = [(block, each) for block, each in phis if each.result in self.counted]
        for _ in range(ROUNDS_MOST if counted else 0):  # what others are made of comes first: they remember what it was
            self._round(blocks)
            found = {each.result: self._phi(block, each) for block, each in counted}
            if found.items() <= self.values.items():
                break
            self.values |= found
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
        return digest(self.function.head, *self.function.attributes, kinds, *written), self._parts(blocks)

    def _round(self, blocks: Sequence[Block]) -> list[str]:
        written = []
        for block in blocks:
            self.effects, self.hints = [], []
            self.block = self.order[block.label]
            for each in block.body:
                self._step(each)
            written.append(digest(*self.effects, *sorted(self.hints)))
        return written

    def _step(self, each: Instruction) -> None:
        word = each.text.split(" ", 1)[0]
        if word == "phi":
            return
        if word == "load":
            value = self._load(each)
        else:
            method = _METHODS.get(word)
            value = method(self, each) if method is not None else digest(self._spelt(each.text))
        if each.result:
            self.values[each.result] = value

    def _phi(self, block: Block, each: Instruction) -> str:
        if (counted := self.counted.get(each.result)) is not None:
            step = self._as_sum(counted.following).plus(self._as_sum(each.result), -1)
            return self._named(self._as_sum(counted.first).plus(step.times(Sum(0, ((_turn(self.order[counted.head]), 1),)))))
        head, _, _ = each.text.partition(" [")
        pairs = re.findall(rf"\[ (.*?), %({NAME}) \]", each.text)
        if len(pairs) == 1:
            return self._operand(pairs[0][0])
        found = sorted(f"{self.order.get(label, -1)} {self._operand(value)}" for value, label in pairs)
        return digest("phi", self.module.spelt(head), str(self.order[block.label]), *found)

    def _load(self, each: Instruction) -> str:
        volatile = each.text.startswith("load volatile") or each.text.startswith("load atomic")
        value = digest(self._spelt(each.text), str(self.block), str(len(self.effects)))
        if volatile:
            self.effects.append(value)
        return value

    def _effect(self, each: Instruction) -> str:
        text = each.text
        value = digest(self._spelt(text))
        self.effects.append(value)
        return value

    def _branch(self, each: Instruction) -> str:
        labels = [str(self.order[label]) for label in re.findall(rf"label %({NAME})", each.text)]
        if len(labels) == 1:
            value = digest("br", *labels)
        else:
            condition, negated = self._condition(self._operand(split_list(each.text[3:])[0].removeprefix("i1 ")))
            labels = labels[::-1] if negated else labels
            value = self._end_of_loop(condition, labels) or digest("br", condition, *labels)
        self.effects.append(value)
        return value

    def _end_of_loop(self, condition: str, labels: Sequence[str]) -> str:
        """Return the end of a loop whose turns are counted, where a condition goes on to `labels` if it holds, or else; "" for
        anything else.
        """
        back = [int(label) for label in labels if int(label) <= self.block]
        if condition not in self.tests or len(back) != 1:
            return ""
        leaves_if = labels[1] == str(back[0])
        count = turns(self.tests[condition], _turn(back[0]), leaves_if=leaves_if)
        return "" if count is None else digest("br", "turns", str(count), str(back[0]), labels[0 if leaves_if else 1])

    def _switch(self, each: Instruction) -> str:
        head = split_list(each.text[7:])[0]
        cases = sorted((value, self.order[label]) for value, label in re.findall(rf"i\d+ (-?\d+), label %({NAME})", each.text))
        default = re.search(rf", label %({NAME}) \[", each.text)
        value = digest("switch", self._typed(head), str(self.order[default[1]]) if default else "", str(cases))
        self.effects.append(value)
        return value

    def _call(self, each: Instruction) -> str:
        text = " ".join(word for word in each.text.split(" ")[1:] if word not in MATH)
        if _DROPPED.search(text):
            return ""
        text = _PREFETCH.sub(lambda found: f"@llvm.prefetch.p0(ptr {found[2]}, i32 0, i32 {_LOCALITY[found[1]]}, i32 1)", text)
        assembly = _ASM.search(text)
        if assembly:
            return self._assembly(text, assembly)
        match = _CALL.match(text)
        if match is None:
            return self._effect(each)
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
        if name.startswith("llvm.prefetch"):
            self.hints.append(value)  # which may be anywhere in its block, and in any order
            return value
        if name not in self.module.pure or kind.strip() == "void":
            plain = all(re.fullmatch(r"i\d+ -?\d+", one) for one in arguments)
            if plain and name.startswith("llvm.amdgcn.s.") and kind.strip() == "void":
                value = digest("instruction", name[12:].replace(".", "_"), *(one.split(" ")[1] for one in arguments))
            self.effects.append(value)
        return value

    def _assembly(self, text: str, match: re.Match[str]) -> str:
        plain = _WAIT.sub(_waitcnt, match[2].replace("\\0A", " ").replace("\\09", " "))
        alone = _PLAIN_ASM.match(plain)
        if alone and match[1] and not match[4] and all(each.startswith("~") for each in match[3].split(",") if each):
            value = digest("instruction", *(word for word in alone.groups() if word))
            self.effects.append(value)
            return value
        arguments = [self._typed(one) for one in split_list(match[4])]
        value = digest("asm", match[2], match[3], self.module.spelt(text[: match.start()]), *arguments)
        if match[1]:
            value = digest(value, str(len(self.effects)))
            self.effects.append(value)
        return value

    def _parts(self, blocks: Sequence[Block]) -> Mapping[str, int]:
        instructions = (LOCAL.sub("%", self.module.spelt(each.text)) for block in blocks for each in block.body)
        return Counter((*self.function.attributes, *instructions))


def _waitcnt(match: re.Match[str]) -> str:
    """Return `s_waitcnt` with the number of gfx11's encoding (SOPP simm16: vmcnt 15:10, lgkmcnt 9:4, expcnt 2:0) for counters
    in words; a counter that isn't named is not waited for.
    """
    number = _NO_WAIT
    for name, count in re.findall(r"(\w+)\((\d+)\)", match[1]):
        most = 7 if name == "expcnt" else 63
        number = number & ~(most << _COUNTERS[name]) | min(int(count), most) << _COUNTERS[name]
    return f"s_waitcnt {number}"


def _turn(head: int) -> str:
    """Return the term for the number of the turn, from 0, of the loop that begins with a block."""
    return digest("turn", str(head))


_METHODS = {
    **dict.fromkeys(OPERATIONS, FunctionReader._arithmetic),
    **dict.fromkeys(("icmp", "fcmp"), FunctionReader._comparison),
    **dict.fromkeys(("zext", "sext", "uitofp", "sitofp", "trunc", "fpext", "fptrunc", "bitcast"), FunctionReader._cast),
    **dict.fromkeys(("store", "fence", "atomicrmw", "cmpxchg", "ret", "unreachable"), FunctionReader._effect),
    "getelementptr": FunctionReader._address,
    "select": FunctionReader._select,
    "alloca": FunctionReader._alloca,
    "br": FunctionReader._branch,
    "switch": FunctionReader._switch,
    "call": FunctionReader._call,
}
