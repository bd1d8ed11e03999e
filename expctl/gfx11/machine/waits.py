"""Track the loads and stores that a wave has begun, and which of them an s_waitcnt proves to have ended.

    vmcnt    loads from memory      return in order
    vscnt    stores to memory       end in order
    lgkmcnt  LDS and scalar loads   LDS in order among themselves; scalar loads in any order, so only lgkmcnt(0) proves one

Flat accesses are counted by two of them, in order in both. Source: LLVM, GCNSubtarget::hasFlatLgkmVMemCountInOrder.

A counter that has fallen to n proves that all but n of its operations have ended. If k of those under way are scalar loads,
these may be k of the ended ones, so k fewer of the operations that end in order are proved to have ended.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expctl.gfx11.machine.accesses import AccessLog


class Counter(StrEnum):
    """The counters that an s_waitcnt can name. Exports (expcnt) are not implemented."""

    VM = "vmcnt"
    LGKM = "lgkmcnt"
    VS = "vscnt"


MOST = {Counter.VM: 63, Counter.LGKM: 63, Counter.VS: 63}


@dataclass(slots=True, eq=False)
class Operation:
    """One memory access that a wave has begun and that may not have ended yet, because no wait has proved that it has."""

    line: int
    counter: Counter
    keys: tuple[int, ...] = ()
    """Registers that the access will write, as Wave keys."""
    in_order: bool = True
    log: AccessLog | None = None
    """The log of the memory that it touches, which has it under `tags`; None for private memory."""
    tags: list[int] = field(default_factory=list)
    also: Counter | None = None
    """A second counter that has to prove it too: that of an access whose address says at run time which memory is meant."""
    outlasts: bool = False
    """The access may have been under way while its wave passed a barrier."""

    def with_tags(self, tags: list[int]) -> Operation:
        """Return the same with other tags."""
        return Operation(
            self.line, self.counter, self.keys, self.in_order, log=self.log, tags=tags, also=self.also, outlasts=self.outlasts
        )

    def is_like(self, other: Operation) -> bool:
        """Return whether `other` is the same instruction's access, of another wave that has done the same."""
        return (self.line, self.counter, self.keys, self.in_order, self.log, len(self.tags), self.also, self.outlasts) == (
            other.line, other.counter, other.keys, other.in_order, other.log, len(other.tags), other.also, other.outlasts
        )  # fmt: skip


@dataclass(slots=True)
class Waits:
    """Memory accesses of one wave that may not have ended: for each counter a list, oldest first."""

    under_way: dict[Counter, list[Operation]] = field(default_factory=lambda: {counter: [] for counter in Counter})

    def begin(self, operation: Operation) -> None:
        """Record that a memory access has begun."""
        self.under_way[operation.counter].append(operation)
        if operation.also is not None:
            self.under_way[operation.also].append(operation)

    def wait(self, counter: Counter, most: int) -> list[Operation]:
        """Return the accesses that must have ended when `counter` has fallen to `most` or less, and every wait before it."""
        return [each for each in self._fallen(counter, most) if each.also is None or not self._is_under_way(each)]

    def _is_under_way(self, operation: Operation) -> bool:
        return any(operation in self.under_way[each] for each in (operation.counter, operation.also) if each is not None)

    def _fallen(self, counter: Counter, most: int) -> list[Operation]:
        """Remove and return the accesses that `counter` no longer counts when it has fallen to `most` or less."""
        waiting = self.under_way[counter]
        out_of_order = sum(not operation.in_order for operation in waiting)
        proven = len(waiting) if most == 0 else max(0, len(waiting) - most - out_of_order)
        if proven == 0:
            return []
        if most == 0:
            ended, self.under_way[counter] = waiting, []
            return ended
        in_order = [operation for operation in waiting if operation.in_order]
        ended = in_order[:proven]
        gone = set(map(id, ended))
        self.under_way[counter] = [operation for operation in waiting if id(operation) not in gone]
        return ended
