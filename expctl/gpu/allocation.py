"""Rules by which a GPU allocates resources to waves and workgroups, in whole granules."""

from expctl.gpu.architectures import Architecture, Mode
from expctl.gpu.headroom import Usage


def workgroup_waves(gpu: Architecture, usage: Usage) -> int:
    """Return the number of waves in one workgroup."""
    return ceil_div(usage.workgroup, gpu.wave)


def register_waves(gpu: Architecture, vgpr: int) -> int:
    """Return how many waves that use `vgpr` vector registers each fit into a SIMD's register file. This may be more than the
    SIMD has wave slots. Without registers (0), it is the number of wave slots.
    """
    return gpu.vgpr_total // round_up(vgpr, gpu.vgpr_granule) if vgpr else gpu.waves_per_simd


def sgpr_waves(gpu: Architecture, sgpr: int) -> int:
    """Return how many waves that use `sgpr` scalar registers each fit into a SIMD, at most its number of wave slots. Source:
    GCNSubtarget::getOccupancyWithNumSGPRs of LLVM (800 registers per SIMD: 100 for each of 8 waves).
    """
    if gpu.sgpr_total is None or sgpr <= gpu.sgpr_total // gpu.waves_per_simd:
        return gpu.waves_per_simd
    return gpu.waves_per_simd - 1


def needs_slot(mode: Mode, waves: int) -> bool:
    """Does a workgroup of `waves` waves take a barrier slot (on NVIDIA, a block slot)?"""
    return waves > 1 or not mode.single_wave_is_free


def round_up(used: int, granule: int) -> int:
    """Round `used` up to a multiple of `granule`."""
    return ceil_div(used, granule) * granule


def ceil_div(value: int, divisor: int) -> int:
    """Return value / divisor, rounded up."""
    return -(-value // divisor)
