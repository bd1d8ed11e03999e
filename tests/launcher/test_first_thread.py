"""A process whose first thread has ended is shown as a zombie, but its other threads run: it is stopped, seen and killed."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from expctl.adapters.child.contained_process import end_survivors
from expctl.adapters.machine.lock_holder import start_ticks
from expctl.adapters.sensors.process_table import ProcessTable
from expctl.launcher import containment
from expctl.launcher.disk_use import _unlinked
from expctl.launcher.launch import MARK, Launch
from expctl.launcher.process import carries, children_of, identity_of, stat_of
from expctl.launcher.running import Running
from tests.e2e.foreign import wait_until

HEADLESS = """
import ctypes, os, threading, time
if os.getsid(0) != os.getpid(): os.setsid()
def run():
    end = time.monotonic() + 60
    with open('nameless', 'wb') as file:
        os.unlink('nameless'); file.write(bytes(1 << 20)); file.flush()
        while time.monotonic() < end: pass
threading.Thread(target=run).start()
ctypes.CDLL(None).pthread_exit(None)
"""
LEAVES = f'{sys.executable} -c "$PROGRAM" & sleep 60'


def is_headless(pid: int) -> bool:
    fields = stat_of(pid)
    return fields[:1] == ["Z"] and fields[17] == "2"


@pytest.fixture
def headless(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    environment = {"PATH": os.environ["PATH"], MARK: tmp_path.name}
    with subprocess.Popen([sys.executable, "-c", HEADLESS], cwd=tmp_path, env=environment) as process:
        try:
            wait_until(lambda: is_headless(process.pid), "the end of the first thread")
            yield process
        finally:
            process.kill()


def test_it_has_not_ended(headless: "subprocess.Popen[bytes]", tmp_path: Path) -> None:
    wait_until(lambda: _unlinked(headless.pid) >= 1 << 20, "a file without a name")
    found = identity_of(headless.pid)
    assert found is not None
    assert (found.is_alive(), found.start_ticks) == (True, start_ticks(headless.pid))
    assert carries(headless.pid, f"{MARK}={tmp_path.name}".encode())
    table = ProcessTable(mark="another", me=1 << 22)
    process, taken = table.process(headless.pid), found.processor_ns() or 0
    assert process is not None
    time.sleep(0.1)
    after = table.process(headless.pid)
    assert after is not None
    assert after.cpu_ticks > process.cpu_ticks
    assert (found.processor_ns() or 0) > taken
    assert table.words(headless.pid)[:2] == [sys.executable, "-c"]
    assert f"{tmp_path}/nameless (deleted)" in (table.links(headless.pid) or ())
    assert not table.is_ours(headless.pid)
    assert ProcessTable(mark=tmp_path.name, me=1 << 22).is_ours(headless.pid)
    headless.kill()
    wait_until(lambda: identity_of(headless.pid) is None, "the end of all threads")
    assert stat_of(headless.pid)[0] == "Z"  # nobody has asked for its status yet


def test_the_sweep_of_survivors_ends_it(headless: "subprocess.Popen[bytes]", tmp_path: Path) -> None:
    assert end_survivors(tmp_path.name) == 1
    assert identity_of(headless.pid) is None


@contextlib.contextmanager
def launched(tmp_path: Path, *words: str) -> Iterator[Running]:
    environment = {"PATH": os.environ["PATH"], "PROGRAM": HEADLESS}
    launch = Launch(argv=words, cwd=tmp_path, environment=environment, log=tmp_path / "log")
    with open(os.devnull, "rb") as nothing, open(launch.log, "wb") as log:
        running = Running(launch, stdin=nothing, stdout=log)
    try:
        yield running
    finally:
        running.go_on()
        running.kill()


def took(pid: int, seconds: float) -> int:
    """The processor time (ns) that a process takes within `seconds`."""
    found = identity_of(pid)
    assert found is not None
    before = found.processor_ns()
    time.sleep(seconds)
    after = found.processor_ns()
    assert before is not None
    assert after is not None
    return after - before


@pytest.mark.parametrize("words", [(sys.executable, "-c", HEADLESS), ("/bin/sh", "-c", LEAVES)], ids=["worker", "descendant"])
def test_it_is_stopped_goes_on_and_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.setattr(containment, "make_group", lambda _: None)  # a group would stop and kill it without a pid
    with launched(tmp_path, *words) as running:
        wait_until(lambda: any(map(is_headless, running.pids())), "the end of the first thread")
        pid = next(filter(is_headless, running.pids()))
        assert running.halt() == ()
        assert took(pid, 0.2) == 0
        assert running.go_on()
        assert took(pid, 0.2) > 0
        running.halt()
        os.kill(pid, signal.SIGCONT)
        wait_until(lambda: took(pid, 0.01) > 0, "it to run")
        assert not running.go_on()
        running.kill()
        assert identity_of(pid) is None


def test_it_is_found_as_left_behind_and_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containment, "make_group", lambda _: None)
    before = set(children_of(os.getpid()))
    with launched(tmp_path, "/bin/sh", "-c", f"({LEAVES.replace(' & sleep 60', ' &')}); sleep 60") as running:
        wait_until(lambda: any(map(is_headless, set(children_of(os.getpid())) - before)), "an orphan")
        orphan = next(filter(is_headless, set(children_of(os.getpid())) - before))
        assert running.halt() == (orphan,)
        assert took(orphan, 0.2) == 0
        assert running.go_on()
        running.kill()
        assert identity_of(orphan) is None
