"""Scalar float instructions (gfx11.5): on the bits of one number, as unsigned Python integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from expctl.gfx11.machine.arrays import ALL_BITS, Anything
from expctl.gfx11.machine.rounding import fma16, fma32, maximum, minimum, quiet, to_integer
from expctl.gfx11.scalar.operation import ScalarOp, signed

_TYPES: dict[str, tuple[Anything, Anything]] = {"f32": (np.uint32, np.float32), "f16": (np.uint16, np.float16)}


def _number(bits: int, name: str) -> Anything:
    """Return the float of this name whose bits are the low ones of `bits`, as an array, (1,)."""
    integer, floating = _TYPES[name]
    return np.array([bits & np.iinfo(integer).max], dtype=integer).view(floating)


def _bits(number: Anything) -> int:
    return int(number.view(f"u{number.dtype.itemsize}")[0])


def _float(name: str, function: Callable[..., Anything], count: int = 2, *, accumulates: bool = False) -> ScalarOp:
    dtype = _TYPES[name][1]

    def evaluate(*values: int) -> tuple[int, None]:
        with np.errstate(all="ignore"):
            return _bits(np.asarray(function(*(_number(value, name) for value in values)), dtype=dtype)), None

    return ScalarOp(result=32, sources=(32,) * count, evaluate=evaluate, floats=True, accumulates=accumulates)


def _compared(name: str, function: Callable[[Anything, Anything], Anything]) -> ScalarOp:
    def evaluate(*values: int) -> tuple[int, int]:
        a, b = (_number(value, name) for value in values)
        return 0, int(function(a, b)[0])

    return ScalarOp(result=0, sources=(32, 32), evaluate=evaluate, floats=True)


def _converted(function: Callable[[int], Anything], *, floats: bool = True) -> ScalarOp:
    def evaluate(value: int) -> tuple[int, None]:
        with np.errstate(all="ignore"):
            return _bits(function(value)) & ALL_BITS, None

    return ScalarOp(result=32, sources=(32,), evaluate=evaluate, floats=floats)


def _packed(a: int, b: int) -> tuple[int, None]:
    """Return two floats as halves, rounded toward zero: v_cvt_pkrtz."""
    low, high = (_toward_zero(_number(value, "f32")) for value in (a, b))
    return low | high << 16, None


def _toward_zero(number: Anything) -> int:
    with np.errstate(all="ignore"):
        half = number.astype(np.float16)
        beyond = np.abs(half.astype(np.float64)) > np.abs(number.astype(np.float64))
        return _bits(np.where(beyond & np.isfinite(number), np.nextafter(half, np.float16(0)), half))


_COMPARISONS: dict[str, Callable[[Anything, Anything], Anything]] = {
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "lg": lambda a, b: (a < b) | (a > b),
    "ge": lambda a, b: a >= b,
    "o": lambda a, b: (a == a) & (b == b),
    "u": lambda a, b: (a != a) | (b != b),
    "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: ~((a < b) | (a > b)),
    "ngt": lambda a, b: ~(a > b),
    "nle": lambda a, b: ~(a <= b),
    "neq": lambda a, b: ~(a == b),
    "nlt": lambda a, b: ~(a < b),
}
_ROUNDINGS: dict[str, Callable[[Anything], Anything]] = {
    "ceil": np.ceil,
    "floor": np.floor,
    "trunc": np.trunc,
    "rndne": np.rint,
}


def _of(name: str) -> dict[str, ScalarOp]:
    fma = fma32 if name == "f32" else fma16
    arithmetic: dict[str, Callable[[Anything, Anything], Anything]] = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "min": minimum,
        "max": maximum,
    }
    return {
        **{f"s_{word}_{name}": _float(name, function) for word, function in arithmetic.items()},
        **{f"s_{word}_{name}": _float(name, function, 1) for word, function in _ROUNDINGS.items()},
        **{f"s_cmp_{word}_{name}": _compared(name, function) for word, function in _COMPARISONS.items()},
        f"s_fmac_{name}": _float(name, fma, 3, accumulates=True),
    }


FLOATS: dict[str, ScalarOp] = {
    **_of("f32"),
    **_of("f16"),
    "s_fmamk_f32": _float("f32", fma32, 3),
    "s_fmaak_f32": _float("f32", fma32, 3),
    "s_cvt_f32_u32": _converted(lambda a: np.array([a]).astype(np.float32), floats=False),
    "s_cvt_f32_i32": _converted(lambda a: np.array([signed(a)]).astype(np.float32), floats=False),
    "s_cvt_u32_f32": _converted(lambda a: to_integer(_number(a, "f32"), 0, ALL_BITS)),
    "s_cvt_i32_f32": _converted(lambda a: to_integer(_number(a, "f32"), -(1 << 31), (1 << 31) - 1)),
    "s_cvt_f16_f32": _converted(lambda a: quiet(_number(a, "f32")).astype(np.float16)),
    "s_cvt_f32_f16": _converted(lambda a: quiet(_number(a, "f16").astype(np.float32))),
    "s_cvt_hi_f32_f16": _converted(lambda a: _number(a >> 16, "f16").astype(np.float32)),
    "s_cvt_pk_rtz_f16_f32": ScalarOp(result=32, sources=(32, 32), evaluate=_packed, floats=True),
}
"""By mnemonic. A half is the low half of its register; as a result, its high half is 0."""
