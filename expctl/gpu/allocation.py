"""What waves and workgroups are given: resources are handed out in blocks, to whole waves."""

from expctl.gpu.architectures import Architecture, Mode
from expctl.gpu.headroom import Usage


def waves_of(gpu: Architecture, usage: Usage) -> int:
    """Waves of one workgroup."""
    return rounded_up(usage.workgroup, gpu.wave)


def register_waves(gpu: Architecture, vgpr: int) -> int:
    """Waves per SIMD that its vector registers are enough for, of `vgpr` each; it may be more than there are wave slots."""
    return gpu.vgpr_total // blocks(vgpr, gpu.vgpr_granule) if vgpr else gpu.waves_per_simd


def sgpr_waves(gpu: Architecture, sgpr: int) -> int:
    """Waves per SIMD. Source: GCNSubtarget::getOccupancyWithNumSGPRs (800 per SIMD: 100 for 8 waves)."""
    if gpu.sgpr_total is None or sgpr <= gpu.sgpr_total // gpu.waves_per_simd:
        return gpu.waves_per_simd
    return gpu.waves_per_simd - 1


def takes_slot(mode: Mode, waves: int) -> bool:
    """Whether a workgroup of `waves` takes a barrier slot."""
    return waves > 1 or not mode.single_wave_is_free


def blocks(used: int, granule: int) -> int:
    """`used`, rounded up to whole granules."""
    return rounded_up(used, granule) * granule


def rounded_up(value: int, divisor: int) -> int:
    """The quotient, rounded up."""
    return -(-value // divisor)
