"""The current values of what do-not-repeat rules depend on, such as compiler versions."""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import Protocol as Port

from msgspec import Struct

if TYPE_CHECKING:
    from expctl.domain.experiment.proposal import Probe
    from expctl.domain.experiment.record import ChangedCondition

COMPILERS = ("ziglang", "hipcc", "nvcc", "cc")
ARCHITECTURE, EPOCH = "architecture", "epoch"


class ProbeAnswer(Struct, frozen=True, kw_only=True):
    """Whether a rule's probe (a code snippet) passes today. `said` is the compiler with its first error, or why nothing was
    compiled. `tried` is False if no earlier result is stored and the caller asked not to compile.
    """

    passes: bool
    said: str
    tried: bool = True


class CurrentFacts(Port):
    """Port that looks up today's values of what do-not-repeat rules depend on, at one commit and on this machine."""

    @property
    def judges(self) -> frozenset[str] | None: ...
    def architectures(self) -> frozenset[str]: ...
    def version(self, tool: str) -> str: ...
    def epoch_changes(self, experiment: str) -> tuple[ChangedCondition, ...]: ...
    def item_keys(self, path: str) -> frozenset[str]: ...
    def shape(self, path: str) -> str: ...
    def probe(self, probe: Probe) -> ProbeAnswer: ...
    def standing_lines(self) -> tuple[str, ...]: ...
    def own_lines(self, experiment: str) -> tuple[str, ...] | None: ...
