"""Ways to break the kernel, each with the check that must see it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from benchmarks.interpreter.launches import BASELINE, SMALL, Config, scaled_mm
from expctl.gfx11.text.program import Instruction
from kernel.runtime.formats import Fp8

Product = tuple[Fp8, int, int, int]
"""Format, m, n, k."""


class Check(StrEnum):
    """What can see a mutant: the kinds of fault, and the two judgements of the result."""

    RACE = "race"
    MISSING_WAIT = "missing wait"
    OUT_OF_BOUNDS = "out of bounds"
    UNINITIALISED = "uninitialised"
    LANES_DIFFER = "lanes differ"
    DIVERGED = "diverged"
    WRONG = "wrong result"
    NEVER_WRITTEN = "never written"


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A build that is broken, and the products that take its paths: whole chunks, one whole chunk, the edge of K."""

    name: str
    config: Config
    whole: Product
    one: Product
    edge: Product

    def paths(self) -> dict[str, tuple[Product, ...]]:
        """By name, the products that take them; the first executes all of it."""
        return {"whole": (self.whole, self.one), "edge": (self.edge,)}


BASES = (
    Base(
        name="small", config=SMALL, whole=(Fp8.E5M2, 64, 64, 96), one=(Fp8.E5M2, 64, 64, 32), edge=(Fp8.E5M2, 64, 64, 75),
    ),
    Base(
        name="kpi", config=BASELINE, whole=(Fp8.E5M2, 128, 256, 64), one=(Fp8.E5M2, 128, 256, 32), edge=(Fp8.E5M2, 64, 70, 45),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """`line` (from 1) of the assembly becomes `new`, or `old` in a file of kernel/hip does; or the launch has more blocks.

    `products`: it has to be caught on one of them; the later ones are for what the first has no use for.
    `also`: checks that may fire besides `expected`, because they follow from it.
    `argument`: why no check can fire (equivalent).
    """

    id: str
    family: str
    base: Base
    products: tuple[Product, ...]
    expected: Check
    also: frozenset[Check] = frozenset()
    line: int = 0
    file: str = ""
    old: str = ""
    new: str = ""
    more_blocks: tuple[int, int] = (0, 0)
    argument: str = ""

    @property
    def edit(self) -> str:
        """In words."""
        if self.more_blocks != (0, 0):
            return f"grid + {self.more_blocks}"
        return f"{self.file or f'line {self.line}'}: {self.old} -> {self.new or 'nothing'}"


NEVER_STORED_AGAIN = (
    "What is left under way is the newest load of the last but one slice. No store to LDS follows before the next barrier, "
    "which waits for all, and its registers are waited for before their use (the next wait for lgkmcnt): nothing can come "
    "between."
)
OWN_COLUMNS = (
    "What may be left under way is the wave's newest store of B. With warps_m = 1 thread t stores column t of a slice-row "
    "(p % block_n, p = turn * 256 + t), and wave w loads columns 32 w .. 32 w + 31: its own. LDS accesses of one wave are "
    "in order, and no other wave touches these bytes; its stores of A come earlier and are waited for."
)
EQUIVALENT = {
    "small whole wait 10 lgkmcnt": NEVER_STORED_AGAIN,
    "kpi whole wait 4 lgkmcnt": OWN_COLUMNS,
    "kpi whole wait 26 lgkmcnt": OWN_COLUMNS,
    "kpi edge wait 3 lgkmcnt": OWN_COLUMNS,
}
"""By id, in the text of the pinned compiler."""


def executed(assembly: str, base: Base, product: Product) -> list[Instruction]:
    """The instructions that the launch executes, in the order of their lines."""
    counts = scaled_mm(assembly, base.config, *product).result.counts
    return [each for each, times in zip(counts.program.instructions, counts.executed, strict=True) if times]


def of_assembly(assembly: str, base: Base) -> Iterator[Mutant]:
    """Each barrier and each wait that a path executes, some permutes, some registers that are not set."""
    for path, products in base.paths().items():
        code = executed(assembly, base, products[0])
        yield from _barriers(code, base, path, products)
        yield from _waits(code, base, path, products)
        yield from _permutes(code, base, path, products)
    yield from _registers(executed(assembly, base, base.whole), base)


def _before_barrier(code: list[Instruction], wait: Instruction) -> bool:
    after = next((each for each in code if each.line > wait.line), None)
    return after is not None and after.mnemonic == "s_barrier"


def _barriers(code: list[Instruction], base: Base, path: str, products: tuple[Product, ...]) -> Iterator[Mutant]:
    for i, each in enumerate(x for x in code if x.mnemonic == "s_barrier"):
        yield Mutant(
            id=f"{base.name} {path} barrier {i + 1}", family="barrier removed", base=base, products=products,
            expected=Check.RACE, also=frozenset((Check.WRONG, Check.UNINITIALISED)), line=each.line, old=each.text,
            new="s_nop 0",
        )  # fmt: skip


def _waits(code: list[Instruction], base: Base, path: str, products: tuple[Product, ...]) -> Iterator[Mutant]:
    """Each counter of each wait one higher; and before a barrier lgkmcnt not waited for at all."""
    for i, each in enumerate(x for x in code if x.mnemonic == "s_waitcnt"):
        parts = re.findall(r"(vmcnt|lgkmcnt)\((\d+)\)", each.text)
        for name, _ in parts:
            words = " ".join(f"{other}({int(n) + (other == name)})" for other, n in parts)
            id = f"{base.name} {path} wait {i + 1} {name}"
            yield Mutant(
                id=id, family="wait weakened", base=base, products=products, expected=Check.MISSING_WAIT, line=each.line,
                old=each.text, new=f"s_waitcnt {words}", argument=EQUIVALENT.get(id, ""),
            )  # fmt: skip
        if _before_barrier(code, each) and "lgkmcnt" in each.text:
            rest = " ".join(f"{name}({n})" for name, n in parts if name != "lgkmcnt")
            yield Mutant(
                id=f"{base.name} {path} wait {i + 1} unwaited", family="LDS store not waited for before a barrier", base=base,
                products=products, expected=Check.MISSING_WAIT, line=each.line, old=each.text,
                new=f"s_waitcnt {rest}" if rest else "s_nop 0",
            )  # fmt: skip


SWAPPED = {"0x50c040c": "0x40c050c", "0x70c060c": "0x60c070c"}


def _permutes(code: list[Instruction], base: Base, path: str, products: tuple[Product, ...]) -> Iterator[Mutant]:
    """The first and the last with each selector."""
    for selector, other in SWAPPED.items():
        some = [each for each in code if each.mnemonic == "v_perm_b32" and selector in each.text]
        for which, each in (("first", some[0]), ("last", some[-1])):
            yield Mutant(
                id=f"{base.name} {path} permute {selector} {which}", family="permute bytes swapped", base=base,
                products=products, expected=Check.WRONG, line=each.line, old=each.text, new=each.text.replace(selector, other),
            )  # fmt: skip


SETTING = {
    "arguments": r"s_load_b\d+ ",
    "sum": r"v_mov_b32_e32 v\d+, 0$",
    "offset of a store to LDS": r"v_lshlrev_b32_e32 v\d+, 4, v\d+$",
}
READING = {"address of a load from memory": "global_load_b128", "address of a load from LDS": "ds_load_b128"}


def _registers(code: list[Instruction], base: Base) -> Iterator[Mutant]:
    """The first instructions that give such a register its first value, gone: by what they are, or by what reads it."""
    wanted = dict(SETTING)
    for name, mnemonic in READING.items():
        operands = next(each for each in code if each.mnemonic == mnemonic).rest.split(",")
        address = operands[1].split()[0]
        wanted[name] = rf"v_\w+ {address},"
    written: set[str] = set()
    for each in code:
        target = _named(each.rest.partition(",")[0])
        for name, pattern in list(wanted.items()):
            if re.match(pattern, each.text) and target.isdisjoint(written):
                del wanted[name]
                yield Mutant(
                    id=f"{base.name} register: {name}", family="uninitialised register", base=base,
                    products=(base.whole, base.one), expected=Check.UNINITIALISED,
                    also=frozenset((Check.WRONG, Check.OUT_OF_BOUNDS, Check.NEVER_WRITTEN, Check.RACE)),
                    line=each.line, old=each.text, new="s_nop 0",
                )  # fmt: skip
        written |= target


def _named(operand: str) -> set[str]:
    """The registers of an operand: v[1:2] is v1 and v2."""
    match = re.match(r"([vs])\[(\d+):(\d+)\]$", operand)
    return {f"{match[1]}{n}" for n in range(int(match[2]), int(match[3]) + 1)} if match else {operand}
