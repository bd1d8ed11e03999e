"""Chooses the config for a shape."""

from __future__ import annotations

from collections.abc import Sequence

from kernel.runtime.library import Config

FRAGMENT = 16
"""Rows and columns of one matrix instruction, kFragment of kernel/hip/config.h."""
READING = 24.0
"""Cost of reading a row of A or a column of B for a tile, in products of the tile, as in kernel/hip/host.h."""


def choose(configs: Sequence[Config], compute_units: int, m: int, n: int, k: int) -> int:  # noqa: ARG001 - a tuned table will ask for K
    """Return the index of the config that does the least work for an M x N x K product, idle compute units counted."""
    return min(range(len(configs)), key=lambda index: _cost(configs[index], compute_units, m, n))


def _cost(config: Config, compute_units: int, m: int, n: int) -> float:
    warps_m, warps_n, _, _, repeat_m, repeat_n = config
    block_m, block_n = FRAGMENT * warps_m * repeat_m, FRAGMENT * warps_n * repeat_n
    blocks = -(-m // block_m) * -(-n // block_n)
    return max(blocks, compute_units) * (block_m * block_n + READING * (block_m + block_n))
