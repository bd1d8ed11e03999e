"""Decode ds_permute, ds_bpermute and ds_swizzle: lanes exchange values through the LDS's crossbar, without using its memory."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from expctl.gfx11.access.lds_access import lds_offset, vector_index
from expctl.gfx11.machine.arrays import LANES, Anything, Indices, Words
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
    if instruction.mnemonic == "ds_swizzle_b32":
        return decode_swizzle(instruction)
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


def _pulled(named: Anything, values: Words, active: Anything) -> Words:
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


def decode_swizzle(instruction: Instruction) -> Run:
    """Decode ds_swizzle with operands `v, v offset:n`: each lane reads another one, which the pattern n names. An inactive lane
    gives 0. Raises Unsupported for any other form, and for the patterns of a Fourier transform.
    """
    fields = instruction.fields()
    modifiers = dict(fields.modifiers)
    written = modifiers.pop("offset", "0")
    if len(fields.operands) != 2 or modifiers:
        raise instruction.unsupported("operands not of the form v, v offset:n")
    pattern = _pattern(written)
    if pattern is None:
        raise instruction.unsupported(f"the swizzle {written} is not implemented")
    d, n = (vector_index(instruction, x, 1) for x in fields.operands)
    line = instruction.line

    def run(wave: Wave) -> None:
        wave.check_waited(line, (d, n))
        value, undefined = (_pulled(pattern, rows[n], wave.lanes) for rows in (wave.vector, wave.vector_undefined))
        np.copyto(wave.u32[d], value, where=wave.lanes)
        wave.mark_vector(d, undefined)
        wave.begin(Operation(line=line, counter=Counter.LGKM, keys=(d,)))

    return run


def _pattern(written: str) -> Indices | None:
    """Return the lane that each lane reads, as a number or as clang's words `swizzle(MODE, ...)` say; None for other modes."""
    lane: Indices = np.arange(LANES)
    words = _SWIZZLE.fullmatch(written)
    if words is None:
        bits = int(written, 0) if written.isdigit() or written.startswith("0x") else _OTHER_MODES
        if bits >= _OTHER_MODES:
            return None
        if bits & 0x8000:
            quads: Indices = lane & ~3 | bits >> 2 * (lane & 3) & 3
            return quads
        lanes: Indices = ((lane & (bits & 31)) | (bits >> 5 & 31)) ^ (bits >> 10 & 31)
        return lanes
    mode, values = words[1], [each.strip() for each in words[2].split(",")]
    if mode == "QUAD_PERM":
        named: Indices = lane & ~3 | np.array([int(each) for each in values])[lane & 3]
        return named
    if mode == "BITMASK_PERM":
        return _by_mask(lane, values[0].strip('"'))
    size = int(values[0])
    flipped: Indices = lane ^ (size if mode == "SWAP" else size - 1)
    return lane & ~(size - 1) | int(values[1]) if mode == "BROADCAST" else flipped


def _by_mask(lane: Indices, mask: str) -> Indices:
    """Return the lanes that a mask of five letters names, highest bit first: 0, 1, p (the lane's own bit) or i (inverted)."""
    found = np.zeros_like(lane)
    for place, letter in enumerate(reversed(mask)):
        own = lane >> place & 1
        found |= {"0": 0 * own, "1": 0 * own + 1, "p": own, "i": 1 - own}[letter] << place
    return found


_OTHER_MODES = 0xC000
"""Patterns from here on rotate, or are those of a Fourier transform."""
_SWIZZLE = re.compile(r"swizzle\((QUAD_PERM|BITMASK_PERM|BROADCAST|SWAP|REVERSE),\s*(.*)\)")
_MOVES: dict[str, Callable[[Words, Words, Anything], Words]] = {"ds_bpermute_b32": _pulled, "ds_permute_b32": _pushed}
NAMES = frozenset((*_MOVES, "ds_swizzle_b32"))
