"""Figures of one kernel that can explain a change of its time, under names independent of the profiler.

Metric names are those of Nsight Compute 2024 and later and of rocprofv3 (gfx9 to gfx12). NVIDIA gives the use of a pipe (a kind
of arithmetic unit) in percent of its peak; this percentage times cycles is proportional to the instructions of the pipe.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from expctl.gpu.architectures import ModeName
from expctl.profiles.model.kernel_profile import Extent, Kernel

CYCLES = "expctl__cycles_of_call"
"""A counter of expctl's own: elapsed cycles of a call, or its clock times its duration."""
CLOCK = "gpc__cycles_elapsed.avg.per_second"
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
STALLS = {
    "long_scoreboard": "global memory",
    "short_scoreboard": "results of shared memory and special functions",
    "mio_throttle": "the queue to shared memory and special functions",
    "lg_throttle": "the queue to global memory",
    "barrier": "barriers",
    "math_pipe_throttle": "a busy arithmetic pipe",
    "wait": "fixed latencies",
    "no_instruction": "instructions to arrive",
    "imc_miss": "constants",
    "membar": "memory fences",
}
PIPES = {
    "fma": "multiply-adds",
    "alu": "integers and comparisons",
    "xu": "special functions and conversions",
    "fp64": "double precision",
    "tensor_op_hmma": "matrix instructions",
    "lsu": "loads and stores",
}
PIPE = "sm__inst_executed_pipe_{}.avg.pct_of_peak_sustained_active"
TENSOR = "sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_elapsed"
TENSOR_PERCENT = 1.0
"""Least use of the tensor pipe (percent) that means matrix instructions; kernels without any show a little too."""
PRODUCTS = "smsp__sass_thread_inst_executed_op_{}fma_pred_on.sum.per_cycle_elapsed"
BYTES_USED = "smsp__sass_average_data_bytes_per_sector_mem_global_op_{}.ratio"
_WAVEFRONTS = ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "SQ_LDS_IDX_ACTIVE", "SQC_LDS_IDX_ACTIVE")
_CONFLICTS = ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "SQ_LDS_BANK_CONFLICT", "SQC_LDS_BANK_CONFLICT")
_INSTRUCTIONS = ("SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_VMEM", "SQ_INSTS_SMEM", "SQ_INSTS_LDS")


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelEvidence:
    """Figures of one kernel, means per call, that can explain a change of its time; None is an unknown figure.

    `work` is a count that depends on the problem alone, e.g. bytes stored; `arithmetic` counts vector instructions.
    `bytes_used` is how many of the 32 bytes of a loaded sector are used. `waits` are warp-cycles by the reason to wait,
    `warp_cycles` those of all warps. `pipes` are in percent of each pipe's peak. `waves_percent` is the measured occupancy,
    `resident_percent` the possible one, and `slots` the number of workgroups that fit on the whole GPU.
    """

    time_ns: float | None
    deviation_ns: float | None
    calls: int
    cycles: float | None = None
    clock_mhz: float | None = None
    instructions: float | None = None
    spills: float | None = None
    scratch_bytes: int | None = None
    vgpr: int | None = None
    lds_bytes: int | None = None
    grid: Extent | None = None
    workgroup: Extent | None = None
    workgroup_size: int | None = None
    groups: int | None = None
    waves_percent: float | None = None
    resident_percent: float | None = None
    limiter: str = ""
    slots: int | None = None
    arithmetic: float | None = None
    work: float | None = None
    load_requests: float | None = None
    load_sectors: float | None = None
    bytes_used: float | None = None
    shared_requests: float | None = None
    shared_wavefronts: float | None = None
    conflicts: float | None = None
    barrier_pipe: float | None = None
    dram_bytes: float | None = None
    dram_percent: float | None = None
    warp_cycles: float | None = None
    waits: Mapping[str, float] = field(default_factory=dict)
    pipes: Mapping[str, float] = field(default_factory=dict)


def evidence_of(kernel: Kernel) -> KernelEvidence:
    """Return the figures of `kernel` that can explain a change of its time. Its occupancy must have been computed before."""
    launch, counters = kernel.launch, kernel.counters
    resident = kernel.occupancy.resident[0] if kernel.occupancy else None
    issued = _first(counters, "smsp__inst_issued.sum", "smsp__inst_executed.sum")
    latency = counters.get("smsp__average_warp_latency_per_inst_issued.ratio")
    cycles = counters.get(CYCLES)
    barrier_share = counters.get("sm__inst_executed_pipe_adu.avg.pct_of_peak_sustained_elapsed")
    return KernelEvidence(
        time_ns=kernel.mean_ns,
        deviation_ns=kernel.sd_ns,
        calls=kernel.calls,
        cycles=cycles,
        clock_mhz=_clock(kernel, cycles),
        instructions=_first(counters, "smsp__inst_executed.sum", "SQ_INSTS") or _sum(counters, *_INSTRUCTIONS),
        spills=_first(counters, "sass__inst_executed_register_spilling", "derived__local_spilling_requests"),
        scratch_bytes=launch.scratch_bytes,
        vgpr=launch.vgpr,
        lds_bytes=launch.lds_bytes,
        grid=launch.grid,
        workgroup=launch.workgroup,
        workgroup_size=launch.workgroup_size,
        groups=launch.groups,
        waves_percent=counters.get("sm__warps_active.avg.pct_of_peak_sustained_active"),
        resident_percent=resident.percent if resident else None,
        limiter=resident.limiter if resident else "",
        slots=_slots(kernel),
        arithmetic=counters.get("SQ_INSTS_VALU"),
        work=_work(counters, cycles),
        load_requests=_first(
            counters, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "SQ_INSTS_VMEM_RD", "SQ_INSTS_TEX_LOAD"
        ),
        load_sectors=counters.get("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
        bytes_used=counters.get(BYTES_USED.format("ld")) or None,
        shared_requests=_sum(counters, "sass__inst_executed_shared_loads", "sass__inst_executed_shared_stores")
        or counters.get("SQ_INSTS_LDS"),
        shared_wavefronts=_first(counters, *_WAVEFRONTS),
        conflicts=_first(counters, *_CONFLICTS),
        barrier_pipe=barrier_share * cycles if barrier_share is not None and cycles else None,
        dram_bytes=_sum(counters, "dram__bytes_read.sum", "dram__bytes_write.sum") or _kib(counters),
        dram_percent=counters.get("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"),
        warp_cycles=None if latency is None or issued is None else latency * issued,
        waits={name: counters[key] * issued for name in STALLS if issued and (key := STALL.format(name)) in counters},
        pipes={name: counters[key] for name in PIPES if (key := PIPE.format(name)) in counters},
    )


def _slots(kernel: Kernel) -> int | None:
    if kernel.occupancy is None or not kernel.units:
        return None
    resident = kernel.occupancy.resident[0]
    return resident.workgroups * (kernel.units // 2 if resident.mode is ModeName.WGP else kernel.units)


def _clock(kernel: Kernel, cycles: float | None) -> float | None:
    """Return the GPU's clock in MHz during the kernel: `cycles` over mean time, else the clock that the profiler sampled."""
    if cycles and kernel.mean_ns:
        return cycles / kernel.mean_ns * 1e3
    sampled = kernel.counters.get(CLOCK)
    return sampled / 1e6 if sampled else None


def _work(counters: Mapping[str, float], cycles: float | None) -> float | None:
    """Return a count that depends on the problem but not on its tiles; None if no counter gives one.

    It is the first known of: bytes stored, matrix instructions, multiply-adds. Some counters are percentages of a peak or
    rates; times `cycles` they are proportional to a count.
    """
    sectors = counters.get("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum")
    if sectors and (used := counters.get(BYTES_USED.format("st"))):
        return sectors * used
    matrix = counters.get(TENSOR, 0.0)
    if cycles and matrix >= TENSOR_PERCENT:
        return matrix * cycles
    products = math.fsum(counters.get(PRODUCTS.format(kind), 0.0) for kind in "fhd")
    return products * cycles if cycles and products else counters.get("WRITE_SIZE")


def _first(counters: Mapping[str, float], *names: str) -> float | None:
    return next((counters[name] for name in names if name in counters), None)


def _sum(counters: Mapping[str, float], *names: str) -> float | None:
    return sum(counters[name] for name in names) if all(name in counters for name in names) else None


def _kib(counters: Mapping[str, float]) -> float | None:
    total = _sum(counters, "FETCH_SIZE", "WRITE_SIZE")
    return None if total is None else 1024 * total
