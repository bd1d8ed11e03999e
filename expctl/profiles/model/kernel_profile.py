"""What a GPU profiler recorded of one run, whatever tool wrote it. Times are nanoseconds of the device's clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from expctl.gpu.occupancy import Occupancy


class Source(StrEnum):
    """The formats that are read."""

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
    """What a kernel does, judged by its name."""

    GEMM = "GEMM"
    ATTENTION = "attention"
    COMMUNICATION = "communication"
    NORMALISATION = "normalisation"
    REDUCTION = "reduction"
    COPY = "copy"
    ELEMENTWISE = "elementwise"
    OTHER = "other"


class GridUnit(StrEnum):
    """What a grid is counted in: ROCm's tools print work-items, CUDA's print workgroups (blocks)."""

    WORK_ITEMS = "work-items"
    WORKGROUPS = "workgroups"
    UNSURE = "work-items or workgroups"


Extent = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One GPU as the tool described it. `units` are compute units or SMs. None and "" where the tool is silent."""

    name: str
    arch: str = ""
    product: str = ""
    units: int | None = None
    partitions: int | None = None
    """XCCs: hardware counters of a dispatch are summed over them."""
    clock_mhz: int | None = None
    """The highest, as the driver states it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One way in which a kernel was launched. `vgpr` counts accumulation registers too, `agpr` says how many.

    Values are corrected where the tool is known to misreport (profiles/roofline/reported_registers.py). `extent` is x, y, z.
    """

    vgpr: int | None = None
    agpr: int | None = None
    sgpr: int | None = None
    lds_bytes: int | None = None
    scratch_bytes: int | None = None
    grid: Extent | None = None
    workgroup: Extent | None = None
    workgroup_size: int | None = None
    """Work-items; known where the three extents are not, too."""
    groups: int | None = None
    """Workgroups of the whole grid."""
    calls: int | None = None
    total_ns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One kernel over the run. None is what the file doesn't hold: times of counters, medians of statistics.

    `sd_ns` is the sample deviation of all calls, `repeat_sd_ns` that of calls launched alike: the noise without the mix of
    launches. `counters` are means per call. Launches: most time first.
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
    """Of the launch with the most time."""
    occupancy_note: str = ""
    units: int | None = None
    """Compute units or SMs of the GPU, set along with the occupancy."""

    @property
    def launch(self) -> Launch:
        """The launch with the most time; an empty one where nothing is known."""
        return self.launches[0] if self.launches else Launch()


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """Transfers of the copy engines or the runtime in one direction; they are no kernels. `total_bytes` where recorded."""

    name: str
    calls: int
    total_ns: int
    total_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """One device over the run: from its first dispatch to the end of its last. Overlapping kernels count once as busy.

    A gap is time in which no kernel runs. Up to `launch_gap_most_ns` it is a launch gap, beyond it the host kept the device
    idle.
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
        """All gaps together."""
        return self.span_ns - self.busy_ns

    @property
    def idle_percent(self) -> float:
        """Of the span."""
        return 100 * self.idle_ns / self.span_ns if self.span_ns else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassShare:
    """All kernels of one class."""

    kind: KernelClass
    kernels: int
    calls: int
    total_ns: int
    share_percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One run. Kernels: most time first. `notes` label what the tool gets wrong, `missing` what the file doesn't hold."""

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
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def class_shares(kernels: Sequence[Kernel], total: int) -> tuple[ClassShare, ...]:
    """Totals per class, most time first; shares are of `total`, the whole run's nanoseconds."""
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
