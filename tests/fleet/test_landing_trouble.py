"""A head that lands what an earlier one had judged, while a user or git is in its way. It has no devices."""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import get_args

import pytest

from expctl import wiring, wiring_fleet
from expctl.adapters.git.reader import locate
from expctl.adapters.journal import EVENTS, FileJournal
from expctl.domain.errors import MachineTrouble
from expctl.domain.fleet.events import FleetEvent
from expctl.flow.run.experiment import Outcome
from expctl.views.console import ConsoleProgress
from tests.fleet.local_engine import LocalEngine
from tests.fleet.test_landing import Stage, stage

__all__ = ["stage"]

KINDS = EVENTS | {each.__name__: each for each in get_args(FleetEvent)}
TOGETHER = "none is kept"
COMMIT = ("-c", "user.name=A", "-c", "user.email=a@x", "commit", "-q", "--allow-empty", "-m", "mine")


class Watched(StringIO):
    """What a head says; `then` is called when it first says that results land together."""

    def __init__(self, then: Callable[[], object]) -> None:
        super().__init__()
        self._then = then

    def write(self, text: str) -> int:
        before = TOGETHER in self.getvalue()
        written = super().write(text)
        if not before and TOGETHER in self.getvalue():
            self._then()
        return written


def judge(stage: Stage) -> None:
    """Write down the attempts as a head does that is killed before it lands them."""
    journal = FileJournal(stage.root / ".git" / "expctl" / "fleet" / "attempts", kinds=KINDS)
    for each in stage.attempts:
        assert each.judged is not None
        journal.extend(f"{each.assigned.id}.{each.assigned.attempt}", (each.assigned, *each.run, each.judged))


def failing_git(folder: Path, command: str, times: int) -> str:
    """Make a git that fails at its first calls of a command; return what PATH has to be to find it first."""
    folder.mkdir()
    script = f"""#!/bin/bash
if [[ " $* " = *" {command} "* ]]; then
    echo >> {folder}/calls
    if [ $(wc -l < {folder}/calls) -le {times} ]; then echo 'fatal: odd' >&2; exit 128; fi
fi
exec {shutil.which("git")} "$@"
"""
    (folder / "git").write_text(script)
    (folder / "git").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def run_head(stage: Stage, then: Callable[[], object] = lambda: None) -> list[list[str]]:
    """Run a head until it has nothing left to land. Return what has landed, by commits."""
    place, said = locate(stage.root), Watched(then)
    engine = LocalEngine(stage.root.parent / "hosts", (), {"HOME": os.environ["HOME"]})
    context = wiring.context(place, ConsoleProgress(said))
    looks: list[int] = []

    def spent(_done: int, _rejects: int) -> str:
        looks.append(1)
        return "nothing lands any more" if len(looks) > 30 else ""

    steps = [*wiring_fleet.head_steps(place, context, engine, target="", silent_s=30, spent=spent)]
    landed: dict[str, list[str]] = {}
    for each in steps:
        if isinstance(each, Outcome):
            landed.setdefault(each.head_after, []).append(each.record.id)
    return [*landed.values()]


def test_only_what_a_user_has_changed_lands_not_together(stage: Stage, tmp_path: Path) -> None:
    here = stage.copy(tmp_path / "repository")
    judge(here)
    first, *others = (each.assigned.id for each in here.attempts)
    with (here.root / "experiments" / first / "experiment.yaml").open("a") as file:
        file.write("# mine\n")
    assert run_head(here) == [others]
    here.git("checkout", "experiments")
    assert run_head(here) == [[first]]
    here.check([first, *others])


def test_after_a_commit_of_the_user_results_are_tried_together_again(stage: Stage, tmp_path: Path) -> None:
    here = stage.copy(tmp_path / "repository")
    judge(here)
    landed = run_head(here, lambda: here.git(*COMMIT))
    assert [len(each) for each in landed] == [1, 3], landed
    here.check([each.assigned.id for each in here.attempts])


@pytest.mark.parametrize(("command", "times"), [("update-ref -m", 2), ("unpack-objects", 2)])
def test_what_git_could_not_land_is_landed_by_the_next_head(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, times: int
) -> None:
    """First what lands together fails, then one alone."""
    here = stage.copy(tmp_path / "repository")
    judge(here)
    attempts = here.root / ".git" / "expctl" / "fleet" / "attempts"
    with monkeypatch.context() as patch:
        patch.setenv("PATH", failing_git(tmp_path / "bin", command, times))
        with suppress(MachineTrouble):
            run_head(here)
    left = [*attempts.glob("*")]
    assert left
    assert not [file for file in left if "GivenUp" in file.read_text()]
    run_head(here)
    here.check([each.assigned.id for each in here.attempts])
    assert not [*attempts.glob("*")]
