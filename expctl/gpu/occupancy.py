"""Compute how many waves of a kernel fit on a GPU at once, and which resource limits them.

There are two figures, both upper bounds and not measurements. LLVM's is the waves per SIMD that the AMDGPU backend prints
(`; Occupancy:`): it spreads the waves of workgroups over the SIMDs, rounding up, and doesn't round LDS up to its granule.
The resident figure counts the whole workgroups that fit into one compute unit, with LDS rounded up to its granule.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from expctl.domain.errors import Refused
from expctl.gpu.allocation import ceil_div, needs_slot, register_waves, round_up, sgpr_waves, workgroup_waves
from expctl.gpu.architectures import ARCHITECTURES, Architecture, Mode, ModeName
from expctl.gpu.headroom import Headroom, Usage, headroom


class Limiter(StrEnum):
    """Resources that can limit how many waves of a kernel fit on a GPU."""

    VGPR = "vgpr"
    SGPR = "sgpr"
    LDS = "lds"
    WORKGROUP_SIZE = "workgroup size"
    """The wave slots that are left are too few for a whole workgroup."""
    GROUP_SLOTS = "barrier slots"
    WAVE_SLOTS = "wave slots"
    """All wave slots are taken: full occupancy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resident:
    """How many whole workgroups of a kernel fit at once on one unit (CU, WGP or SM), and what limits their number. `percent` is
    the share of the unit's wave slots that these workgroups fill. With 0 workgroups the kernel can't be launched.
    """

    mode: ModeName
    workgroups: int
    waves: int
    percent: float
    limiter: str
    headroom: Headroom
    """How much more or less of each resource would change the number of resident workgroups."""
    obstacle: str
    """Why not even one workgroup can be launched; "" if one can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupancy:
    """Occupancy of one kernel on one GPU.

    `waves_per_simd` is LLVM's figure (NVIDIA: resident warps per scheduler, rounded up). `naive_percent` is a common, wrong
    estimate, for comparison: it ignores that registers and LDS are allocated in granules, and workgroups as a whole.
    """

    arch: str
    wave: int
    waves_per_simd: int
    most_waves_per_simd: int
    limiter: str
    headroom: Headroom
    """How much more or less of each resource would change `waves_per_simd`."""
    vgpr_allocated: int
    resident: tuple[Resident, ...]
    naive_percent: float


def architecture(name: str, wave: int | None = None) -> Architecture:
    """Return the limits of the GPU `name` for waves of `wave` (32 or 64) lanes; None means the GPU's default wave size. Raises
    Refused for a GPU without occupancy figures, and for a wave size that the GPU doesn't have.
    """
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
            expected=f"waves of {found.wave} lanes",
            found=str(wave),
            hint="leave --wave out",
        )
    return found.waves64


def occupancy(gpu: Architecture, usage: Usage, mode: ModeName | None = None) -> Occupancy:
    """Return the occupancy of a kernel that uses `usage` on `gpu`.

    `mode` (CU or WGP: which unit a workgroup runs on) is for LLVM's figure; None means the compiler's default. Raises Refused
    for more registers, LDS or work-items than the GPU can give to a kernel.
    """
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
        vgpr_allocated=round_up(usage.vgpr, gpu.vgpr_granule),
        resident=tuple(_resident(gpu, each, usage) for each in gpu.modes),
        naive_percent=_naive_percent(gpu, usage),
    )


def llvm_waves(gpu: Architecture, mode: Mode, usage: Usage) -> int:
    """Return the waves per SIMD that LLVM computes for `usage`: the least that any resource allows, at least 1.

    Registers allow floor(registers of a SIMD / registers per wave, rounded up to the granule). Other resources allow ceil(n w /
    SIMDs) for n workgroups of w waves, where n is floor(LDS of the unit / LDS used), the barrier slots, or floor(wave slots /
    w). Source: GCNSubtarget::computeOccupancy and AMDGPU::IsaInfo of LLVM 19; later versions differ for a range of workgroup
    sizes.
    """
    return min(_llvm_limits(gpu, mode, usage).values())


def _llvm_limits(gpu: Architecture, mode: Mode, usage: Usage) -> dict[Limiter, int]:
    most, w = gpu.waves_per_simd, workgroup_waves(gpu, usage)
    if mode.name is ModeName.SM:  # NVIDIA has no figure of LLVM's: warps of the resident blocks
        limits = {name: ceil_div(groups * w, mode.simds) for name, groups in _resident_limits(gpu, mode, usage).items()}
        return {name: min(waves, most) for name, waves in limits.items()} | {Limiter.WAVE_SLOTS: most}

    def spread(groups: int) -> int:
        return min(max(ceil_div(groups * w, mode.simds), 1), most)

    return {
        Limiter.VGPR: min(max(register_waves(gpu, usage.vgpr), 1), most),
        Limiter.SGPR: sgpr_waves(gpu, usage.sgpr),
        Limiter.LDS: spread(mode.lds_bytes // usage.lds_bytes) if usage.lds_bytes else most,
        Limiter.GROUP_SLOTS: spread(mode.group_slots) if needs_slot(mode, w) else most,
        Limiter.WORKGROUP_SIZE: spread(most * mode.simds // w),
        Limiter.WAVE_SLOTS: most,
    }


def _resident(gpu: Architecture, mode: Mode, usage: Usage) -> Resident:
    w, slots = workgroup_waves(gpu, usage), gpu.waves_per_simd * mode.simds
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
    """Return in words why not even one workgroup fits on a unit: it has too few vector registers. No other cause is possible,
    because `_check` has refused usages beyond the other limits.
    """
    most = register_waves(gpu, usage.vgpr) * mode.simds
    needed = f"its {workgroup_waves(gpu, usage)} waves need {round_up(usage.vgpr, gpu.vgpr_granule)} VGPRs each"
    return f"{needed}, and one {mode.name} has registers for {most} such waves"


def _resident_limits(gpu: Architecture, mode: Mode, usage: Usage) -> dict[Limiter, int]:
    """Return how many whole workgroups per unit each resource allows by itself, LDS use being rounded up to its granule."""
    w, most = workgroup_waves(gpu, usage), gpu.waves_per_simd
    registers = min(register_waves(gpu, usage.vgpr), most)
    lds = round_up(usage.lds_bytes + gpu.lds_reserved, gpu.lds_granule)
    unlimited = most * mode.simds
    return {
        Limiter.VGPR: registers * mode.simds // w,
        Limiter.SGPR: sgpr_waves(gpu, usage.sgpr) * mode.simds // w,
        Limiter.LDS: mode.lds_bytes // lds if lds else unlimited,
        Limiter.GROUP_SLOTS: mode.group_slots if needs_slot(mode, w) else unlimited,
        Limiter.WORKGROUP_SIZE: unlimited // w,
    }


def _limiter(limits: dict[Limiter, int]) -> str:
    """Return the resources with the lowest limit, joined by commas; only `wave slots` if those are among them."""
    least = min(limits.values())
    if limits.get(Limiter.WAVE_SLOTS) == least:
        return Limiter.WAVE_SLOTS.value
    return ", ".join(name.value for name, value in limits.items() if value == least)


def _naive_percent(gpu: Architecture, usage: Usage) -> float:
    # Without granules and barrier slots, in percent of the wave slots.
    unit, w = gpu.modes[-1], workgroup_waves(gpu, usage)
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
