"""Decode MessagePack, the format of a code object's metadata.

Source: github.com/msgpack/msgpack/spec.md, without extension types.
"""

import struct
from typing import Any

DEPTH_MAX = 32


class BadMessage(Exception):
    """The MessagePack data is cut off, or contains a type that metadata doesn't use."""


def unpack(data: bytes) -> Any:
    """Decode the first MessagePack value in `data` and ignore the rest. Raises BadMessage for damaged data."""
    try:
        return _Reader(data).value(0)
    except (struct.error, IndexError, UnicodeDecodeError, TypeError) as error:
        raise BadMessage(str(error)) from error


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def value(self, depth: int) -> Any:
        if depth > DEPTH_MAX:
            raise BadMessage(f"nested deeper than {DEPTH_MAX}")
        tag = self._number("B")
        if tag <= 0x7F or tag >= 0xE0:
            return tag if tag <= 0x7F else tag - 0x100
        if tag <= 0x8F:
            return self._map(tag & 0x0F, depth)
        if tag <= 0x9F:
            return self._list(tag & 0x0F, depth)
        if tag <= 0xBF:
            return self._bytes(tag & 0x1F).decode()
        if tag in _CONSTANTS:
            return _CONSTANTS[tag]
        if tag in _NUMBERS:
            return self._number(_NUMBERS[tag])
        if tag in _TEXT:
            return self._bytes(self._number(_TEXT[tag])).decode()
        if tag in _BYTES:
            return self._bytes(self._number(_BYTES[tag]))
        if tag in _LISTS:
            return self._list(self._number(_LISTS[tag]), depth)
        if tag in _MAPS:
            return self._map(self._number(_MAPS[tag]), depth)
        raise BadMessage(f"type {tag:#04x} at byte {self._at - 1}")

    def _number(self, form: str) -> Any:
        (found,) = struct.unpack_from(f">{form}", self._data, self._at)
        self._at += struct.calcsize(form)
        return found

    def _bytes(self, count: int) -> bytes:
        if self._at + count > len(self._data):
            raise BadMessage(f"{count} bytes wanted, {len(self._data) - self._at} left")
        self._at += count
        return self._data[self._at - count : self._at]

    def _list(self, count: int, depth: int) -> list[Any]:
        return [self.value(depth + 1) for _ in range(count)]

    def _map(self, count: int, depth: int) -> dict[Any, Any]:
        return {self.value(depth + 1): self.value(depth + 1) for _ in range(count)}


_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_NUMBERS = {
    0xCA: "f", 0xCB: "d", 0xCC: "B", 0xCD: "H", 0xCE: "I", 0xCF: "Q", 0xD0: "b", 0xD1: "h", 0xD2: "i", 0xD3: "q",
}  # fmt: skip
_BYTES = {0xC4: "B", 0xC5: "H", 0xC6: "I"}
_TEXT = {0xD9: "B", 0xDA: "H", 0xDB: "I"}
_LISTS = {0xDC: "H", 0xDD: "I"}
_MAPS = {0xDE: "H", 0xDF: "I"}
