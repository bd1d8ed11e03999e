"""Current facts that a rule's conditions are compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import Protocol as Port

from msgspec import Struct

if TYPE_CHECKING:
    from expctl.domain.experiment.proposal import Probe
    from expctl.domain.experiment.record import ChangedCondition


class ProbeAnswer(Struct, frozen=True, kw_only=True):
    """Whether the snippet of a rule's probe passes now. `said` is the compiler with its first error, or why nobody could try.

    `tried` is False where the snippet was not tried although that was possible.
    """

    passes: bool
    said: str
    tried: bool = True


class CurrentFacts(Port):
    """The present values of all that rules depend on, on one commit and machine, each looked up on demand."""

    def architectures(self) -> frozenset[str]: ...
    def version(self, tool: str) -> str: ...
    def epoch_changes(self, experiment: str) -> tuple[ChangedCondition, ...]: ...
    def item_keys(self, path: str) -> frozenset[str]: ...
    def shape(self, path: str) -> str: ...
    def probe(self, probe: Probe) -> ProbeAnswer: ...
    def standing_lines(self) -> tuple[str, ...]: ...
    def own_lines(self, experiment: str) -> tuple[str, ...] | None: ...
