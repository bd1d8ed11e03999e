"""The types of experiments/hot_loops.json: a kernel's hot loop as it was counted at one commit, for brief and ledger."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from expctl.domain.experiment.machine_times import Count
from expctl.domain.experiment.record import Fact

FILE = "experiments/hot_loops.json"


class LoopLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of the source and the instructions that came from it, by class; of an iteration and wave where it was launched."""

    file: str
    line: Count
    text: str
    instructions: Mapping[str, float]

    @property
    def all(self) -> float:
        """Return the number of instructions of all classes."""
        return sum(self.instructions.values())


class CountedLoop(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The machine code of a hot loop: of one iteration and wave where it was launched, else as it is written.

    `instructions` are by class; `registers` are those that the kernel takes, `live` the most that hold a value. `simd_cycles`
    and `lds_cycles` are the fewest for which the loop occupies its SIMD and the LDS, `matrix_cycles` those of its matrix
    instructions alone; all 0 where nothing was launched. `bounds` are sentences of `expctl explain`.
    """

    kernel: str
    is_launched: bool
    lines: tuple[LoopLine, ...]
    instructions: Mapping[str, float]
    registers: Count
    live: Count
    simd_cycles: float = 0.0
    lds_cycles: float = 0.0
    matrix_cycles: float = 0.0
    bounds: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def attainable(self) -> float:
        """Return the share of the peak, from 0 to 1, that the loop can reach by what is counted; 0 if that isn't known."""
        most = max(self.simd_cycles, self.lds_cycles)
        return self.matrix_cycles / most if most else 0.0


class HotLoop(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The hot loop of `target` in the code `code` (a hash of sources and build), counted at the commit `head`.

    `counted_on` names the compiler or the machine. Where the machine code can be read there is a `loop`; elsewhere the profile
    step of the target gave the figures `facts`. `stale` says that the code has changed since; it is never written.
    """

    target: str
    code: str
    head: str
    counted_on: str
    loop: CountedLoop | None = None
    facts: tuple[Fact, ...] = field(default_factory=tuple)
    stale: bool = False


class HotLoops(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of experiments/hot_loops.json."""

    schema: Count = 1
    targets: tuple[HotLoop, ...] = ()
