"""What is advised before a run can be followed."""

import pytest

from expctl.flow.repository.preflight import check_workspace
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
