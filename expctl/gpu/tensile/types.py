"""Number types in Tensile kernel names, which are written without separators: `HHS` is H, H, S; others are `F8H`, `4xi8II`."""

import re

TYPE_NAMES = {
    "S": "float32",
    "D": "float64",
    "C": "complex64",
    "Z": "complex128",
    "H": "float16",
    "B": "bfloat16",
    "I": "int32",
    "I8": "int8",
    "4xi8": "int8 by fours",
    "X": "xfloat32",
    "F8": "float8 e4m3",
    "B8": "float8 e5m2",
    "F8N": "float8 e4m3fnuz",
    "B8N": "float8 e5m2fnuz",
    "F6": "float6 e2m3",
    "B6": "float6 e3m2",
    "F4": "float4 e2m1",
}
# Longest first, so that B8N isn't read as B8.
TYPE = "|".join(sorted(TYPE_NAMES, key=len, reverse=True))
ONE_TYPE = re.compile(TYPE, re.ASCII)
TYPES = re.compile(f"(?:{TYPE})+", re.ASCII)


def types_of(text: str) -> list[str]:
    """Split `text` into the codes of number types, e.g. `F8H` into F8 and H; [] if any part of it is no such code."""
    return ONE_TYPE.findall(text) if TYPES.fullmatch(text) else []


def type_words(text: str, between: str = " and ") -> str:
    """Return the full names of the types in `text`, e.g. `float16 and float32` for HS; "" if it isn't made of types."""
    return between.join(TYPE_NAMES[each] for each in types_of(text))
