"""The figures of a line of the source, or of a whole loop: instructions by group, LDS passes, memory lines, live registers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from expctl.check.places import Place
from expctl.inspection.model.instruction_mix import InstructionClass, class_of


class Group(StrEnum):
    """Groups of instructions, by the unit that executes them, in the order in which they are shown."""

    MATRIX = "matrix"
    VECTOR = "vector"
    MEMORY = "memory"
    """Vector accesses to global and scratch memory."""
    LDS = "LDS"
    SCALAR = "scalar"
    BRANCH = "branch"
    WAIT = "wait"
    """Waits for memory accesses, and barriers."""
    HINT = "hint"


_GROUPS = {
    InstructionClass.MATRIX: Group.MATRIX,
    InstructionClass.SCALAR: Group.SCALAR,
    InstructionClass.SCALAR_LOAD: Group.SCALAR,
    InstructionClass.BRANCH: Group.BRANCH,
    InstructionClass.WAIT: Group.WAIT,
    InstructionClass.BARRIER: Group.WAIT,
    InstructionClass.HINT: Group.HINT,
    InstructionClass.PRIORITY: Group.HINT,
}
_PREFIXES = {
    Group.VECTOR: ("v_",),
    Group.LDS: ("ds_",),
    Group.MEMORY: ("global_", "flat_", "scratch_", "buffer_", "tbuffer_", "image_"),
}
_SUMMED = ("cycles", "passes", "passes_least", "lines", "lines_least")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Figures of an iteration of a loop in one wave, or as written where nothing was launched; `passes` and `lines` are 0 then.

    `cycles` are the fewest in which a SIMD executes the matrix and vector instructions. `passes` are those of the LDS, `lines`
    the 128-byte lines of memory that are touched; `_least` is the fewest that the same accesses could do with.
    """

    instructions: Mapping[Group, float]
    live: int = 0
    """The most vector registers that are live before an instruction."""
    cycles: float = 0
    passes: float = 0
    passes_least: float = 0
    lines: float = 0
    lines_least: float = 0

    @property
    def all(self) -> float:
        """Return the number of instructions of all groups."""
        return sum(self.instructions.values())

    @property
    def matrix(self) -> float:
        """Return the number of matrix instructions."""
        return self.instructions.get(Group.MATRIX, 0)

    def per(self, number: float) -> Figures:
        """Return the figures divided by `number`, but for `live`."""
        instructions = {group: count / number for group, count in self.instructions.items()}
        summed: dict[str, Any] = {name: getattr(self, name) / number for name in _SUMMED}
        return Figures(instructions=instructions, live=self.live, **summed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of the source, with the figures of the loop's instructions that came from it. `place` is None for instructions of
    no line.
    """

    place: Place | None
    figures: Figures


def group_of(mnemonic: str) -> Group:
    """Return the group of an instruction."""
    by_prefix = (group for group, prefix in _PREFIXES.items() if mnemonic.startswith(prefix))
    return _GROUPS.get(class_of(mnemonic)) or next(by_prefix, Group.HINT)


def sum_of(parts: Iterable[Figures]) -> Figures:
    """Return the sums of figures, and the most registers live in one of them."""
    found = list(parts)
    instructions = {group: sum(each.instructions.get(group, 0) for each in found) for group in Group}
    summed: dict[str, Any] = {name: sum(getattr(each, name) for each in found) for name in _SUMMED}
    return Figures(
        instructions={group: count for group, count in instructions.items() if count},
        live=max((each.live for each in found), default=0),
        **summed,
    )
