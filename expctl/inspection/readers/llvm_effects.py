"""What has an effect in a function of LLVM IR: stores, barriers, calls, assembly; and loads, which are held between these,
unless what they read is never written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from expctl.inspection.readers.llvm_assembly import ASM, as_builtin
from expctl.inspection.readers.llvm_loops import Access
from expctl.inspection.readers.llvm_module import Surroundings
from expctl.inspection.readers.llvm_rooms import rooms
from expctl.inspection.readers.llvm_sums import Sum, as_exact, digest
from expctl.inspection.readers.llvm_text import NAME, Block, Instruction, split_list
from expctl.inspection.readers.llvm_values import BITS, MATH, Values

_ROWS = re.compile(r"\[(\d+) x \[(\d+) x ([^\[\]]*)\]\]")
_MULTIPLY_ADD = frozenset(f"llvm.{name}.{kind}" for name in ("fma", "fmuladd") for kind in ("f32", "f64"))
_SYMMETRIC = re.compile(r"llvm\.(?:[su](?:min|max)|minnum|maxnum|fma|fmuladd)\b")
_DROPPED = re.compile(
    r"@llvm\.(?:lifetime|assume|dbg|experimental\.noalias|invariant)\b|@llvm\.amdgcn\.sched\.barrier\(i32 2047\)"
)
_CALL = re.compile(rf"^(?:fastcc |amdgpu_gfx |ccc )*(.*?)(@{NAME}|%\d+)\((.*)\)(.*)$")
_SCALAR_STORE = re.compile(rf"store (volatile )?({'|'.join(BITS)}) (\S+), (.*)$")
_UNSIGNED = re.compile(r"llvm\.u(?=m(?:in|ax)\.)")
"""Numbers are taken as not negative."""
_PLACE = re.compile(r", ptr(?: addrspace\(\d+\))? (%\d+)")
_SAME = re.compile(r"=[a-z],0(?:,~|$)")
"""Constraints of assembly that gives back what it takes, if it does nothing."""
WORKITEMS_MOST = 1024
_EXTRACTED = re.compile(r" (%\d+), (\d+)$")
_LDEXP = re.compile(r"llvm\.ldexp\.f(?:32|64)\.")
_EXPONENT = re.compile(r"i\d+ (-?\d{1,3})$")


class Effects(Values):
    """Effects of the block that is being read, in their order; `hints` have none, and `accesses` are what each block reads and
    writes.
    """

    def __init__(self, module: Surroundings) -> None:
        super().__init__(module)
        self.block = 0
        self.effects: list[str] = []
        self.hints: list[str] = []
        self.accesses: dict[int, list[Access]] = {}
        self.free: dict[str, str] = {}
        self.outputs: dict[str, list[str]] = {}
        self.constants: set[str] = set()
        self.kinds: Mapping[str, str] = {}
        self.rooms: Mapping[str, int] = {}

    def _find_rooms(self, blocks: Sequence[Block], written: Sequence[Block]) -> None:
        """Give the memory of the function places among those of its kind, unless it is made anew wherever it is asked for."""
        made = (each for each in blocks[0].body if each.text.startswith("alloca "))
        self.kinds = {each.result: kind for each in made if (kind := self._kept(each))}
        self.rooms = rooms(self.kinds, blocks, written)

    def _kept(self, each: Instruction) -> str:
        """Return what memory of the function is for; "" if there is as much of it as a number says."""
        kind, *counted = (part for part in split_list(each.text[7:]) if not part.startswith(("align ", "addrspace(")))
        spelt, flat = "", self.module.spelt(kind)
        while spelt != flat:  # rows of rows are one row
            spelt, flat = flat, _ROWS.sub(lambda found: f"[{int(found[1]) * int(found[2])} x {found[3]}]", flat)
        return "" if counted else f"alloca {flat}"

    def _alloca(self, each: Instruction) -> str:
        """Memory of the function itself: those of one kind are told apart by their places, what is made anew by where it is."""
        if each.result in self.rooms:
            return digest(self.kinds[each.result], str(self.rooms[each.result]))
        value = digest(self._spelt(each.text), str(self.block), str(len(self.effects)))
        self.effects.append(value)
        return value

    def _load(self, each: Instruction) -> str:
        self._reach(each.text, is_store=False)
        volatile = each.text.startswith("load volatile") or each.text.startswith("load atomic")
        place = _PLACE.search(each.text)
        if place and not volatile and any(term in self.constants for term, _ in self._as_sum(place[1]).terms):
            return digest(self._spelt(each.text))
        value = digest(self._spelt(each.text), str(self.block), str(len(self.effects)))
        if volatile:
            self.effects.append(value)
        return value

    def _effect(self, each: Instruction) -> str:
        value = digest(self._spelt(each.text))
        self.effects.append(value)
        return value

    def _store(self, each: Instruction) -> str:
        """Bits are stored, whatever their type: those of a value that is only wider are the same."""
        self._reach(each.text, is_store=True)
        match = _SCALAR_STORE.match(each.text)
        if match is None:
            return self._effect(each)
        held = self._low_bits(self._operand(match[3]), match[2])
        value = digest("store", match[1] or "", str(BITS[match[2]]), *held, self._spelt(match[4]))
        self.effects.append(value)
        return value

    def _reach(self, text: str, *, is_store: bool) -> None:
        place = _PLACE.search(text)
        if place:
            self.accesses.setdefault(self.block, []).append(Access(is_store, self._as_sum(place[1])))

    def _call(self, each: Instruction) -> str:
        text = _builtin_call(each.text)
        if not text:
            return ""
        if text.startswith("store "):
            return self._store(Instruction("", text))
        if text.startswith("instruction "):
            value = digest(*text.split(" "))
            self.effects.append(value)
            return value
        text = text.removeprefix("call ")
        assembly = ASM.search(text)
        if assembly:
            return self._assembly(text, assembly)
        match = _CALL.match(text)
        if match is None:
            return self._effect(each)
        kind, callee, given, _ = match.groups()
        name = callee[1:].strip('"')
        listed = split_list(given)
        if name in _MULTIPLY_ADD:
            one, other, third = (self._as_sum(each.partition(" ")[2]) for each in listed)
            return self._named(one.times(other).plus(third))
        if (scaled := self._scaled(name, listed)) is not None:
            return self._named(scaled)
        arguments = [self._typed(one) for one in listed]
        if _SYMMETRIC.match(name):
            arguments[:2] = sorted(arguments[:2])
        target = _UNSIGNED.sub("llvm.s", self.module.of_global(name)) if callee[0] == "@" else self._operand(callee)
        value = digest("call", target, self.module.spelt(kind.strip()), *arguments)
        if target.startswith(("llvm.smax.", "llvm.smin.")):
            self._limit(value, target, kind.strip(), arguments)
        if name.startswith("llvm.prefetch"):
            self.hints.append(value)  # which may be anywhere in its block, and in any order
            return value
        if name.startswith("llvm.amdgcn.workitem.id."):
            self._at_most(value, WORKITEMS_MOST - 1)
        if name.startswith("llvm.amdgcn.readfirstlane"):
            self._bound(value, given)
        if name not in self.module.pure or kind.strip() == "void":
            self.effects.append(value)
        return value

    def _limit(self, value: str, target: str, kind: str, arguments: Sequence[str]) -> None:
        """Remember what a number is if it is at least 1 anyhow, as that of the turns of a loop which is left at its end."""
        if target.startswith("llvm.smax.") and f"{kind} 1" in arguments:
            self.free[value] = next(each for each in arguments if each != f"{kind} 1").partition(" ")[2]
        within = [self.free.get(each.partition(" ")[2], "") for each in arguments]
        if target.startswith("llvm.smin.") and any(within):
            freed = sorted(f"{kind} {inner}" if inner else each for each, inner in zip(arguments, within, strict=True))
            self.free[value] = digest("call", target, self.module.spelt(kind), *freed)

    def _bound(self, value: str, given: str) -> None:
        """Remember that a value is at most what the only argument is."""
        most = self._most(self._as_sum(given.rpartition(" ")[2]))
        if most is not None:
            self._at_most(value, most)

    def _scaled(self, name: str, given: Sequence[str]) -> Sum | None:
        """Return a number times a power of two, if that is what a call of ldexp makes of it."""
        by = _EXPONENT.match(given[1]) if _LDEXP.match(name) and len(given) == 2 else None
        return None if by is None else self._as_sum(given[0].partition(" ")[2]).times(Sum(as_exact(2.0 ** int(by[1]))))

    def _assembly(self, text: str, match: re.Match[str]) -> str:
        arguments = [self._typed(one) for one in split_list(match[4])]
        value = digest("asm", match[2], match[3], self.module.spelt(text[: match.start()]), *arguments)
        if match[1] or "~{memory}" in match[3]:
            value = digest(value, str(len(self.effects)))
            self.effects.append(value)
        if not match[2] and _SAME.match(match[3]):
            self._bound(value, match[4])
        return value

    def _ptx(self, each: Instruction) -> str:
        value = digest(self._spelt(each.text))
        if each.text.startswith("ptx volatile "):
            value = digest(value, str(len(self.effects)))
            self.effects.append(value)
        return value

    def _together(self, each: Instruction) -> str:
        """Return the value of outputs of assembly, each of which is a value or one of those that an instruction gives."""
        parts = [self._output(*part.split(" ")) for part in each.text.removeprefix("outputs ").split(", ")]
        value = parts[0] if len(parts) == 1 else digest("outputs", *parts)
        self.outputs[value] = parts
        return value

    def _output(self, name: str, at: str = "") -> str:
        return digest(self._operand(name), at) if at else self._operand(name)

    def _extracted(self, each: Instruction) -> str:
        match = _EXTRACTED.search(each.text)
        parts = self.outputs.get(self._operand(match[1])) if match else None
        return parts[int(match[2])] if match and parts else digest(self._spelt(each.text))


@cache
def _builtin_call(text: str) -> str:
    """Return a call as that of a builtin, without flags; empty for one that says something to the optimiser alone."""
    text = " ".join(word for word in text.split(" ")[1:] if word not in MATH)
    return "" if _DROPPED.search(text) else as_builtin(f"call {text}")
