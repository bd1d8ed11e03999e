"""The operator for torch users: `prepack` once, then `scaled_mm`.

Runs the CPU build of this checkout, or the library that EXPCTL_KERNEL_LIBRARY names.
"""

from __future__ import annotations

import functools
import os
import tempfile
from pathlib import Path

import torch
from torch import Tensor

from kernel.runtime.build import build
from kernel.runtime.formats import PIECE_K, Fp8
from kernel.runtime.library import Library, open_library

_FORMATS = {torch.float8_e5m2: Fp8.E5M2, torch.float8_e4m3fn: Fp8.E4M3FN}


@functools.cache
def _library() -> Library:
    """Build or load the library once per process. Each call chooses its config anew. Raises BuildError or LibraryError."""
    given = os.environ.get("EXPCTL_KERNEL_LIBRARY")
    if given:
        return open_library(Path(given), "cpu")
    with tempfile.TemporaryDirectory(prefix="scaled_mm.") as folder:  # the mapping outlives the file
        return open_library(build("cpu", Path(folder)), "cpu")


def _require(holds: bool, name: str, expected: str, found: object) -> None:
    if not holds:
        raise ValueError(f"{name}: expected {expected}, found {found}")


def prepack(b: Tensor) -> Tensor:
    """Reorder fp8 (K, N) to (ceil(K/16), N, 16) of the same dtype, zero after the last k. Raises ValueError.

    Call it once per weight matrix, outside of any timed region.
    """
    _require(b.dtype in _FORMATS, "b", "dtype float8_e5m2 or float8_e4m3fn", b.dtype)
    _require(b.dim() == 2, "b", "shape (K, N)", tuple(b.shape))
    k, n = b.shape
    padded = torch.zeros((-(-k // PIECE_K) * PIECE_K, n), dtype=torch.uint8, device=b.device)
    padded[:k] = b.view(torch.uint8)
    return padded.reshape(-1, PIECE_K, n).permute(0, 2, 1).contiguous().view(b.dtype)


def _format_of(b_prepacked: Tensor, b_dtype: int | None) -> Fp8:
    if b_prepacked.dtype == torch.uint8:
        _require(b_dtype in (0, 1), "b_dtype", "0 (e4m3fn) or 1 (e5m2) with a uint8 b_prepacked", b_dtype)
        return Fp8(int(b_dtype or 0))
    _require(b_prepacked.dtype in _FORMATS, "b_prepacked", "dtype float8_e5m2, float8_e4m3fn or uint8", b_prepacked.dtype)
    fp8 = _FORMATS[b_prepacked.dtype]
    _require(b_dtype in (None, int(fp8)), "b_dtype", f"None or {int(fp8)}, as b_prepacked is {b_prepacked.dtype}", b_dtype)
    return fp8


def _check(a: Tensor, b_prepacked: Tensor, bias: Tensor | None) -> None:
    _require(a.dtype == torch.float16, "a", "dtype float16", a.dtype)
    _require(a.dim() == 2, "a", "shape (M, K)", tuple(a.shape))
    _require(b_prepacked.dim() == 3, "b_prepacked", "shape (ceil(K/16), N, 16), see prepack", tuple(b_prepacked.shape))
    pieces, n, depth = b_prepacked.shape
    wanted = -(-a.shape[1] // PIECE_K)
    _require(
        (pieces, depth) == (wanted, PIECE_K),
        "b_prepacked",
        f"shape ({wanted}, N, {PIECE_K}) for K = {a.shape[1]}",
        tuple(b_prepacked.shape),
    )
    _require(min(a.shape[0], a.shape[1], n) >= 1, "a and b_prepacked", "M, N and K of at least 1", (*a.shape, n))
    named = {"a": a, "b_prepacked": b_prepacked, **({} if bias is None else {"bias": bias})}
    if bias is not None:
        _require(bias.dtype == torch.float16, "bias", "dtype float16", bias.dtype)
        _require(tuple(bias.shape) == (n,), "bias", f"shape ({n},)", tuple(bias.shape))
    for name, tensor in named.items():
        _require(tensor.device.type == "cpu", name, "device cpu", tensor.device)
        _require(tensor.is_contiguous(), name, "contiguous memory", f"strides {tensor.stride()}")


@torch.library.custom_op("expctl::scaled_mm_prepacked", mutates_args=())
def _scaled_mm(a: Tensor, b_prepacked: Tensor, scale: float, bias: Tensor | None, b_dtype: int) -> Tensor:
    _check(a, b_prepacked, bias)
    library = _library()
    (m, k), n = a.shape, b_prepacked.shape[1]
    c = torch.empty((m, n), dtype=torch.float16)
    library.launch(
        library.config_for(m, n),
        Fp8(b_dtype),
        a.data_ptr(),
        b_prepacked.data_ptr(),
        None if bias is None else bias.data_ptr(),
        c.data_ptr(),
        scale,
        m,
        n,
        k,
    )
    return c


@_scaled_mm.register_fake
def _(a: Tensor, b_prepacked: Tensor, scale: float, bias: Tensor | None, b_dtype: int) -> Tensor:  # noqa: ARG001 - the signature of the operator
    return a.new_empty((a.shape[0], b_prepacked.shape[1]), dtype=torch.float16)


def scaled_mm(a: Tensor, b_prepacked: Tensor, scale: float, bias: Tensor | None = None, b_dtype: int | None = None) -> Tensor:
    """Compute C (M, N) fp16 = (a (M, K) fp16 x B) * scale + bias (N,) fp16, fp32 accumulation.

    The format of B follows from the fp8 dtype of `b_prepacked`; `b_dtype` (0 e4m3fn, 1 e5m2) is for uint8 alone.
    Raises ValueError with what was expected and found.
    """
    result: Tensor = _scaled_mm(a, b_prepacked, float(scale), bias, int(_format_of(b_prepacked, b_dtype)))
    return result
