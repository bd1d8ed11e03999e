"""Interface to the do-not-repeat rules of a commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from typing import Protocol as Port

from expctl.domain.rules.current_facts import CurrentFacts

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record
    from expctl.domain.patch.identity import ChangeIdentity
    from expctl.domain.protocol.model import Protocol
    from expctl.domain.rules.matching import Candidate
    from expctl.domain.rules.meaning import Compiled, Version, Wanted
    from expctl.domain.rules.open_conditions import RuleConditions
    from expctl.domain.rules.told import Told


class Meanings(Port):
    """Compiles versions of the sources for the targets whose compilers are here, without linking or running anything."""

    @property
    def protocol(self) -> Protocol: ...
    def targets(self) -> tuple[str, ...]: ...
    def differ(self, one: Version, other: Version, target: str) -> bool: ...
    def compiled(self, wanted: Sequence[Wanted]) -> tuple[Compiled | None, ...]: ...


class Rulebook(Port):
    """Looks up the do-not-repeat rules that hold at a commit, without reading every record."""

    def identity(self, commit: str, patch: bytes) -> ChangeIdentity: ...
    def misfits(self, commit: str, patch: bytes) -> tuple[str, ...] | None: ...
    def rejected_patch(self, commit: str, experiment: str) -> bytes | None: ...
    def meanings(self, commit: str) -> Meanings | None: ...
    def told(
        self, commit: str, patch: bytes, now: CurrentFacts, ask: Callable[[], tuple[Told, ...]], *, own_id: str
    ) -> tuple[Told, ...]: ...
    def candidates(self, commit: str, candidate: Candidate) -> tuple[Record, ...]: ...
    def ruled(self, commit: str) -> tuple[Record, ...]: ...
    def holds(self, commit: str) -> Mapping[str, RuleConditions]: ...
    def circumstances(self, commit: str, architectures: frozenset[str] | None = None) -> CurrentFacts: ...
