"""Check that offsets and sizes in an ELF file's headers stay within the file, before a library reads them.

Source: the System V ABI, chapter 4 (64-bit little-endian files, the only ones for AMD GPUs).
"""

import struct

_MAGIC_64_LITTLE = b"\x7fELF\x02\x01"
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_NOBITS = 8
_COMPRESSED = 1 << 11


class BadHeaders(Exception):
    """An ELF header refers to bytes outside the file, or has a form that no code object uses."""


def check_bounds(data: bytes) -> None:
    """Check that `data` is a 64-bit little-endian ELF file whose tables, sections and segments lie within it. Raises BadHeaders
    if it isn't.
    """
    if not data.startswith(_MAGIC_64_LITTLE) or len(data) < _HEADER.size:
        raise BadHeaders("not 64-bit little-endian ELF, or cut off in its header")
    (*_, segments_at, sections_at, _flags, _size, segment_size, segments, section_size, sections, _names) = _HEADER.unpack_from(
        data
    )
    _check_table("section", section_size, _SECTION.size, sections)
    _check_table("segment", segment_size, _SEGMENT.size, segments)
    _within(data, "the table of sections", sections_at, sections * _SECTION.size)
    _within(data, "the table of segments", segments_at, segments * _SEGMENT.size)
    for number in range(sections):
        _, kind, flags, _, at, size, *_ = _SECTION.unpack_from(data, sections_at + number * _SECTION.size)
        if flags & _COMPRESSED:
            raise BadHeaders(f"section {number} is compressed")
        if number and kind != _NOBITS:
            _within(data, f"section {number}", at, size)
    for number in range(segments):
        _, _, at, _, _, size, _, _ = _SEGMENT.unpack_from(data, segments_at + number * _SEGMENT.size)
        _within(data, f"segment {number}", at, size)


def _check_table(name: str, entry_size: int, expected: int, entries: int) -> None:
    if entries and entry_size != expected:
        raise BadHeaders(f"headers of a {name} of {entry_size} bytes, not {expected}")


def _within(data: bytes, name: str, at: int, size: int) -> None:
    if at + size > len(data):
        raise BadHeaders(f"{name} ends at byte {at + size} of {len(data)}")
