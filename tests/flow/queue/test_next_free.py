"""A proposal gets the next free id; one that somebody takes meanwhile is passed over."""

import json

import pytest

from expctl.adapters.records.proposal_file import proposal_bytes
from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Proposal
from expctl.flow.queue.next_free import TRIES, propose_next
from expctl.flow.queue.submit import Proposed
from tests.fakes.stage import Stage, patch_to
from tests.fakes.stage import proposal as made_proposal


class Words:
    """Makes experiment.yaml for an id, and reads it; `asked` are the ids that it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def text(self, experiment: str) -> bytes:
        self.asked.append(experiment)
        return proposal_bytes(made_proposal(experiment))

    def proposal(self, experiment: str, text: bytes) -> Proposal:
        assert experiment.encode() in text
        return made_proposal(experiment)


def propose(stage: Stage, words: Words, kernel: str, experiment: str = "", begun: tuple[str, ...] = ()) -> Proposed:
    patch = patch_to(kernel)
    return propose_next(
        stage.context, words.text, words.proposal, patch, experiment=experiment, begun=lambda: begun, by="agent"
    )


def test_the_next_free_id_is_above_all_that_were_used() -> None:
    stage, words = Stage(), Words()
    stage.queue("P4", "slow 1")
    made = propose(stage, words, "slow 2", begun=("P8",))
    assert (made.id, words.asked) == ("P9", ["P9"])
    files = stage.workspace.commits[made.commit].files
    assert json.loads(files["experiments/P9/queued.json"])["by"] == "agent"


def test_what_waits_already_is_not_queued_again() -> None:
    stage, words = Stage(), Words()
    stage.queue("P4", "slow 1")
    head = stage.workspace.head()
    with pytest.raises(Refused, match="P4 proposes the same change already"):
        propose(stage, words, "slow 1")
    assert stage.workspace.head() == head


def test_an_id_that_is_named_is_tried_once() -> None:
    stage, words = Stage(), Words()
    stage.queue("P4", "slow 1")
    with pytest.raises(Refused, match="P4 exists already"):
        propose(stage, words, "slow 2", experiment="P4")
    assert words.asked == ["P4"]


def test_an_id_that_somebody_took_is_passed_over() -> None:
    stage = Stage()

    class Late(Words):
        def text(self, experiment: str) -> bytes:
            if len(self.asked) < 2:
                stage.queue(experiment, f"slow 10{len(self.asked)}")
            return super().text(experiment)

    words = Late()
    assert propose(stage, words, "slow 2").id == "P3"
    assert words.asked == ["P1", "P2", "P3"]
    assert len(words.asked) < TRIES
