"""What the audit of the environment knows: plain values of one machine, its cards, its variables and its tuned files.

`expctl/adapters/doctor/environment.py` takes a snapshot; a test writes one down.
"""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field


class Vendor(StrEnum):
    """The maker of a GPU."""

    AMD = "amd"
    NVIDIA = "nvidia"


class Card(Struct, frozen=True, kw_only=True):
    """One GPU as its driver describes it. What the driver doesn't tell is None, "" or 0.

    `arch` is gfx942, or the compute capability 9.0. `level` is AMD's performance level (auto, low, high, ...), `profile` the
    active power profile among `profiles`, `partition` AMD's compute partition (SPX is the whole card). Clocks are in MHz, power
    in W; `uncorrected` counts memory errors that ECC found and could not correct.
    """

    name: str
    vendor: Vendor
    arch: str = ""
    compute_units: int = 0
    level: str = ""
    profile: str = ""
    profiles: tuple[str, ...] = ()
    partition: str = ""
    clock_mhz: float | None = None
    default_clock_mhz: float | None = None
    power_w: float | None = None
    default_power_w: float | None = None
    persistence: bool | None = None
    mig: bool | None = None
    ecc: bool | None = None
    ecc_pending: bool | None = None
    uncorrected: int = 0
    display: bool | None = None


class Linux(Struct, frozen=True, kw_only=True):
    """Settings of Linux; what it doesn't show is empty. `preferences` are the energy preferences of the CPU's driver."""

    numa_balancing: str = ""
    numa_nodes: int = 1
    governors: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()
    platform_profile: str = ""


class TunedProduct(Struct, frozen=True, kw_only=True):
    """A line of TunableOp: `kind` is Half, BFloat16 and so on, `shape` e.g. tn_512_64_4096 with torch's column-major sizes,
    `strides` the leading dimensions of A, B and C in elements, () where the line doesn't tell, `ms` the time of the winner.
    """

    kind: str
    shape: str
    strides: tuple[int, ...] = ()
    ms: float = 0.0


class AiterProduct(Struct, frozen=True, kw_only=True):
    """A row of a table of aiter: the machine (arch, "" in older tables, and compute units), sizes, number type, the library
    that won (`torch` where nothing tuned did), the kernel's name, and in how many parts K is split.
    """

    machine: tuple[str, int]
    m: int
    n: int
    k: int
    dtype: str = ""
    library: str = ""
    kernel: str = ""
    split: int = 1


class TritonKernel(Struct, frozen=True, kw_only=True):
    """A kernel in Triton's cache: its warps, vector registers and bytes of LDS, and what its GPU has: registers of a SIMD,
    their granule, most waves of a SIMD, LDS of a compute unit, which has four SIMDs.
    """

    name: str
    arch: str
    warps: int
    vgpr: int
    lds: int
    vgpr_total: int
    vgpr_granule: int
    waves_most: int
    lds_unit: int


class TunableOpFile(Struct, frozen=True, kw_only=True):
    """A results file of torch's TunableOp: the versions and GPU that it was tuned for (`validators`), and its tuned lines."""

    path: str
    validators: Mapping[str, str] = field(default_factory=dict)
    rows: int = 0
    products: tuple[TunedProduct, ...] = ()


class AiterTable(Struct, frozen=True, kw_only=True):
    """A table of tuned shapes of aiter. `machines` maps (arch, compute units) to the number of rows tuned there; the arch of
    older tables is "". `variable` is the AITER_CONFIG_ variable that names the table; "" for one that aiter brings.
    """

    path: str
    machines: Mapping[tuple[str, int], int] = field(default_factory=dict)
    variable: str = ""
    products: tuple[AiterProduct, ...] = ()


class CompiledStep(Struct, frozen=True, kw_only=True):
    """A step of protocol.yaml whose Python file `script` uses torch.compile, and the step's time-out."""

    target: str
    step: str
    script: str
    timeout_s: float


class GraphBreak(Struct, frozen=True, kw_only=True):
    """A place (`FILE:LINE`) where torch.compile left its graph, and torch's reason."""

    place: str
    reason: str


class TorchFacts(Struct, frozen=True, kw_only=True):
    """What torch itself says in the Python of the steps: precision of float32 products, inductor's settings by name as text,
    TunableOp's validators, architectures of inductor's CK backend.

    `breaks` are the graph breaks of the program `script`, None where none was run to its end. `trouble` is why torch couldn't
    be asked, or the program not run.
    """

    precision: str = ""
    inductor: Mapping[str, str] = field(default_factory=dict)
    validators: Mapping[str, str] = field(default_factory=dict)
    ck_archs: tuple[str, ...] = ()
    script: str = ""
    breaks: tuple[GraphBreak, ...] | None = None
    trouble: str = ""


class Snapshot(Struct, frozen=True, kw_only=True):
    """The environment in which steps run. `vendors` are the makers whose GPU is here and may be measured.

    `variables` are those that steps get, `pinned` the names among them that protocol.yaml sets, `shell` the user's own.
    `packages` maps torch, aiter and triton to their versions, as far as the steps' Python has them. `validators` are what
    TunableOp would compare here, as far as known without torch. `torch` is empty where torch was
    not asked.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    pinned: frozenset[str] = frozenset()
    shell: Mapping[str, str] = field(default_factory=dict)
    vendors: frozenset[Vendor] = frozenset()
    cards: tuple[Card, ...] = ()
    linux: Linux = Linux()
    packages: Mapping[str, str] = field(default_factory=dict)
    sets_precision: bool = False
    compiled: tuple[CompiledStep, ...] = ()
    tunable: tuple[TunableOpFile, ...] = ()
    aiter: tuple[AiterTable, ...] = ()
    triton: tuple[TritonKernel, ...] = ()
    validators: Mapping[str, str] = field(default_factory=dict)
    torch: TorchFacts = TorchFacts()

    def audited(self, vendor: Vendor) -> tuple[Card, ...]:
        """Return the cards of `vendor`, if its cards may be measured."""
        return tuple(each for each in self.cards if each.vendor is vendor) if vendor in self.vendors else ()
