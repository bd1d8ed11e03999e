"""How the bytes of a load or store lie in its registers."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from expctl.gfx11.arrays import ALL_BITS, Anything, Bytes, Flags, Words
from expctl.gfx11.wave import Wave

_WORDS = re.compile(r"^b(32|64|96|128)$")
_PART = re.compile(r"^(?P<d16>d16_(?P<hi>hi_)?)?(?P<sign>[uib])(?P<bits>8|16)$")
_LDS_PART = re.compile(r"^(?P<sign>[uib])(?P<bits>8|16)(?P<d16>_d16(?P<hi>_hi)?)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """`bits` is the part of the last register that is written or read: one of ALL_BITS, 0xffff, 0xffff0000."""

    width: int
    """Bytes per lane."""
    registers: int
    is_signed: bool = False
    bits: int = ALL_BITS


def parse_transfer(suffix: str, *, stores: bool) -> Transfer | None:
    """Of what follows global_load_, scratch_store_, ds_load_, ...: `b128`, `u8`, `d16_hi_b16`, `u8_d16_hi`. None if unknown."""
    if words := _WORDS.match(suffix):
        return Transfer(width=int(words[1]) // 8, registers=int(words[1]) // 32)
    part = _PART.match(suffix) or _LDS_PART.match(suffix)
    if part is None or (stores and (part["sign"] != "b" or (part["d16"] and not part["hi"]))):
        return None
    if not stores and part["sign"] == "b" and not (part["d16"] and part["bits"] == "16"):
        return None
    bits = ALL_BITS if not part["d16"] else 0xFFFF0000 if part["hi"] else 0xFFFF
    return Transfer(width=int(part["bits"]) // 8, registers=1, is_signed=part["sign"] == "i", bits=bits)


def land(wave: Wave, first: int, transfer: Transfer, data: Bytes, undefined: Bytes, lanes: Flags) -> None:
    """Write loaded bytes (lanes, width) and their undefined bits to registers, for the lanes that `lanes` (32,) picks."""
    last = first + transfer.registers
    keys = range(first, last)
    words = _words(transfer, data)
    unclear = bool(undefined.any())
    if transfer.bits == ALL_BITS:
        _put(wave.vector[first:last], words, lanes)
        if unclear or not wave.undefined.isdisjoint(keys):
            _put(wave.vector_undefined[first:last], _undefined_words(transfer, undefined), lanes)
    else:
        high = np.uint32(16 if transfer.bits > 0xFFFF else 0)
        keep = np.uint32(ALL_BITS ^ transfer.bits)
        for rows, new in ((wave.vector, words), (wave.vector_undefined, _undefined_words(transfer, undefined))):
            old = rows[first][lanes] & keep
            rows[first, lanes] = old | (new[0] << high) & np.uint32(transfer.bits)
    if unclear or not wave.undefined.isdisjoint(keys):
        for key in keys:
            wave.refresh(key)


def _put(rows: Words, words: Words, lanes: Flags) -> None:
    if words.shape[1] == rows.shape[1]:
        rows[:] = words
    else:
        rows[:, lanes] = words


def _words(transfer: Transfer, data: Bytes) -> Words:
    """(registers, lanes)"""
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


def taken(rows: Words, first: int, transfer: Transfer, lanes: Flags) -> Bytes:
    """The bytes (lanes, width) that a store takes from registers, or from their undefined bits."""
    words = rows[first : first + transfer.registers, lanes] if not lanes.all() else rows[first : first + transfer.registers]
    if transfer.width >= 4:
        return np.ascontiguousarray(words.T).view(np.uint8)
    shifted = words[0] >> np.uint32(16 if transfer.bits == 0xFFFF0000 else 0)
    return np.ascontiguousarray(shifted).view(np.uint8).reshape(-1, 4)[:, : transfer.width]
