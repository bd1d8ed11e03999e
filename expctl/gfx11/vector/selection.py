"""Tables of the vector instructions that pick the smallest, the middle or the greatest of three numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from expctl.gfx11.machine.arrays import Anything
from expctl.gfx11.machine.rounding import maximum, minimum
from expctl.gfx11.operands.vector_source import FLOATS, Type
from expctl.gfx11.vector.operation import F16, F32, I16, I32, U16, U32, VectorOp, ternary

Two = Callable[[Anything, Anything], Anything]


def _middle(low: Two, high: Two, a: Anything, b: Anything, c: Anything) -> Anything:
    """Return the middle of three numbers; the smallest if one is a NaN."""
    middle = high(low(a, b), low(high(a, b), c))
    if not np.issubdtype(a.dtype, np.floating):
        return middle
    greatest = high(high(a, b), c)
    middle = np.where(greatest == a, high(b, c), np.where(greatest == b, high(a, c), high(a, b)))
    return np.where(np.isnan(a) | np.isnan(b) | np.isnan(c), low(low(a, b), c), middle)


def _of(kind: Type) -> dict[str, VectorOp]:
    low: Two = minimum if kind in FLOATS else np.minimum
    high: Two = maximum if kind in FLOATS else np.maximum
    return {
        f"v_min3_{kind}": ternary(kind, lambda a, b, c: low(low(a, b), c)),
        f"v_max3_{kind}": ternary(kind, lambda a, b, c: high(high(a, b), c)),
        f"v_med3_{kind}": ternary(kind, lambda a, b, c: _middle(low, high, a, b, c)),
        **({} if kind in (U16, I16) else {
            f"v_minmax_{kind}": ternary(kind, lambda a, b, c: high(low(a, b), c)),
            f"v_maxmin_{kind}": ternary(kind, lambda a, b, c: low(high(a, b), c)),
        }),
    }  # fmt: skip


OPS: dict[str, VectorOp] = {name: op for kind in (F32, F16, I32, U32, U16, I16) for name, op in _of(kind).items()}
