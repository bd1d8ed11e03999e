"""Parse operands as clang writes them: registers, ranges of registers and numbers, with sign modifiers (`-v1`, `|v1|`)."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import TypeGuard

VCC, NULL, M0, EXEC, EXEC_HI, SCC = 106, 124, 125, 126, 127, 253
"""Indices of the special scalar registers, by their encodings; SCC is treated as one more scalar register."""
SCALARS = 256

_NAMED = {"vcc_lo": (VCC, 1), "vcc_hi": (VCC + 1, 1), "vcc": (VCC, 2), "null": (NULL, 1), "m0": (M0, 1),
          "exec_lo": (EXEC, 1), "exec_hi": (EXEC_HI, 1), "exec": (EXEC, 2)}  # fmt: skip
SHARED, PRIVATE = 1 << 48, 2 << 48
"""First addresses of LDS and of private memory as flat accesses see them. Source: Linux, drivers/gpu/drm/amd/amdkfd."""
_APERTURES = {"src_shared_base": SHARED, "src_private_base": PRIVATE}
_ONE = re.compile(r"^([vs])(\d+)$")
_HALF = re.compile(r"^v(\d+)\.([lh])$")
_RANGE = re.compile(r"^([vs])\[(\d+):(\d+)\]$")
_INTEGER = re.compile(r"^-?(0x[0-9a-fA-F]+|\d+)$")
_FLOAT = re.compile(r"^-?\d+\.\d*(e[+-]?\d+)?$")
_SYMBOL = re.compile(r"^([\w.$]+)@rel32@(lo|hi)\+(\d+)$")
_FAR_LABEL = re.compile(r"^\((\.L\w+)-\.Lpost_getpc\d+\)(&4294967295|>>32)$")
"""The distance to a label that is too far away for a branch, which clang adds to what s_getpc returned."""
_AFTER = {"lo": 4, "hi": 12}
"""What is added to the distance from s_getpc to the symbol itself."""
_MOST = {"v": 256, "s": 106}
_MOST_HALVES = 256


class Kind(StrEnum):
    """Kinds of operands: vector register, half of one, scalar register, number, the word `off`, or a symbol."""

    VECTOR = "vector"
    HALF = "half"
    """The low or high half of a vector register (`v1.l`, `v1.h`), which clang writes from version 22 on."""
    SCALAR = "scalar"
    NUMBER = "number"
    OFF = "off"
    SYMBOL = "symbol"
    """The distance from the address that s_getpc returned to a symbol: its low or high half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """One operand: `count` registers from `index` on, or a number (an int is a bit pattern, a float a value)."""

    kind: Kind
    index: int = 0
    count: int = 1
    number: int | float = 0
    negated: bool = False
    absolute: bool = False
    upper: bool = False
    """A HALF operand names the high half of its register, a SYMBOL the high 32 bits of the distance."""
    name: str = ""
    """Of a SYMBOL; `number` is how many bytes beyond it are meant."""

    @property
    def is_null(self) -> bool:
        """Return whether the operand is `null`, the register that reads as zero and ignores writes."""
        return self.kind is Kind.SCALAR and self.index == NULL


@lru_cache(maxsize=4096)  # a program names the same registers again and again
def parse_operand(text: str) -> Operand | None:
    """Parse one operand; None if its form is not known, such as `sext(v1)`."""
    if text.startswith("-") and not (_INTEGER.match(text) or _FLOAT.match(text)):
        inner = parse_operand(text[1:])
        return replace(inner, negated=True) if _may_carry_sign(inner) and not inner.negated else None
    if text.startswith("neg(") and text.endswith(")"):  # how clang writes the sign modifier of a number
        inner = parse_operand(text[4:-1])
        return replace(inner, negated=True) if inner is not None and inner.kind is Kind.NUMBER and not inner.negated else None
    if len(text) > 2 and text.startswith("|") and text.endswith("|"):
        inner = parse_operand(text[1:-1])
        return replace(inner, absolute=True) if _may_carry_sign(inner) and not inner.absolute else None
    return _plain(text)


def _may_carry_sign(operand: Operand | None) -> TypeGuard[Operand]:
    return operand is not None and operand.kind in (Kind.VECTOR, Kind.HALF, Kind.SCALAR)


def _plain(text: str) -> Operand | None:
    if text in _APERTURES:
        return Operand(kind=Kind.NUMBER, number=_APERTURES[text])
    if text == "off":
        return Operand(kind=Kind.OFF)
    if named := _NAMED.get(text):
        return Operand(kind=Kind.SCALAR, index=named[0], count=named[1])
    if one := _ONE.match(text):
        return _register(one[1], int(one[2]), int(one[2]))
    if half := _HALF.match(text):
        return Operand(kind=Kind.HALF, index=int(half[1]), upper=half[2] == "h") if int(half[1]) < _MOST_HALVES else None
    if several := _RANGE.match(text):
        return _register(several[1], int(several[2]), int(several[3]))
    if symbol := _SYMBOL.match(text):
        beyond = int(symbol[3]) - _AFTER[symbol[2]]
        return Operand(kind=Kind.SYMBOL, name=symbol[1], upper=symbol[2] == "hi", number=beyond)
    if far := _FAR_LABEL.match(text):
        return Operand(kind=Kind.SYMBOL, name=far[1], upper=far[2] == ">>32")
    if _INTEGER.match(text):
        return Operand(kind=Kind.NUMBER, number=int(text, 0))
    if _FLOAT.match(text):
        return Operand(kind=Kind.NUMBER, number=float(text))
    return None


def _register(file: str, first: int, last: int) -> Operand | None:
    if not first <= last < _MOST[file]:
        return None
    return Operand(kind=Kind.VECTOR if file == "v" else Kind.SCALAR, index=first, count=last - first + 1)
