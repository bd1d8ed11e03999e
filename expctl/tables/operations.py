"""Which settings a config of an operation has, and which configs can be built at all, as arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Settings = Mapping[str, int | str | None]
"""The settings of one config by name. A whole number each where the operation is known; another tool's may be text or null."""

LDS_BYTES, SHARED_BYTES = 65536, 227 * 1024
"""Of a workgroup of gfx1151, and of a block of sm_90."""


@dataclass(frozen=True, slots=True)
class Operation:
    """The names of a config's settings, in order, and `fault`, which says why a config can't be built ("": it can)."""

    parameters: tuple[str, ...]
    fault: Callable[[Settings], str]


def config_fault(settings: Settings) -> str:
    """Say what the static assertions of the kernel have against a config; "" if nothing. Two stages are those of every target's
    kernel, more are a ring's of sm_90.
    """
    numbers = [int(value or 0) for value in settings.values()]
    return _ring_fault(*numbers) if numbers[3] > 2 else _tile_fault(*numbers)


def _tile_fault(warps_m: int, warps_n: int, unroll_k: int, stages: int, repeat_m: int, repeat_n: int) -> str:
    # kernel/hip/config.h, and the LDS of gfx1151
    threads, chunk_k = 32 * warps_m * warps_n, 16 * unroll_k
    block_m, block_n = 16 * warps_m * repeat_m, 16 * warps_n * repeat_n
    lds = chunk_k * (2 * block_m + block_n)
    checks = {
        f"{stages} stages, expected 2": stages == 2,
        f"UNROLL_K {unroll_k}, expected an even number": unroll_k % 2 == 0,
        f"{threads} threads, expected at most 1024 threads": threads <= 1024,
        f"{repeat_m * repeat_n} fragments of a wave, expected at most 16": repeat_m * repeat_n <= 16,
        f"{block_m} rows of a block, expected at most 256": block_m <= 256,
        "pieces of A that its threads can't share evenly": block_m * chunk_k // 8 % threads == 0,
        "pieces of B that its threads can't share evenly": block_n * chunk_k // 16 % threads == 0,
        f"{lds} bytes of LDS, expected at most {LDS_BYTES}": lds <= LDS_BYTES,
    }
    return _first(checks)


def _ring_fault(warps_m: int, warps_n: int, unroll_k: int, stages: int, repeat_m: int, repeat_n: int) -> str:
    # kernel/hip/sm_90/ring_memory.h
    tile_m, tile_n, stage_k = 16 * repeat_m, 16 * repeat_n * warps_n, 16 * unroll_k
    shared = 1024 + stages * (stage_k * (2 * tile_m + tile_n) + 16) + 2 * tile_m * tile_n
    checks = {
        f"{stages} stages of {warps_m} rows of warps, expected 1, or 2 stages": warps_m == 1,
        f"{stages} stages of {warps_n} columns of warps, expected a multiple of 4, or 2 stages": warps_n % 4 == 0,
        f"{tile_n} columns of a tile, expected a multiple of 128": tile_n % 128 == 0,
        f"{stage_k} k of a stage, expected 64 or 128": stage_k in {64, 128},
        f"{shared} bytes of shared memory, expected at most {SHARED_BYTES}": shared <= SHARED_BYTES,
    }
    return _first(checks)


def _first(checks: Mapping[str, bool]) -> str:
    return next((fault for fault, holds in checks.items() if not holds), "")


TILE = Operation(("WARPS_M", "WARPS_N", "UNROLL_K", "STAGES", "REPEAT_M", "REPEAT_N"), config_fault)
KNOWN: Mapping[str, Operation] = {"scaled_mm_a16w8_e5m2": TILE}
"""Operations by the name of their folder. The settings of another one are taken as they are."""


def config_text(settings: Settings) -> str:
    """Return a config as a benchmark takes it: the values alone, such as 1,8,2,2,8,2."""
    return ",".join(str(value) for value in settings.values())


def settings_of(config: str, operation: Operation = TILE) -> Settings:
    """Return the settings of a config such as 1,8,2,2,8,2. Raises ValueError."""
    values = [int(word) for word in config.split(",")]
    return dict(zip(operation.parameters, values, strict=True))
