"""The state of one wave of 32 lanes: registers, their undefined bits, and the memory accesses under way.

A register is identified by a key: n for VGPR n, SCALAR_KEY + n for scalar register n (SCC is one of these). `dirty` holds the
keys of all registers that have undefined bits or into which a load is under way. An instruction that uses no register in
`dirty`, the common case, needs no further checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from expctl.gfx11.machine.arrays import ALL_BITS, LANES, Flags, Words, bits_of, lanes_of
from expctl.gfx11.machine.faults import Fault, FaultKind
from expctl.gfx11.machine.in_flight import InFlight
from expctl.gfx11.machine.waits import Counter, Operation, Waits
from expctl.gfx11.text.operand import EXEC, M0, NULL, SCALARS, SCC, VCC

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from expctl.gfx11.machine.clocks import Place
    from expctl.gfx11.machine.workgroup import Workgroup

SCALAR_KEY = 1024
SCC_KEY, EXEC_KEY, VCC_KEY, M0_KEY = (SCALAR_KEY + index for index in (SCC, EXEC, VCC, M0))


def name_of(key: int) -> str:
    """Return a register's name in assembly, e.g. `v3`, by its key: n for VGPR n, 1024 + n for scalar register n."""
    if key < SCALAR_KEY:
        return f"v{key}"
    special = {SCC_KEY: "scc", EXEC_KEY: "exec_lo", VCC_KEY: "vcc_lo", M0_KEY: "m0"}
    return special.get(key, f"s{key - SCALAR_KEY}")


class Wave(InFlight):
    """The state of one wave of 32 lanes: registers, EXEC, undefined bits, memory accesses under way. `u32[n]`, `i32[n]`,
    `f32[n]`, `low[n]` and `high[n]` are views of VGPR n as lane arrays, (32,); the last two of its halves.
    """

    __slots__ = (
        "at", "exec", "f32", "full", "high", "i32", "index", "instructions", "lanes", "low", "resume", "scalar",
        "scalar_undefined", "size", "u32", "vector", "vector_undefined",
    )  # fmt: skip

    def __init__(
        self, index: int, group: Workgroup, *, vector_registers: int, lanes: int = ALL_BITS, storage: Words | None = None
    ) -> None:
        """`storage`, (vector_registers, 32) zeros, becomes the vector registers; by default the wave makes its own."""
        self.index = index
        self.group = group
        self.size = LANES
        self.vector: Words = np.zeros((vector_registers, LANES), dtype=np.uint32) if storage is None else storage
        self.vector_undefined: Words = np.full((vector_registers, LANES), ALL_BITS, dtype=np.uint32)
        self.u32 = list(self.vector)
        self.i32 = list(self.vector.view(np.int32))
        self.f32 = list(self.vector.view(np.float32))
        halves = self.vector.view(np.float16)
        self.low, self.high = list(halves[:, 0::2]), list(halves[:, 1::2])
        self.scalar = [0] * SCALARS
        self.scalar_undefined = [ALL_BITS] * SCALARS
        self.undefined = {*range(vector_registers), *(SCALAR_KEY + n for n in range(SCALARS))}
        self.dirty = set(self.undefined)
        self.pending: dict[int, Operation] = {}
        self.waits = Waits()
        self.resume = 0
        self.at = 0
        self.instructions = 0
        self.define_scalar(NULL, 0)
        self.exec = lanes
        self.lanes: Flags = lanes_of(lanes)
        self.full = lanes == ALL_BITS
        self.define_scalar(EXEC, lanes)

    def set_exec(self, bits: int) -> None:
        """Set EXEC to a 32-bit lane mask, and with it `lanes` (the same as flags) and `full` (whether all lanes are active)."""
        self.exec = self.scalar[EXEC] = bits
        self.lanes = lanes_of(bits)
        self.full = bits == ALL_BITS

    def narrow_exec(self, result: Flags) -> None:
        """Keep those active lanes active whose flag in `result` is set."""
        self.set_exec(bits_of(result) & self.exec)

    def put_mask(self, index: int, result: Flags) -> None:
        """Write flags of the lanes, (32,), as a mask to scalar register `index`; inactive lanes get 0."""
        self.scalar[index] = bits_of(result) & self.exec

    def mask(self, index: int) -> Flags:
        """Return the mask in scalar register `index` as flags of the lanes, (32,)."""
        return lanes_of(self.scalar[index])

    def spread(self, index: int, into: Words) -> None:
        """Write the value of scalar register `index` to the first elements of `into`, one for each lane."""
        into[:LANES] = self.scalar[index]

    def spread_pair(self, index: int, into: NDArray[np.uint64]) -> None:
        """Write the value of a pair of scalar registers to the first elements of `into`, one for each lane."""
        into[:LANES] = self.scalar[index] | self.scalar[index + 1] << 32

    def define_scalar(self, index: int, value: int) -> None:
        """Set a scalar register to a wholly defined 32-bit value."""
        self.scalar[index] = value
        self.mark_scalar(index, 0)

    def define_vector(self, index: int, values: Words) -> None:
        """Set all lanes of a vector register to wholly defined values, (32,)."""
        self.vector[index] = values
        self.vector_undefined[index] = 0
        self.undefined.discard(index)
        self.dirty.discard(index)

    def mark_scalar(self, index: int, undefined: int) -> None:
        """Set the mask of the undefined bits of scalar register `index`."""
        self.scalar_undefined[index] = undefined
        self._note(SCALAR_KEY + index, undefined != 0)

    def mark_vector(self, index: int, undefined: Words, bits: int = ALL_BITS) -> None:
        """Set the undefined bits, (32,) masks, of a vector register in the active lanes; bits outside `bits` are kept."""
        row = self.vector_undefined[index]
        if bits != ALL_BITS:
            undefined = (row & np.uint32(ALL_BITS ^ bits)) | (undefined & np.uint32(bits))
        np.copyto(row, undefined, where=self.lanes)
        self.refresh(index)

    def refresh(self, index: int) -> None:
        """Update the sets of registers with undefined bits, after a direct change to the masks of vector register `index`."""
        self._note(index, bool(self.vector_undefined[index].any()))

    def _note(self, key: int, is_undefined: bool) -> None:
        if is_undefined:
            self.undefined.add(key)
            self.dirty.add(key)
        else:
            self.undefined.discard(key)
            if key not in self.pending:
                self.dirty.discard(key)

    def check_waited(self, line: int, keys: Iterable[int], *, loads: Counter | None = None) -> None:
        """Report a fault for each register among `keys` whose load may not have returned.

        `loads` is the counter of a load that is about to write these registers, None for any other use. An earlier load that
        the same counter counts in order is then harmless, because it can't return after the new one.
        """
        for key in keys:
            operation = self.pending.get(key)
            if operation is not None and not (operation.counter is loads and operation.in_order):
                what = f"{name_of(key)} is used, but nothing waits for the load into it ({operation.counter})"
                self.fault(FaultKind.MISSING_WAIT, line, what, other_line=operation.line)
                self.end_load(key)

    def fault(self, kind: FaultKind, line: int, what: str, *, other_line: int = 0, lanes: Flags | None = None) -> None:
        """Report a fault of this wave at `line` of the assembly. `what` describes it; `other_line` is a second line involved,
        or 0; `lanes` are those that do it, None if it is a matter of the wave.
        """
        threads = () if lanes is None else tuple((np.flatnonzero(lanes) + len(lanes) * self.index).tolist())
        group, wave = self.group.index, self.index
        self.group.faults.add(
            Fault(kind=kind, line=line, other_line=other_line, what=what, workgroup=group, wave=wave, threads=threads)
        )

    def check_exec(self, line: int) -> None:
        """Report a fault if EXEC has undefined bits, then mark them as defined, so that it is reported only once."""
        if self.scalar_undefined[EXEC]:
            self.fault(FaultKind.UNINITIALISED, line, "which lanes are active depends on a value that nothing wrote")
            self.mark_scalar(EXEC, 0)

    def check_address(self, line: int, key: int) -> None:
        """Report a fault if the address in vector register `key` is undefined in an active lane."""
        if key in self.undefined and (unclear := self.lanes & (self.vector_undefined[key] != 0)).any():
            what = f"the address in {name_of(key)} is a value that nothing wrote"
            self.fault(FaultKind.UNINITIALISED, line, what, lanes=unclear)

    def agents(self) -> tuple[int, ...]:
        """Return the number of this wave in the launch."""
        return (self.group.agent(self.index),)

    def exchange(self, places: Iterable[Place], *, acquires: bool, writes: bool = True) -> None:
        """Let an atomic on `places` order accesses of other waves before those that follow, and earlier ones before others'.
        It releases, if it writes, what the wave had done when it had waited for all of it.
        """
        clocks, agent = self.group.device.clocks, self.group.agent(self.index)
        if clocks is not None:
            clocks.exchange(agent, places, releases=writes, acquires=acquires)
