"""What the doctor sees below the git folder."""

import os
from pathlib import Path

import pytest

from expctl import wiring
from expctl.adapters.doctor.repository import StateCheckup
from expctl.adapters.git.reader import GitReader, locate
from tests.user_repository import Repository


@pytest.mark.parametrize("name", ["", "lock", "scratch", "artifacts", "journal", "journal/P2.jsonl"])
def test_state_of_a_wrong_kind_is_listed(repository: Repository, name: str) -> None:
    place = locate(repository.root)
    path = place.state / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir() if name in ("lock", "journal/P2.jsonl") else path.touch()
    found = [each for each in StateCheckup(GitReader(place), frozenset()).findings() if each.mend.startswith("mv ")]
    assert [os.path.relpath(path) in each.what for each in found] == [True]


def test_a_machines_lock_that_no_run_could_take_is_listed(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "locks" / "expctl.machine.lock").mkdir()
    found = list(StateCheckup(GitReader(locate(repository.root)), frozenset()).findings())
    assert ["a folder" in each.what for each in found if each.part == "locks"] == [True]


def test_a_repository_whose_path_is_no_text_has_a_mark(tmp_path: Path) -> None:
    root = tmp_path / "\udcff"
    root.mkdir()
    Repository(root).git("init", "-q")
    assert len(wiring.mark_of(locate(root))) == 16


def test_an_unfinished_run_whose_proposal_is_gone_keeps_its_ref_and_says_how_to_give_it_up(repository: Repository) -> None:
    place = locate(repository.root)
    repository.git("update-ref", "refs/expctl/P1", "HEAD")
    repository.git("update-ref", "refs/expctl/P2", "HEAD")
    (place.state / "journal").mkdir(parents=True)
    (place.state / "journal/P1.jsonl").touch()
    found = list(StateCheckup(GitReader(place), frozenset()).findings())
    journals = [each for each in found if each.part == "journal"]
    assert ["no proposal of that id" in each.what and "P1.jsonl" in each.mend for each in journals] == [True]
    assert ["refs/expctl/P2" in each.what for each in found if each.part == "refs"] == [True]
