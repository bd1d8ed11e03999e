"""protocol.yaml, typed: what is non-negotiable about measuring one kernel."""

from collections.abc import Mapping
from enum import StrEnum

from expctl.domain.protocol.boundaries import LOOKS, RESCUE
from expctl.domain.protocol.names import name_faults
from expctl.domain.protocol.profiler_passes import counter_faults
from expctl.domain.protocol.proposer import Proposer, proposer_faults
from expctl.domain.values import dataclass, field


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """How to make the artifact. `argv` belongs to `command`; `source` and `flags` to the other toolchains."""

    toolchain: Toolchain
    source: str = ""
    flags: tuple[str, ...] = ()
    arch: str = ""
    argv: tuple[str, ...] = ()
    artifact: str = "kernel.so"
    timeout_s: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Requires:
    """What must be on the machine before the target can be used here."""

    executables: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One script of the harness (docs/HARNESS.md). `careful` are further words where a patch removes a barrier or a wait.

    `counters` belong to a profile step that starts rocprofv3 or ncu; `timeout_s` is for each of its passes.
    """

    argv: tuple[str, ...]
    timeout_s: float
    careful: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """One problem size of the KPI. `flop` is the work of one iteration; 0 when throughput means nothing.

    A `rescuer` may keep a patch by its own gain while the objective stays about where it was.
    """

    name: str
    weight: float
    flop: int = 0
    rescuer: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceLimits:
    """By name of a fact of the build (vgpr, lds, scratch, vgpr_spills, occupancy, ...).

    `most` is the largest value, or the baseline's where that is larger already; `may_fall` is how far a fact may lie below
    the baseline's.
    """

    most: Mapping[str, float] = field(default_factory=dict)
    may_fall: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepRule:
    """Limits of the verdict, in percent of time (see docs/METHODOLOGY.md)."""

    guard_percent: float = 0.5
    regression_percent: float = 0.3
    worthwhile_percent: float = 0.5
    simplify_percent: float = 0.5
    costly_percent: float = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The environment of every step: names let through, and values set. Nothing else reaches a child. `writable` are
    absolute paths that a step may change besides its scratch (a compiler's cache, a profiler's lock).
    """

    pass_through: tuple[str, ...] = ()
    set: Mapping[str, str] = field(default_factory=dict)
    writable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchLimits:
    """Caps on what one experiment may change."""

    files: int = 20
    bytes: int = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
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


def inconsistencies(protocol: Protocol) -> tuple[str, ...]:
    """Return one sentence for each thing that the types allow and the protocol must not say."""
    found: list[str] = []
    if protocol.version != 1:
        found.append(f"version: expected 1, found {protocol.version}")
    if not protocol.scope:
        found.append("scope: expected at least one folder that a patch may touch")
    for name in protocol.decides:
        target = protocol.targets.get(name)
        if target is None:
            found.append(f"decides: {name} is not among targets ({', '.join(protocol.targets)})")
        elif target.benchmark is None or target.test is None:
            found.append(f"decides: {name} needs both a test and a benchmark to decide")
    if not protocol.decides:
        found.append("decides: expected at least one target whose verdict may move the branch")
    for name in (*protocol.scope, *protocol.harness):
        if name.startswith(("/", ".git")) or not {"", ".", ".."}.isdisjoint(name.rstrip("/").split("/")):
            found.append(f"scope and harness: expected a folder or file inside the repository, found {name!r}")
    found.extend(_overlaps(protocol))
    swept = protocol.proposer.sweep.file if protocol.proposer is not None and protocol.proposer.sweep is not None else ""
    found += proposer_faults(protocol.proposer, in_scope=inside(swept, protocol.scope), targets=tuple(protocol.targets))
    measured = [target.benchmark for target in protocol.targets.values() if target.benchmark is not None]
    found += name_faults(
        targets=protocol.targets,
        sizes=[size.name for benchmark in measured for size in benchmark.sizes],
        variables=(*protocol.environment.pass_through, *protocol.environment.set),
        writable=protocol.environment.writable,
    )
    for name, target in protocol.targets.items():
        if target.stands_for and target.stands_for not in protocol.targets:
            found.append(f"targets.{name}.stands_for: {target.stands_for} is not among targets ({', '.join(protocol.targets)})")
        found.extend(f"targets.{name}.{sentence}" for sentence in _target_faults(target))
    for wait in ("wait_s", "quiet_s"):
        if getattr(protocol.gate, wait) < 0:
            found.append(f"gate.{wait}: expected 0 or more, found {getattr(protocol.gate, wait):g}")
    for limit in ("gpu_busy_percent", "others_percent", "slow_clock_percent", "hot_c"):
        if not 0 <= getattr(protocol.gate, limit) <= 100:
            found.append(f"gate.{limit}: expected 0 (off) to 100, found {getattr(protocol.gate, limit):g}")
    for limit in ("guard_percent", "regression_percent", "worthwhile_percent", "simplify_percent", "costly_percent"):
        if not 0 <= getattr(protocol.keep, limit) <= 50:
            found.append(f"keep.{limit}: expected 0 to 50, found {getattr(protocol.keep, limit)}")
    return tuple(found)


def inside(path: str, folders: tuple[str, ...]) -> bool:
    """Is `path` one of `folders` or below one? Paths are relative to the repository, with forward slashes."""
    return any(path == folder.rstrip("/") or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def _overlaps(protocol: Protocol) -> list[str]:
    shielded = (*protocol.harness, "protocol.yaml", "ledger.md", "experiments")
    return [
        f"scope: {folder} overlaps {other}, which judges or records it"
        for folder in protocol.scope
        for other in shielded
        if inside(folder, (other,)) or inside(other, (folder,))
    ]


def _target_faults(target: Target) -> list[str]:
    found: list[str] = []
    build = target.build
    if build.toolchain is Toolchain.COMMAND and not build.argv:
        found.append("build.argv: expected the command that writes {artifact}")
    if build.toolchain is not Toolchain.COMMAND and not build.source:
        found.append(f"build.source: expected the file that {build.toolchain} compiles")
    if build.timeout_s <= 0:
        found.append(f"build.timeout_s: expected more than 0, found {build.timeout_s:g}")
    if "/" in build.artifact or build.artifact in ("", ".", ".."):
        found.append(f"build.artifact: expected a plain file name, found {build.artifact!r}")
    for step, argv in (("test", target.test), ("benchmark", target.benchmark), ("profile", target.profile)):
        if argv is not None and not argv.argv:
            found.append(f"{step}.argv: expected a command")
        if argv is not None and argv.timeout_s <= 0:
            found.append(f"{step}.timeout_s: expected more than 0, found {argv.timeout_s:g}")
    if target.test is not None and target.test.counters:
        found.append("test.counters: only a profile counts")
    if target.profile is not None:
        found.extend(f"profile.{sentence}" for sentence in counter_faults(target.profile))
    benchmark = target.benchmark
    if benchmark is not None:
        weights = [size.weight for size in benchmark.sizes]
        if not weights or min(weights) < 0 or abs(sum(weights) - 1) > 1e-9:
            found.append(f"benchmark.sizes: expected weights that are not negative and sum to 1, found {weights}")
        if len({size.name for size in benchmark.sizes}) < len(benchmark.sizes):
            found.append("benchmark.sizes: expected each name once")
        if benchmark.rounds not in LOOKS:
            planned = ", ".join(str(look) for look in LOOKS)
            found.append(f"benchmark.rounds: expected the last planned look, one of {planned}, found {benchmark.rounds}")
        if sum(size.rescuer for size in benchmark.sizes) > max(RESCUE):
            found.append(f"benchmark.sizes: expected at most {max(RESCUE)} rescuers")
        for count in (benchmark.iterations, benchmark.quads):
            if not 1 <= count <= 1000:
                found.append(f"benchmark: expected 1 to 1000 iterations and quads, found {count}")
        if benchmark.peak_tflops < 0:
            found.append(f"benchmark.peak_tflops: expected at least 0, found {benchmark.peak_tflops:g}")
        if not 1 <= benchmark.respawn <= (100 if benchmark.style is Style.FINE else 1):
            found.append(f"benchmark.respawn: expected 1, or up to 100 rounds in style fine, found {benchmark.respawn}")
    return found
