"""What a check found, by place in the source: faults of the interpreter and wrong arrays, each told once for all orders."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from expctl.check.case import Case, Role
from expctl.check.places import Place, Places
from expctl.check.resolved import Extent, Launch
from expctl.gfx11.machine.faults import FaultKind
from expctl.inspection.readers.lds_layout import LdsVariable

_LDS = re.compile(r"LDS bytes from (\d+) on")
_INSIDE = re.compile(r"byte (\d+) of (\w+(?:\.\w+)?)")
_THREAD = re.compile(r"\bthread (\d+)(?= of workgroup)")
_WORKGROUP = re.compile(r"\bworkgroup (\d+)")
_OWN_MEMORY = re.compile(r"\d+ bytes at \d+ of (LDS|private memory), which has")
_UPDATED = re.compile(r"updates what nothing wrote, byte \d+ of (\S+)")
_OUTSIDE = re.compile(r"(\d+) bytes (after the end of|before) (\w+(?:\.\w+)?) \(\d+ bytes\)")


Who = tuple[int, int, tuple[int, ...]]
"""Numbers of a workgroup, of a wave in it, and of threads in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong with the kernel.

    `kind` is a FaultKind or one of judge.py, `what` says it in words. `place` is where it happens in the source, None if that
    is not known; `other` is the place of the access that it races with, or of the load that nothing waits for. `line` and
    `other_line` are the same in the assembly, 0 if there is none. `orders` are the numbers of the orders that show it.
    """

    kind: str
    what: str
    place: Place | None = None
    other: Place | None = None
    line: int = 0
    other_line: int = 0
    instruction: str = ""
    other_instruction: str = ""
    orders: tuple[int, ...] = ()
    array: str = ""
    """The array that is wrong after the launch, "" for a fault."""

    @property
    def identity(self) -> tuple[str, ...]:
        """Return what makes two findings one: the kind with the array or the lines. A race is the same from either side."""
        if self.array:
            return self.kind, self.array
        both = [f"{each.file}:{each.line}" for each in (self.place, self.other) if each is not None]
        return self.kind, *(sorted(both) if self.kind == FaultKind.RACE else both)


@dataclass(slots=True, kw_only=True)
class FindingLog:
    """Collects the findings of one launch in several orders. Findings of one kind at the same places are one."""

    case: Case
    launch: Launch
    places: Places
    lds: Callable[[], Sequence[LdsVariable]] = tuple
    """Asked for the variables in LDS once a fault is about them."""
    found: dict[tuple[str, ...], Finding] = field(default_factory=dict)

    def fault(self, order: int, kind: str, line: int, other_line: int, what: str, by: Who | None = None) -> None:
        """Add a fault at `line` of the assembly, which also concerns `other_line` (0: none). `by` are the numbers of its
        workgroup, of its wave there, and of its threads there if it isn't a matter of the whole wave.
        """
        of, instruction = self.places.of, self.places.instruction
        verb = f"{_verb(instruction(line))} " if _OWN_MEMORY.match(what) else ""
        finding = Finding(
            kind=kind,
            what=self._in_the_launch(f"{verb}{what}{_whose(kind, what, by)}") + self._advice(what),
            place=of(line),
            other=of(other_line),
            line=line,
            other_line=other_line,
            instruction=instruction(line),
            other_instruction=instruction(other_line),
        )
        self._add(order, finding)

    def array(self, order: int, kind: str, name: str, what: str, place: Place | None) -> None:
        """Add that the array `name` is wrong after the launch; `place` is where the kernel begins."""
        self._add(order, Finding(kind=kind, what=what, place=place, array=name))

    def all(self) -> tuple[Finding, ...]:
        """Return the findings: faults in the order of their places, then wrong arrays."""
        return tuple(sorted(self.found.values(), key=lambda each: (each.line == 0, each.line)))

    def _add(self, order: int, finding: Finding) -> None:
        before = self.found.get(finding.identity, finding)
        if order not in before.orders:
            before = replace(before, orders=(*before.orders, order))
        self.found[finding.identity] = before

    def _in_the_launch(self, what: str) -> str:
        """Return a fault's description with elements of arrays in place of bytes, `x[3, 5]` for `byte 212 of x`, and with the
        coordinates of threads and workgroups.
        """

        def inside(match: re.Match[str]) -> str:
            extents, size = self._extents(match[2])
            return _element(match[2], int(match[1]) // size, extents) if size else match[0]

        def outside(match: re.Match[str]) -> str:
            extents, size = self._extents(match[3])
            if not size:
                return match[0]
            count = prod(extents)
            at = -(-int(match[1]) // size) * -1 if match[2] == "before" else count + int(match[1]) // size
            return f"{match[3]}[{at}], outside its {count} element{'s' if count != 1 else ''}"

        def thread(match: re.Match[str]) -> str:
            return f"thread {_place(int(match[1]), self.launch.block)}"

        def workgroup(match: re.Match[str]) -> str:
            return f"workgroup {_place(int(match[1]), self.launch.grid)}"

        def variable(match: re.Match[str]) -> str:
            byte = int(match[1])
            held = next((each for each in self.lds() if each.begin <= byte < each.begin + each.size), None)
            return f"{held.at(byte)} (LDS byte {byte})" if held else match[0]

        what = _LDS.sub(variable, what)
        return _WORKGROUP.sub(workgroup, _THREAD.sub(thread, _OUTSIDE.sub(outside, _INSIDE.sub(inside, what))))

    def _advice(self, what: str) -> str:
        """Return how to describe an array that a fault says is updated though its role is out; else ""."""
        updated = _UPDATED.match(what)
        outputs = [each.name for each in self.case.arguments if each.role is Role.OUT]
        return ": its role is out; inout with values gives it a beginning" if updated and updated[1] in outputs else ""

    def _extents(self, name: str) -> tuple[tuple[int, ...], int]:
        """Return the extents of an array and the bytes of its elements; 0 bytes if there is no such array."""
        sizes = [each.dtype.stored.itemsize for each in self.case.arguments if each.name == name and each.is_array]
        return self.launch.extents.get(name, ()), sizes[0] if sizes else 0


def _whose(kind: str, what: str, by: Who | None) -> str:
    """Return by which thread or wave a fault is, where `what` doesn't say so; "" for faults of a whole workgroup."""
    if by is None or "workgroup" in what or kind not in (FaultKind.RACE, FaultKind.OUT_OF_BOUNDS, FaultKind.UNINITIALISED):
        return ""
    group, wave, threads = by
    is_of_two = kind == FaultKind.RACE and " wave " in what
    if not threads:
        return f"; both in workgroup {group}" if is_of_two else f", in wave {wave} of workgroup {group}"
    more = f" and {len(threads) - 1} more of its wave" if len(threads) > 1 else ""
    return f", in thread {threads[0]} of workgroup {group}{more}"


def _verb(instruction: str) -> str:
    """Return what an access of memory does: loads read, stores write, atomics update."""
    opcode = instruction.partition(" ")[0]
    return next((verb for part, verb in (("_load_", "reads"), ("_store_", "writes")) if part in opcode), "updates")


def _place(number: int, extent: Extent) -> str:
    """Return the coordinates of a thread or workgroup by its number, with as many axes as the launch has."""
    x, y, _ = extent
    axes = (number % x, number // x % y, number // (x * y))
    used = max([1, *(i + 1 for i, size in enumerate(extent) if size > 1)])
    return str(axes[0]) if used == 1 else f"({', '.join(map(str, axes[:used]))})"


def _element(name: str, index: int, extents: tuple[int, ...]) -> str:
    """Return the text of an element by its flat index, e.g. `x[3, 5]`."""
    axes = []
    for extent in reversed(extents):
        axes.append(index % extent)
        index //= extent
    return f"{name}[{', '.join(map(str, reversed(axes)))}]"
