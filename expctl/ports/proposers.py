"""Ports of what proposes experiments."""

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
    """Commands that propose, and what they are told of their last proposals."""

    def ask(self, proposer: Proposer, brief: object, *, cwd: Path, environment: Environment) -> Draft | Failed | None: ...
    def tell(self, refusal: Refusal | None) -> None: ...


class Search(Port):
    """The order in which a sweep tries combinations. `tell` gives the score of the one asked last; None: it has none."""

    def ask(self) -> Combination | None: ...
    def tell(self, score: float | None) -> None: ...
