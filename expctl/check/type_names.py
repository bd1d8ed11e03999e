"""Read a C++ type's name: of which numbers it is made."""

from __future__ import annotations

import re

_WORDS = re.compile(r"\b(const|volatile|__restrict__|struct|enum)\b|[*&]")
_VECTOR = re.compile(r"(u?(?:char|short|int|long|longlong)|float|double)([1-4])|(.+) vector\[(\d+)\]|(.+)\[(\d+)\]")
_TYPES = {
    "double": "f64", "float": "f32", "_Float16": "f16", "half": "f16", "__half": "f16", "__bf16": "bf16",
    "__hip_bfloat16": "bf16", "hip_bfloat16": "bf16", "bool": "u8", "void": "u8", "char": "i8", "signed char": "i8",
    "unsigned char": "u8", "uchar": "u8", "short": "i16", "unsigned short": "u16", "ushort": "u16", "int": "i32",
    "unsigned int": "u32", "uint": "u32", "long": "i64", "long long": "i64", "longlong": "i64", "unsigned long": "u64",
    "ulong": "u64", "unsigned long long": "u64", "ulonglong": "u64", "size_t": "u64", "int8_t": "i8", "uint8_t": "u8",
    "int16_t": "i16", "uint16_t": "u16", "int32_t": "i32", "uint32_t": "u32", "int64_t": "i64", "uint64_t": "u64",
}  # fmt: skip
_SEVERAL = {"__half2": ("f16", 2), "half2": ("f16", 2), "__hip_bfloat162": ("bf16", 2), "dim3": ("u32", 3)}


def numbers_of(type_name: str) -> tuple[str, int] | None:
    """Return the dtype of the numbers of which a type is made, or those to which it points, and their count; None for a type
    that isn't known, such as a struct.
    """
    name = " ".join(_WORDS.sub(" ", type_name).split())
    if name in _SEVERAL:
        return _SEVERAL[name]
    vector = _VECTOR.fullmatch(name)
    if vector is None:
        return (_TYPES[name], 1) if name in _TYPES else None
    base, count = vector[1] or vector[3] or vector[5], int(vector[2] or vector[4] or vector[6])
    inner = numbers_of(base)
    return (inner[0], inner[1] * count) if inner else None
