"""What interrupted writes leave is removed, and nothing else."""

import os
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from expctl.files import atomic_write


def test_leftovers_are_files_or_folders(tmp_path: Path) -> None:
    outside, kept = tmp_path / "outside", tmp_path / "state"
    (kept / ".scratch.ab.new/deep").mkdir(parents=True)
    (kept / ".scratch.ab.new/deep/file").write_text("left")
    (kept / ".index.1.new").write_text("left")
    (kept / ".index.1.new.lock").write_text("left")
    (kept / "index").write_text("kept")
    outside.mkdir()
    (outside / "file").write_text("kept")
    (kept / ".link.new").symlink_to(outside)
    atomic_write.remove_temporary_files(kept)
    assert [file.name for file in kept.iterdir()] == ["index"]
    assert (outside / "file").read_text() == "kept"


def test_what_a_killed_call_left_beside_a_file_of_the_user_goes_with_the_next_one(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    left, alive = (tmp_path / f".ledger.md.{pid}.new" for pid in (ended.pid, os.getppid()))
    other = tmp_path / ".notes.md.new"
    for each in (left, alive, other):
        each.write_text("half")
    atomic_write.replace_for_user(tmp_path / "ledger.md", b"whole")
    assert (tmp_path / "ledger.md").read_bytes() == b"whole"
    assert [each.exists() for each in (left, alive, other)] == [False, True, True]


def test_writers_of_one_file_whose_numbers_are_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Children in pid namespaces of their own may all have the pid 2, and write one kept file at the same time."""
    monkeypatch.setattr(os, "getpid", lambda: 2)
    monkeypatch.setattr(threading, "get_native_id", lambda: 2)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: atomic_write.replace(tmp_path / "kept", text, durably=False), [b"the same"] * 2000))
    assert (tmp_path / "kept").read_bytes() == b"the same"
    assert [each.name for each in tmp_path.iterdir()] == ["kept"]
