"""Random inputs, the exact product in float64, and the limits that a result must keep."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from expctl.harness import limits
from expctl.harness.limits import Judgement
from kernel.runtime.formats import Bytes, Doubles, Fp8, Halves, decode, encode

POISON = 0xFEFE
"""A NaN that no kernel makes by itself, of two equal bytes: what an unwritten element of C still holds."""

MOST_CHECKED_PRODUCTS = 1_500_000_000
"""Larger products are checked on a sample of rows: the float64 product would take longer than the kernel's whole test."""
SAMPLED_ROWS = 96
_DECODED_ROWS = 512
_TABLE = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The operands of one product: C = (A x B) * scale + bias."""

    a: Halves
    """(M, K)"""
    codes: Bytes
    """(K, N), not prepacked"""
    bias: Halves | None
    """(N,)"""
    scale: float
    fp8: Fp8


def halves(rng: np.random.Generator, *shape: int) -> Halves:
    """Return fp16 values of `shape`, normally distributed; zeros would make real hardware faster. A table keeps it quick."""
    table = rng.standard_normal(_TABLE).astype(np.float16)
    return table[rng.integers(0, _TABLE, shape, dtype=np.uint16)]


def codes(rng: np.random.Generator, fp8: Fp8, *shape: int) -> Bytes:
    """Return fp8 codes of `shape` for normally distributed values."""
    table = encode(rng.standard_normal(_TABLE), fp8)
    return table[rng.integers(0, _TABLE, shape, dtype=np.uint16)]


def normal_codes(fp8: Fp8) -> bytes:
    """Return the codes of 256 quantiles of the normal distribution, to map random bytes: quicker than `codes`, coarser."""
    quantile = NormalDist().inv_cdf
    return encode(np.array([quantile((i + 0.5) / 256) for i in range(256)]), fp8).tobytes()


def draw(rng: np.random.Generator, fp8: Fp8, m: int, n: int, k: int, *, scale: float = 0.5, bias: bool = True) -> Inputs:
    """Draw the operands of an M x N x K product."""
    a, b = halves(rng, m, k), codes(rng, fp8, k, n)
    return Inputs(a=a, codes=b, bias=halves(rng, n) if bias else None, scale=scale, fp8=fp8)


def every_code(fp8: Fp8, m: int, k: int, *, row: int = 0, times: float = 1.0) -> Inputs:
    """Return operands (N = 256) whose product is the table of decoded codes, `times` something.

    One `row` of B holds all 256 codes and A selects it. The other rows of B are zero, because zero times infinity is NaN.
    """
    a = np.zeros((m, k), dtype=np.float16)
    a[:, row] = times
    codes = np.zeros((k, 256), dtype=np.uint8)
    codes[row] = np.arange(256)
    return Inputs(a=a, codes=codes, bias=None, scale=1.0, fp8=fp8)


def rows_to_check(rng: np.random.Generator, m: int, n: int, k: int) -> NDArray[np.intp]:
    """Return the rows to compare: all, or of a large product the first, the last and 96 random ones."""
    if m * n * k <= MOST_CHECKED_PRODUCTS:
        return np.arange(m)
    return np.unique(np.concatenate(([0, m - 1], rng.integers(0, m, SAMPLED_ROWS))))


def expected(inputs: Inputs, rows: NDArray[np.intp]) -> Doubles:
    """Return these rows of the exact product, (len(rows), N) in float64."""
    a, product = inputs.a[rows].astype(np.float64), np.zeros((len(rows), inputs.codes.shape[1]))
    with np.errstate(invalid="ignore"):  # zero times an infinite code
        for begin in range(0, a.shape[1], _DECODED_ROWS):  # all of a large B in float64 would be 512 MB
            part = slice(begin, begin + _DECODED_ROWS)
            product += a[:, part] @ decode(inputs.codes[part], inputs.fp8)
        product *= inputs.scale
    return product if inputs.bias is None else product + inputs.bias.astype(np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits(limits.Limits):
    """Largest errors of a result. A third limit, `scaled_limit`, follows from the inputs and means something at small K too."""

    rel_l2: float = 0.01
    max_abs: float = 1.0
    truncating: bool = False
    """The machine cuts its fp32 sums instead of rounding them to nearest (tensor cores of sm_90)."""

    @staticmethod
    def of(target: str, *, rel_l2: float = 0.01, max_abs: float = 1.0) -> Limits:
        """Return the largest errors that a result of `target` may have; only sm_90 may truncate its sums."""
        return Limits(rel_l2=rel_l2, max_abs=max_abs, truncating=target == "sm_90")


def ulp_fp16(values: Doubles) -> Doubles:
    """Return the distance of neighbouring fp16 values at |value|; 2^-24 among the denormals."""
    _, exponent = np.frexp(np.maximum(np.abs(values), 2.0**-14))
    return np.asarray(2.0 ** (exponent - 11.0))


def rounding_loss(largest_a: float, largest_b: Any, k: int, scale: float, *, truncating: bool = False) -> Any:
    """Return the error that fp32 accumulation may have: 4 sqrt(K) 2^-24 max|A| max|B| |scale|, for each `largest_b`.

    Rounding errors are as often up as down and add like sqrt(K). Cut ones all point to zero: each of the K/16 steps loses up to
    an ulp of a sum that has itself grown like sqrt(k), so the loss grows like K sqrt(K) and overtakes rounding near K = 1024
    (seen on an H200: 1.23 times the first limit at K = 4096, and 5.3 times at K = 8192 once in some 10^9 elements).
    """
    lost = 4.0 * float(np.sqrt(k)) * 2.0**-24 * largest_a * largest_b * abs(scale)
    return lost * (1.0 + k / 1024) if truncating else lost


def scaled_limit(inputs: Inputs, exact: Doubles, *, truncating: bool = False) -> Doubles:
    """Return the error allowed for each element: 1 fp16 ulp of the result plus `rounding_loss`."""
    largest_b = _largest_finite(inputs.codes, inputs.fp8)  # of each column, as its results are
    largest_a = largest(inputs.a)
    lost = rounding_loss(largest_a, largest_b, inputs.a.shape[1], inputs.scale, truncating=truncating)
    return np.asarray(ulp_fp16(np.where(np.isfinite(exact), exact, 0.0)) + lost)


def largest(values: Halves) -> float:
    """Return the largest |value|; NaN where there is one. By the bits, whose order is that of the numbers, because
    numpy converts each fp16 value it compares, and float64 takes four times the memory.
    """
    return float(np.array([(values.view(np.uint16) & 0x7FFF).max()], np.uint16).view(np.float16)[0])


def _largest_finite(codes: Bytes, fp8: Fp8) -> Doubles:
    """Return the largest |value| of each column of codes (K, N), (N,); 0 for what isn't finite."""
    values = np.abs(decode(np.arange(256, dtype=np.uint8), fp8))
    values[~np.isfinite(values)] = 0.0
    by_size = np.unique(values)
    rank_of = np.searchsorted(by_size, values).astype(np.uint8)
    return np.asarray(by_size[rank_of[codes].max(axis=0, initial=0)])


def judge(inputs: Inputs, rows: NDArray[np.intp], exact: Doubles, result: Halves, given: Limits) -> Judgement:
    """Compare `rows` of `result`, C (M, N), with `exact`, (len(rows), N)."""
    allowed = scaled_limit(inputs, exact, truncating=given.truncating)
    return limits.judge(result[rows], exact, given, allowed=allowed, rows=rows, name="C", poison=POISON & 0xFF)
