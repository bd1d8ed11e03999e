"""What a function of LLVM IR computes, as one hash: names, the order of independent instructions, swapped operands, negated
comparisons and other spellings of one sum don't count.

A value is the hash of its expression. Sums are kept as linear forms, so that `a + (b + 1)` and `1 + b + a` are one. What has an
effect (stores, barriers, calls) keeps its order in its block; a load is held between the effects around it.
"""

from __future__ import annotations

import json
import operator
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from expctl.files.cache_folder import CacheFolder
from expctl.inspection.readers.llvm_assembly import as_builtin
from expctl.inspection.readers.llvm_effects import Effects
from expctl.inspection.readers.llvm_flow import in_one_form
from expctl.inspection.readers.llvm_loops import Counted, counted_values, last_turn, loop_body, runs_backwards
from expctl.inspection.readers.llvm_module import Surroundings
from expctl.inspection.readers.llvm_rooms import LOCAL
from expctl.inspection.readers.llvm_sums import Sum, digest, is_digest
from expctl.inspection.readers.llvm_text import NAME, Block, Function, Instruction, Module, split_list
from expctl.inspection.readers.llvm_values import CASTS, OPERATIONS
from expctl.inspection.readers.ptx_assembly import instruction_by_instruction

ROUNDS_MOST = 6
COUNT_MOST = 1 << 53
_PURE_GROUP = re.compile(r"^attributes #(\d+) = \{.*memory\(none\)", re.MULTILINE)
_CALLED = re.compile(rf"@({NAME})\(")
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


def meanings(module: Module, pure: frozenset[str], kept: CacheFolder | None = None) -> tuple[Meaning, ...]:
    """Return what each function does that other files may call; of CUDA's device code each kernel: nothing else is called.
    What a function does is looked up in `kept` first, and put there. Most are the same in several versions of a source, which
    are often read at the same time: each process goes through them in another order, so that one finds what others have done.
    """
    functions = {each.name: each for each in module.functions}
    kernels = [each for each in module.functions if "ptx_kernel" in each.head]
    seen = kernels or [each for each in module.functions if each.is_seen]
    found: dict[str, Meaning] = {}

    def meaning(name: str) -> str:
        if name not in found:
            each = functions[name]
            found[name] = Meaning(name, name, "itself", {})  # where it calls itself
            asked = _asked(around, each) if kept is not None else ""
            held = _as_read(kept.get(asked)) if kept is not None else None
            whole, parts = held if held is not None else FunctionReader(around, each).read()
            if kept is not None and held is None:
                kept.put(asked, json.dumps((whole, parts)).encode())
            found[name] = Meaning(name, name if each.is_named else whole, whole, parts)
        return found[name].whole

    around = Surroundings(module, pure, meaning)
    for each in random.sample(seen, len(seen)):
        meaning(each.name)
    return tuple(found[each.name] for each in seen)


def _as_read(kept: bytes | None) -> tuple[str, Mapping[str, int]] | None:
    """Return what was kept of a function; None if there is nothing, or something else."""
    try:
        whole, parts = json.loads(kept or b"0")
        sound = is_digest(whole) and all(type(each) is int and 0 <= each < COUNT_MOST for each in parts.values())
        "".join(parts).encode()
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    return (whole, parts) if sound else None


def _asked(around: Surroundings, function: Function) -> str:
    """Return a hash of all that a function's meaning is read from: its text, with globals and types as what they hold."""
    texts = [each.text for block in function.blocks for each in block.body]
    lines = [f"{block.label} {each.result} {around.spelt(each.text)}" for block in function.blocks for each in block.body]
    kinds = [f"{name} {around.spelt(kind)}" for name, kind in function.parameters]
    pure = sorted(around.pure & {name.strip('"') for text in texts if "@" in text for name in _CALLED.findall(text)})
    facts = (str(around.is_ptx), *sorted(function.constants))
    return digest(function.head, *function.attributes, *facts, *kinds, *lines, *pure)


class _Known(NamedTuple):
    """What a block of a function was read as: `taken` are the values of `names`, which others give, and `learnt` counts what
    was known of numbers and loops before. It is the same again as long as these are.
    """

    names: tuple[str, ...]
    learnt: int
    taken: list[str]
    made: str


class FunctionReader(Effects):
    """Blocks of one function, with their effects."""

    def __init__(self, module: Surroundings, function: Function) -> None:
        super().__init__(module)
        self.function = function
        self.order: dict[str, int] = {}
        self.counted: dict[str, Counted] = {}
        self.lasts: dict[int, Sum] = {}
        self.backwards: set[int] = set()
        self.acting: dict[int, bool] = {}
        self.known: dict[str, _Known] = {}

    def read(self) -> tuple[str, Mapping[str, int]]:
        """Return the hash of what the function does, and the counts of its instructions."""
        written = self.function.blocks
        blocks = in_one_form(instruction_by_instruction(written) if self.module.is_ptx else written)
        self.order = {block.label: at for at, block in enumerate(blocks)}
        self.counted = counted_values(blocks, self.order)
        for at, (name, kind) in enumerate(self.function.parameters):
            self.values[name] = digest("argument", str(at), self.module.spelt(kind))
        self.constants = {self.values[name] for name in self.function.constants}
        self._find_rooms(blocks, written)
        phis = [(block, each) for block in blocks for each in block.body if each.text.startswith("phi ")]
        self.values |= {
            each.result: digest("phi", str(self.order[block.label]), each.text.split(" [")[0]) for block, each in phis
        }
        counted = [(block, each) for block, each in phis if each.result in self.counted]
        made = self._settled(blocks, counted)  # what others are made of comes first: they remember what it was
        distinct = 0
        for _ in phis:
            found = {each.result: self._phi(block, each) for block, each in phis}
            self.values |= found
            made = self._round(blocks)
            now = len(set(found.values()))
            if now == distinct:
                break
            distinct = now
        if counted:
            made = self._settled(blocks, counted)
        while inside := self._turn_round(blocks):
            counted += [(block, each) for block, each in phis if self.order[block.label] in inside]
            made = self._settled(blocks, counted)
        kinds = " ".join(self.module.spelt(kind) for _, kind in self.function.parameters)
        rest = {self.values[each.result] for _, each in phis if each.result not in self.counted}  # each is a link of a chain
        return digest(self.function.head, *self.function.attributes, kinds, *made, *sorted(rest)), self._parts(blocks)

    def _settled(self, blocks: Sequence[Block], counted: Sequence[tuple[Block, Instruction]]) -> list[str]:
        """Say what loops count by what stands before them now, and return what blocks do then."""
        for _ in range(ROUNDS_MOST):
            written = self._round(blocks)
            found = {each.result: self._phi(block, each) for block, each in counted}
            if found.items() <= self.values.items():
                break
            self.values |= found
        return written

    def _round(self, blocks: Sequence[Block]) -> list[str]:
        written = []
        for block in blocks:
            names, before, taken, made = self.known.get(block.label) or _Known(_taken(block), -1, [], "")
            now = [self.values.get(name, "") for name in names]
            if before != self.learnt or taken != now:
                before = self.learnt
                made = self._block(block)
                self.known[block.label] = _Known(names, before, now, made)
            written.append(made)
        return written

    def _block(self, block: Block) -> str:
        self.effects, self.hints = [], []
        self.block = self.order[block.label]
        self.accesses.pop(self.block, None)
        for each in block.body:
            self._step(each)
        self.acting[self.block] = len(self.effects) != 1 + sum(each.is_store for each in self.accesses.get(self.block, ()))
        return digest(*self.effects, *sorted(self.hints))

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
            at = self.order[counted.head]
            turn = Sum(0, ((_turn(at), 1),))
            turn = self.lasts[at].plus(turn, -1) if at in self.backwards else turn
            return self._named(self._as_sum(counted.first).plus(step.times(turn)))
        head, _, _ = each.text.partition(" [")
        pairs = re.findall(rf"\[ (.*?), %({NAME}) \]", each.text)
        if len(pairs) == 1:
            return self._operand(pairs[0][0])
        found = sorted(f"{self.order.get(label, -1)} {self._operand(value)}" for value, label in pairs)
        made = digest("phi", self.module.spelt(head), str(self.order[block.label]), *found)
        ones = [self._ones(self._as_sum(value)) for value, _ in pairs] if head in ("phi i32", "phi i64") else [None]
        if None not in ones:
            self.possible[made] = reduce(operator.or_, filter(None, ones), 0)
        return made

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
        if back[0] not in self.backwards:
            last = last_turn(self.tests[condition], _turn(back[0]), leaves_if=leaves_if)
            if last is None:
                return ""
            terms = (self._of(self.free.get(term, term)).times(Sum(by)) for term, by in last.terms)
            last = reduce(Sum.plus, terms, Sum(last.constant))
            self.learnt += self.lasts.get(back[0]) != last
            self.lasts[back[0]] = last
            if not last.terms and last.constant >= 0:
                self._at_most(_turn(back[0]), last.constant)
        return digest("br", "turns", self.lasts[back[0]].text(), str(back[0]), labels[0 if leaves_if else 1])

    def _turn_round(self, blocks: Sequence[Block]) -> set[int]:
        """Let loops that go downwards through memory, each turn by itself, go upwards; return the blocks in them."""
        found: set[int] = set()
        for block in blocks:
            at = self.order[block.label]
            phis = [each.result for each in block.body if each.text.startswith("phi ")]
            if at not in self.lasts or at in self.backwards or not all(each in self.counted for each in phis):
                continue
            inside = [self.order[each.label] for each in loop_body(block, blocks, self.order)]
            accesses = [access for each in inside for access in self.accesses.get(each, ())]
            if not any(self.acting[each] for each in inside) and runs_backwards(accesses, _turn(at)):
                self.backwards.add(at)
                self.learnt += 1
                found |= {*inside}
        return found

    def _switch(self, each: Instruction) -> str:
        head = split_list(each.text[7:])[0]
        cases = sorted((value, self.order[label]) for value, label in re.findall(rf"i\d+ (-?\d+), label %({NAME})", each.text))
        default = re.search(rf", label %({NAME}) \[", each.text)
        value = digest("switch", self._typed(head), str(self.order[default[1]]) if default else "", str(cases))
        self.effects.append(value)
        return value

    def _parts(self, blocks: Sequence[Block]) -> Mapping[str, int]:
        texts = (as_builtin(each.text) for block in blocks for each in block.body if not each.text.startswith("outputs "))
        instructions = (LOCAL.sub("%", self.module.spelt(text)) for text in texts)
        return Counter((*self.function.attributes, *instructions))


def _taken(block: Block) -> tuple[str, ...]:
    """Return the values that a block takes from others, or from the turn before."""
    own = {each.result for each in block.body if not each.text.startswith("phi ")}
    found = dict.fromkeys(name for each in block.body for name in LOCAL.findall(each.text))
    return tuple(name for name in found if name not in own)


def _turn(head: int) -> str:
    """Return the term for the number of the turn, from 0, of the loop that begins with a block."""
    return digest("turn", str(head))


_METHODS = {
    **dict.fromkeys(OPERATIONS, FunctionReader._arithmetic),
    **dict.fromkeys(("icmp", "fcmp"), FunctionReader._comparison),
    **dict.fromkeys(CASTS, FunctionReader._cast),
    "store": FunctionReader._store,
    "fneg": FunctionReader._negative,
    "freeze": FunctionReader._frozen,
    **dict.fromkeys(("fence", "atomicrmw", "cmpxchg", "ret", "unreachable"), FunctionReader._effect),
    "getelementptr": FunctionReader._address,
    "select": FunctionReader._select,
    "alloca": FunctionReader._alloca,
    "br": FunctionReader._branch,
    "switch": FunctionReader._switch,
    "call": FunctionReader._call,
    "ptx": FunctionReader._ptx,
    "outputs": FunctionReader._together,
    "extractvalue": FunctionReader._extracted,
}
