"""One run per repository."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from expctl.adapters.machine.lock_holder import describe_holder, mark_holder, read_holder, start_ticks
from expctl.adapters.machine.repository_lock import RepositoryLock
from expctl.domain.errors import Busy, ExitStatus, Refused

HOLDER = """
import sys, time
from pathlib import Path
from expctl.adapters.machine.repository_lock import RepositoryLock
with RepositoryLock(Path(sys.argv[1])).measuring(experiment="P7") as held:
    held.show("measure")
    print("held", flush=True)
    time.sleep(60)
"""


@contextmanager
def other_run(state: Path) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(state)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_a_second_run_is_busy_at_once_and_names_the_first(tmp_path: Path) -> None:
    with other_run(tmp_path) as other:
        with pytest.raises(Busy) as caught, RepositoryLock(tmp_path).measuring(experiment="P1"):
            pytest.fail("both run")
        assert caught.value.found == f"-c (pid {other.pid}, running P7, step measure)"
        assert caught.value.status is ExitStatus.BUSY


def test_a_killed_run_frees_the_repository(tmp_path: Path) -> None:
    with other_run(tmp_path) as other:
        other.kill()
        other.wait()
        holder = read_holder(tmp_path / "lock")
        assert holder is not None
        assert not holder.alive()
        with RepositoryLock(tmp_path).measuring(experiment="P1") as held:
            held.show("build", "P2")
            now = read_holder(tmp_path / "lock")
            assert now is not None
            assert (now.pid, now.experiment, now.step, now.alive()) == (os.getpid(), "P2", "build", True)


@pytest.mark.parametrize("error", [None, KeyError])
def test_nobody_is_shown_after_the_run_however_it_ended(tmp_path: Path, error: type[Exception] | None) -> None:
    lock = RepositoryLock(tmp_path)
    if error is None:
        with lock.measuring(experiment="P1"):
            assert read_holder(lock.path) is not None
    else:
        with pytest.raises(error), lock.measuring(experiment="P1"):
            raise error
    assert read_holder(lock.path) is None
    with lock.measuring(experiment="P1"):
        assert read_holder(lock.path) is not None


SAID = {"pid": 1, "start_ticks": 2, "executable": "expctl", "experiment": "P1", "step": "build"}
NO_HOLDERS = [
    *(b"", b"{", b"[]", b'{"pid": 1}', b'{"pid": "x"}', b"\xff", b"[" * 4000, b"null"),
    *(
        json.dumps(SAID).encode().replace(b'"pid": 1,', b'"pid": %s,' % each)
        for each in (b"1e999", b"1.0", b"-1", b"0", b"true")
    ),
    *(json.dumps({**SAID, key: value}).encode() for key, value in (("pid", 10**30), ("start_ticks", "2"), ("step", ["x"]))),
]


@pytest.mark.parametrize("contents", NO_HOLDERS)
def test_a_lock_file_that_says_nothing_has_no_holder(tmp_path: Path, contents: bytes) -> None:
    lock = tmp_path / "lock"
    lock.write_bytes(contents)
    assert read_holder(lock) is None
    assert describe_holder(lock) == "a process that has not written its name into the lock file yet"


def test_a_shorter_mark_replaces_a_longer_one_whole(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    try:
        mark_holder(descriptor, experiment="P1" * 50, step="measure")
        mark_holder(descriptor, experiment="P1", step="")
    finally:
        os.close(descriptor)
    assert json.loads((tmp_path / "lock").read_bytes())["experiment"] == "P1"
    assert describe_holder(tmp_path / "lock").endswith(f"(pid {os.getpid()}, running P1)")


def test_a_process_is_known_by_its_start_and_not_by_its_number() -> None:
    ticks = start_ticks(os.getpid())
    assert ticks > 0
    assert start_ticks(2**22 + 1) == -1
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert start_ticks(process.pid) == -1, "a zombie holds nothing"


def test_what_a_stranger_wrote_is_harmless_on_a_terminal(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.write_text(json.dumps(dict.fromkeys(SAID, "\x1b[2Ja\n\ud800b" + "c" * 300) | {"pid": 1, "start_ticks": 2}))
    shown = "a b" + "c" * 96 + "…"
    assert describe_holder(lock) == f"{shown} (pid 1, running {shown}, step {shown})"


def test_a_mark_is_never_seen_torn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between the write and the cut."""
    monkeypatch.setattr("expctl.adapters.machine.lock_holder.os.ftruncate", lambda *_: None)
    descriptor = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    for experiment in ("P" * 90, "P1"):
        mark_holder(descriptor, experiment=experiment, step="build")
        holder = read_holder(tmp_path / "lock")
        assert holder is not None
        assert holder.experiment == experiment
    os.close(descriptor)


def test_a_pipe_in_its_place_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "lock")
    with pytest.raises(Refused) as caught, RepositoryLock(tmp_path).measuring(experiment="P1"):
        pytest.fail("took it")
    assert caught.value.where == str(tmp_path / "lock")


@pytest.mark.alone
def test_publishing_waits_beside_a_run_and_then_names_who_publishes(tmp_path: Path) -> None:
    lock = RepositoryLock(tmp_path)
    with other_run(tmp_path):
        assert lock.measured() == "P7"
        with lock.publishing(what="P1", wait_s=0.1):
            started = time.monotonic()
            with pytest.raises(Busy) as caught, RepositoryLock(tmp_path).publishing(what="P2", wait_s=0.3):
                pytest.fail("both publish")
            assert 0.3 <= time.monotonic() - started < 3
            assert "running P1, step publish" in caught.value.found
        with lock.publishing(what="P2", wait_s=0.1):
            assert lock.measured() == "P7"
    assert (tmp_path / "publishing").read_bytes() == b""


def test_nothing_is_measured_where_nobody_runs(tmp_path: Path) -> None:
    assert RepositoryLock(tmp_path).measured() == ""
    with other_run(tmp_path) as other:
        other.kill()
        other.wait()
        assert RepositoryLock(tmp_path).measured() == "", "a killed run measures nothing"


def test_a_publisher_gets_its_turn_when_the_other_has_ended(tmp_path: Path) -> None:
    order: list[str] = []

    def other() -> None:
        with RepositoryLock(tmp_path).publishing(what="P2", wait_s=10):
            order.append("P2")

    with RepositoryLock(tmp_path).publishing(what="P1", wait_s=0.1):
        thread = Thread(target=other)
        thread.start()
        time.sleep(0.1)
        order.append("P1")
    thread.join(10)
    assert order == ["P1", "P2"]
