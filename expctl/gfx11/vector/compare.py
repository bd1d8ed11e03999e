"""Vector comparisons: v_cmp writes one bit per lane to a scalar register, v_cmpx to EXEC. Inactive lanes get 0."""

from dataclasses import replace

import numpy as np

from expctl.gfx11.machine.arrays import Anything
from expctl.gfx11.operands.vector_source import Type
from expctl.gfx11.vector.operation import F16, F32, F64, I16, I32, I64, MASK, U16, U32, U64, VectorOp

_INTEGER = {"lt": np.less, "eq": np.equal, "le": np.less_equal, "gt": np.greater, "ne": np.not_equal, "ge": np.greater_equal}


def _unordered(a: Anything, b: Anything) -> Anything:
    return np.isnan(a) | np.isnan(b)


# A float comparison with n before its name (nlt) is the negation of that without (lt): true if either source is a NaN.
_FLOAT = {
    "lt": np.less, "eq": np.equal, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "lg": lambda a, b: (a != b) & ~_unordered(a, b),
    "o": lambda a, b: ~_unordered(a, b),
    "u": _unordered,
    "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: (a == b) | _unordered(a, b),
    "ngt": lambda a, b: ~(a > b),
    "nle": lambda a, b: ~(a <= b),
    "neq": np.not_equal,
    "nlt": lambda a, b: ~(a < b),
}  # fmt: skip


def _of(kind: Type, evaluate: object) -> VectorOp:
    return VectorOp(results=(MASK,), sources=(kind, kind), evaluate=evaluate)  # type: ignore[arg-type]


_COMPARISONS = {
    **{
        f"_{name}_{kind}": _of(kind, evaluate) for kind in (U32, I32, U64, I64, U16, I16) for name, evaluate in _INTEGER.items()
    },
    **{f"_{name}_{kind}": _of(kind, evaluate) for kind in (F32, F16, F64) for name, evaluate in _FLOAT.items()},
}
OPS: dict[str, VectorOp] = {
    **{f"v_cmp{name}": op for name, op in _COMPARISONS.items()},
    **{f"v_cmpx{name}": replace(op, to_exec=True) for name, op in _COMPARISONS.items()},
}
