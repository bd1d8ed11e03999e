"""Data of one profiler file as the profiler wrote it: uncorrected, and not yet grouped by kernel."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

from expctl.profiles.model.kernel_profile import Device, Extent, GridUnit, Source
from expctl.profiles.model.origin import Origin
from expctl.profiles.raw.dispatch_stats import DispatchTimes


@dataclass(frozen=True, slots=True, kw_only=True)
class RawLaunch:
    """One launch configuration of a kernel as the profiler reported it; None is a figure that it didn't report."""

    kernel: str
    device: str = ""
    vgpr: int | None = None
    accum: int | None = None
    sgpr: int | None = None
    lds_bytes: int | None = None
    scratch_bytes: int | None = None
    grid: Extent | None = None
    workgroup: Extent | None = None
    workgroup_size: int | None = None
    grid_size: int | None = None
    """Work-items of the whole grid, for tools that give this product and not its three extents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """Calls and times (ns) of one kernel, in total and per call, as the profiler itself computed them."""

    calls: int
    total_ns: int
    mean_ns: float
    min_ns: int | None
    max_ns: int | None
    sd_ns: float | None


@dataclass(slots=True, kw_only=True)
class CopyTotals:
    """Number, time (ns) and bytes of all memory copies in one direction; `total_bytes` is None where none was recorded."""

    calls: int = 0
    total_ns: int = 0
    total_bytes: int | None = None

    def add(self, duration_ns: int, size: int | None) -> None:
        """Add one copy of `duration_ns` and `size` bytes (None for a size that wasn't recorded)."""
        self.calls += 1
        self.total_ns += duration_ns
        if size is not None:
            self.total_bytes = (self.total_bytes or 0) + size


@dataclass(slots=True, kw_only=True)
class CounterTotals:
    """Sum of one hardware counter over the calls of one kernel, and the number of these calls."""

    total: float = 0.0
    calls: int = 0

    def add(self, value: float) -> None:
        """Add the value that the counter had over one more call of the kernel."""
        self.total += value
        self.calls += 1


@dataclass(slots=True, kw_only=True)
class RawProfile:
    """Everything that one profiler file says about one process.

    A launch key stands for a kernel in one launch configuration; `launches` maps it to its description, and `untimed` to the
    number of its calls if the file has no times. `identity` is the profiler's id of the process, "" without one. `counters` are
    by kernel, then by counter name; `origins` by kernel, for traces of torch.
    """

    source: Source
    file: str
    identity: str = ""
    host: str = ""
    grid_unit: GridUnit = GridUnit.WORK_ITEMS
    devices: dict[str, Device] = field(default_factory=dict)
    timing: DispatchTimes = field(default_factory=DispatchTimes)
    launches: dict[Hashable, RawLaunch] = field(default_factory=dict)
    statistics: dict[str, Statistic] = field(default_factory=dict)
    untimed: dict[Hashable, int] = field(default_factory=dict)
    counters: dict[str, dict[str, CounterTotals]] = field(default_factory=dict)
    copies: dict[str, CopyTotals] = field(default_factory=dict)
    origins: dict[str, tuple[Origin, ...]] = field(default_factory=dict)
    impossible_copies: int = 0
    notes: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def has_kernels(self) -> bool:
        """Return whether the profile contains any call of a kernel, timed or not."""
        return bool(self.timing.durations or self.statistics or self.untimed)

    def prefix_devices(self, owner: str, agents: Mapping[str, Device]) -> None:
        """Prefix all GPU names with `owner` (e.g. a host), so that `agent 1` of two hosts stays two GPUs. `devices` becomes
        `agents` with the same prefix.
        """
        self.launches = {key: replace(raw, device=f"{owner} {raw.device}") for key, raw in self.launches.items()}
        self.timing.intervals = {f"{owner} {name}": interval for name, interval in self.timing.intervals.items()}
        self.devices = {f"{owner} {key}": replace(each, name=f"{owner} {each.name}") for key, each in agents.items()}

    def add_counter(self, kernel: str, counter: str, value: float) -> None:
        """Add the value that hardware counter `counter` had over one call of `kernel`."""
        self.counters.setdefault(kernel, {}).setdefault(counter, CounterTotals()).add(value)

    def add_copy(self, name: str, duration_ns: int, size: int | None = None) -> None:
        """Add one memory copy in direction `name`; one of negative duration is left out and counted in `impossible_copies`."""
        if duration_ns < 0:
            self.impossible_copies += 1
        else:
            self.copies.setdefault(name, CopyTotals()).add(duration_ns, size)
