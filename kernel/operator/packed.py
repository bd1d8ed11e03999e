"""The shape of a prepacked B on a device: (pieces, N, 16).

Home's order of bytes (kernel/hip/packing.h) takes ceil(K/16) pieces. A build with an order of its own takes at least one more,
so that a B packed for one device is refused on another by its shape.
"""

from __future__ import annotations

import functools

import numpy as np
import torch
from torch import Tensor

from kernel.operator.arguments import require
from kernel.operator.builds import library_for
from kernel.operator.devices import target_of
from kernel.runtime import formats
from kernel.runtime.formats import PIECE_K
from kernel.runtime.library import Library

_PROBE = (2 * PIECE_K + 1, 3)


def library_on(device: torch.device) -> Library:
    """Return the build for `device`. Raises ValueError, BuildError or LibraryError."""
    return library_for(target_of(device), device.index or 0)


def pieces(library: Library, device: torch.device, n: int, k: int) -> int:
    """Return the pieces of a (K, N) that `library`, a build for `device`, has packed."""
    least = -(-k // PIECE_K)
    if _in_home_order(library, device):
        return least
    return max(-(-library.packed_bytes(n, k) // (n * PIECE_K)), least + 1)


def require_packed(library: Library, b_prepacked: Tensor, n: int, k: int) -> None:
    """Raise ValueError unless `b_prepacked` (P, N, 16) is of the size that `library` gives a B (K, N) on its device."""
    device = b_prepacked.device
    wanted = pieces(library, device, n, k)
    expected = f"shape ({wanted}, {n}, {PIECE_K}), as prepack makes it on {device} for K = {k}"
    require(b_prepacked.size(0) == wanted, "b_prepacked", expected, tuple(b_prepacked.shape))


def pack(library: Library, b: Tensor) -> Tensor:
    """Return fp8 codes (K, N), uint8, contiguous, prepacked by the build for their device: (pieces, N, 16), uint8."""
    k, n = b.shape
    packed = torch.zeros((pieces(library, b.device, n, k), n, PIECE_K), dtype=torch.uint8, device=b.device)
    if k and n:
        _prepack(library, b, packed)
    return packed


def _prepack(library: Library, b: Tensor, packed: Tensor) -> None:
    k, n = b.shape
    if b.device.type == "cpu":
        library.prepack(b.data_ptr(), packed.data_ptr(), n, k)
        return
    with torch.cuda.device(b.device):
        library.prepack(b.data_ptr(), packed.data_ptr(), n, k, torch.cuda.current_stream().cuda_stream)


@functools.cache
def _in_home_order(library: Library, device: torch.device) -> bool:
    """Whether a build for `device` packs as kernel/hip/packing.h does, seen from a B of distinct bytes."""
    k, n = _PROBE
    codes = np.arange(1, k * n + 1, dtype=np.uint8).reshape(k, n)
    home = formats.prepack(codes)
    if library.packed_bytes(n, k) != home.size:
        return False
    packed = torch.zeros(home.shape, dtype=torch.uint8, device=device)
    _prepack(library, torch.from_numpy(codes).to(device), packed)
    return bool(np.array_equal(packed.cpu().numpy(), home))
