"""Times the same product by numpy and torch, on one thread in the same run, for a person who compares."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from kernel.harness import reference
from kernel.harness.shapes import Extents
from kernel.runtime.formats import Fp8, decode


def _median_ns(call: Callable[[], object], iterations: int) -> float:
    for _ in range(3):
        call()
    durations = []
    for _ in range(iterations):
        begin = time.monotonic_ns()
        call()
        durations.append(time.monotonic_ns() - begin)
    return float(np.median(durations))


def time_rivals(fp8: Fp8, extents: Extents, seed: int, iterations: int) -> dict[str, float]:
    """Return median ns by name: numpy's sgemm on the decoded inputs; with torch, its fp32 product and the naive formulation."""
    inputs = reference.draw(np.random.default_rng([seed, extents.n]), fp8, *extents)
    a, b = inputs.a.astype(np.float32), decode(inputs.codes, fp8).astype(np.float32)
    times = {"numpy fp32 product": _median_ns(lambda: a @ b, iterations)}
    try:
        import torch

        from kernel.naive import scaled_mm_naive
    except ImportError:
        return times
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        ta, tb = torch.from_numpy(a), torch.from_numpy(b)
        dtype = torch.float8_e5m2 if fp8 is Fp8.E5M2 else torch.float8_e4m3fn
        half, codes = torch.from_numpy(inputs.a), torch.from_numpy(inputs.codes).view(dtype)
        bias = None if inputs.bias is None else torch.from_numpy(inputs.bias)
        times["torch fp32 product"] = _median_ns(lambda: ta @ tb, iterations)
        times["naive (decode, product, scale, bias)"] = _median_ns(
            lambda: scaled_mm_naive(half, codes, inputs.scale, bias), max(3, iterations // 4)
        )
    finally:
        torch.set_num_threads(threads)
    return times
