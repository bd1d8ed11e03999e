"""The type of a table entry for a scalar instruction: what it computes, on unsigned Python integers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Evaluate = Callable[..., tuple[int, int | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarOp:
    """A scalar operation. `result` and `sources` are widths in bits; result 0 means that only SCC is written."""

    result: int
    sources: tuple[int, ...]
    evaluate: Evaluate
    reads_scc: bool = False
    bitwise: bool = False
    """Bit i of the result depends on nothing but bit i of the sources."""
    floats: bool = False
    accumulates: bool = False
    """The destination is also the last source."""


def signed(value: int, bits: int = 32) -> int:
    """Return `value`, an unsigned integer of `bits` bits, as the signed integer (two's complement) of the same bits."""
    return value - (1 << bits) if value >> (bits - 1) else value
