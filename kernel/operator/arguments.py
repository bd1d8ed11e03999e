"""Checks the arguments of the operator. Every call passes here, so messages are made only where something is wrong."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from kernel.runtime.formats import PIECE_K, Fp8

NUMBERS = {torch.float8_e5m2: int(Fp8.E5M2), torch.float8_e4m3fn: int(Fp8.E4M3FN)}
"""The `b_dtype` of the C interface for each fp8 dtype of torch."""


def require(holds: bool, name: str, expected: str, found: object) -> None:
    """Raise ValueError unless `holds`."""
    if not holds:
        raise ValueError(_fault(name, expected, found))


def _fault(name: str, expected: str, found: object) -> str:
    return f"{name}: expected {expected}, found {found}"


def format_number(b_prepacked: Tensor, b_dtype: int | None) -> int:
    """Return the `b_dtype` of the C interface. Raises ValueError."""
    number = NUMBERS.get(b_prepacked.dtype)
    if number is not None and b_dtype is None:
        return number
    if b_prepacked.dtype == torch.uint8:
        require(b_dtype in (0, 1), "b_dtype", "0 (e4m3fn) or 1 (e5m2) with a uint8 b_prepacked", b_dtype)
        return int(b_dtype or 0)
    require(number is not None, "b_prepacked", "dtype float8_e5m2, float8_e4m3fn or uint8", b_prepacked.dtype)
    require(b_dtype == number, "b_dtype", f"None or {number}, as b_prepacked is {b_prepacked.dtype}", b_dtype)
    return int(number or 0)


def extents(a: Tensor, b_prepacked: Tensor, bias: Tensor | None) -> tuple[int, int, int]:
    """Return M, N and K of a product whose operands fit each other. Raises ValueError."""
    device = a.device
    if (
        a.dtype is torch.float16
        and a.dim() == 2
        and b_prepacked.dim() == 3
        and a.is_contiguous()
        and b_prepacked.is_contiguous()
        and b_prepacked.device == device
    ):
        (m, k), (pieces, n, depth) = a.shape, b_prepacked.shape
        if pieces * PIECE_K >= k and depth == PIECE_K and m and n and k and _fits(bias, n, device):
            return m, n, k
    raise ValueError(next(_faults(a, b_prepacked, bias)))


def _fits(bias: Tensor | None, n: int, device: torch.device) -> bool:
    return bias is None or (
        bias.dtype is torch.float16 and bias.shape == (n,) and bias.is_contiguous() and bias.device == device
    )


def _faults(a: Tensor, b_prepacked: Tensor, bias: Tensor | None) -> Iterator[str]:
    """Yield what is wrong, the first first: those after it may be its consequences."""
    if a.dtype != torch.float16:
        yield _fault("a", "dtype float16", a.dtype)
    if a.dim() != 2:
        yield _fault("a", "shape (M, K)", tuple(a.shape))
    if b_prepacked.dim() != 3:
        yield _fault("b_prepacked", "shape (ceil(K/16), N, 16), see prepack", tuple(b_prepacked.shape))
    (m, k), (pieces, n, depth) = a.shape, b_prepacked.shape
    wanted = -(-k // PIECE_K)
    if pieces < wanted or depth != PIECE_K:
        yield _fault("b_prepacked", f"shape ({wanted}, N, {PIECE_K}) for K = {k}", tuple(b_prepacked.shape))
    if min(m, n, k) < 1:
        yield _fault("a and b_prepacked", "M, N and K of at least 1", (m, n, k))
    if bias is not None and bias.dtype != torch.float16:
        yield _fault("bias", "dtype float16", bias.dtype)
    if bias is not None and bias.shape != (n,):
        yield _fault("bias", f"shape ({n},)", tuple(bias.shape))
    for name, tensor in {"a": a, "b_prepacked": b_prepacked, **({} if bias is None else {"bias": bias})}.items():
        if tensor.device != a.device:
            yield _fault(name, f"device {a.device}, as a is on", tensor.device)
        if not tensor.is_contiguous():
            yield _fault(name, "contiguous memory", f"strides {tensor.stride()}")
