"""The types of protocol.yaml: the fixed rules by which one kernel is measured."""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from expctl.domain.protocol.boundaries import LOOKS
from expctl.domain.protocol.cards import Cards
from expctl.domain.protocol.ledger_layout import LedgerLayout
from expctl.domain.protocol.options import OptionsRule
from expctl.domain.protocol.proposer import Proposer
from expctl.domain.protocol.step import LimitedStep, Step
from expctl.domain.protocol.tune import Tune

LAYOUT = "{layout}"
"""In the build command of the toolchain `command`: the number of the layout to build."""


class Toolchain(StrEnum):
    """Names of the toolchains that can build a target; for `command`, protocol.yaml has the build command itself."""

    COMMAND = "command"
    ZIG_CPU = "zig-cpu"
    ZIG_GFX = "zig-gfx"
    HIPCC = "hipcc"
    NVCC = "nvcc"
    SOURCE = "source"


class NumberKind(StrEnum):
    """Kind of a figure: a measured time, an exact count, or a static property. Only a time is called faster or slower."""

    WALL_TIME = "wall_time"
    DEVICE_TIME = "device_time"
    EXACT_COUNT = "exact_count"
    STATIC = "static"


class Style(StrEnum):
    """How a round is measured: in four fresh processes (launch), or by two pinned processes that take short turns (fine)."""

    LAUNCH = "launch"
    FINE = "fine"


class Calibrate(StrEnum):
    """Whether the machine's noise must be calibrated before a run (`required`), or a run only advises it (`advised`)."""

    REQUIRED = "required"
    ADVISED = "advised"


class FreeSimplify(StrEnum):
    """On which targets a simplification must leave the machine code unchanged to be kept without timing. `built`: on those that
    this machine can build; `all`: on all targets of the protocol.
    """

    BUILT = "built"
    ALL = "all"


class Build(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a target is built: by a command (`argv`) if the toolchain is `command`, else from `source` with `flags`.

    With `source`, the build is a copy of the file `source` (Python, or C++ that the harness compiles when it loads it), and
    `argv` may be a command in which Triton compiles the kernels of `{artifact}`.
    """

    toolchain: Toolchain
    source: str = ""
    flags: tuple[str, ...] = ()
    arch: str = ""
    argv: tuple[str, ...] = ()
    artifact: str = "kernel.so"
    timeout_s: float = 600.0


class Requires(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Executables, devices and packages of `{python}` (import names) that a target needs; `hint` says how to get them."""

    executables: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    hint: str = ""


class Size(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One problem size of the benchmark with its weight. `flop` is the work of one iteration in FLOP, 0 to report no
    throughput; `bytes` is what one iteration must move at least, 0 if unknown. A `rescuer` may keep a patch by its own gain
    while the weighted mean over all sizes is about zero.
    """

    name: str
    weight: float
    flop: int = 0
    bytes: int = 0
    rescuer: bool = False


class Control(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kernel of known speed that shows whether the measuring path tells slower from faster, and by how much.

    `patch` is a file of the baseline commit, out of reach of any experiment; with it each launch takes `slower_percent` longer.
    """

    patch: str
    slower_percent: float = 5.0


class BurnInRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a GPU is burnt in: over `window_s` seconds its clock spreads by at most `clock_percent` % and its temperature by at
    most `temperature_c` C. After `most_s` seconds a confirmation begins all the same.
    """

    most_s: float = 60.0
    clock_percent: float = 1.0
    temperature_c: float = 2.0
    window_s: float = 5.0


class Benchmark(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a target is timed: command, problem sizes and numbers of rounds. `quads` (ABBA sequences) are for style `fine` only.

    `rounds` is the largest number of rounds of a search; it may stop earlier. `respawn` is the number of rounds after
    which a pair of worker processes (style `fine`) is replaced; the rounds of one pair count as one observation. With
    `together` the four workers of a round (style `launch`) are made ready at the same time.
    With `calibrate: required`, a run on an uncalibrated machine calibrates it first. `peak_tflops` (1e12 FLOP/s) and
    `peak_gb_s` (1e9 bytes/s) are the device's peaks, 0 where unknown.

    `layouts` is the number of builds of each side, which differ only in where their code lies; rounds (or pairs of workers) use
    them in turn, so that the effect of code placement is part of the noise. `control` is measured before the first verdict of
    a day. With `burn_in`, the baseline runs uncounted before a confirmation, until the GPU is steady.
    """

    argv: tuple[str, ...]
    timeout_s: float
    sizes: tuple[Size, ...]
    style: Style = Style.LAUNCH
    rounds: int = LOOKS[-1]
    iterations: int = 10
    quads: int = 8
    respawn: int = 1
    together: bool = False
    layouts: int = 1
    peak_tflops: float = 0.0
    peak_gb_s: float = 0.0
    calibrate: Calibrate = Calibrate.ADVISED
    control: Control | None = None
    burn_in: BurnInRule | None = None

    def asked(self, side: str, size: str) -> str:  # noqa: ARG002 - a benchmark that asks each side for something else overrides it
        """Return the name under which a worker of `side` is asked for a size."""
        return size


class ResourceLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits on figures of a candidate's build by name (vgpr, lds, scratch, vgpr_spills, occupancy, ...). `most` is the largest
    allowed value, or the baseline's where that is larger; `may_fall` is the largest allowed drop below the baseline's value.
    """

    most: Mapping[str, float] = field(default_factory=dict)
    may_fall: Mapping[str, float] = field(default_factory=dict)


class HotLoopRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the hot loop is found that brief and ledger show. Of a target built by `zig-gfx`, the machine code is read, and
    executed as the description `launch` says (a file; "": as written). Of another, the profile step says. `kernel` is its name
    where the build has several; `config` is a text: which configuration this is.
    """

    launch: str = ""
    kernel: str = ""
    config: str = ""


class Target(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A platform that the kernel is built for and, if it is available, tested and timed on.

    A target without a benchmark is a guard: it must build, keep its `limits`, and pass its test if it has one. `stands_for`
    names the hardware target whose machine code it compiles. `number_kind` says what kind of number its benchmark reports.
    `engaged` are patterns of kernels' names: one of each must be in the candidate's profile, which is made before it is timed.
    `rivals` times what users would take instead of the kernel, for `expctl rivals`; it decides nothing.
    `hot_loop` says how brief and ledger find the loop that the time goes into, `tune` what `expctl tune` tries.
    """

    build: Build
    requires: Requires = Requires()
    test: LimitedStep | None = None
    benchmark: Benchmark | None = None
    profile: Step | None = None
    engaged: tuple[str, ...] = ()
    rivals: Step | None = None
    hot_loop: HotLoopRule | None = None
    tune: Tune | None = None
    stands_for: str = ""
    limits: ResourceLimits | None = None
    number_kind: NumberKind = NumberKind.WALL_TIME

    @property
    def layouts(self) -> int:
        """The number of builds of each side, of which the first is the canonical one."""
        return self.benchmark.layouts if self.benchmark is not None else 1

    @property
    def uses_gpu(self) -> bool:
        """Is the target timed on a GPU?"""
        return bool(self.requires.devices) or self.number_kind is NumberKind.DEVICE_TIME


class Gate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When the machine counts as quiet (docs/GATE.md): after `quiet_s` seconds without disturbance.

    A run waits at most `wait_s`. Disturbances are: a process whose name matches `patterns`, or that holds a GPU and is not in
    `idle_holders`; a GPU busier than `gpu_busy_percent`; other processes using `others_percent` of the core that is measured
    on; a device of `hot_c` degrees Celsius or more; and a launch whose clock is `slow_clock_percent` below the session's
    median. 0 switches a limit off. With `cards: own`, who measures on a GPU keeps that card alone, instead of the machine.
    """

    cards: Cards = Cards.ALL
    patterns: tuple[str, ...] = ("benchmark_*", "profile_*", "rocprofv3")
    wait_s: float = 60.0
    quiet_s: float = 1.0
    idle_holders: tuple[str, ...] = ("nvidia-persist*", "nv-hostengine", "nv-fabricmanag*")
    gpu_busy_percent: float = 10.0
    others_percent: float = 0.0
    hot_c: float = 0.0
    slow_clock_percent: float = 0.0


class KeepRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of the verdict, in percent of the baseline's throughput.

    `guard`: every size must rule out this loss. `regression`: a size that surely loses more rejects. `worthwhile`: a candidate
    that surely gains less is rejected. `simplify`: the loss that simplifications may add up to. `costly`: how much more complex
    code must gain. `slow_launch`: in style `launch`, a KEEP takes enough launches to rule out that rare ones, slower by this
    much, cost more than the gain on average; 0 switches this off. `free_simplify`: the targets on which a simplification must
    have the baseline's machine code to be kept untimed. `blind`: how often `run --all` puts a blind slot before an experiment.
    With `second_device`, a timed KEEP lands once a second device of a fleet has confirmed it.
    """

    guard_percent: float = 0.5
    regression_percent: float = 0.3
    worthwhile_percent: float = 0.5
    simplify_percent: float = 0.5
    costly_percent: float = 0.2
    slow_launch_percent: float = 15.0
    free_simplify: FreeSimplify = FreeSimplify.BUILT
    blind_percent: float = 5.0
    second_device: bool = False


class Environment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The complete environment of every harness script: variables passed through from the user's, and variables set here.
    `writable` are absolute paths that a script may change besides its scratch folder (a compiler's cache, a profiler's lock).
    `python` is the interpreter that `{python}` names: absolute, below the repository, or a name on PATH; else expctl's own.
    """

    pass_through: tuple[str, ...] = ()
    set: Mapping[str, str] = field(default_factory=dict)
    writable: tuple[str, ...] = ()
    python: str = ""


class PatchLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Largest number of files, and of bytes in them, that one patch may change."""

    files: int = 20
    bytes: int = 1_000_000


class Protocol(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of protocol.yaml. A run reads it from the baseline commit, never from the working tree."""

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
    options: OptionsRule | None = None
    patch: PatchLimits = PatchLimits()
    references: tuple[str, ...] = ()
    proposer: Proposer | None = None
    ledger: LedgerLayout = LedgerLayout()

    @property
    def watched(self) -> tuple[str, ...]:
        """Return the paths that no measurement outlives when they change: what is measured, and what judges it."""
        return (*self.scope, *self.harness, "protocol.yaml")


def inside(path: str, folders: tuple[str, ...]) -> bool:
    """Is `path` one of `folders` or inside one? Paths are relative to the repository, with forward slashes."""
    return any(path == folder.rstrip("/") or path.startswith(folder.rstrip("/") + "/") for folder in folders)
