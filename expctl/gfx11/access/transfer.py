"""Convert between the bytes of a load or store in memory and the registers that it reads or writes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from expctl.gfx11.machine.arrays import ALL_BITS, Anything, Bytes, Flags, Words
from expctl.gfx11.machine.wave import Wave

_LOW, _HIGH = 0xFFFF, 0xFFFF0000


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """How a load or store maps bytes of memory to registers: bytes per lane, number of registers, sign extension. `bits` masks
    the part of a register that is used: ALL_BITS, 0xffff or 0xffff0000.
    """

    width: int
    """Bytes per lane in memory."""
    registers: int
    is_signed: bool = False
    bits: int = ALL_BITS


def _part(kind: str, bits: int = ALL_BITS) -> Transfer:
    """Return the Transfer to or from one register for a suffix like `u8`, `i16` or `b8`; only `i` is sign-extended."""
    return Transfer(width=int(kind[1:]) // 8, registers=1, is_signed=kind[0] == "i", bits=bits)


_WORDS = {f"b{n}": Transfer(width=n // 8, registers=n // 32) for n in (32, 64, 96, 128)}
_WHOLE = {kind: _part(kind) for kind in ("u8", "i8", "u16", "i16")}
LOADS: dict[str, Transfer] = {
    **_WORDS,
    **_WHOLE,
    **{f"d16_{kind}": _part(kind, _LOW) for kind in ("u8", "i8", "b16")},
    **{f"d16_hi_{kind}": _part(kind, _HIGH) for kind in ("u8", "i8", "b16")},
}
STORES: dict[str, Transfer] = {
    **_WORDS,
    **{kind: _part(kind) for kind in ("b8", "b16")},
    **{f"d16_hi_{kind}": _part(kind, _HIGH) for kind in ("b8", "b16")},
}
"""Formats of LOADS and STORES by the suffix after global_load_, scratch_store_, ..."""
LDS_LOADS: dict[str, Transfer] = {
    **_WORDS,
    **_WHOLE,
    **{f"{kind}_d16": _part(kind, _LOW) for kind in ("u8", "i8", "u16")},
    **{f"{kind}_d16_hi": _part(kind, _HIGH) for kind in ("u8", "i8", "u16")},
}
LDS_STORES: dict[str, Transfer] = {
    **_WORDS,
    **{kind: _part(kind) for kind in ("b8", "b16")},
    **{f"{kind}_d16_hi": _part(kind, _HIGH) for kind in ("b8", "b16")},
}
"""Formats of LDS_LOADS and LDS_STORES by the suffix after ds_load_, ds_store_."""


def write_registers(wave: Wave, first: int, transfer: Transfer, data: Bytes, undefined: Bytes, lanes: Flags) -> None:
    """Write loaded bytes to the registers from number `first` on, in the lanes whose flag in `lanes` is set. `data` and
    `undefined` (masks of its undefined bits) have shape (lanes, width): only set lanes, `width` bytes each.
    """
    keys = range(first, first + transfer.registers)
    put_values(wave.vector, first, transfer, data, lanes)
    if undefined.any() or not wave.undefined.isdisjoint(keys):
        _put_words(wave.vector_undefined, first, transfer, _undefined_words(transfer, undefined), lanes)
        for key in keys:
            wave.refresh(key)


def put_values(rows: Words, first: int, transfer: Transfer, data: Bytes, lanes: Flags) -> None:
    """Write loaded bytes (lanes, width) to the registers `rows` from number `first` on, in the lanes whose flag is set."""
    _put_words(rows, first, transfer, _words(transfer, data), lanes)


def _put_words(rows: Words, first: int, transfer: Transfer, words: Words, lanes: Flags) -> None:
    if transfer.bits == ALL_BITS:
        _put(rows[first : first + transfer.registers], words, lanes)
    else:
        high = np.uint32(16 if transfer.bits > 0xFFFF else 0)
        old = rows[first][lanes] & np.uint32(ALL_BITS ^ transfer.bits)
        rows[first, lanes] = old | (words[0] << high) & np.uint32(transfer.bits)


def _put(rows: Words, words: Words, lanes: Flags) -> None:
    if words.shape[1] == rows.shape[1]:
        rows[:] = words
    else:
        rows[:, lanes] = words


def _words(transfer: Transfer, data: Bytes) -> Words:
    """Return loaded bytes (lanes, width) as register values, (registers, lanes)."""
    if transfer.width >= 4:
        return data.view(np.uint32).T
    return _extended(data, is_signed=transfer.is_signed)


def _extended(data: Bytes, *, is_signed: bool) -> Words:
    kind: Anything = np.dtype(f"{'i' if is_signed else 'u'}{data.shape[1]}")
    return data.view(kind).astype(np.int32).view(np.uint32).T


def _undefined_words(transfer: Transfer, undefined: Bytes) -> Words:
    if transfer.width >= 4:
        return undefined.view(np.uint32).T
    words = _extended(undefined, is_signed=transfer.is_signed)
    return np.asarray(np.where((words != 0) & transfer.is_signed, np.uint32(ALL_BITS), words))


def read_registers(rows: Words, first: int, transfer: Transfer, lanes: Flags) -> Bytes:
    """Return the bytes (lanes, width) that a store takes from the registers from number `first` on. Only lanes whose flag in
    `lanes` is set are included. `rows` are the vector registers, or the masks of their undefined bits.
    """
    words = rows[first : first + transfer.registers, lanes] if not lanes.all() else rows[first : first + transfer.registers]
    if transfer.width >= 4:
        return np.ascontiguousarray(words.T).view(np.uint8)
    shifted = words[0] >> np.uint32(16 if transfer.bits == 0xFFFF0000 else 0)
    return np.ascontiguousarray(shifted).view(np.uint8).reshape(-1, 4)[:, : transfer.width]
