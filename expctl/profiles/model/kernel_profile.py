"""The profile of one run on a GPU, independent of the tool that wrote it. Times are nanoseconds of the device's clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from expctl.gpu.occupancy import Occupancy
from expctl.profiles.model.origin import Origin


class Source(StrEnum):
    """File formats of profilers that expctl reads."""

    ROCPD = "rocpd database"
    ROCPROF_CSV = "rocprofv3 kernel trace (CSV)"
    ROCPROF_STATS = "rocprofv3 kernel statistics (CSV)"
    ROCPROF_COUNTERS = "rocprofv3 counter collection (CSV)"
    ROCPROF_JSON = "rocprofv3 JSON"
    TORCH = "torch.profiler trace"
    NCU_RAW = "Nsight Compute CSV, raw page"
    NCU_DETAILS = "Nsight Compute CSV, details page"
    NSYS = "Nsight Systems database"


class KernelClass(StrEnum):
    """Classes of GPU kernels by the kind of work: by torch's operator where the trace has it, else by the kernel's name."""

    GEMM = "GEMM"
    CONVOLUTION = "convolution"
    ATTENTION = "attention"
    COMMUNICATION = "communication"
    NORMALISATION = "normalisation"
    REDUCTION = "reduction"
    EMBEDDING = "embedding"
    FFT = "FFT"
    COPY = "copy"
    ELEMENTWISE = "elementwise"
    OTHER = "other"


class GridUnit(StrEnum):
    """Whether a profiler counts a grid in work-items (ROCm's tools) or in workgroups (CUDA's); UNSURE if either is possible."""

    WORK_ITEMS = "work-items"
    WORKGROUPS = "workgroups"
    UNSURE = "work-items or workgroups"


Extent = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One GPU as a profiler described it; `units` are compute units or SMs. Unknown figures are None, unknown text is ""."""

    name: str
    arch: str = ""
    product: str = ""
    units: int | None = None
    partitions: int | None = None
    """Number of XCCs (compute dies); the hardware counters of a dispatch are summed over them."""
    clock_mhz: int | None = None
    """Highest compute clock, as the driver states it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One launch configuration of a kernel, with the number and total time (ns) of its calls; None is an unknown figure.

    `vgpr` includes accumulation registers, whose number alone is `agpr`. Register counts are corrected where the tool is known
    to misreport (profiles/roofline/reported_registers.py). `grid` and `workgroup` are x, y, z.
    """

    vgpr: int | None = None
    agpr: int | None = None
    sgpr: int | None = None
    lds_bytes: int | None = None
    scratch_bytes: int | None = None
    grid: Extent | None = None
    workgroup: Extent | None = None
    workgroup_size: int | None = None
    """Work-items of a workgroup; known even for tools that don't give its three extents."""
    groups: int | None = None
    """Number of workgroups in the whole grid."""
    calls: int | None = None
    total_ns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One kernel in a profile: its calls, times in ns, launch configurations and counters; None is an unknown figure.

    `sd_ns` is the standard deviation (n - 1) of all calls' durations; `repeat_sd_ns` is pooled over groups of calls with the
    same launch configuration. `counters` are means per call. `launches` are ordered by time, most first.
    """

    name: str
    kind: KernelClass
    calls: int
    total_ns: int | None = None
    mean_ns: float | None = None
    share_percent: float | None = None
    min_ns: int | None = None
    median_ns: float | None = None
    max_ns: int | None = None
    sd_ns: float | None = None
    repeat_sd_ns: float | None = None
    launches: tuple[Launch, ...] = ()
    counters: Mapping[str, float] = field(default_factory=dict)
    occupancy: Occupancy | None = None
    """Occupancy of the launch that takes the most time."""
    occupancy_note: str = ""
    units: int | None = None
    """Compute units or SMs of the GPU; set together with the occupancy."""
    results: float | None = None
    """Elements of the result of a call, by the size that the user states or by recorded shapes."""
    peak_percent: float | None = None
    """FLOP/s in percent of the GPU's arithmetic peak at its highest clock."""
    place: int | None = None
    """Its place in the order in which the run first launches its kernels, as the file has them; None where files don't tell."""
    origins: tuple[Origin, ...] = ()
    """Operators and modules that launched it, most time first; () where the profiler doesn't record them."""

    @property
    def launch(self) -> Launch:
        """Return the launch configuration that takes the most time, or an empty one when none is known."""
        return self.launches[0] if self.launches else Launch()


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """All memory copies in one direction (`name`); `total_bytes` is None where the profiler recorded no size."""

    name: str
    calls: int
    total_ns: int
    total_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Busy and idle time of one GPU, from the start of its first dispatch to the end of its last.

    Time in which several kernels overlap counts once. A gap is a time without a running kernel. It is a launch gap if it lasts
    at most `launch_gap_most_ns`; a longer one means that the host gave the GPU no work.
    """

    device: str
    dispatches: int
    span_ns: int
    busy_ns: int
    gaps: int
    launch_gaps: int
    launch_gap_ns: int
    longest_gap_ns: int
    launch_gap_most_ns: int

    @property
    def idle_ns(self) -> int:
        """Return the total length of all gaps in ns."""
        return self.span_ns - self.busy_ns

    @property
    def idle_percent(self) -> float:
        """Return the idle time in percent of the whole span; 0 for an empty span."""
        return 100 * self.idle_ns / self.span_ns if self.span_ns else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """All dispatches of one GPU in one process: starts and ends in ns of its clock, and for each the place of its kernel in
    `Profile.kernels`. They are in the order of the file.
    """

    device: str
    starts: Sequence[int]
    ends: Sequence[int]
    kernels: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassShare:
    """Totals of all kernels of one class (e.g. GEMM) in a profile: number of kernels, calls, time in ns, share of the time."""

    kind: KernelClass
    kernels: int
    calls: int
    total_ns: int
    share_percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A profiled run of a program; `kernels` are ordered by time, most first. `notes` say which figures the profiler is known
    to get wrong, `missing` what the files don't contain.
    """

    path: str
    source: Source
    files: tuple[str, ...]
    grid_unit: GridUnit
    devices: tuple[Device, ...]
    kernels: tuple[Kernel, ...]
    total_ns: int
    calls: int
    timelines: tuple[Timeline, ...] = ()
    copies: tuple[Copy, ...] = ()
    tracks: tuple[Track, ...] = ()
    """Single dispatches; () unless they were asked for, or where the profiler doesn't record when kernels ran."""
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


MEND_PERCENT = 40.0
"""Share of unidentified time from which on a choice of what to work on has no ground."""


def unidentified_percent(profile: Profile) -> float:
    """Return the share of the kernels' time, in percent, whose class isn't known; 0 for a profile without times."""
    time = sum(kernel.total_ns or 0 for kernel in profile.kernels if kernel.kind is KernelClass.OTHER)
    return 100 * time / profile.total_ns if profile.total_ns else 0.0


def class_shares(kernels: Sequence[Kernel], total: int) -> tuple[ClassShare, ...]:
    """Return the totals of each class of `kernels`, most time first. `total` is the time of the whole run in ns, of which
    shares are percentages.
    """
    found = []
    for kind in KernelClass:
        members = [kernel for kernel in kernels if kernel.kind is kind]
        if members:
            time = sum(kernel.total_ns or 0 for kernel in members)
            found.append(
                ClassShare(
                    kind=kind,
                    kernels=len(members),
                    calls=sum(kernel.calls for kernel in members),
                    total_ns=time,
                    share_percent=100 * time / total if total else 0.0,
                )
            )
    return tuple(sorted(found, key=lambda each: -each.total_ns))
