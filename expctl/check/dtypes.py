"""The element types of a launch description: how numpy stores them, and how far a result may be off unless the case says."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from expctl.gfx11.machine.arrays import Anything


class Dtype(StrEnum):
    """Element types by the names that a launch description uses."""

    F64 = "f64"
    F32 = "f32"
    F16 = "f16"
    BF16 = "bf16"
    I8 = "i8"
    U8 = "u8"
    I16 = "i16"
    U16 = "u16"
    I32 = "i32"
    U32 = "u32"
    I64 = "i64"
    U64 = "u64"

    @property
    def stored(self) -> np.dtype[Anything]:
        """Return the numpy type in which the interpreter holds the elements; bf16 is held as its 16 bits."""
        return np.dtype("uint16" if self is Dtype.BF16 else f"{self[0]}{int(self[1:]) // 8}")

    @property
    def is_float(self) -> bool:
        """Return whether the type is a floating-point one."""
        return self in LIMITS

    @property
    def digits(self) -> int:
        """Return the digits with which a value of this type is printed."""
        return {Dtype.F64: 17, Dtype.F32: 9}.get(self, 5)


LIMITS = {Dtype.F64: (1e-12, 1e-12), Dtype.F32: (1e-5, 1e-6), Dtype.F16: (1e-2, 1e-2), Dtype.BF16: (1e-2, 1e-2)}
"""Relative and absolute difference that is still right. Integers have to be equal."""


def bits_of(values: Anything, dtype: Dtype) -> Anything:
    """Return `values` as an array of `dtype.stored`; numbers become bf16 by rounding to the nearest, ties to even, and infinite
    where a float type can't hold them.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        stored = np.ascontiguousarray(values, dtype=np.float32 if dtype is Dtype.BF16 else dtype.stored)
    if dtype is not Dtype.BF16:
        return stored
    bits = stored.view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
    quiet = bits | np.uint32(0x400000)
    return (np.where(np.isnan(bits.view(np.float32)), quiet, rounded) >> np.uint32(16)).astype(np.uint16)


def values_of(bits: Anything, dtype: Dtype) -> Anything:
    """Return a copy of stored elements as numbers: bf16 as float32, any other type as it is."""
    if dtype is not Dtype.BF16:
        return bits.copy()
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def is_numeric(values: Anything) -> bool:
    """Return whether an array has real numbers or booleans as elements."""
    return values.dtype.kind in "biuf"


def unfitting(values: Anything, dtype: Dtype) -> str:
    """Return the first of `values`, an array of numbers, that an element of an integer type can't be; "" if there is none."""
    if dtype.is_float:
        return ""
    ends = np.iinfo(dtype.stored)
    fits = (values >= ends.min) & (values <= ends.max) & (values == np.floor(values))
    return "" if fits.all() else f"{values[~fits][0]}"
