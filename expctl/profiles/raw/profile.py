"""What one file gave, as it was written: uncorrected, not yet grouped by kernel."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

from expctl.profiles.model.kernel_profile import Device, Extent, GridUnit, Source
from expctl.profiles.raw.dispatch_stats import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class RawLaunch:
    """A launch in the tool's words; None where it says nothing. `arch` overrules the device's when set."""

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
    """Work-items of the whole grid, where its extents are not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """A kernel that was summed up by the tool itself."""

    calls: int
    total_ns: int
    mean_ns: float
    min_ns: int | None
    max_ns: int | None
    sd_ns: float | None


@dataclass(slots=True, kw_only=True)
class Moved:
    """Transfers of one direction."""

    calls: int = 0
    total_ns: int = 0
    total_bytes: int | None = None

    def add(self, duration_ns: int, size: int | None) -> None:
        """One more."""
        self.calls += 1
        self.total_ns += duration_ns
        if size is not None:
            self.total_bytes = (self.total_bytes or 0) + size


@dataclass(slots=True, kw_only=True)
class Counted:
    """Sum and number of calls of one counter on one kernel."""

    total: float = 0.0
    calls: int = 0

    def add(self, value: float) -> None:
        """The value of one more call."""
        self.total += value
        self.calls += 1


@dataclass(slots=True, kw_only=True)
class RawProfile:
    """One file. `launches` names the keys of the tally. `identity` is the tool's id of the process, "" without one.

    `untimed` counts calls by key where the file has no times. `counters` is by kernel, then by counter.
    """

    source: Source
    file: str
    identity: str = ""
    host: str = ""
    grid_unit: GridUnit = GridUnit.WORK_ITEMS
    devices: dict[str, Device] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    launches: dict[Hashable, RawLaunch] = field(default_factory=dict)
    statistics: dict[str, Statistic] = field(default_factory=dict)
    untimed: dict[Hashable, int] = field(default_factory=dict)
    counters: dict[str, dict[str, Counted]] = field(default_factory=dict)
    copies: dict[str, Moved] = field(default_factory=dict)
    impossible_copies: int = 0
    notes: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def has_kernels(self) -> bool:
        """Whether any kernel is in it, timed or not."""
        return bool(self.tally.durations or self.statistics or self.untimed)

    def belongs_to(self, owner: str, agents: Mapping[str, Device]) -> None:
        """Put `owner` before the devices, those of `agents`, so that they are told from another host's of the same name."""
        self.launches = {key: replace(raw, device=f"{owner} {raw.device}") for key, raw in self.launches.items()}
        self.tally.tracks = {f"{owner} {name}": track for name, track in self.tally.tracks.items()}
        self.devices = {f"{owner} {key}": replace(each, name=f"{owner} {each.name}") for key, each in agents.items()}

    def count(self, kernel: str, counter: str, value: float) -> None:
        """The value of one counter over one call."""
        self.counters.setdefault(kernel, {}).setdefault(counter, Counted()).add(value)

    def copied(self, name: str, duration_ns: int, size: int | None = None) -> None:
        """One transfer. One that ends before it begins is left out, and counted."""
        if duration_ns < 0:
            self.impossible_copies += 1
        else:
            self.copies.setdefault(name, Moved()).add(duration_ns, size)
