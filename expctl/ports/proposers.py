"""Interfaces to programs and searches that propose experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import Protocol as Port

from expctl.domain.experiment.proposal_files import Draft
from expctl.domain.run.step_result import Failed

if TYPE_CHECKING:
    from pathlib import Path

    from expctl.domain.brief.task import Task
    from expctl.domain.patch.sweep import Combination
    from expctl.domain.protocol.model import Environment
    from expctl.domain.protocol.proposer import Proposer, Refusal
    from expctl.domain.queue.night import KeptCall, Night, NightEvent, Usage


class Proposers(Port):
    """Asks a proposer, which is a command in protocol.yaml, for its next proposal; None means that it has none. `tell` keeps
    for the next call why the last proposal was refused (None: it was queued). `usage` is what the last call has cost.
    """

    def ask(
        self, proposer: Proposer, brief: object, task: Task, *, cwd: Path, environment: Environment, call: int = 0
    ) -> Draft | Failed | None: ...
    def usage(self) -> Usage: ...
    def tell(self, refusal: Refusal | None) -> None: ...


class Search(Port):
    """Chooses combinations of constants for a sweep to try; `ask` returns None when there are no more. `tell` reports the score
    of the combination asked for last, None if it failed; a search that `learns` chooses the next by it.
    """

    learns: bool

    def ask(self) -> Combination | None: ...
    def tell(self, score: float | None) -> None: ...


class NightLog(Port):
    """Keeps the account of campaigns: what each call of a proposer left, and what it has cost."""

    def present(self) -> Night | None: ...
    def append(self, event: NightEvent) -> None: ...
    def keep(self, call: KeptCall | None) -> None: ...
    def kept(self) -> KeptCall | None: ...
