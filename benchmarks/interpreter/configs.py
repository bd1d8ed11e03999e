"""Which configs kernel/hip/config.h accepts."""

from __future__ import annotations

import random
import re
from itertools import product

from benchmarks.interpreter.compiler import HIP
from benchmarks.interpreter.launches import Config

MOST_LDS = 65536
LANES = 32
SAMPLE = 24


def built() -> list[Config]:
    """Those of a build that isn't told otherwise."""
    rows = re.findall(r"^ *X\(([\d, ]+)\)", (HIP / "config.h").read_text(), re.MULTILINE)
    return [parse(row) for row in rows]


def accepted() -> list[Config]:
    """All that pass the static asserts of config.h and slices_gfx11.h."""
    found = []
    for warps_m, warps_n, repeat_m, repeat_n in product(range(1, 33), range(1, 33), range(1, 17), range(1, 17)):
        if warps_m * warps_n > 32 or repeat_m * repeat_n > 16 or warps_m * repeat_m > 16:
            continue
        for unroll_k in (2, 4, 8, 16, 32, 64):
            config = _config(warps_m, warps_n, unroll_k, 2, repeat_m, repeat_n)
            block_m, block_n, chunk = extents(config)
            threads = 32 * warps_m * warps_n
            even = block_m * chunk // 8 % threads == 0 and block_n * chunk // 16 % threads == 0
            waves = block_n * chunk // 2 // 16 % LANES == 0
            if even and waves and (2 * block_m + block_n) * chunk <= MOST_LDS:
                found.append(config)
    return found


def usual() -> list[Config]:
    """Those that are powers of two throughout, with a chunk of at most 128: what anybody tunes over."""
    return [config for config in accepted() if config[2] <= 8 and all(n & (n - 1) == 0 for n in config)]


def sample() -> list[Config]:
    """The built ones, and others of the usual ones, drawn once."""
    first = built()
    rest = [config for config in usual() if config not in first]
    return [*first, *random.Random(24).sample(rest, SAMPLE - len(first))]  # noqa: S311  a draw that a seed gives again


def extents(config: Config) -> tuple[int, int, int]:
    """block_m, block_n and chunk_k."""
    warps_m, warps_n, unroll_k, _, repeat_m, repeat_n = config
    return 16 * warps_m * repeat_m, 16 * warps_n * repeat_n, 16 * unroll_k


def parse(text: str) -> Config:
    """From "1,8,2,2,8,2"."""
    return _config(*map(int, text.split(",")))


def _config(*numbers: int) -> Config:
    warps_m, warps_n, unroll_k, stages, repeat_m, repeat_n = numbers
    return warps_m, warps_n, unroll_k, stages, repeat_m, repeat_n
