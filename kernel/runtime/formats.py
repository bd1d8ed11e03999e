"""Decodes and encodes the two fp8 formats by tables of all 256 codes, and prepacks B."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Halves = NDArray[np.float16]
Doubles = NDArray[np.float64]

PIECE_K = 16
"""Values of one column that lie together in the prepacked B."""


class Fp8(IntEnum):
    """An fp8 format; its number is the `b_dtype` of the C interface."""

    E4M3FN = 0
    E5M2 = 1

    @property
    def label(self) -> str:
        """Name of the format in cases and symbols: "e4m3fn" or "e5m2"."""
        return self.name.lower()


def _e5m2_values() -> Doubles:
    return (np.arange(256, dtype=np.uint16) << 8).view(np.float16).astype(np.float64)


def _e4m3fn_values() -> Doubles:
    """Return the values by the OCP 8-bit floating point specification 1.0: bias 7, no infinity, S.1111.111 is NaN."""
    code = np.arange(256)
    sign = np.where(code & 0x80, -1.0, 1.0)
    exponent, mantissa = (code >> 3) & 15, code & 7
    magnitude = np.where(exponent == 0, mantissa * 2.0**-9, (8 + mantissa) * 2.0 ** (exponent - 10.0))
    magnitude[(code & 0x7F) == 0x7F] = np.nan
    return sign * magnitude


VALUES: dict[Fp8, Doubles] = {Fp8.E5M2: _e5m2_values(), Fp8.E4M3FN: _e4m3fn_values()}
"""Format -> value of each code, (256,)."""


def decode(codes: Bytes, fp8: Fp8) -> Doubles:
    """Return the float64 values of `codes`, in the same shape."""
    return VALUES[fp8][codes]


def encode(values: NDArray[Any], fp8: Fp8) -> Bytes:
    """Return the code of the nearest finite value; of two equally near, the smaller value."""
    finite = np.flatnonzero(np.isfinite(VALUES[fp8])).astype(np.uint8)
    order = finite[np.argsort(VALUES[fp8][finite], kind="stable")]
    grid = VALUES[fp8][order]
    above = np.clip(np.searchsorted(grid, values), 1, len(grid) - 1)
    nearer = np.where(values - grid[above - 1] <= grid[above] - values, above - 1, above)
    return np.asarray(order[nearer], dtype=np.uint8)


def prepack(codes: Bytes) -> Bytes:
    """Reorder codes (K, N) to (ceil(K/16), N, 16): 16 consecutive k of a column lie together; zero codes follow the last k."""
    k, n = codes.shape
    padded = np.zeros((-(-k // PIECE_K) * PIECE_K, n), dtype=np.uint8)
    padded[:k] = codes
    return np.ascontiguousarray(padded.reshape(-1, PIECE_K, n).transpose(0, 2, 1))
