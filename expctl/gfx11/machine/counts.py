"""Exact counts of an interpretation: how often each instruction ran, and how much memory it accessed."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

from expctl.gfx11.text.program import Instruction, Program
from expctl.gpu.loops import Flow, loops_of


class Class(StrEnum):
    """Classes of instructions, by the unit that executes them."""

    VECTOR = "vector ALU"
    MATRIX = "matrix"
    SCALAR = "scalar ALU"
    SCALAR_LOAD = "scalar load"
    LDS_LOAD = "LDS load"
    LDS_STORE = "LDS store"
    GLOBAL_LOAD = "global load"
    GLOBAL_STORE = "global store"
    ATOMIC = "atomic"
    SCRATCH = "scratch"
    BRANCH = "branch"
    WAIT = "wait"
    BARRIER = "barrier"
    HINT = "hint"
    """Instructions without an effect on results: s_delay_alu, s_clause, cache invalidation, s_nop, ..."""


_CLASSES = (
    (r"v_wmma_", Class.MATRIX),
    (r"v_", Class.VECTOR),
    (r"s_load_", Class.SCALAR_LOAD),
    (r"ds_load_|ds_b?permute_|ds_swizzle_", Class.LDS_LOAD),
    (r"ds_store_", Class.LDS_STORE),
    (r"(global|flat|buffer)_load_", Class.GLOBAL_LOAD),
    (r"(global|flat|buffer)_store_", Class.GLOBAL_STORE),
    (r"scratch_", Class.SCRATCH),
    (r"(global|flat|buffer)_atomic_|ds_", Class.ATOMIC),
    (r"s_c?branch|s_endpgm|s_setpc|s_swappc", Class.BRANCH),
    (r"s_waitcnt", Class.WAIT),
    (r"s_barrier", Class.BARRIER),
    (
        r"s_delay_alu|s_clause|s_nop|s_set_inst_prefetch|s_inst_prefetch|s_sendmsg|s_sleep|s_setprio|s_code_end|buffer_gl",
        Class.HINT,
    ),
    (r"s_", Class.SCALAR),
)

_WORK = {
    Class.GLOBAL_LOAD: 60, Class.GLOBAL_STORE: 60, Class.SCRATCH: 60, Class.SCALAR_LOAD: 60, Class.ATOMIC: 80,
    Class.LDS_LOAD: 30, Class.LDS_STORE: 30, Class.MATRIX: 40, Class.BARRIER: 10,
}  # fmt: skip


def class_of(instruction: Instruction) -> Class:
    """Return the class of an instruction, by its mnemonic. Raises Unsupported if it belongs to none."""
    kind = _class_of(instruction.mnemonic)
    if kind is None:
        raise instruction.unsupported("unknown opcode")
    return kind


@lru_cache(maxsize=4096)
def _class_of(mnemonic: str) -> Class | None:
    return next((kind for pattern, kind in _CLASSES if re.match(pattern, mnemonic)), None)


def work_of(instruction: Instruction) -> int:
    """Return how long one wave's execution of an instruction takes here, in vector operations."""
    return _WORK.get(class_of(instruction), 1)


@dataclass(slots=True, kw_only=True)
class Traffic:
    """LDS and memory traffic of one instruction, summed over its executions. `lds_least` are passes without bank conflicts."""

    lds_passes: int = 0
    lds_least: int = 0
    lines: int = 0
    """128-byte lines of global memory touched, summed over executions."""
    lines_least: int = 0
    """Fewest 128-byte lines that could hold the bytes."""
    bytes: int = 0


@dataclass(slots=True)
class Tally:
    """Counters that the interpreter fills while it runs: executions per block, traffic per line of the assembly."""

    executions: list[int]
    traffic: dict[int, Traffic] = field(default_factory=dict)
    plans: dict[Any, Any] = field(default_factory=dict)
    """Cache of lds.Plan, by addresses, lanes, width and size: loops repeat the same LDS accesses."""

    team_plans: dict[Any, Any] = field(default_factory=dict)
    """Cache of lds.TeamPlan, by addresses, lanes, width and size."""
    lines: dict[Any, Any] = field(default_factory=dict)
    """Cache of the lines of global memory that an access touches, by the distances of its lanes."""

    def of_line(self, line: int) -> Traffic:
        """Return the counters of the instruction in `line` of the assembly. The caller adds to them; they begin at 0."""
        found = self.traffic.get(line)
        if found is None:
            found = self.traffic[line] = Traffic()
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Counts over a range of instructions. One execution by a wave counts once, not once per lane."""

    instructions: int
    operations: int
    """Like `instructions`, but a v_dual counts as two."""
    by_class: dict[Class, int]
    lds_passes: int
    lds_least: int
    lines: int
    lines_least: int
    scratch_bytes: int

    @property
    def matrix(self) -> int:
        """Return the number of v_wmma instructions executed."""
        return self.by_class.get(Class.MATRIX, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Counts of one launch: `executed[i]` is how often waves executed instruction i, `traffic` is by line of the assembly."""

    program: Program
    executed: tuple[int, ...]
    traffic: dict[int, Traffic]

    def summary(self, of: Collection[int] | None = None) -> Summary:
        """Return the sums over the instructions with the indices `of`; over all by default."""
        by_class: dict[Class, int] = {}
        operations = instructions = 0
        totals, scratch = Traffic(), 0
        for index, (instruction, times) in enumerate(zip(self.program.instructions, self.executed, strict=True)):
            if times == 0 or (of is not None and index not in of):
                continue
            kind = class_of(instruction)
            by_class[kind] = by_class.get(kind, 0) + times
            instructions += times
            operations += times * (2 if instruction.mnemonic.startswith("v_dual_") else 1)
            if traffic := self.traffic.get(instruction.line):
                totals.lds_passes += traffic.lds_passes
                totals.lds_least += traffic.lds_least
                totals.lines += traffic.lines
                totals.lines_least += traffic.lines_least
                scratch += traffic.bytes if kind is Class.SCRATCH else 0
        return Summary(
            instructions=instructions,
            operations=operations,
            by_class=by_class,
            lds_passes=totals.lds_passes,
            lds_least=totals.lds_least,
            lines=totals.lines,
            lines_least=totals.lines_least,
            scratch_bytes=scratch,
        )

    def hot_loop(self) -> Summary | None:
        """Return the counts of the loop that executed the most v_wmma outside of loops within it, or without any the
        most instructions. None if there is no loop.
        """
        loops = loops_of([self._flow(instruction) for instruction in self.program.instructions])

        def own(loop: frozenset[int]) -> tuple[int, int]:
            found = self.summary(loop.difference(*(inner for inner in loops if inner < loop)))
            return found.matrix, found.instructions

        hottest = max(loops, key=own, default=None)
        return None if hottest is None else self.summary(hottest)

    def _flow(self, instruction: Instruction) -> Flow:
        target = self.program.labels.get(instruction.rest) if class_of(instruction) is Class.BRANCH else None
        return Flow(target=target, goes_on=instruction.mnemonic not in ("s_branch", "s_endpgm", "s_setpc_b64"))
