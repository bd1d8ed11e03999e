"""The types of protocol.yaml: the fixed rules of measuring one kernel."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from expctl.domain.protocol.boundaries import LOOKS
from expctl.domain.protocol.proposer import Proposer
from expctl.domain.protocol.step import Step


class Toolchain(StrEnum):
    """The toolchain that builds a target. `command` runs the protocol's own argv."""

    COMMAND = "command"
    ZIG_CPU = "zig-cpu"
    ZIG_GFX = "zig-gfx"
    HIPCC = "hipcc"
    NVCC = "nvcc"


class NumberKind(StrEnum):
    """Kind of a figure. Counted and static figures are never shown as speed."""

    WALL_TIME = "wall_time"
    DEVICE_TIME = "device_time"
    EXACT_COUNT = "exact_count"
    STATIC = "static"


class Style(StrEnum):
    """How a round is measured: in four fresh launches, or in short alternating visits to two pinned worker processes."""

    LAUNCH = "launch"
    FINE = "fine"


class Calibrate(StrEnum):
    """Is calibration required before a run, or advised?"""

    REQUIRED = "required"
    ADVISED = "advised"


class Build(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The build of a target. `argv` belongs to `command`; `source` and `flags` to the other toolchains."""

    toolchain: Toolchain
    source: str = ""
    flags: tuple[str, ...] = ()
    arch: str = ""
    argv: tuple[str, ...] = ()
    artifact: str = "kernel.so"
    timeout_s: float = 600.0


class Requires(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Executables and devices that a machine must have to use a target."""

    executables: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    hint: str = ""


class Size(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One problem size of the KPI. `flop` is the work of one iteration, 0 where throughput means nothing.

    A `rescuer` may keep a patch by its own gain while the objective is about zero.
    """

    name: str
    weight: float
    flop: int = 0
    rescuer: bool = False


class Benchmark(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The benchmark of the KPI. `iterations` per visit and `quads` belong to style `fine`.

    `rounds` is the most that a search may take: one of the planned looks. `respawn` is the number of rounds that a pair of
    workers of style `fine` lives, 1 where starting is cheap; a verdict counts them as one. Where calibration is required, a run
    without one calibrates first. `peak_tflops` is the machine's peak (1e12 FLOP/s; 0: not known).
    """

    argv: tuple[str, ...]
    timeout_s: float
    sizes: tuple[Size, ...]
    style: Style = Style.LAUNCH
    rounds: int = LOOKS[-1]
    iterations: int = 10
    quads: int = 8
    respawn: int = 1
    peak_tflops: float = 0.0
    calibrate: Calibrate = Calibrate.ADVISED


class ResourceLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits on the facts of a candidate's build, by name of the fact (vgpr, lds, scratch, vgpr_spills, occupancy, ...).

    `most` is the largest allowed value, or the baseline's where that is larger; `may_fall` is the largest allowed drop below
    the baseline's.
    """

    most: Mapping[str, float] = field(default_factory=dict)
    may_fall: Mapping[str, float] = field(default_factory=dict)


class Target(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A platform that code is built for, and perhaps run on.

    A target without a benchmark is a guard: it must build, keep its `limits`, and pass its test if it has one. `stands_for`
    names the hardware target whose machine code it compiles. `number_kind` is the clock that its benchmark reports.
    """

    build: Build
    requires: Requires = Requires()
    test: Step | None = None
    benchmark: Benchmark | None = None
    profile: Step | None = None
    stands_for: str = ""
    limits: ResourceLimits | None = None
    number_kind: NumberKind = NumberKind.WALL_TIME


class Gate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Conditions before and while measuring (docs/GATE.md): no interference for `quiet_s`; a wait of `wait_s` at most.

    Interference is a process that matches `patterns` or holds a GPU (except `idle_holders`, patterns of names), a GPU that is
    busy with other work, other processes that take `others_percent` of the measured core, a device of `hot_c` or more, or a
    launch whose clock lies `slow_clock_percent` below the session's median. 0 switches a limit off.
    """

    patterns: tuple[str, ...] = ("benchmark_*", "profile_*", "rocprofv3")
    wait_s: float = 60.0
    quiet_s: float = 1.0
    idle_holders: tuple[str, ...] = ("nvidia-persist*", "nv-hostengine", "nv-fabricmanag*")
    gpu_busy_percent: float = 10.0
    others_percent: float = 0.0
    hot_c: float = 0.0
    slow_clock_percent: float = 0.0


class KeepRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of the verdict, in percent of time (docs/METHODOLOGY.md).

    `slow_launch_percent`: in style `launch`, a KEEP has seen so many launches that rarer ones, slower by this much, can't cost
    more than the gain; 0 asks for none.
    """

    guard_percent: float = 0.5
    regression_percent: float = 0.3
    worthwhile_percent: float = 0.5
    simplify_percent: float = 0.5
    costly_percent: float = 0.2
    slow_launch_percent: float = 15.0


class Environment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole environment of every step: variables passed through, and variables set.

    `writable` are absolute paths that a step may change besides its scratch folder (a compiler's cache, a profiler's lock).
    """

    pass_through: tuple[str, ...] = ()
    set: Mapping[str, str] = field(default_factory=dict)
    writable: tuple[str, ...] = ()


class PatchLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits on the files and bytes that one experiment may change."""

    files: int = 20
    bytes: int = 1_000_000


class LedgerLayout(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Layout of ledger.md: the repository's Jinja2 `template` by path, empty for the one of expctl."""

    template: str = ""


class Protocol(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of protocol.yaml. It is always read from the baseline commit."""

    version: int
    name: str
    scope: tuple[str, ...]
    harness: tuple[str, ...]
    decides: tuple[str, ...]
    targets: Mapping[str, Target]
    goal: str = ""
    gate: Gate = Gate()
    keep: KeepRule = KeepRule()
    environment: Environment = Environment()
    patch: PatchLimits = PatchLimits()
    references: tuple[str, ...] = ()
    proposer: Proposer | None = None
    ledger: LedgerLayout = LedgerLayout()


def inside(path: str, folders: tuple[str, ...]) -> bool:
    """Is `path` one of `folders` or below one? Paths are relative to the repository, with forward slashes."""
    return any(path == folder.rstrip("/") or path.startswith(folder.rstrip("/") + "/") for folder in folders)
