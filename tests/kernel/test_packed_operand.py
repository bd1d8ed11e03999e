"""The operator's B for a build with an order of bytes of its own."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from benchmarks.operator.stand_in import CPU
from kernel import op
from kernel.operator import packed


class ColumnsFirst:
    """A build that packs column by column, each padded to `depth` bytes."""

    depth = 128

    def packed_bytes(self, n: int, k: int) -> int:
        """Return the size in bytes."""
        return -(-k // self.depth) * self.depth * n

    def prepack(self, b: int, into: int, n: int, k: int) -> None:
        """Write the packed B."""
        codes = np.frombuffer(ctypes.string_at(b, n * k), np.uint8).reshape(k, n)
        held = np.zeros((n, -(-k // self.depth) * self.depth), np.uint8)
        held[:, :k] = codes.T
        ctypes.memmove(into, held.ctypes.data, held.size)


@pytest.fixture(autouse=True)
def other_build(monkeypatch: pytest.MonkeyPatch) -> Iterator[ColumnsFirst]:
    build = ColumnsFirst()
    monkeypatch.setattr(packed, "library_on", lambda _: build)
    packed._in_home_order.cache_clear()
    yield build
    packed._in_home_order.cache_clear()


@pytest.mark.parametrize(("n", "k"), [(50, 70), (64, 128), (1, 1), (3, 129)])
def test_the_build_packs_and_the_shape_tells_it_from_homes_order(n: int, k: int, other_build: ColumnsFirst) -> None:
    b = torch.randint(0, 120, (k, n), dtype=torch.uint8).view(torch.float8_e5m2)
    raw = op.prepack(b).view(torch.uint8)
    assert (raw.shape[1:], raw.is_contiguous()) == ((n, 16), True)
    assert raw.shape[0] > -(-k // 16)
    assert raw.numel() >= other_build.packed_bytes(n, k)
    held = raw.flatten()[: other_build.packed_bytes(n, k)].reshape(n, -1)
    assert torch.equal(held[:, :k], b.view(torch.uint8).t())
    assert not held[:, k:].any()
    packed.require_packed(raw, n, k)


def test_a_b_in_homes_order_is_refused() -> None:
    home = torch.zeros((8, 64, 16), dtype=torch.uint8, device=CPU)
    with pytest.raises(ValueError, match=r"expected shape \(9, 64, 16\), as prepack makes .* for K = 128, found \(8, 64"):
        packed.require_packed(home, 64, 128)


def test_a_b_in_another_order_is_refused_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    other = op.prepack(torch.ones(128, 64).to(torch.float8_e5m2))
    monkeypatch.undo()
    packed._in_home_order.cache_clear()
    with pytest.raises(ValueError, match=r"expected shape \(8, 64, 16\), as prepack makes it on cpu"):
        op.scaled_mm(torch.ones(4, 128).half(), other, 1.0)
