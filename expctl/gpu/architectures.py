"""Limits of each GPU's hardware units (compute unit, WGP, SM): registers, shared memory, wave and barrier slots.

Sources: LLVM's AMDGPU usage guide and subtarget features (register file, granules, wave and barrier slots), the RDNA 2 to 4 and
CDNA 2 to 4 ISA guides (LDS, and its allocation in blocks of 1 KiB from RDNA 2 on, 512 B before, 1280 B on gfx950), the table
of compute capabilities in NVIDIA's CUDA programming guide (warps, blocks and shared memory of an SM, of which each block takes
1 KiB extra from sm_80 on) and its tuning guides.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

KIB = 1024


class ModeName(StrEnum):
    """Hardware unit that the waves of a workgroup share: a work-group processor, a compute unit (half a WGP) or an SM."""

    WGP = "WGP"
    CU = "CU"
    SM = "SM"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """Limits of one hardware unit, whose workgroups share `lds_bytes` and `group_slots` (barriers, or blocks of an SM)."""

    name: ModeName
    simds: int
    lds_bytes: int
    group_slots: int
    single_wave_is_free: bool
    """Whether a workgroup of one wave takes no slot: on AMD it needs no barrier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """Limits of one GPU. A SIMD has `vgpr_total` vector registers per lane, allocated in multiples of `vgpr_granule`."""

    name: str
    wave: int
    waves_per_simd: int
    vgpr_total: int
    vgpr_granule: int
    vgpr_most: int
    """Most vector registers of one wave."""
    sgpr_total: int | None
    """Scalar registers of a SIMD; None where every wave has its own fixed set."""
    lds_granule: int
    lds_reserved: int
    """Bytes of LDS that the system takes for each workgroup."""
    lds_most: int
    """Most bytes of LDS of one workgroup."""
    workgroup_most: int
    modes: tuple[Mode, ...]
    """Units that a workgroup can be launched on; the compiler's default comes first."""

    @property
    def waves64(self) -> "Architecture":
        """Return the limits of this RDNA GPU for kernels with waves of 64 lanes, which have half as many registers per lane."""
        total, granule = self.vgpr_total * self.wave // 64, self.vgpr_granule * self.wave // 64
        return replace(self, wave=64, vgpr_total=total, vgpr_granule=granule)


def _rdna(name: str, *, vgpr_total: int, vgpr_granule: int) -> Architecture:
    return Architecture(
        name=name,
        wave=32,
        waves_per_simd=16,
        vgpr_total=vgpr_total,
        vgpr_granule=vgpr_granule,
        vgpr_most=256,
        sgpr_total=None,
        lds_granule=KIB,
        lds_reserved=0,
        lds_most=64 * KIB,
        workgroup_most=1024,
        modes=(
            Mode(name=ModeName.WGP, simds=4, lds_bytes=128 * KIB, group_slots=32, single_wave_is_free=True),
            Mode(name=ModeName.CU, simds=2, lds_bytes=64 * KIB, group_slots=16, single_wave_is_free=True),
        ),
    )


def _cdna(name: str, *, lds_bytes: int, lds_granule: int) -> Architecture:
    return Architecture(
        name=name,
        wave=64,
        waves_per_simd=8,
        vgpr_total=512,
        vgpr_granule=8,
        vgpr_most=512,
        sgpr_total=800,
        lds_granule=lds_granule,
        lds_reserved=0,
        lds_most=lds_bytes,
        workgroup_most=1024,
        modes=(Mode(name=ModeName.CU, simds=4, lds_bytes=lds_bytes, group_slots=16, single_wave_is_free=True),),
    )


def _nvidia(
    name: str, *, warps: int, blocks: int, lds_bytes: int, lds_granule: int = 128, lds_reserved: int = KIB
) -> Architecture:
    return Architecture(
        name=name,
        wave=32,
        waves_per_simd=warps // 4,
        vgpr_total=512,
        vgpr_granule=8,
        vgpr_most=255,
        sgpr_total=None,
        lds_granule=lds_granule,
        lds_reserved=lds_reserved,
        lds_most=lds_bytes - lds_reserved,
        workgroup_most=1024,
        modes=(Mode(name=ModeName.SM, simds=4, lds_bytes=lds_bytes, group_slots=blocks, single_wave_is_free=False),),
    )


_LARGE = ("gfx1100", "gfx1101", "gfx1151", "gfx1200", "gfx1201")
_SMALL = ("gfx1030", "gfx1102", "gfx1103", "gfx1150", "gfx1152")

ARCHITECTURES: Mapping[str, Architecture] = {
    each.name: each
    for each in (
        _cdna("gfx90a", lds_bytes=64 * KIB, lds_granule=512),
        _cdna("gfx942", lds_bytes=64 * KIB, lds_granule=512),
        _cdna("gfx950", lds_bytes=160 * KIB, lds_granule=1280),
        *(_rdna(name, vgpr_total=1536, vgpr_granule=24) for name in _LARGE),
        *(_rdna(name, vgpr_total=1024, vgpr_granule=16) for name in _SMALL),
        _nvidia("sm_70", warps=64, blocks=32, lds_bytes=96 * KIB, lds_granule=256, lds_reserved=0),
        _nvidia("sm_80", warps=64, blocks=32, lds_bytes=164 * KIB),
        _nvidia("sm_86", warps=48, blocks=16, lds_bytes=100 * KIB),
        _nvidia("sm_89", warps=48, blocks=24, lds_bytes=100 * KIB),
        _nvidia("sm_90", warps=64, blocks=32, lds_bytes=228 * KIB),
        _nvidia("sm_100", warps=64, blocks=32, lds_bytes=228 * KIB),
    )
}
