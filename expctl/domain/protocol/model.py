"""protocol.yaml, typed: what is non-negotiable about measuring one kernel."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from expctl.domain.protocol.boundaries import LOOKS
from expctl.domain.protocol.proposer import Proposer
from expctl.domain.protocol.step import Step


class Toolchain(StrEnum):
    """Who builds a target. `command` runs the protocol's own argv."""

    COMMAND = "command"
    ZIG_CPU = "zig-cpu"
    ZIG_GFX = "zig-gfx"
    HIPCC = "hipcc"
    NVCC = "nvcc"


class NumberKind(StrEnum):
    """What a figure is. Counted and static figures are never shown as speed."""

    WALL_TIME = "wall_time"
    DEVICE_TIME = "device_time"
    EXACT_COUNT = "exact_count"
    STATIC = "static"


class Style(StrEnum):
    """How a round is measured: four fresh launches, or two pinned workers in short quads."""

    LAUNCH = "launch"
    FINE = "fine"


class Calibrate(StrEnum):
    """Must the machine's noise be known before a run measures, or is it well to know?"""

    REQUIRED = "required"
    ADVISED = "advised"


class Build(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to make the artifact. `argv` belongs to `command`; `source` and `flags` to the other toolchains."""

    toolchain: Toolchain
    source: str = ""
    flags: tuple[str, ...] = ()
    arch: str = ""
    argv: tuple[str, ...] = ()
    artifact: str = "kernel.so"
    timeout_s: float = 600.0


class Requires(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must be on the machine before the target can be used here."""

    executables: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    hint: str = ""


class Size(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One problem size of the KPI. `flop` is the work of one iteration; 0 when throughput means nothing.

    A `rescuer` may keep a patch by its own gain while the objective stays about where it was.
    """

    name: str
    weight: float
    flop: int = 0
    rescuer: bool = False


class Benchmark(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the KPI is measured. `quads` and `iterations` belong to style `fine`: iterations per visit of a quad.

    `rounds` is the most that a search may take: the last of the planned looks, or an earlier one. `respawn` is how many
    rounds a pair of workers of style `fine` lives, 1 where starting is cheap; a verdict counts them as one. Where calibration
    is required, a run without one measures it first. `peak_tflops` is the most that the machine can do (1e12 FLOP/s; 0: not
    known).
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
    """By name of a fact of the build (vgpr, lds, scratch, vgpr_spills, occupancy, ...).

    `most` is the largest value, or the baseline's where that is larger already; `may_fall` is how far a fact may lie below
    the baseline's.
    """

    most: Mapping[str, float] = field(default_factory=dict)
    may_fall: Mapping[str, float] = field(default_factory=dict)


class Target(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where code is built, and perhaps run. A target without a benchmark is a guard: it must build, keep its `limits`, and
    pass its test if it has one.

    `stands_for` names the hardware target whose machine code this one compiles. `number_kind` says what clock its
    benchmark reports.
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
    """What must hold before and while measuring (docs/GATE.md): nothing foreign for `quiet_s`; `wait_s` at most.

    Foreign is a process that matches a pattern, or holds a GPU (but for `idle_holders`, patterns of names), a GPU that is
    busy without us, others that take `others_percent` of the core that a wall time is measured on, a device of `hot_c` or
    more, a launch whose clock lies `slow_clock_percent` below the session's median. 0 switches a limit off.
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
    """Limits of the verdict, in percent of time (see docs/METHODOLOGY.md)."""

    guard_percent: float = 0.5
    regression_percent: float = 0.3
    worthwhile_percent: float = 0.5
    simplify_percent: float = 0.5
    costly_percent: float = 0.2


class Environment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The environment of every step: names let through, and values set. Nothing else reaches a child. `writable` are
    absolute paths that a step may change besides its scratch (a compiler's cache, a profiler's lock).
    """

    pass_through: tuple[str, ...] = ()
    set: Mapping[str, str] = field(default_factory=dict)
    writable: tuple[str, ...] = ()


class PatchLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Caps on what one experiment may change."""

    files: int = 20
    bytes: int = 1_000_000


class LedgerLayout(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How ledger.md is laid out: the path of a Jinja2 template in the repository; empty for the one of expctl."""

    template: str = ""


class Protocol(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole of protocol.yaml. It is always read from the baseline commit."""

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
