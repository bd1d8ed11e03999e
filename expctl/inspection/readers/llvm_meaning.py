"""What a function of LLVM IR computes, as one hash: names, the order of independent instructions, swapped operands, negated
comparisons and other spellings of one sum don't count.

A value is the hash of its expression. Sums are kept as linear forms, so that `a + (b + 1)` and `1 + b + a` are one. What has an
effect (stores, barriers, calls) keeps its order in its block; a load is held between the effects around it.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from expctl.inspection.readers.llvm_assembly import as_builtin
from expctl.inspection.readers.llvm_effects import Effects
from expctl.inspection.readers.llvm_flow import in_one_form
from expctl.inspection.readers.llvm_loops import Counted, counted_values, last_turn, loop_body, runs_backwards
from expctl.inspection.readers.llvm_module import Surroundings
from expctl.inspection.readers.llvm_rooms import LOCAL
from expctl.inspection.readers.llvm_sums import Sum, digest
from expctl.inspection.readers.llvm_text import NAME, Block, Function, Instruction, split_list
from expctl.inspection.readers.llvm_values import CASTS, OPERATIONS
from expctl.inspection.readers.ptx_assembly import instruction_by_instruction

ROUNDS_MOST = 6


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
