"""Proposers that hand out prepared drafts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from expctl.domain.brief.task import Task
from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal_files import Draft
from expctl.domain.protocol.model import Environment
from expctl.domain.protocol.proposer import Proposer, Refusal
from expctl.domain.queue.night import Usage
from expctl.domain.run.step_result import Failed

NO_USAGE = Usage()


@dataclass
class FakeProposers:
    """Gives its answers in turn, raising those that are refusals, and keeps what it is asked with and told."""

    answers: list[Draft | Failed | Refused | None] = field(default_factory=list)
    briefs: list[object] = field(default_factory=list)
    told: list[Refusal | None] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    costs: Usage = NO_USAGE
    meanwhile: Callable[[], object] = lambda: None

    def ask(
        self, proposer: Proposer, brief: object, task: Task, *, cwd: Path, environment: Environment, call: int = 0
    ) -> Draft | Failed | None:
        assert proposer.argv
        assert task.brief
        self.calls.append(call)
        assert cwd
        assert environment == Environment()
        self.briefs.append(brief)
        self.meanwhile()
        answer = self.answers.pop(0)
        if isinstance(answer, Refused):
            raise answer
        return answer

    def usage(self) -> Usage:
        return self.costs

    def tell(self, refusal: Refusal | None) -> None:
        self.told.append(refusal)
