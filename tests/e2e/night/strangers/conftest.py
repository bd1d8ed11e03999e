"""A repository whose proposer is the agent that misbehaves, and what came of a campaign with it."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.e2e.foreign import Answer, Foreign

Case = TypeVar("Case")
AGENT = Path(__file__).with_name("agent.py")


def some(cases: Iterable[Case]) -> list[Any]:
    """One case in three; with --long, all."""
    return [pytest.param(case, marks=pytest.mark.long) if number % 3 else case for number, case in enumerate(cases)]


@dataclass(frozen=True, slots=True)
class Night:
    """A repository, the folder in which its agent counts, and how it is asked."""

    repository: Foreign
    folder: Path

    def employ(self, *habit: str, timeout_s: float = 20, screen: bool = False) -> None:
        """Commit a protocol in which this agent proposes."""
        argv = json.dumps(["{python}", "-S", str(AGENT), str(self.folder), *habit])
        protocol = (self.repository.root / "protocol.yaml").read_text()
        keys = f"argv: {argv}, leaves: diff, timeout_s: {timeout_s:g}, screen: {str(screen).lower()}"
        self.repository.write("protocol.yaml", f"{protocol}proposer: {{{keys}}}\n")
        self.repository.commit("an agent")

    def ask(self, times: int, *options: str) -> Answer:
        """One campaign, to its end; nobody else may be surprised by it."""
        answer = self.repository.expctl("run", "--all", "--propose", str(times), *options)
        said = answer.out + answer.err
        assert not [mark for mark in ("Traceback", "BUG", "\x1b") if mark in said], said
        assert self.repository.survivors() == []
        assert len(self.repository.git("worktree", "list").splitlines()) == 1
        assert not (self.folder / "pwned").exists()
        return answer

    def told(self, call: int) -> str:
        """What the agent read in a call."""
        return (self.folder / f"{call}.task").read_text()

    def calls(self) -> int:
        return len(list(self.folder.glob("*.task")))

    def proposed(self) -> list[str]:
        """The ids that got a place in the repository."""
        return sorted(path.name for path in (self.repository.root / "experiments").glob("P*"))

    def changes(self, experiment: str) -> list[str]:
        """The files that a proposal changes."""
        patch = (self.repository.root / f"experiments/{experiment}/change.patch").read_text()
        return sorted({line.split(" b/")[-1] for line in patch.splitlines() if line.startswith("diff --git ")})


@pytest.fixture
def night(repository: Foreign, tmp_path: Path) -> Night:
    """Nobody is employed yet."""
    folder = tmp_path / "agent"
    folder.mkdir()
    return Night(repository=repository, folder=folder)
