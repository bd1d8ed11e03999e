"""Folders in a scratch folder in which a launch has left something else."""

from pathlib import Path

import pytest

from expctl.adapters.child.arguments import child_environment
from expctl.adapters.child.compiler_caches import CACHES, cache_variables, cached_files
from expctl.domain.protocol.model import Environment


@pytest.mark.parametrize("left", ["link", "dangling link", "link to itself", "file", "folder", "nothing"])
@pytest.mark.parametrize("name", ["home", CACHES, f"{CACHES}/tunableop"])
def test_the_next_launch_gets_folders_of_its_own_and_nobody_elses(tmp_path: Path, name: str, left: str) -> None:
    scratch, mine = tmp_path / "scratch", tmp_path / "mine"
    place = scratch / name
    place.parent.mkdir(parents=True)
    mine.mkdir()
    (mine / "file").write_text("mine")
    targets = {"link": mine, "dangling link": mine / "new", "link to itself": place}
    if left in targets:
        place.symlink_to(targets[left])
        assert not [file for file in cached_files(scratch) if file.endswith("file")]
    elif left == "file":
        place.write_text("x")
    elif left == "folder":
        place.mkdir()
        (place / "kept").write_text("x")
    environment = child_environment(Environment(), scratch, "m") | cache_variables(scratch)
    assert [each.name for each in mine.iterdir()] == ["file"]
    for folder in (Path(environment["HOME"]), Path(environment["PYTORCH_TUNABLEOP_FILENAME"]).parent):
        assert folder.resolve() == tmp_path.resolve() / folder.relative_to(tmp_path)
        assert folder.is_dir()
    assert left != "folder" or (place / "kept").exists()


def test_what_a_launch_has_closed_is_opened_again(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    cache_variables(scratch)
    folders = [scratch / CACHES / "tunableop", scratch / CACHES, scratch]
    for folder in folders:
        folder.chmod(0)
    cache_variables(scratch)
    assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o700] * 3


def test_caches_that_cannot_be_looked_at_are_none(tmp_path: Path) -> None:
    assert cached_files(tmp_path / ("x" * 300)) == frozenset()
