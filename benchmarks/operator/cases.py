"""The products of the harness's test, computed by the torch operator and judged by the same limits."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor

from expctl.harness.limits import Judgement
from kernel import op
from kernel.harness import reference
from kernel.harness.shapes import KPI_SIZES, Case, cases
from kernel.operator import direct
from kernel.operator.arguments import NUMBERS
from kernel.operator.builds import library_for
from kernel.operator.devices import target_of
from kernel.runtime.formats import Fp8
from kernel.runtime.library import Config, format_config

FORMATS = (Fp8.E5M2, Fp8.E4M3FN)
DTYPES = {number: dtype for dtype, number in NUMBERS.items()}
Call = Callable[[Tensor, Tensor, float, Tensor | None], Tensor]
"""Computes C from A, the prepacked B, the scale and the bias."""


def all_cases(target: str, configs: Sequence[Config]) -> list[Case]:
    """Return the products that the harness tests a build with these configs by: 118 with seven configs."""
    return list(cases(FORMATS, KPI_SIZES[target], configs))


def cases_of(device: torch.device) -> list[Case]:
    """Return the products for the build that runs on `device`. Raises what the operator raises where there is no build."""
    target = target_of(device)
    return all_cases(target, library_for(target, device.index or 0).configs)


def check(case: Case, device: torch.device, call: Call = op.scaled_mm) -> Judgement:
    """Compute one product on `device` with `call`, and judge it against the exact one."""
    rng = np.random.default_rng([case.m, case.n, case.k, case.fp8])
    if case.every_code:
        inputs = reference.every_code(case.fp8, case.m, case.k)
    else:
        inputs = reference.draw(rng, case.fp8, case.m, case.n, case.k, scale=case.scale, bias=case.bias)
    with forced(case.config):
        c = call(*operands(inputs, device))
    rows = reference.rows_to_check(rng, case.m, case.n, case.k)
    limits = reference.Limits.of(target_of(device))
    return reference.judge(inputs, rows, reference.expected(inputs, rows), c.cpu().numpy(), limits)


def operands(inputs: reference.Inputs, device: torch.device) -> tuple[Tensor, Tensor, float, Tensor | None]:
    """Return A, the prepacked B, the scale and the bias on `device`; B is packed there."""
    move: Callable[[np.typing.NDArray[Any]], Tensor] = functools.partial(torch.as_tensor, device=device)
    packed = op.prepack(move(inputs.codes).view(DTYPES[int(inputs.fp8)]))
    return move(inputs.a), packed, inputs.scale, None if inputs.bias is None else move(inputs.bias)


@contextmanager
def forced(config: Config | None) -> Iterator[None]:
    """Let every launch use `config`, by HIP_FORCE_CONFIG; None changes nothing."""
    before = os.environ.get("HIP_FORCE_CONFIG")
    if config is not None:
        os.environ["HIP_FORCE_CONFIG"] = format_config(config)
    try:
        yield
    finally:
        if config is not None:
            os.environ.pop("HIP_FORCE_CONFIG")
            os.environ.update({} if before is None else {"HIP_FORCE_CONFIG": before})


def past_python(a: Tensor, packed: Tensor, scale: float, bias: Tensor | None) -> Tensor:
    """Compute C by the operator's extension, after Python has launched such a product with no config forced."""
    with patch.dict(os.environ, {"HIP_FORCE_CONFIG": ""}):
        op.scaled_mm(a, packed, scale, bias)
    c = direct.call(a, packed, scale, bias, None)
    if c is None:
        raise AssertionError("the extension left a product to Python that is like one before")
    return c


def captured(a: Tensor, packed: Tensor, scale: float, bias: Tensor | None) -> Tensor:
    """Compute C by replaying a CUDA graph that was captured on other values of A; C is poisoned before the replay."""
    given = torch.zeros_like(a)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        c = op.scaled_mm(given, packed, scale, bias)
    given.copy_(a)
    c.fill_(float("nan"))
    graph.replay()
    return c


def compiled(a: Tensor, packed: Tensor, scale: float, bias: Tensor | None) -> Tensor:
    """Compute C by a function that torch.compile took in whole. Extents of 1 and each scale are compiled for themselves."""
    with torch._dynamo.config.patch(recompile_limit=256):
        return whole()(a, packed, scale, bias)


@functools.cache
def whole() -> Call:
    """Return the operator as torch.compile takes it in, without a break, for operands of any size."""
    return torch.compile(op.scaled_mm, fullgraph=True, dynamic=True)
