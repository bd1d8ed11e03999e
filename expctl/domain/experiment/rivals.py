"""The types of experiments/rivals/*.json: times of what users would take instead of the kernel, and the kernels of each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import comb
from statistics import median

from msgspec import Struct, field

from expctl.domain.experiment.machine_times import Count
from expctl.domain.protocol.model import NumberKind

FOLDER = "experiments/rivals"
REPORT = "rivals.json"
"""What the script of the step writes into its output folder."""
NEIGHBOURS = 8
MISSED_PERCENT = 5.0
"""How often an interval of a ratio may miss the true median, at most."""
_CAST = re.compile(r"copy|convert|\bcast|_cast", re.IGNORECASE)
_ARITHMETIC = re.compile(r"_(add|mul)(_|\b)")
Extent = tuple[int, int, int]


class Role(StrEnum):
    """Whose time it is: the kernel's own; a rival's, which does the same; a wall: a part of the work, or with less to do."""

    OURS = "ours"
    RIVAL = "rival"
    WALL = "wall"


class RivalKernel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kernel that a rival launches: all its `calls` in the profile, the mean of one in ns, and its launch; None: unknown."""

    name: str
    calls: Count
    mean_ns: float
    registers: int | None = None
    lds_bytes: int | None = None
    grid: Extent | None = None
    workgroup: Extent | None = None

    @property
    def is_cast(self) -> bool:
        """Does the name say that it only converts or copies?"""
        return bool(_CAST.search(self.name)) and not _ARITHMETIC.search(self.name)


class Backend(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A backend that an autotuner knows; `why` says why it was not eligible."""

    name: str
    eligible: bool
    why: str = ""


class CodeObject(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What lies in one code object with the kernel `symbol`: `count` kernels in all; `nearest` have the likest names."""

    symbol: str
    count: Count
    nearest: tuple[str, ...] = ()


class Rival(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One way to the result, at one size. `ns` has the time of one result in each turn; `absent` says why there is none.

    `kernels` are those of `products` results. Converting inputs reads and writes `cast_bytes` for one result. An autotuner took
    `chosen`, of what it tried in `tried_us` (us), from `backends`. `rel_l2` is the relative error, `config` the kernel's own.
    """

    name: str
    role: Role
    ns: tuple[float, ...] = ()
    absent: str = ""
    rel_l2: float | None = None
    config: str = ""
    products: Count = 0
    kernels: tuple[RivalKernel, ...] = ()
    cast_bytes: Count = 0
    chosen: str = ""
    backends: tuple[Backend, ...] = ()
    tried_us: Mapping[str, float] = field(default_factory=dict)
    code_objects: tuple[CodeObject, ...] = ()
    remark: str = ""

    @property
    def median_ns(self) -> float:
        """Return the median time of one result; 0 if there is none."""
        return median(self.ns) if self.ns else 0.0

    @property
    def cast_ns(self) -> float:
        """Return the time that converting takes for one result; 0 if no kernel only does that. Calls beyond a multiple of the
        results are of warm-ups.
        """
        if not self.products or not self.cast_bytes:
            return 0.0
        return sum(kernel.calls // self.products * kernel.mean_ns for kernel in self.kernels if kernel.is_cast)


class RivalSize(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All rivals at one size, the kernel itself first; `flop` is the work of one result, 0 if unknown."""

    name: str
    entries: tuple[Rival, ...]
    flop: Count = 0

    @property
    def ours(self) -> Rival | None:
        """Return the kernel's own times; None if there are none."""
        return next((each for each in self.entries if each.role is Role.OURS and each.ns), None)

    def quickest(self, role: Role) -> Rival | None:
        """Return the quickest of those with this role; None if none was timed."""
        timed = [each for each in self.entries if each.role is role and each.ns]
        return min(timed, key=lambda each: each.median_ns, default=None)


class RivalReport(Struct, frozen=True, kw_only=True):
    """What one run of the step's script found at all `sizes`, and the versions and settings that its times depend on."""

    sizes: tuple[RivalSize, ...]
    environment: Mapping[str, str]


class Rivals(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run of `expctl rivals` on `target`: the build `artifact` (SHA-256) of the commit `head` beside its rivals."""

    schema: Count = 1
    target: str
    date: str
    head: str
    artifact: str
    number_kind: NumberKind
    sizes: tuple[RivalSize, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """Return the path of its file in the repository."""
        return f"{FOLDER}/{self.target}-{re.sub('[^0-9]', '', self.date)}.json"


def speed_ratio(ours: Rival, other: Rival) -> tuple[float, float, float]:
    """Return how many times as fast as `other` the kernel is: the median over turns of both, and its 95 % interval.

    The interval is that of order statistics: it supposes nothing but that turns are independent.
    """
    ratios = sorted(theirs / mine for mine, theirs in zip(ours.ns, other.ns, strict=False))
    outside = _ranks_outside(len(ratios))
    return median(ratios), ratios[outside], ratios[-1 - outside]


def _ranks_outside(count: int) -> int:
    """Return how many of `count` ordered values may be left out at each end of an interval for their median."""
    most, missed, outside = MISSED_PERCENT / 200 * 2**count, 0, 0
    while (missed := missed + comb(count, outside)) <= most:
        outside += 1
    return outside


def nearest_names(symbol: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return those of `names` that differ from `symbol` in the fewest parts between underscores, the likest first."""
    parts = set(symbol.split("_"))
    others = [name for name in dict.fromkeys(names) if name != symbol]
    return tuple(sorted(others, key=lambda name: (len(parts ^ set(name.split("_"))), name))[:NEIGHBOURS])


def code_object(symbol: str, names: Sequence[str]) -> CodeObject:
    """Return what lies beside the kernel `symbol` among all `names` of its code object."""
    return CodeObject(symbol=symbol, count=len({*names, symbol}), nearest=nearest_names(symbol, names))
