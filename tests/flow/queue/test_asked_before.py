"""A person's proposal is compared with the rules when it is queued, by compilers too, which are asked without the lock."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.protocol.model import Protocol
from expctl.domain.rules.meaning import Compiled, Version, Wanted
from expctl.flow.queue.submit import ASKED_MAX, Proposed, propose
from expctl.flow.rules.repeat_check import Repeated
from expctl.flow.run.experiment import run_experiment
from tests.fakes.rules import FakeRulebook
from tests.fakes.stage import PROTOCOL, Stage, patch_to, proposal
from tests.refusals import refuses


@dataclass
class Compilers:
    """What compiles nothing, notes of which commit it was asked, and does something at each question."""

    stage: Stage
    meanwhile: Callable[[], None]
    asked: list[str] = field(default_factory=list)
    protocol: Protocol = PROTOCOL

    def targets(self) -> tuple[str, ...]:
        return ("cpu",)

    def here(self, versions: Sequence[tuple[Version, str]]) -> tuple[bool, ...]:
        return tuple(True for _ in versions)

    def differ(self, one: Version, other: Version, target: str) -> bool:  # noqa: ARG002
        assert not self.stage.locks.publisher, "the branch is locked while compilers are asked"
        self.asked.append(other.commit)
        self.meanwhile()
        return False

    def compiled(self, wanted: Sequence[Wanted]) -> tuple[Compiled | None, ...]:
        raise AssertionError(wanted)


class Book(FakeRulebook):
    """Rules with compilers."""

    compilers: Compilers

    def meanings(self, commit: str) -> Compilers:  # type: ignore[override]  # noqa: ARG002
        return self.compilers


@pytest.fixture
def stage() -> Stage:
    stage = Stage()
    stage.queue("P1", "slow 1100000")
    assert run_experiment(stage.context(), "P1").record.verdict is Verdict.REJECT
    return stage


def commit(stage: Stage, path: str, text: bytes) -> None:
    """Somebody else moves the branch."""
    head = stage.workspace.head()
    files = {**stage.workspace.commits[head].files, path: text}
    stage.workspace.refs["refs/heads/main"] = stage.workspace.add(head, files, f"somebody changes {path}")


def queued(stage: Stage, compilers: Compilers, kernel: str, **changes: str) -> Proposed:
    book = Book(stage.library, stage.circumstances)
    book.compilers = compilers
    context = replace(stage.context(), rulebook=book)
    return propose(context, proposal("P2", **changes), b"id: P2", patch_to(kernel))


def test_a_repeat_of_a_person_is_refused_when_it_is_queued(stage: Stage) -> None:
    head = stage.workspace.head()
    with pytest.raises(Repeated, match="tried before, as P1"):
        propose(stage.context(), proposal("P2"), b"id: P2", patch_to("slow 1100000 # again"))
    assert stage.workspace.head() == head
    assert propose(stage.context(), proposal("P2", precondition="another machine"), b"id: P2", patch_to("slow 1100000"))


def test_compilers_are_asked_once_without_the_lock(stage: Stage) -> None:
    compilers = Compilers(stage, lambda: None)
    head = stage.workspace.head()
    assert queued(stage, compilers, "slow 900000").id == "P2"
    assert compilers.asked == [head]
    assert "rules... was it tried before? Compiles what it must; a minute the first time" in stage.progress.lines


def test_a_proposal_of_somebody_else_meanwhile_asks_nothing_again(stage: Stage) -> None:
    compilers = Compilers(stage, lambda: commit(stage, "experiments/P7/change.patch", b"{}"))
    head = stage.workspace.head()
    assert queued(stage, compilers, "slow 900000").id == "P2"
    assert compilers.asked == [head]


@pytest.mark.parametrize("path", ["src/kernel", "experiments/findings.yaml", "protocol.yaml"])
def test_another_head_meanwhile_is_asked_about(stage: Stage, path: str) -> None:
    def once() -> None:
        if len(compilers.asked) == 1:
            commit(stage, path, b"{}")

    compilers = Compilers(stage, once)
    head = stage.workspace.head()
    made = queued(stage, compilers, "slow 900000")
    moved = stage.workspace.commits[made.commit].parent
    assert moved != head
    assert compilers.asked == [head, moved]


def test_a_head_that_never_rests_ends_in_a_refusal(stage: Stage) -> None:
    compilers = Compilers(stage, lambda: commit(stage, "src/more", b"%d" % len(compilers.asked)))
    with refuses("branch-moved"):
        queued(stage, compilers, "slow 900000")
    assert len(compilers.asked) == ASKED_MAX


def test_a_written_precondition_asks_no_compiler(stage: Stage) -> None:
    compilers = Compilers(stage, lambda: None)
    assert queued(stage, compilers, "slow 900000", precondition="another machine").id == "P2"
    assert compilers.asked == []
