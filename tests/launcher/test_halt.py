"""What is stopped and let go again is a process, not a number: another process may have got its pid meanwhile."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from expctl.launcher import containment
from expctl.launcher.launch import Launch
from expctl.launcher.process import children_of, state_of
from expctl.launcher.running import Running
from tests.e2e.foreign import wait_until

LAST_PID = Path("/proc/sys/kernel/ns_last_pid")
TRIES = 20


@contextlib.contextmanager
def stopped_process(pid: int) -> Iterator[bool]:
    """Start a process that gets the number `pid`, which is free, and stop it; give whether it got it."""
    try:
        LAST_PID.write_text(str(pid - 1))
    except OSError as error:
        pytest.skip(f"UNTRIED: nobody here says which pid is next ({error.strerror})")
    victim = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        victim.send_signal(signal.SIGSTOP)
        wait_until(lambda: state_of(victim.pid) == "T", "the stop")
        yield victim.pid == pid
    finally:
        victim.kill()
        victim.wait()


def test_a_process_that_got_the_pid_of_a_stopped_one_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containment, "make_group", lambda _: None)  # a group needs no pids
    argv = ["/bin/sh", "-c", "(sleep 60 & ) ; sleep 60"]
    launch = Launch(argv=argv, cwd=tmp_path, environment={"PATH": os.environ["PATH"]}, log=tmp_path / "log")
    before = set(children_of(os.getpid()))
    with open(os.devnull, "wb") as nothing:
        running = Running(launch, stdin=None, stdout=nothing)
    try:
        wait_until(lambda: len(set(children_of(os.getpid())) - before) == 2, "an orphan")
        time.sleep(0.05)  # so that the shell waits for no vfork, and who gets the pid starts in a later tick of the clock
        (orphan,) = running.halt()
        wait_until(lambda: state_of(orphan) == "T", "the stop")
        os.kill(orphan, signal.SIGKILL)
        os.waitpid(orphan, 0)
        for _ in range(TRIES):  # another process may be started in between
            with stopped_process(orphan) as is_same:
                if not is_same:
                    continue
                running.go_on()
                time.sleep(0.05)
                assert state_of(orphan) == "T"
                return
        pytest.skip("UNTRIED: the pid was never given out again")
    finally:
        running.go_on()
        assert running.process.stdin is not None
        running.process.stdin.close()
        running.kill()
