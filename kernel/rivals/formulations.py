"""What a torch user would take instead of this kernel, and how each is made ready for one size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor
from torch.profiler import record_function

from kernel import op
from kernel.naive import scaled_mm_naive
from kernel.operator.launches import config_on
from kernel.rivals.operands import SCALE, OperandSet, Size
from kernel.runtime.library import format_config

Product = Callable[[OperandSet], Tensor]
MAX_AUTOTUNE = "max-autotune-no-cudagraphs"
LIBRARY_PRODUCT = "library product alone"


class Role(StrEnum):
    """Whose time it is: this kernel's; a rival's that does the same; a wall: less than the whole, on a B decoded beforehand."""

    OURS = "ours"
    RIVAL = "rival"
    WALL = "wall"


@dataclass(frozen=True, slots=True)
class Formulation:
    """One way to the product. `make` returns what computes C (m, n) fp16 from operands of the size on the device."""

    name: str
    role: Role
    make: Callable[[Size, torch.device, torch.dtype], Product]
    mode: str = ""
    """That of torch.compile; "" without."""

    @property
    def is_whole(self) -> bool:
        """Whether its result is the product with scale and bias."""
        return self.name != LIBRARY_PRODUCT


def formulations() -> tuple[Formulation, ...]:
    """Return this kernel, then all rivals and walls."""
    return (
        Formulation("this kernel", Role.OURS, _this_kernel),
        Formulation("naive", Role.RIVAL, lambda _, __, work: lambda x: _naive(x.a, x.b, x.bias, work)),
        _compiled("torch.compile, default", "default"),
        _compiled("torch.compile, max-autotune", MAX_AUTOTUNE),
        Formulation("torch on decoded B", Role.WALL, lambda _, __, work: lambda x: _naive(x.a, x.b_decoded, x.bias, work)),
        Formulation(LIBRARY_PRODUCT, Role.WALL, lambda _, __, ___: lambda x: torch.mm(x.a_decoded, x.b_decoded)),
    )


def _naive(a: Tensor, b: Tensor, bias: Tensor, work: torch.dtype) -> Tensor:
    return scaled_mm_naive(a, b, SCALE, bias, accumulate=work)


def _this_kernel(size: Size, device: torch.device, _: torch.dtype) -> Product:
    if device.type != "cpu":
        return lambda x: op.scaled_mm(x.a, x.packed, SCALE, x.bias)
    symbol = f"scaled_mm_e5m2_{format_config(config_on(device, size.m, size.n, size.k)).replace(',', '_')}"

    def product(x: OperandSet) -> Tensor:
        with record_function(symbol):  # torch's profiler sees no call of ours on a CPU
            return op.scaled_mm(x.a, x.packed, SCALE, x.bias)

    return product


def _compiled(name: str, mode: str) -> Formulation:
    def make(_: Size, __: torch.device, work: torch.dtype) -> Product:
        compiled = torch.compile(_naive, mode=mode, fullgraph=True, dynamic=False)
        return lambda x: compiled(x.a, x.b, x.bias, work)

    return Formulation(name, Role.RIVAL, make, mode)
