"""Decode ds_permute and ds_bpermute: lanes exchange values through the LDS's crossbar, without using its memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from expctl.gfx11.access.lds_access import lds_offset, vector_index
from expctl.gfx11.machine.arrays import LANES, Anything, Words
from expctl.gfx11.machine.step import Run
from expctl.gfx11.machine.waits import Counter, Operation
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.text.program import Instruction

_MOST_OFFSET = 65535


def decode_permute(instruction: Instruction) -> Run:
    """Decode ds_permute or ds_bpermute with operands `v, v, v offset:n`: destination, address, data.

    A lane that executes ds_bpermute reads from lane (address + n) / 4 modulo 32; with ds_permute it writes to that lane. Raises
    Unsupported for any other form.
    """
    fields = instruction.fields()
    modifiers = dict(fields.modifiers)
    offset = np.uint32(lds_offset(instruction, modifiers.pop("offset", "0"), _MOST_OFFSET))
    if len(fields.operands) != 3 or modifiers:
        raise instruction.unsupported("operands not of the form v, v, v offset:n")
    d, base, data = (vector_index(instruction, x, 1) for x in fields.operands)
    line, move = instruction.line, _MOVES[instruction.mnemonic]

    def run(wave: Wave) -> None:
        wave.check_waited(line, (base, d, data))
        wave.check_address(line, base)
        named = ((wave.u32[base] + offset) >> np.uint32(2)) & np.uint32(LANES - 1)
        value, undefined = (move(named, rows[data], wave.lanes) for rows in (wave.vector, wave.vector_undefined))
        np.copyto(wave.u32[d], value, where=wave.lanes)
        wave.mark_vector(d, undefined)
        wave.begin(Operation(line=line, counter=Counter.LGKM, keys=(d,)))

    return run


def _pulled(named: Words, values: Words, active: Anything) -> Words:
    """Return for each lane i the value of lane `named[i]`, or 0 if that lane is inactive."""
    return np.where(active, values, np.uint32(0))[named]


def _pushed(named: Words, values: Words, active: Anything) -> Words:
    """Return the values after each active lane i has sent its own to lane `named[i]`; 0 where none arrived. If several lanes
    send to one, the highest wins.
    """
    sent: Words = np.zeros(LANES, dtype=np.uint32)
    for lane in np.flatnonzero(active):
        sent[named[lane]] = values[lane]
    return sent


_MOVES: dict[str, Callable[[Words, Words, Anything], Words]] = {"ds_bpermute_b32": _pulled, "ds_permute_b32": _pushed}
NAMES = frozenset(_MOVES)
