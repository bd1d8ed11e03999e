"""Interface to the do-not-repeat rules of a commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from typing import Protocol as Port

from expctl.domain.rules.current_facts import CurrentFacts

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record
    from expctl.domain.patch.identity import ChangeIdentity
    from expctl.domain.rules.matching import Candidate
    from expctl.domain.rules.open_conditions import RuleConditions


class Rulebook(Port):
    """Looks up the do-not-repeat rules that hold at a commit, without reading every record."""

    def identity(self, commit: str, patch: bytes) -> ChangeIdentity: ...
    def candidates(self, commit: str, candidate: Candidate) -> tuple[Record, ...]: ...
    def ruled(self, commit: str) -> tuple[Record, ...]: ...
    def holds(self, commit: str) -> Mapping[str, RuleConditions]: ...
    def circumstances(self, commit: str, architectures: frozenset[str] | None = None) -> CurrentFacts: ...
