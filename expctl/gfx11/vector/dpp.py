"""Decode DPP: a vector instruction whose first source is taken from other lanes.

    v_add_nc_u32_dpp v0, v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1
    v_mov_b32_dpp v0, v1 dpp8:[1,0,3,2,5,4,7,6]

Where the lane that is read doesn't exist, or is inactive without `fi`, a lane reads 0 with `bound_ctrl` or `dpp8`, and
else writes nothing. Lanes outside of row_mask (rows of 16) and bank_mask (4 lanes of each row) write nothing.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from expctl.gfx11.machine.arrays import LANES, Anything, Flags, bits_of
from expctl.gfx11.machine.step import Run
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.operands.vector_source import Source
from expctl.gfx11.text.program import Instruction
from expctl.gfx11.vector.decode import bind, step_of

_LANE = np.arange(LANES)
_ROW, _AT = _LANE & ~15, _LANE & 15
_LIST = re.compile(r"\[(\d+(?:,\d+)*)\]")
_CONTROL = re.compile(r"row_(?!mask)|quad_perm|dpp8")
_WORDS = frozenset(("row_mask", "bank_mask", "bound_ctrl", "fi"))
SUFFIX = "_dpp"


def decode_dpp(instruction: Instruction) -> Run:
    """Return the function that executes a DPP instruction on a wave. Raises Unsupported for an unknown control."""
    modifiers = instruction.fields().modifiers
    controls = {name: value for name, value in modifiers.items() if _CONTROL.match(name)}
    if len(controls) != 1 or instruction.mnemonic.startswith("v_cmpx_"):
        raise instruction.unsupported("not exactly one DPP control")
    ((name, value),) = controls.items()
    lanes = _lanes(instruction, name, value)
    known = (lanes >= 0) & (lanes < LANES)
    taken = np.where(known, lanes, 0)
    zeros = name == "dpp8" or modifiers.get("bound_ctrl", "0") != "0"
    inactive_too = modifiers.get("fi", "0") != "0"
    writes = _masked(int(modifiers.get("row_mask", "0xf"), 0), int(modifiers.get("bank_mask", "0xf"), 0))

    readable = known

    def moved(source: Source) -> Source:
        def values(found: Anything) -> Anything:
            return np.where(readable, found[taken], np.zeros(1, dtype=found.dtype))

        return replace(
            source, read=lambda wave: values(source.read(wave)), undefined=lambda wave: values(source.undefined(wave))
        )

    plain = _without_control(instruction, {*controls, *_WORDS})
    step = step_of(plain, bind(plain, first=moved), by_lane=False)

    def run(wave: Wave) -> None:
        nonlocal readable
        readable = known if inactive_too else known & wave.lanes[taken]
        before = wave.exec
        wave.set_exec(bits_of(wave.lanes & writes if zeros else wave.lanes & writes & readable))
        step(wave)
        wave.set_exec(before)

    return run


def _lanes(instruction: Instruction, name: str, value: str) -> Anything:
    """Return for each lane the lane that it reads; -1 where there is none."""
    listed = _LIST.fullmatch(value)
    numbers = [int(word) for word in listed[1].split(",")] if listed else []
    if name == "quad_perm" and len(numbers) == 4:
        return (_LANE & ~3) | np.array(numbers)[_LANE & 3]
    if name == "dpp8" and len(numbers) == 8:
        return (_LANE & ~7) | np.array(numbers)[_LANE & 7]
    if name in ("row_mirror", "row_half_mirror"):
        return _LANE ^ (15 if name == "row_mirror" else 7)
    by = int(value, 0) if value.isdigit() else -1
    moves = {
        "row_shl": _AT + by,
        "row_shr": _AT - by,
        "row_ror": (_AT - by) & 15,
        "row_share": np.full(LANES, by),
        "row_xmask": _AT ^ by,
    }
    if name not in moves or not 0 <= by <= 15:
        raise instruction.unsupported(f"DPP control {name}:{value} is not implemented")
    return np.where((moves[name] >= 0) & (moves[name] <= 15), _ROW + moves[name], -1)


def _masked(rows: int, banks: int) -> Flags:
    """Return which lanes may write: row i (16 lanes) if bit i of `rows` is set, and in it bank i (4 lanes) by `banks`."""
    return np.asarray((rows >> (_LANE >> 4) & 1) & (banks >> (_AT >> 2) & 1), dtype=np.bool_)


def _without_control(instruction: Instruction, names: set[str]) -> Instruction:
    words = [word for word in instruction.rest.split(" ") if word.partition(":")[0] not in names]
    return replace(instruction, mnemonic=instruction.mnemonic.removesuffix(SUFFIX), rest=" ".join(words))
