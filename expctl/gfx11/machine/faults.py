"""Faults: what a kernel did wrong.

They are returned as data, not raised, because the interpretation continues after a fault.
"""

from dataclasses import dataclass, field
from enum import StrEnum


class FaultKind(StrEnum):
    """The kinds of fault that the interpreter reports."""

    RACE = "race"
    """Two waves touch the same bytes, one writes, and no barrier lies between."""
    MISSING_WAIT = "missing wait"
    """A register is used before the load into it must have returned, or a barrier passed before an access must have ended."""
    OUT_OF_BOUNDS = "out of bounds"
    UNINITIALISED = "uninitialised"
    """A value that nothing wrote determines an address, a branch, the active lanes or a result in memory."""
    LANES_DIFFER = "lanes differ"
    """Lanes 16..31 of an input of a matrix instruction don't repeat lanes 0..15."""
    DIVERGED = "diverged"
    """Some waves of the workgroup end without reaching a barrier at which others wait."""
    TRAP = "trap"
    """An assertion failed, or the code stopped itself: abort(), __trap()."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault of the kernel, at `line` of the assembly. `other_line` is the line of the other access of a race, or of the
    load that was not waited for; 0 if there is none.
    """

    kind: FaultKind
    line: int
    other_line: int = 0
    what: str
    """Description: which bytes of which buffer, which register, which waves."""
    workgroup: int
    wave: int
    threads: tuple[int, ...] = ()
    """Numbers within the workgroup of the threads that do it; empty if it is a matter of the whole wave, or of several."""

    def __str__(self) -> str:
        also = f" (and line {self.other_line})" if self.other_line else ""
        who = f", thread {self.threads[0]}" if self.threads else ""
        return f"line {self.line}{also}: {self.kind}: {self.what}; workgroup {self.workgroup}, wave {self.wave}{who}"


@dataclass(slots=True)
class FaultLog:
    """The faults found: the first of each kind at each pair (line, other line), and how often it occurred."""

    first: dict[tuple[FaultKind, int, int], Fault] = field(default_factory=dict)
    times: dict[tuple[FaultKind, int, int], int] = field(default_factory=dict)

    def add(self, fault: Fault) -> None:
        """Count a fault. Only the first of its kind at its (line, other line) is stored."""
        key = (fault.kind, fault.line, fault.other_line)
        self.first.setdefault(key, fault)
        self.times[key] = self.times.get(key, 0) + 1

    def all(self) -> tuple[Fault, ...]:
        """Return the stored faults, one for each kind and (line, other line), in the order of their lines."""
        return tuple(sorted(self.first.values(), key=lambda fault: (fault.line, fault.other_line, fault.kind)))
