"""What a child left is counted and removed, however deep, and nothing that it links to."""

import contextlib
import errno
import os
import sys
import time
from pathlib import Path

import pytest

from expctl.adapters.child.contained_process import Child, Launch, TooMuch
from expctl.launcher import removal
from expctl.launcher.disk_use import DiskWatch
from expctl.launcher.removal import empty, remove_tree


def dig(folder: Path, depth: int, name: str) -> None:
    """Folders in folders, with a file in the last."""
    folder.mkdir(parents=True, exist_ok=True)
    place = os.open(folder, os.O_DIRECTORY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=place)
        below = os.open(name, os.O_DIRECTORY, dir_fd=place)
        os.close(place)
        place = below
    file = os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=place)
    os.write(file, bytes(8 << 20))
    os.close(file)
    os.close(place)


@pytest.mark.parametrize("depth", [1, removal.DEEPEST, removal.DEEPEST + 1, 3000])
def test_any_depth_is_removed(tmp_path: Path, depth: int) -> None:
    root = tmp_path / "root"
    dig(root, depth, "d" * 200)
    dig(root, 3, "\udcff\n")
    empty(root)
    assert list(root.iterdir()) == []
    remove_tree(root)
    remove_tree(root)
    assert not root.exists()


def test_folders_without_rights_go_and_what_is_linked_stays(tmp_path: Path) -> None:
    root, victim = tmp_path / "root", tmp_path / "victim"
    (root / "closed" / "sub").mkdir(parents=True)
    victim.mkdir()
    (victim / "file").touch()
    for link in (root / "link", root / "closed" / "sub" / "link", tmp_path / "outer"):
        link.symlink_to(victim)
    os.mkfifo(root / "pipe")
    (root / "closed" / "sub").chmod(0)
    (root / "closed").chmod(0)
    remove_tree(root)
    remove_tree(tmp_path / "outer")
    assert not root.exists()
    assert [each.name for each in victim.iterdir()] == ["file"]


def test_a_disk_that_fails_is_told_and_a_file_that_stays_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    for number, raises in ((5, True), (30, True), (1, False)):

        def fails(name: str, dir_fd: int, number: int = number) -> None:
            raise OSError(number, os.strerror(number), name, dir_fd)

        monkeypatch.setattr("expctl.launcher.removal.os.unlink", fails)
        if raises:
            with pytest.raises(OSError, match="file"):
                empty(tmp_path)
        else:
            empty(tmp_path)


def test_what_lies_too_deep_to_be_looked_at_is_too_much(tmp_path: Path) -> None:
    watch = DiskWatch((tmp_path,), tmp_path / "log", cap=1 << 30, log_cap=1 << 20)
    assert watch.complaint(lambda: ()) == ""
    dig(tmp_path / "room", 40, "d" * 200)
    watch = DiskWatch((tmp_path,), tmp_path / "log", cap=1 << 30, log_cap=1 << 20)
    assert watch.complaint(lambda: ()) == "nested folders too deep to be looked at"
    remove_tree(tmp_path / "room")


def test_a_folder_that_its_owner_may_not_read_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scan that is refused stands for an ordinary user's: no folder is closed to root."""
    (tmp_path / "closed").mkdir()
    look = os.scandir

    def refused(path: str) -> object:
        if path.endswith("closed"):
            raise PermissionError(errno.EACCES, "closed", path)
        return look(path)

    free = [100 << 30]
    monkeypatch.setattr("expctl.launcher.disk_use.os.scandir", refused)
    monkeypatch.setattr(DiskWatch, "_free", lambda _: free[0])
    watch = DiskWatch([tmp_path], tmp_path / "log", cap=4 << 30, log_cap=1 << 20)
    assert watch.complaint(lambda: ()) == ""
    watch._next_s, free[0] = 0.0, 97 << 30
    assert watch.complaint(lambda: ()) == "wrote more than 2048 MiB to the disk"


@pytest.mark.parametrize("stays", [True, False])
def test_a_log_of_holes_counts_by_its_length(tmp_path: Path, *, stays: bool) -> None:
    argv = [sys.executable, "-c", f"import os, time; os.ftruncate(1, 900 << 20); time.sleep(60 if {stays} else 0)"]
    launch = Launch(argv=argv, cwd=tmp_path, environment={}, log=tmp_path / "log")
    with Child(launch) as child, pytest.raises(TooMuch) if stays else contextlib.suppress(TooMuch):
        child.wait(time.monotonic() + 30)
    assert (tmp_path / "log").stat().st_size == 1 << 20
