"""How far a result may be from the expected one, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from expctl.harness.arrays import FLOAT_POISON, Array, is_poison

OF_ONE_ELEMENT = 16
"""By default one element may be wrong by so many times what `rel_l2` grants the whole, relative to the largest expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Largest errors of a result."""

    rel_l2: float
    max_abs: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Errors of one result, and which limit it breaks."""

    rel_l2: float
    max_abs: float
    failure: str | None
    """None if all limits hold, else the first bad element with both values, or the limit that failed as a whole."""


def limits_for(exact: Array, epsilon: float, rel_l2: float | None, max_abs: float | None) -> Limits:
    """Return the limits given, and for those that are None what the epsilon of the result's type suggests; 0: integers."""
    if exact.dtype.kind in "iub" and rel_l2 is None:
        return Limits(rel_l2=np.inf, max_abs=0.0 if max_abs is None else max_abs)
    relative = float(np.sqrt(epsilon)) if rel_l2 is None else rel_l2
    largest = float(np.max(np.abs(exact * 1.0), initial=0.0, where=np.isfinite(exact)))
    return Limits(rel_l2=relative, max_abs=OF_ONE_ELEMENT * relative * largest if max_abs is None else max_abs)


def judge(
    result: Array,
    exact: Array,
    limits: Limits,
    *,
    allowed: Array | None = None,
    rows: NDArray[np.intp] | None = None,
    name: str = "result",
    poison: int | None = FLOAT_POISON,
) -> Judgement:
    """Compare `result` with `exact`, of the same shape.

    `allowed` is the error that each element may have (None: `limits.max_abs`); `rows` are the numbers of the rows, where both
    hold only some; of the byte `poison` an element consists that was never written. Infinities and NaN must be those of
    `exact`, rounded to the type of the result.
    """
    wide = np.complex128 if np.iscomplexobj(exact) or np.iscomplexobj(result) else np.float64
    actual, exactly = result.astype(wide), exact.astype(wide)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = exact.astype(result.dtype).astype(wide) if result.dtype.kind in "fc" else exactly
        special = ~np.isfinite(rounded)
        error = np.where(special, 0.0, np.abs(actual - exactly))
    if result.dtype.kind in "iu" and exact.dtype.kind in "iu":  # integers of which float64 sees no difference
        error = np.where((result != exact) & (error == 0), 1.0, error)
    limit = np.broadcast_to(np.asarray(limits.max_abs), error.shape) if allowed is None else allowed
    same_special = (np.isnan(rounded) & np.isnan(actual)) | (rounded == actual)
    bad = np.where(special, ~same_special, ~(error <= limit))  # a NaN error is bad too

    numbers = np.where(special, 0.0, exactly)
    norm, distance = float(np.linalg.norm(numbers)), float(np.linalg.norm(error))
    rel_l2 = distance / norm if norm > 0 else distance
    max_abs = float(np.max(error, initial=0.0))

    failure = None
    if bad.any():
        at = tuple(int(each) for each in np.argwhere(bad)[0])
        shown = at if rows is None else (int(rows[at[0]]), *at[1:])
        unwritten = ", still the poison: never written" if is_poison(result[at], poison).all() else ""
        element = f"{name}[{','.join(map(str, shown))}]" if shown else name
        failure = (
            f"{element} is {_number(result[at])}{unwritten}, expected {_number(exact[at])}; "
            f"error {error[at]:.3g}, limit {limit[at]:.3g}; {int(bad.sum())} of {bad.size} elements are bad"
        )
    elif not rel_l2 <= limits.rel_l2:
        failure = f"relative L2 is {rel_l2:.3g}, limit {limits.rel_l2:g}"
    elif not max_abs <= limits.max_abs:
        failure = f"largest absolute error is {max_abs:.3g}, limit {limits.max_abs:g}"
    return Judgement(rel_l2=rel_l2, max_abs=max_abs, failure=failure)


def _number(value: np.generic) -> str:
    """Return every digit of an integer, and six of others."""
    return str(value) if value.dtype.kind in "iub" else f"{value:.6g}"
