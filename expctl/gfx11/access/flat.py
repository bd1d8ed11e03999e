"""Flat accesses: the address of each lane says whether it means global memory, LDS or the lane's private memory.

    flat_load_b32   v0, v[1:2] offset:16        flat_store_b32   v[1:2], v0

An access is made in up to three parts, one for the lanes of each memory. It ends when both counters say so: vmcnt (vscnt for a
store) and lgkmcnt.
"""

from __future__ import annotations

import numpy as np

from expctl.gfx11.access.address import address_source
from expctl.gfx11.access.global_access import global_load, global_store, offset_of
from expctl.gfx11.access.lds_access import Part, lds_load, lds_store, vector_index
from expctl.gfx11.access.private_access import private_load, private_store
from expctl.gfx11.access.transfer import LOADS, STORES
from expctl.gfx11.machine.arrays import bits_of
from expctl.gfx11.machine.step import Run
from expctl.gfx11.machine.waits import Counter, Operation
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.operands.vector_source import Source
from expctl.gfx11.text.operand import PRIVATE, SHARED, Kind, Operand
from expctl.gfx11.text.program import Instruction

NAMES = frozenset((*(f"flat_load_{suffix}" for suffix in LOADS), *(f"flat_store_{suffix}" for suffix in STORES)))
_APERTURE = np.uint64(32)
"""The upper half of an address names the memory."""


def decode_flat(instruction: Instruction) -> Run:
    """Return the function that executes a flat load or store on a wave. Raises Unsupported for operands of another form."""
    _, do, suffix = instruction.mnemonic.split("_", 2)
    stores = do == "store"
    transfer, fields = (STORES if stores else LOADS)[suffix], instruction.fields()
    if len(fields.operands) != 2:
        raise instruction.unsupported("operands not of the form data and address")
    data, address = fields.operands[::-1] if stores else fields.operands
    first, low = vector_index(instruction, data, transfer.registers), vector_index(instruction, address, 2)
    offset = offset_of(instruction, fields)
    addresses = address_source(instruction, address, Operand(kind=Kind.OFF), offset, private=False)
    parts = [Part(offset=offset, register=first, transfer=transfer)]
    anywhere, shared, private = (global_store, lds_store, private_store) if stores else (global_load, lds_load, private_load)
    also = Counter.LGKM
    return flat(
        addresses,
        instruction.line,
        anywhere(instruction, first, transfer, addresses, also),
        shared(instruction, low, parts, Counter.VS if stores else Counter.VM),
        private(instruction, first, transfer, addresses, also),
    )


def flat(addresses: Source, line: int, anywhere: Run, shared: Run, private: Run) -> Run:
    """Return the function that executes on the lanes of each memory the part that is for it."""

    def run(wave: Wave) -> None:
        wave.check_waited(line, addresses.keys)
        active, above = wave.exec, addresses.read(wave) >> _APERTURE
        is_shared, is_private = above == SHARED >> 32, above == PRIVATE >> 32
        begun: dict[int, Operation] = {}
        for which, part in ((is_shared, shared), (is_private, private), (~is_shared & ~is_private, anywhere)):
            if lanes := bits_of(which) & active:
                wave.set_exec(lanes)
                before = dict(wave.pending)
                part(wave)
                begun |= {key: each for key, each in wave.pending.items() if before.get(key) is not each}
                wave.pending = before  # no part waits for another
        wave.pending |= begun
        wave.set_exec(active)

    return run
