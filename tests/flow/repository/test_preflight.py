"""What is advised before a run can be followed."""

import pytest

from expctl.domain.experiment.proposal import Kind, Mode, Prediction, Proposal, Verdict
from expctl.domain.experiment.proposal_files import Queued
from expctl.domain.experiment.queue_ticket import Ticket
from expctl.flow.repository.preflight import check_workspace, patch_on
from tests.fakes.stage import Stage
from tests.refusals import refuses


@pytest.mark.parametrize("path", ["src/\udcffx.py", "src/a:b", "src/.hidden"])
def test_a_file_that_no_experiment_may_have_is_named_and_not_to_be_captured(path: str) -> None:
    stage = Stage()
    stage.workspace.local_changes = ("src/kernel", path)
    with refuses("scope-not-committed") as caught:
        check_workspace(stage.workspace, ("src",))
    assert repr(path) in caught.value.hint
    assert (path if path.isprintable() else repr(path)) in caught.value.found
    assert "--from-diff" not in caught.value.hint


def test_other_changes_of_the_scope_are_to_be_captured() -> None:
    stage = Stage()
    stage.workspace.local_changes = ("src/kernel",)
    with refuses("scope-not-committed") as caught:
        check_workspace(stage.workspace, ("src",))
    assert "expctl new --from-diff" in caught.value.hint


def test_a_patch_is_made_anew_only_if_its_files_have_changed_since() -> None:
    """git isn't asked for what the patch says already."""
    workspace, patch = Stage().workspace, b'{"src/kernel":    "faster"}'
    origin = workspace.add("", {"src/kernel": b"slow", "src/other": b"old"}, "origin")
    beside = workspace.add(origin, {"src/kernel": b"slow", "src/other": b"new"}, "beside")
    moved = workspace.add(origin, {"src/kernel": b"slower", "src/other": b"old"}, "moved")
    proposal = Proposal(
        id="P1", title="t", hypothesis="h", kind=Kind.PERF, mode=Mode.GAIN, prediction=Prediction(verdict=Verdict.KEEP)
    )
    queued = Queued(proposal=proposal, patch=patch, content="c", ticket=Ticket(content="c", base=origin, date=""))
    assert patch_on(workspace, origin, queued) == patch_on(workspace, beside, queued) == patch
    assert patch_on(workspace, moved, queued) == b'{"src/kernel": "faster"}'
