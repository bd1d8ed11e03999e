"""The facts of today that a rule's conditions are held against."""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import Protocol as Port

from msgspec import Struct

if TYPE_CHECKING:
    from expctl.domain.experiment.proposal import Probe
    from expctl.domain.experiment.record import ChangedCondition


class ProbeAnswer(Struct, frozen=True, kw_only=True):
    """Did the snippet pass? `said` is the compiler with its first error, or why nobody could try (then it did not). `tried` is
    False where somebody could have, and nobody has.
    """

    passes: bool
    said: str
    tried: bool = True


class Circumstances(Port):
    """What the conditions of rules are held against, each looked up when it is asked for."""

    def architectures(self) -> frozenset[str]: ...
    def version(self, tool: str) -> str: ...
    def epoch_changes(self, experiment: str) -> tuple[ChangedCondition, ...]: ...
    def item_keys(self, path: str) -> frozenset[str]: ...
    def shape(self, path: str) -> str: ...
    def probe(self, probe: Probe) -> ProbeAnswer: ...
    def standing_lines(self) -> tuple[str, ...]: ...
    def own_lines(self, experiment: str) -> tuple[str, ...] | None: ...
