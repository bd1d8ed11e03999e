"""The plan of a measurement: limits, sizes, mode and number of rounds, all fixed before the first sample."""

import math
from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from expctl.domain.experiment.noise import Calibrated
from expctl.domain.experiment.proposal import Mode
from expctl.domain.protocol.boundaries import CONFIRM_ROUNDS, EXTENDED_ROUNDS, LOOKS
from expctl.domain.protocol.model import Benchmark, KeepRule, Size, Style


class Wall(Struct, frozen=True, kw_only=True):
    """The least time that the machine's peak allows for one iteration, and `text`, what work at which peak takes it."""

    least_ns: float
    text: str


class Plan(Struct, frozen=True, kw_only=True):
    """The statistical plan of a run: weights of the problem sizes, and limits on effects in log units.

    `rounds` and `confirm` are the largest numbers of rounds of the search and of the confirmation. `rescuers` are sizes whose
    gain alone may keep a patch. `simplify_used` is the sum of the losses by simplifications kept in this epoch. `walls` has
    the time that each size takes at the machine's peak, where known. `respawn` rounds of one pair of worker processes count as
    one. A KEEP must rule out rare launches that are slower by `slow_launch` (0: need not); a round has `launches` launches of
    each side. `extended` is True if an undecided measurement is continued. `kept_by`, if not empty, is the name by whose gain
    (the objective, or a rescuer) the change was kept beside an older baseline: there is no search, and a confirmation decides.
    """

    weights: Mapping[str, float]
    mode: Mode
    guard: float
    regression: float
    worthwhile: float
    simplify: float
    costly: float = 0.002
    rounds: int = LOOKS[-1]
    confirm: int = CONFIRM_ROUNDS
    slow_launch: float = 0.0
    launches: int = 2
    rescuers: tuple[str, ...] = ()
    simplify_used: float = 0.0
    calibrated: Calibrated | None = None
    walls: Mapping[str, Wall] = field(default_factory=dict)
    respawn: int = 1
    extended: bool = False
    kept_by: str = ""

    @staticmethod
    def of(
        benchmark: Benchmark,
        keep: KeepRule,
        mode: Mode,
        *,
        simplify_used_percent: float = 0.0,
        calibrated: Calibrated | None = None,
        kept_by: str = "",
    ) -> "Plan":
        """Return the plan of a run in `mode`, with the limits of protocol.yaml converted from percent to log units."""
        return Plan(
            weights={size.name: size.weight for size in benchmark.sizes},
            mode=mode,
            guard=-math.log1p(-keep.guard_percent / 100),
            regression=-math.log1p(-keep.regression_percent / 100),
            worthwhile=math.log1p(keep.worthwhile_percent / 100),
            simplify=keep.simplify_percent / 100,
            costly=math.log1p(keep.costly_percent / 100),
            rounds=benchmark.rounds,
            respawn=benchmark.respawn,
            slow_launch=keep.slow_launch_percent / 100 if benchmark.style is Style.LAUNCH else 0.0,
            rescuers=tuple(size.name for size in benchmark.sizes if size.rescuer),
            simplify_used=simplify_used_percent / 100,
            calibrated=calibrated,
            kept_by=kept_by,
            walls={size.name: wall for size in benchmark.sizes if (wall := _wall(size, benchmark)) is not None},
        )

    def extend(self) -> "Plan":
        """Return the plan for continuing an undecided measurement: the same limits, but the largest number of rounds."""
        return replace(self, rounds=EXTENDED_ROUNDS, confirm=EXTENDED_ROUNDS, extended=True)

    @property
    def budget(self) -> float:
        """Loss, in log units, that further simplifications may cause in this epoch."""
        return -math.log1p(-max(0.0, self.simplify - self.simplify_used))

    @property
    def floor(self) -> float:
        """Effect, in log units, that a KEEP must exceed: 0 for a gain, more for costly code, negative for a simplification."""
        return {Mode.GAIN: 0.0, Mode.GAIN_COSTLY: self.costly, Mode.SIMPLIFY: -self.budget}[self.mode]

    @property
    def ceiling(self) -> float:
        """Smallest worthwhile effect, in log units: once it is statistically ruled out, the search ends with REJECT."""
        costly = math.log1p(math.expm1(self.costly) + math.expm1(self.worthwhile))
        return {Mode.GAIN: self.worthwhile, Mode.GAIN_COSTLY: costly, Mode.SIMPLIFY: 0.0}[self.mode]

    @property
    def tolerance(self) -> float:
        """Loss at a single problem size, in log units, beyond which a significantly slower size rejects the candidate."""
        return max(self.regression, self.budget) if self.mode is Mode.SIMPLIFY else self.regression

    def floor_of(self, rescuer: str) -> float:
        """Effect, in log units, that the size `rescuer` must exceed to keep a patch by its own gain: `floor`, but at least 0.
        For an empty `rescuer`, the objective, it is `floor` itself.
        """
        return max(0.0, self.floor) if rescuer else self.floor


def _wall(size: Size, benchmark: Benchmark) -> Wall | None:
    """Return the higher of the FLOP wall and the byte wall of one size; None where neither is known."""
    walls = []
    if size.flop and benchmark.peak_tflops:
        text = f"{size.flop:.4g} FLOP at the machine's peak of {benchmark.peak_tflops:g} TFLOP/s"
        walls.append(Wall(least_ns=size.flop / benchmark.peak_tflops / 1000, text=text))
    if size.bytes and benchmark.peak_gb_s:
        text = f"{size.bytes:.4g} bytes at the machine's peak of {benchmark.peak_gb_s:g} GB/s"
        walls.append(Wall(least_ns=size.bytes / benchmark.peak_gb_s, text=text))
    return max(walls, key=lambda wall: wall.least_ns, default=None)
