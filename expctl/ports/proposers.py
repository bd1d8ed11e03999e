"""Interfaces to what proposes experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import Protocol as Port

from expctl.domain.experiment.proposal_files import Draft
from expctl.domain.run.step_result import Failed

if TYPE_CHECKING:
    from pathlib import Path

    from expctl.domain.patch.sweep import Combination
    from expctl.domain.protocol.model import Environment
    from expctl.domain.protocol.proposer import Proposer, Refusal


class Proposers(Port):
    """Calls proposer commands; `tell` stores why the last proposal was refused (None: it was queued) for the next call."""

    def ask(self, proposer: Proposer, brief: object, *, cwd: Path, environment: Environment) -> Draft | Failed | None: ...
    def tell(self, refusal: Refusal | None) -> None: ...


class Search(Port):
    """Chooses the next combination of constants to try; `tell` reports the score of the last one, None if it failed."""

    def ask(self) -> Combination | None: ...
    def tell(self, score: float | None) -> None: ...
