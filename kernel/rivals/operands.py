"""The operands of one product size, as many sets of them as it takes to be out of the cache when their turn comes again."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from kernel import op
from kernel.naive import decode

SCALE = 0.5
CACHES = 3
"""The sets together are as large as so many last-level caches."""
MOST_SETS = 64


@dataclass(frozen=True, slots=True)
class Size:
    """C (m, n) = A (m, k) x B (k, n)."""

    m: int
    n: int
    k: int

    @property
    def name(self) -> str:
        """Return "n=4096" for a cube, "m=32 n=12288 k=2048" for any other size."""
        return f"n={self.n}" if self.m == self.n == self.k else f"m={self.m} n={self.n} k={self.k}"

    @property
    def text(self) -> str:
        """Return what `parse` reads."""
        return f"{self.m}x{self.n}x{self.k}"

    @property
    def flop(self) -> int:
        """Return the floating-point operations of the product."""
        return 2 * self.m * self.n * self.k

    @staticmethod
    def parse(text: str) -> Size:
        """Parse "4096", "n=4096" or "32x12288x2048" (m, n, k). Raises ValueError."""
        words = text.strip().removeprefix("n=").split("x")
        if len(words) not in (1, 3) or not all(word.isdigit() and int(word) for word in words):
            raise ValueError(f"a size is n or m x n x k, such as 4096 or 32x12288x2048, found {text!r}")
        return Size(*map(int, words * (3 if len(words) == 1 else 1)))


@dataclass(frozen=True, slots=True)
class OperandSet:
    """A (m, k) fp16, B (k, n) fp8, both also in the `work` dtype of the rivals' product; B prepacked; the bias (n,) fp16."""

    a: Tensor
    b: Tensor
    a_decoded: Tensor
    b_decoded: Tensor
    packed: Tensor
    bias: Tensor


def work_dtype(device: torch.device) -> torch.dtype:
    """Return the dtype in which torch multiplies quickest: fp16 on a GPU, fp32 on a CPU."""
    return torch.float16 if device.type == "cuda" else torch.float32


def cast_bytes(size: Size, work: torch.dtype, *, result: bool) -> int:
    """Return the bytes that conversions read and write: of B, and where the product isn't one of fp16 of A; of `result` too, if
    no other kernel does that.
    """
    b, a, c = (
        size.k * size.n * (1 + work.itemsize),
        size.m * size.k * (2 + work.itemsize),
        size.m * size.n * (2 + work.itemsize),
    )
    return b if work == torch.float16 else b + a + (c if result else 0)


def draw(size: Size, device: torch.device, seed: int) -> list[OperandSet]:
    """Draw normally distributed operands, e5m2 for B, on `device`; at least two sets."""
    generator = torch.Generator(device).manual_seed(seed)
    work = work_dtype(device)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, device=device, dtype=torch.float32)

    def drawn() -> OperandSet:
        a, b = normal(size.m, size.k).half(), normal(size.k, size.n).to(torch.float8_e5m2)
        return OperandSet(a, b, a.to(work), decode(b, work), op.prepack(b), normal(size.n).half())

    bytes_of_one = 2 * size.m * size.k + size.k * size.n
    sets = 2 if device.type == "cpu" else -(-CACHES * torch.cuda.get_device_properties(device).L2_cache_size // bytes_of_one)
    return [drawn() for _ in range(min(MOST_SETS, max(2, sets)))]


def relative_error(found: Tensor, operands: OperandSet) -> float:
    """Return the relative L2 error of at most 64 rows of `found`, C (m, n), against the product in float64."""
    rows = torch.linspace(0, len(found) - 1, min(64, len(found))).long().to(found.device)
    exact = (operands.a[rows].double() @ operands.b.double()) * SCALE + operands.bias.double()
    return float((found[rows].double() - exact).norm() / exact.norm())
