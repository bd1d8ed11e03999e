"""What waves and teams of them know of memory accesses under way, and of registers that must not be used without a check."""

from __future__ import annotations

from abc import abstractmethod
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expctl.gfx11.machine.waits import Counter, Operation, Waits
    from expctl.gfx11.machine.workgroup import Workgroup


class InFlight:
    """`undefined` has the keys of registers with undefined bits, `pending` those of registers into which a load is under way,
    with the load; `dirty` has both.
    """

    __slots__ = ("dirty", "group", "pending", "undefined", "waits")

    dirty: set[int]
    group: Workgroup
    pending: dict[int, Operation]
    undefined: set[int]
    waits: Waits

    def begin(self, operation: Operation) -> None:
        """Record that a memory access has begun. Using a register that it writes is a fault until a wait proves that it has
        ended.
        """
        self.waits.begin(operation)
        if operation.keys:
            self.pending.update(dict.fromkeys(operation.keys, operation))
            self.dirty.update(operation.keys)

    def wait(self, counter: Counter, most: int) -> None:
        """Record that every memory access has ended that must have ended when `counter` has fallen to `most` or less."""
        ended = self.waits.wait(counter, most)
        for operation in ended:
            for key in operation.keys:
                if self.pending.get(key) is operation:
                    self.end_load(key)
            if operation.outlasts and operation.log is not None:
                for tag in operation.tags:
                    operation.log.end(tag, self.group.epoch)
        clocks = self.group.device.clocks
        if ended and clocks is not None and all(each.log is None for each in chain(*self.waits.under_way.values())):
            for agent in self.agents():
                clocks.settle(agent)

    @abstractmethod
    def agents(self) -> tuple[int, ...]:
        """Return the numbers of these waves in the launch."""

    def end_load(self, key: int) -> None:
        """Stop tracking the load into register `key`, because it has ended or its missing wait has been reported."""
        del self.pending[key]
        if key not in self.undefined:
            self.dirty.discard(key)

    def pass_barrier(self) -> None:
        """Record that memory accesses for which nothing has waited may still be under way after this barrier."""
        for operations in self.waits.under_way.values():
            for operation in operations:
                if operation.log is not None:
                    for tag in operation.tags:
                        operation.log.extend(tag)
                operation.outlasts = True
