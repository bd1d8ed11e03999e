"""Computes the product with torch alone: decode B, multiply, scale, add the bias. It defines what the operator means."""

from __future__ import annotations

import torch
from torch import Tensor


def decode(b: Tensor, dtype: torch.dtype) -> Tensor:
    """Convert fp8 (K, N) to `dtype` exactly: both formats fit in fp16 and wider."""
    return b.to(dtype)


def scaled_mm_naive(
    a: Tensor, b: Tensor, scale: float, bias: Tensor | None = None, *, accumulate: torch.dtype = torch.float32
) -> Tensor:
    """Compute C (M, N) fp16 = (a (M, K) fp16 x b (K, N) fp8) * scale + bias (N,) fp16, accumulated in `accumulate`."""
    product = (a.to(accumulate) @ decode(b, accumulate)) * scale
    return (product if bias is None else product + bias.to(accumulate)).to(torch.float16)
