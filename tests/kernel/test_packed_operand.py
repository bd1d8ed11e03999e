"""The operator's B for a build with an order of bytes of its own."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import torch

from benchmarks.operator.stand_in import CPU
from kernel import op
from kernel.operator import packed
from kernel.runtime.library import Library


class ColumnsFirst(Library):
    """A build that packs column by column, each padded to `depth` bytes."""

    depth = 128

    def __init__(self) -> None:
        """Load nothing."""

    def packed_bytes(self, n: int, k: int) -> int:
        """Return the size in bytes."""
        return -(-k // self.depth) * self.depth * n

    def prepack(self, b: int, packed: int, n: int, k: int, stream: int | None = None) -> None:  # noqa: ARG002
        """Write the packed B."""
        codes = np.frombuffer(ctypes.string_at(b, n * k), np.uint8).reshape(k, n)
        held = np.zeros((n, -(-k // self.depth) * self.depth), np.uint8)
        held[:, :k] = codes.T
        ctypes.memmove(packed, held.ctypes.data, held.size)


@pytest.mark.parametrize(("n", "k"), [(50, 70), (64, 128), (1, 1), (3, 129)])
def test_the_build_packs_and_the_shape_tells_it_from_homes_order(n: int, k: int) -> None:
    b, build = torch.randint(0, 120, (k, n), dtype=torch.uint8), ColumnsFirst()
    raw = packed.pack(build, b)
    assert (raw.shape[1:], raw.is_contiguous()) == ((n, 16), True)
    assert raw.shape[0] > -(-k // 16)
    assert raw.numel() >= build.packed_bytes(n, k)
    held = raw.flatten()[: build.packed_bytes(n, k)].reshape(n, -1)
    assert torch.equal(held[:, :k], b.t())
    assert not held[:, k:].any()
    packed.require_packed(build, raw, n, k)


def test_a_b_in_homes_order_is_refused() -> None:
    home = torch.zeros((8, 64, 16), dtype=torch.uint8, device=CPU)
    with pytest.raises(ValueError, match=r"expected shape \(9, 64, 16\), as prepack makes .* for K = 128, found \(8, 64"):
        packed.require_packed(ColumnsFirst(), home, 64, 128)


def test_a_b_in_another_order_is_refused_at_home() -> None:
    other = packed.pack(ColumnsFirst(), torch.ones(128, 64).to(torch.float8_e5m2).view(torch.uint8)).view(torch.float8_e5m2)
    with pytest.raises(ValueError, match=r"expected shape \(8, 64, 16\), as prepack makes it on cpu"):
        op.scaled_mm(torch.ones(4, 128).half(), other, 1.0)
