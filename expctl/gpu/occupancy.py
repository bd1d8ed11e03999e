"""How many waves of a kernel can live on a GPU at once, and which resource holds back the next one.

Two figures, which differ on purpose. *LLVM's* is waves per SIMD as the AMDGPU backend prints it (`; Occupancy:`): it spreads
the waves of workgroups over the SIMDs, rounding up, and takes LDS as written. *Resident* counts whole workgroups that fit into
a compute unit, with LDS rounded up to its blocks: what the machine can hold. Both are bounds, not measurements.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from expctl.domain.errors import Refused
from expctl.gpu.allocation import blocks, register_waves, rounded_up, sgpr_waves, takes_slot, waves_of
from expctl.gpu.architectures import ARCHITECTURES, Architecture, Mode, ModeName
from expctl.gpu.headroom import Headroom, Usage, headroom


class Limiter(StrEnum):
    """What allows no further wave or workgroup."""

    VGPR = "vgpr"
    SGPR = "sgpr"
    LDS = "lds"
    WORKGROUP_SIZE = "workgroup size"
    """The wave slots that are left hold no whole workgroup."""
    GROUP_SLOTS = "barrier slots"
    WAVE_SLOTS = "wave slots"
    """All are taken: full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resident:
    """Whole workgroups on one unit. `percent` is of its wave slots; zero workgroups: it can't be launched."""

    mode: ModeName
    workgroups: int
    waves: int
    percent: float
    limiter: str
    headroom: Headroom
    """In workgroups."""
    obstacle: str
    """Why not even one workgroup can be launched; else empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupancy:
    """`waves_per_simd` is LLVM's figure (for sm_90 resident warps per scheduler, rounded up); `naive_percent` is the estimate
    without granules and whole workgroups per unit, which is wrong, and shown because people quote it."""

    arch: str
    wave: int
    waves_per_simd: int
    most_waves_per_simd: int
    limiter: str
    headroom: Headroom
    """In waves per SIMD."""
    vgpr_allocated: int
    resident: tuple[Resident, ...]
    naive_percent: float


def architecture(name: str, wave: int | None = None) -> Architecture:
    """The GPU `name`, with waves of 32 or 64 lanes. Raises Refused."""
    found = ARCHITECTURES.get(name)
    if found is None:
        raise Refused(
            f"no occupancy figures for {name or 'an unnamed GPU'}",
            code="gpu-unknown",
            expected=f"one of {', '.join(sorted(ARCHITECTURES))}",
            found=name or "nothing",
            hint="name the GPU with --arch",
        )
    if wave in (None, found.wave):
        return found
    if wave != 64 or found.modes[0].name is not ModeName.WGP:
        raise Refused(
            f"{name} has no waves of {wave} lanes",
            code="wave-size-unknown",
            expected=str(found.wave),
            found=str(wave),
            hint="leave --wave out",
        )
    return found.waves64


def occupancy(gpu: Architecture, usage: Usage, mode: ModeName | None = None) -> Occupancy:
    """Both figures; LLVM's in `mode`, the compiler's default unless given. Raises Refused for what no kernel can ask for."""
    _check(gpu, usage)
    chosen = next((each for each in gpu.modes if each.name is mode), gpu.modes[0])
    limits = _llvm_limits(gpu, chosen, usage)
    return Occupancy(
        arch=gpu.name,
        wave=gpu.wave,
        waves_per_simd=min(limits.values()),
        most_waves_per_simd=gpu.waves_per_simd,
        limiter=_limiter(limits),
        headroom=headroom(gpu, usage, lambda changed: llvm_waves(gpu, chosen, changed)),
        vgpr_allocated=blocks(usage.vgpr, gpu.vgpr_granule),
        resident=tuple(_resident(gpu, each, usage) for each in gpu.modes),
        naive_percent=_naive_percent(gpu, usage),
    )


def llvm_waves(gpu: Architecture, mode: Mode, usage: Usage) -> int:
    """Waves per SIMD, at least 1.

    Registers: floor(total / used, rounded up to the granule). LDS and workgroup size: n workgroups share a unit, the least of
    floor(pool / LDS), the barrier slots and floor(wave slots / waves of a workgroup); n workgroups are ceil(n w / SIMDs) waves.
    Source: GCNSubtarget::computeOccupancy and AMDGPU::IsaInfo of LLVM 19; later versions differ for a range of workgroup sizes.
    """
    return min(_llvm_limits(gpu, mode, usage).values())


def _llvm_limits(gpu: Architecture, mode: Mode, usage: Usage) -> dict[Limiter, int]:
    """Waves per SIMD that each resource allows."""
    most, w = gpu.waves_per_simd, waves_of(gpu, usage)
    if gpu.lds_reserved:  # not LLVM's: warps of the blocks that are resident
        limits = {name: rounded_up(groups * w, mode.simds) for name, groups in _resident_limits(gpu, mode, usage).items()}
        return {name: min(waves, most) for name, waves in limits.items()} | {Limiter.WAVE_SLOTS: most}

    def spread(groups: int) -> int:
        return min(max(rounded_up(groups * w, mode.simds), 1), most)

    return {
        Limiter.VGPR: min(max(register_waves(gpu, usage.vgpr), 1), most),
        Limiter.SGPR: sgpr_waves(gpu, usage.sgpr),
        Limiter.LDS: spread(mode.lds_bytes // usage.lds_bytes) if usage.lds_bytes else most,
        Limiter.GROUP_SLOTS: spread(mode.group_slots) if takes_slot(mode, w) else most,
        Limiter.WORKGROUP_SIZE: spread(most * mode.simds // w),
        Limiter.WAVE_SLOTS: most,
    }


def _resident(gpu: Architecture, mode: Mode, usage: Usage) -> Resident:
    w, slots = waves_of(gpu, usage), gpu.waves_per_simd * mode.simds
    limits = _resident_limits(gpu, mode, usage)
    groups = min(limits.values())
    return Resident(
        mode=mode.name,
        workgroups=groups,
        waves=groups * w,
        percent=100 * groups * w / slots,
        limiter=Limiter.WAVE_SLOTS.value if groups * w == slots else _limiter(limits),
        headroom=headroom(gpu, usage, lambda changed: min(_resident_limits(gpu, mode, changed).values())),
        obstacle="" if groups else _obstacle(gpu, mode, usage),
    )


def _obstacle(gpu: Architecture, mode: Mode, usage: Usage) -> str:
    """Registers alone do it: what `_check` lets pass fits into one unit's LDS and wave slots."""
    most = register_waves(gpu, usage.vgpr) * mode.simds
    needed = f"its {waves_of(gpu, usage)} waves need {blocks(usage.vgpr, gpu.vgpr_granule)} VGPRs each"
    return f"{needed}, and one {mode.name} has registers for {most} such waves"


def _resident_limits(gpu: Architecture, mode: Mode, usage: Usage) -> dict[Limiter, int]:
    """Workgroups per unit that each resource allows: everything is floored, LDS is rounded up to its blocks."""
    w, most = waves_of(gpu, usage), gpu.waves_per_simd
    registers = min(register_waves(gpu, usage.vgpr), most)
    lds = blocks(usage.lds_bytes + gpu.lds_reserved, gpu.lds_granule)
    unlimited = most * mode.simds
    return {
        Limiter.VGPR: registers * mode.simds // w,
        Limiter.SGPR: sgpr_waves(gpu, usage.sgpr) * mode.simds // w,
        Limiter.LDS: mode.lds_bytes // lds if lds else unlimited,
        Limiter.GROUP_SLOTS: mode.group_slots if takes_slot(mode, w) else unlimited,
        Limiter.WORKGROUP_SIZE: unlimited // w,
    }


def _limiter(limits: dict[Limiter, int]) -> str:
    """The resources that allow the least; `wave slots` alone when the machine is full."""
    least = min(limits.values())
    if limits.get(Limiter.WAVE_SLOTS) == least:
        return Limiter.WAVE_SLOTS.value
    return ", ".join(name.value for name, value in limits.items() if value == least)


def _naive_percent(gpu: Architecture, usage: Usage) -> float:
    """Registers and LDS each divided into what one compute unit has, without granules; the lesser of the two."""
    unit, w = gpu.modes[-1], waves_of(gpu, usage)
    slots = gpu.waves_per_simd * unit.simds
    by_registers = gpu.vgpr_total // usage.vgpr * unit.simds if usage.vgpr else slots
    by_lds = unit.lds_bytes // usage.lds_bytes * w if usage.lds_bytes else slots
    return float(100 * min(Fraction(by_registers, slots), Fraction(by_lds, slots), Fraction(1)))


def _check(gpu: Architecture, usage: Usage) -> None:
    bounds = (
        ("vector registers", usage.vgpr, 0, gpu.vgpr_most),
        ("scalar registers", usage.sgpr, 0, 128),
        ("LDS bytes", usage.lds_bytes, 0, gpu.lds_most),
        ("work-items of a workgroup", usage.workgroup, 1, gpu.workgroup_most),
    )
    for name, value, least, most in bounds:
        if not least <= value <= most:
            raise Refused(
                f"{gpu.name} can't run this kernel",
                code="kernel-exceeds-gpu",
                expected=f"{least} to {most} {name}",
                found=str(value),
                hint="give a figure within these bounds, or another GPU with --arch",
            )
