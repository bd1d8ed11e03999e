"""The types of values in random programs, by the names that operations.h gives them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum


class Kind(Enum):
    """What the bits of a value mean; the value is the letter in a type's name."""

    BOOL = "b"
    SIGNED = "i"
    UNSIGNED = "u"
    FLOAT = "f"


@dataclass(frozen=True, slots=True)
class Type:
    """A scalar, or a vector of 2 or 4 `lanes`. `bits` are those of one lane."""

    kind: Kind
    bits: int
    lanes: int = 1

    def __str__(self) -> str:
        if self.kind is Kind.BOOL:
            return "bool"
        return f"{self.element_name}{f'x{self.lanes}' if self.lanes > 1 else ''}"

    @property
    def element_name(self) -> str:
        """Return the name of a lane's type, which is that of its dtype too."""
        return f"{self.kind.value}{self.bits}"

    @property
    def element(self) -> Type:
        """Return the type of a lane."""
        return replace(self, lanes=1)

    @property
    def size(self) -> int:
        """Return the size in bytes."""
        return self.bits * self.lanes // 8

    @property
    def is_integer(self) -> bool:
        """Return whether a lane is an integer."""
        return self.kind in (Kind.SIGNED, Kind.UNSIGNED)

    @property
    def unsigned(self) -> Type:
        """Return the unsigned type of the same lanes."""
        return replace(self, kind=Kind.UNSIGNED)


BOOL = Type(Kind.BOOL, 1)
I8, I16, I32, I64 = SIGNED = tuple(Type(Kind.SIGNED, bits) for bits in (8, 16, 32, 64))
U8, U16, U32, U64 = UNSIGNED = tuple(Type(Kind.UNSIGNED, bits) for bits in (8, 16, 32, 64))
F16, F32, F64 = FLOATS = tuple(Type(Kind.FLOAT, bits) for bits in (16, 32, 64))
INTEGERS = SIGNED + UNSIGNED
U8X4, U16X2, U32X2, U32X4 = Type(Kind.UNSIGNED, 8, 4), Type(Kind.UNSIGNED, 16, 2), *(replace(U32, lanes=n) for n in (2, 4))
I16X2, I32X2 = replace(I16, lanes=2), replace(I32, lanes=2)
F16X2, F32X2, F32X4 = replace(F16, lanes=2), *(replace(F32, lanes=n) for n in (2, 4))
VECTORS = (U8X4, U16X2, U32X2, U32X4, I16X2, I32X2, F16X2, F32X2, F32X4)


def values_of_programs(*, with_double: bool) -> tuple[Type, ...]:
    """Return the types that variables of a program may have."""
    return (*INTEGERS, *(FLOATS if with_double else FLOATS[:2]), *VECTORS)
