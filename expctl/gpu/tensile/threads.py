"""Compute the number of threads in a workgroup of a Tensile kernel, as far as its name tells."""

import math
from dataclasses import dataclass

from expctl.gpu.tensile.name import KernelName

ASSUMED = "if the sum is not split within the workgroup, which the name leaves out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Threads:
    """Threads and waves of a workgroup, and lanes of a wave; None if unknown. `assumed` is a condition under which these
    numbers hold, "" if they hold in any case.
    """

    workgroup: int | None
    waves: int | None
    wave: int | None
    assumed: str


def threads(name: KernelName, arch: str = "") -> Threads:
    """Return the threads of a workgroup: by the key WG, else by the macro tile divided by what one wave or thread computes.
    `arch` (e.g. gfx1151) gives the lanes of a wave if the name doesn't: 64 for gfx9, 32 for later ones.
    """
    wave = _lanes(name, arch)
    group = name.value("WorkGroup")
    if isinstance(group, tuple):
        return _counted(math.prod(group), wave, "")
    if name.tile is None:
        return _counted(None, wave, "")
    share = _share(name)
    if share is None or any(size % part for size, part in zip(name.tile, share, strict=False)):
        return _counted(None, wave, "")
    parts = name.tile[0] // share[0] * (name.tile[1] // share[1])
    if name.instruction is None:
        return _counted(parts, wave, ASSUMED)
    return Threads(workgroup=parts * wave if wave else None, waves=parts, wave=wave, assumed=ASSUMED)


def _share(name: KernelName) -> tuple[int, int] | None:
    """Return (rows, columns) of C that one wave computes, or one thread without a matrix instruction; None if unknown."""
    tiles, columns = name.value("MIWaveTile"), name.value("ThreadTile")
    instruction = name.instruction
    if instruction is None:
        return columns if isinstance(columns, tuple) and len(columns) == 2 else None
    if instruction.blocks != 1:
        return None
    if isinstance(tiles, tuple) and len(tiles) == 2:
        return tiles[0] * instruction.m, tiles[1] * instruction.n
    if isinstance(columns, tuple) and len(columns) == 2:
        return columns[0] * instruction.m, columns[1]
    return None


def _lanes(name: KernelName, arch: str) -> int | None:
    lanes = name.value("WavefrontSize")
    if isinstance(lanes, int):
        return lanes
    isa = name.value("ISA")
    known = arch.removeprefix("gfx") or (isa if isinstance(isa, str) and isa != "000" else "")
    if not known:
        return None
    return 64 if known.startswith("9") else 32


def _counted(workgroup: int | None, wave: int | None, assumed: str) -> Threads:
    waves = -(-workgroup // wave) if workgroup and wave else None
    return Threads(workgroup=workgroup, waves=waves, wave=wave, assumed=assumed)
