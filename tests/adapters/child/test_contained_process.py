"""Contained children: what they get, what they say, how they end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from expctl.adapters.child.contained_process import MARK, Child, Gone, Launch, TimedOut, end_survivors, log_tail
from expctl.adapters.machine.lock_holder import start_ticks
from expctl.launcher.control_group import home_of_groups

SAY = "import os, sys, time, signal\ndef say(text): os.write(int(os.environ['EXPCTL_RESULT_FD']), text.encode())\n"


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., Child]:
    def starts(program: str, **environment: str) -> Child:
        argv = [sys.executable, "-c", SAY + program]
        return Child(
            Launch(argv=argv, cwd=tmp_path, environment={"PATH": os.environ["PATH"], **environment}, log=tmp_path / "log")
        )

    return starts


def soon() -> float:
    return time.monotonic() + 10


def gone(pid: int) -> bool:
    """Did that process end, within a second?"""
    deadline = time.monotonic() + 1
    while start_ticks(pid) != -1:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def pids_in(path: Path, count: int) -> list[int]:
    deadline = time.monotonic() + 10
    while not path.exists() or len(path.read_text().split()) < count:
        assert time.monotonic() < deadline, "the program did not start"
        time.sleep(0.01)
    return [int(word) for word in path.read_text().split()]


def test_result_lines_come_whole_and_output_goes_to_the_log(start: Callable[..., Child], tmp_path: Path) -> None:
    with start("say('one\\ntw'); time.sleep(0.05); say('o\\nthree'); print('words'); sys.stderr.write('more\\n')") as child:
        assert list(child.lines(soon())) == ["one", "two"]
        assert child.wait(soon()) == 0
    assert sorted((tmp_path / "log").read_text().split()) == ["more", "words"]


def test_what_is_sent_arrives(start: Callable[..., Child]) -> None:
    with start("say(sys.stdin.readline().upper()); say(str(sys.stdin.read() == '') + '\\n')") as child:
        child.send("hello")
        child.close_input()
        assert list(child.lines(soon())) == ["HELLO", "True"]


def test_to_send_to_the_dead_says_how_it_died(start: Callable[..., Child]) -> None:
    with start("sys.exit(3)") as child:
        child.wait(soon())
        with pytest.raises(Gone, match="exited with status 3"):
            child.send("hello")


@pytest.mark.parametrize(
    ("program", "fate"),
    [
        ("sys.exit(0)", "exited with status 0"),
        ("sys.exit(7)", "exited with status 7"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "died of SIGSEGV"),
        ("os.abort()", "died of SIGABRT"),
        ("os.close(int(os.environ['EXPCTL_RESULT_FD'])); time.sleep(60)", "closed its result channel"),
    ],
)
def test_the_end_of_a_child_in_words(start: Callable[..., Child], program: str, fate: str) -> None:
    with start(program) as child:
        assert list(child.lines(soon())) == []
        assert child.fate() == fate


@pytest.mark.alone
def test_a_silent_child_times_out(start: Callable[..., Child]) -> None:
    with start("time.sleep(60)") as child:
        began = time.monotonic()
        with pytest.raises(TimedOut):
            list(child.lines(time.monotonic() + 0.2))
        with pytest.raises(TimedOut):
            child.wait(time.monotonic() + 0.1)
        assert time.monotonic() - began < 2


def test_a_flood_without_line_ends_is_cut_off(start: Callable[..., Child]) -> None:
    with start("while True: say('x' * 65536)") as child, pytest.raises(Gone, match="a result line of more than"):
        list(child.lines(soon()))


def test_the_environment_is_what_was_given_and_nothing_else(
    start: Callable[..., Child], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    with start("say(' '.join(sorted(os.environ)) + '\\n')", GIVEN="x") as child:
        (line,) = child.lines(soon())
    assert set(line.split()) - {"LC_CTYPE"} == {"EXPCTL_RESULT_FD", "GIVEN", "PATH"}


def test_no_other_descriptor_of_ours_is_open_in_the_child(start: Callable[..., Child], tmp_path: Path) -> None:
    ours = os.open(tmp_path / "ours", os.O_CREAT | os.O_RDWR)
    os.set_inheritable(ours, True)
    try:
        with start(
            "fd = os.environ['EXPCTL_RESULT_FD']; say(' '.join(sorted(set(os.listdir('/proc/self/fd')) - {fd})) + '\\n')"
        ) as child:
            (line,) = child.lines(soon())
    finally:
        os.close(ours)
    assert len(line.split()) == 4  # 0, 1, 2 and the listing itself


FAMILY = """
def fork(act):
    pid = os.fork()
    if pid == 0:
        act()
        os._exit(0)
    return pid
def sleeper(stubborn):
    if stubborn:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
    open('pids', 'a').write(f'{os.getpid()} ')
    time.sleep(60)
def daemon():
    fork(lambda: sleeper(True))
"""


@pytest.mark.alone
def test_the_end_takes_the_whole_group_a_daemon_and_one_that_ignores_term(start: Callable[..., Child], tmp_path: Path) -> None:
    program = FAMILY + "os.waitpid(fork(daemon), 0)\nfork(lambda: sleeper(True))\nsleeper(False)"
    with start(program) as child:
        pids = pids_in(tmp_path / "pids", 3)
        with pytest.raises(TimedOut):
            list(child.lines(time.monotonic() + 0.05))
        began = time.monotonic()
    assert all(gone(pid) for pid in pids)
    assert time.monotonic() - began < 3


def test_a_leader_that_ignores_int_and_term_is_killed(start: Callable[..., Child], tmp_path: Path) -> None:
    with start(FAMILY + "sleeper(True)"):
        (pid,) = pids_in(tmp_path / "pids", 1)
    assert gone(pid)


def test_an_orphan_of_a_leader_that_ended_well_is_taken_too(start: Callable[..., Child], tmp_path: Path) -> None:
    with start(FAMILY + "fork(lambda: sleeper(True))") as child:
        (pid,) = pids_in(tmp_path / "pids", 1)
        assert child.wait(soon()) == 0
        assert start_ticks(pid) != -1
    assert gone(pid)


def runner_that_leaves(tmp_path: Path, program: str) -> "subprocess.Popen[bytes]":
    """A process that starts a child with our mark and does nothing more, as if it were killed next."""
    runner = f"""
import os, sys, time
from pathlib import Path
from expctl.adapters.child.contained_process import MARK, Child, Launch
argv = [sys.executable, "-c", {SAY + program!r}]
folder = Path({str(tmp_path)!r})
child = Child(Launch(argv=argv, cwd=folder, environment={{"PATH": os.environ["PATH"], MARK: "ours"}}, log=folder / "log"))
time.sleep(60)
"""
    return subprocess.Popen([sys.executable, "-c", runner])


NAMELESS = """
def nameless():
    os.setsid()
    wait = "import os, time; open('pids', 'a').write(f'{os.getpid()} '); time.sleep(60)"
    os.execve(sys.executable, [sys.executable, '-c', wait], {})
"""


@pytest.mark.parametrize("hides", ["(os.setsid(), sleeper(True))", "nameless()"])
def test_survivors_of_a_dead_runner_are_ended_also_in_a_session_of_their_own(tmp_path: Path, hides: str) -> None:
    if hides == "nameless()" and home_of_groups() is None:
        pytest.skip("no control group can be made here: a process without our mark outlives its runner")
    with runner_that_leaves(tmp_path, FAMILY + NAMELESS + f"fork(lambda: {hides})\nsleeper(False)") as runner:
        pids = pids_in(tmp_path / "pids", 2)
        runner.kill()
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], env={**os.environ, MARK: "others"}) as other:
        assert end_survivors("ours") >= 1
        assert all(gone(pid) for pid in pids)
        assert other.poll() is None
        assert end_survivors("ours") == 0
        other.kill()


def test_whoever_sweeps_spares_itself_and_those_above() -> None:
    sweep = "from expctl.adapters.child.contained_process import end_survivors; print(end_survivors('ours'))"
    outer = f"import subprocess, sys; print(subprocess.run([sys.executable, '-c', {sweep!r}], capture_output=True).stdout)"
    answer = subprocess.run([sys.executable, "-c", outer], env={**os.environ, MARK: "ours"}, capture_output=True, text=True)
    assert (answer.returncode, answer.stdout.strip()) == (0, "b'0\\n'")


def test_a_child_dies_with_its_runner(tmp_path: Path) -> None:
    program = f"""
import os, sys, time
from pathlib import Path
from expctl.adapters.child.contained_process import Child, Launch
argv = [sys.executable, "-c", "import os, time; open('pids', 'a').write(str(os.getpid())); time.sleep(60)"]
Child(Launch(argv=argv, cwd=Path({str(tmp_path)!r}), environment=dict(os.environ), log=Path({str(tmp_path / "log")!r})))
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", program]) as runner:
        (pid,) = pids_in(tmp_path / "pids", 1)
        runner.send_signal(signal.SIGKILL)
    assert gone(pid)


def test_a_program_that_is_not_there_leaves_no_descriptor(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        Child(Launch(argv=["/no/such/program"], cwd=tmp_path, environment={}, log=tmp_path / "log"))
    assert len(os.listdir("/proc/self/fd")) == before


def test_the_tail_of_a_log_is_short_and_on_one_line(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert log_tail(log) == ""
    log.write_bytes(b"first\n\nsecond\n\xff\n  third  \n\n")
    assert log_tail(log) == " (second | \ufffd | third)"
    log.write_bytes(b"x" * 100_000)
    assert len(log_tail(log)) == 300 + len(" ()")
