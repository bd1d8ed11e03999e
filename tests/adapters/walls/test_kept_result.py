"""The result of the walls' self-test is kept while nothing can have changed it."""

import json
from pathlib import Path

import pytest

from expctl.adapters.walls import kept_result
from expctl.domain.machine.walls import Attempt, Outcome, Walls


class Counted:
    """Stands in for the self-test, and counts."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> Walls:
        self.times += 1
        attempt = Attempt(act="overwrites a file", outcome=Outcome.STOPPED, how="EROFS", by=("mounts",))
        return Walls(confinement="own mounts", attempts=(attempt,))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    stand_in = Counted()
    monkeypatch.setattr(kept_result, "try_walls", stand_in)
    return stand_in


def test_it_is_tried_once(counted: Counted, tmp_path: Path) -> None:
    assert kept_result.walls_here(tmp_path) == kept_result.walls_here(tmp_path)
    assert counted.times == 1


def test_without_a_folder_it_is_tried_each_time(counted: Counted) -> None:
    assert kept_result.walls_here(None).words() == kept_result.walls_here(None).words()
    assert counted.times == 2


@pytest.mark.parametrize("what", ["boot_id", "has_gpu"])
def test_another_boot_or_a_new_card_tries_again(
    what: str, counted: Counted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept_result.walls_here(tmp_path)
    monkeypatch.setattr(kept_result, what, lambda: "another")
    kept_result.walls_here(tmp_path)
    assert counted.times == 2


def test_other_code_of_the_walls_tries_again(counted: Counted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept_result.walls_here(tmp_path / "state")
    (tmp_path / "landlock.py").write_text("changed\n")
    monkeypatch.setattr(kept_result, "CODE", (tmp_path,))
    kept_result.walls_here(tmp_path / "state")
    assert counted.times == 2


@pytest.mark.parametrize("damage", ["cut", "lie", "other"])
def test_a_damaged_file_counts_as_missing(damage: str, counted: Counted, tmp_path: Path) -> None:
    kept_result.walls_here(tmp_path)
    file = tmp_path / "expctl" / "walls.json"
    text = file.read_text()
    changed = {"cut": text[:40], "lie": text.replace("stopped", "absent"), "other": json.dumps([1])}[damage]
    assert changed != text
    file.write_text(changed)
    assert kept_result.walls_here(tmp_path).attempts[0].outcome is Outcome.STOPPED
    assert counted.times == 2
