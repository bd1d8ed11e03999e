"""One measures at a time on a machine, whoever it is and wherever: real processes, real flock."""

import fcntl
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from expctl.adapters.machine.device_lock import FOLDER, NAME, SHARED_FOLDERS, MachineLock, lock_folder
from expctl.adapters.machine.lock_holder import boot_id, read_holder
from expctl.domain.errors import Busy, ExitStatus, Refused
from tests.refusals import refuses

HOLD = """
import sys, time
from expctl.adapters.machine.device_lock import MachineLock
lock = MachineLock(experiment="P7")
with lock.alone(wait_s=1) if sys.argv[1] == "alone" else lock.shared(wait_s=1):
    print("held", flush=True)
    time.sleep(60)
"""
# Appends one letter when it gets the lock and another when it gives it back.
TAKE_TURNS = """
import os, sys, time
from expctl.adapters.machine.device_lock import MachineLock
def note(letter):
    with open(sys.argv[1], "a") as file:
        file.write(letter)
with MachineLock().alone(wait_s=60):
    note("<")
    time.sleep(0.02)
    note(">")
"""


@contextmanager
def other(how: str) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen([sys.executable, "-c", HOLD, how], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the lock lies: the folder of conftest.py."""
    return tmp_path / "locks" / NAME


# ------------------------------------------------------------------ who excludes whom


@pytest.mark.parametrize(("theirs", "ours"), [("alone", "alone"), ("alone", "shared"), ("shared", "alone")])
def test_measuring_excludes_everybody_and_names_who(theirs: str, ours: str) -> None:
    with other(theirs) as holder:
        lock = MachineLock()
        with refuses("machine-in-use", Busy) as caught, getattr(lock, ours)(wait_s=0.1):
            pytest.fail("both hold it")
        assert f"pid {holder.pid}" in caught.value.found
        assert caught.value.status is ExitStatus.BUSY
        assert [(each.pid, each.is_alone) for each in lock.holders()] == [(holder.pid, theirs == "alone")]


def test_builds_and_tests_go_side_by_side() -> None:
    with other("shared"), MachineLock().shared(wait_s=0), MachineLock().shared(wait_s=0):
        assert len(MachineLock().holders()) == 2


def test_ten_that_measure_take_turns(tmp_path: Path) -> None:
    log = tmp_path / "log"
    processes = [subprocess.Popen([sys.executable, "-c", TAKE_TURNS, str(log)]) for _ in range(10)]
    assert [process.wait(60) for process in processes] == [0] * 10
    assert log.read_text() == "<>" * 10


def test_whoever_measures_may_build_meanwhile_and_nobody_upgrades() -> None:
    lock = MachineLock()
    with lock.alone(wait_s=0), lock.shared(wait_s=0):
        assert [each.is_alone for each in lock.holders()] == [True]
    with lock.shared(wait_s=0), pytest.raises(RuntimeError, match="released before"), lock.alone(wait_s=0):
        pytest.fail("upgraded")


@pytest.mark.parametrize("how", ["alone", "shared"])
def test_a_killed_holder_frees_it(how: str) -> None:
    with other(how) as holder:
        holder.kill()
        holder.wait()
        assert MachineLock().holders() == ()
        with MachineLock(experiment="P1").alone(wait_s=1):
            (held,) = MachineLock().holders()
            assert held.facts is not None
            assert (held.pid, held.facts.experiment, held.facts.step) == (os.getpid(), "P1", "measuring")
    assert MachineLock().holders() == ()


def test_it_is_free_again_after_an_error() -> None:
    with pytest.raises(KeyError), MachineLock().alone(wait_s=1):
        raise KeyError
    assert MachineLock().holders() == ()
    with MachineLock().alone(wait_s=0):
        pass


def test_a_child_does_not_inherit_it() -> None:
    with MachineLock().alone(wait_s=1):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], close_fds=False)
    try:
        with MachineLock().alone(wait_s=0.1):
            pass
    finally:
        child.kill()
        child.wait()


def test_a_holder_is_shown_by_pid_start_boot_and_executable(path: Path) -> None:
    with MachineLock().alone(wait_s=0):
        facts = read_holder(path)
        assert facts is not None
        assert (facts.pid, facts.boot_id, facts.alive()) == (os.getpid(), boot_id(), True)
        assert facts.since.endswith("Z")
        text = path.read_text()
        assert all(word not in text for word in sys.argv[1:])
        path.write_text(text.replace(boot_id(), "of-another-boot"))
        assert MachineLock().holders()[0].facts is None, "the same pid and start ticks, but of another boot"


# ------------------------------------------------------------------ the file


def test_every_user_may_open_it(path: Path) -> None:
    before = os.umask(0o077)
    try:
        with MachineLock().alone(wait_s=0):
            assert stat.S_IMODE(path.stat().st_mode) == 0o666
            assert [each.name for each in path.parent.iterdir()] == [NAME], "no temporary file is left"
    finally:
        os.umask(before)


def test_another_users_file_is_used(path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can make a file of another user's")
    path.parent.chmod(0o1777)
    path.touch()
    path.chmod(0o666)
    os.chown(path, 65534, 65534)
    os.chown(path.parent, 65534, 65534)
    with MachineLock().alone(wait_s=0):
        assert path.stat().st_uid == 65534


def hard_link(path: Path) -> None:
    victim = path.parent.parent / "victim"
    victim.write_text("precious")
    os.link(victim, path)


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link": (lambda path: path.symlink_to(path.parent.parent / "victim"), "a symbolic link"),
    "a folder": (lambda path: path.mkdir(), "a folder"),
    "a pipe": (lambda path: os.mkfifo(path), "a pipe"),
    "a stranger's file": (lambda path: path.write_text("precious"), "a file with something else in it"),
    "a user's JSON": (lambda path: path.write_text('{"pid": 1, "name": "precious"}'), "a file with something else in it"),
    "a hard link to one": (hard_link, "a file with something else in it"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_lock_is_refused_and_left_alone(path: Path, name: str) -> None:
    make, found = HOSTILE[name]
    victim = path.parent.parent / "victim"
    victim.write_text("precious")
    victim.unlink() if "hard" in name else None
    make(path)
    before = path.lstat()
    with refuses("machine-lock-cannot-open"):
        MachineLock().look()
    with refuses("machine-lock-cannot-open") as caught, MachineLock().alone(wait_s=0):
        pytest.fail("took it")
    assert caught.value.found == found
    assert caught.value.where == str(path)
    assert path.lstat() == before
    assert not victim.exists() or victim.read_text() == "precious"


@pytest.mark.parametrize("how", ["alone", "shared"])
def test_a_folder_that_is_not_there_is_refused_with_what_to_do(tmp_path: Path, how: str) -> None:
    lock = MachineLock(tmp_path / "nowhere")
    with pytest.raises(Refused) as caught, getattr(lock, how)(wait_s=0):
        pytest.fail("took it")
    assert FOLDER in caught.value.hint
    assert lock.holders() == ()


def test_a_file_that_is_replaced_before_it_is_locked_is_not_the_lock(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody cleans the folder: whoever got the old file must not measure beside whoever makes a new one."""
    flock = fcntl.flock
    calls: list[int] = []

    def late(descriptor: int, operation: int) -> None:
        if not calls:
            path.unlink()
        calls.append(operation)
        flock(descriptor, operation)

    monkeypatch.setattr("expctl.adapters.machine.device_lock.fcntl.flock", late)
    with MachineLock().alone(wait_s=0):
        assert len(calls) == 2
        with pytest.raises(Busy), MachineLock().alone(wait_s=0):
            pytest.fail("both hold it")


FOLDERS: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: path,
    "a file": lambda path: path.touch(),
    "a loop": lambda path: path.symlink_to(path),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_look_tells_what_a_run_would_refuse_and_makes_nothing(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "folder"
    FOLDERS[name](folder)
    for lock in (MachineLock(folder), MachineLock(folder / ("x" * 300))):
        with pytest.raises(Refused) as looked:
            lock.look()
        with pytest.raises(Refused) as checked:
            lock.check()
        assert (looked.value.where, looked.value.hint) == (checked.value.where, checked.value.hint)
    (tmp_path / "sound").mkdir()
    MachineLock(tmp_path / "sound").look()
    assert list((tmp_path / "sound").iterdir()) == []


def test_the_place_depends_on_the_machine_and_not_on_who_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lock_folder() == tmp_path / "locks"
    monkeypatch.delenv(FOLDER)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert lock_folder() in SHARED_FOLDERS
