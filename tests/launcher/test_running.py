"""What is started is ended: with all its offspring, in time, before it fills the disk, or it is named."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from expctl.adapters.child.contained_process import (
    MARK,
    Child,
    ChildLimits,
    Launch,
    TimedOut,
    TooMuch,
    Unkillable,
    end_survivors,
)
from expctl.adapters.steps.runner import StepRunner
from expctl.domain.errors import Busy
from expctl.domain.protocol.model import Environment
from expctl.domain.protocol.step import Step
from expctl.domain.run.step_result import Failed
from expctl.launcher.capabilities import detect_capabilities
from expctl.launcher.control_group import groups_of, home_of_groups
from expctl.launcher.namespaces import makers
from expctl.launcher.process import Identity, boot_id, identity_of, pids, state_of
from tests.e2e.foreign import wait_until
from tests.refusals import refuses

SLEEPS = (sys.executable, "-c", "import time; time.sleep(60)")
TALKS = (sys.executable, "-c", "while True: print('and so on')")
FREEZER = Path("/sys/fs/cgroup/freezer")

STUBBORN = """
import os, signal, sys, time
def deaf():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
    open(sys.argv[1] + '/pids', 'a').write(f'{os.getpid()} ')
def write(name, pause):
    block = bytes(1 << 20)
    for number in range(10 << 10):
        with open(f'{sys.argv[1]}/{name}{number >> 8}', 'ab') as file: file.write(block)
        time.sleep(pause)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        deaf(); write('daemon', float(sys.argv[2])); time.sleep(60)
    os._exit(0)
os.wait(); deaf(); write('own', float(sys.argv[2])); time.sleep(60)
"""


@pytest.fixture
def stubborn(tmp_path: Path) -> Callable[..., Child]:
    """A child that ignores TERM, daemonises a grandchild that does too, and wants to write 10 GB, as does that."""
    room = tmp_path / "room"
    room.mkdir()

    def start(pause_s: float, cap: int) -> Child:
        argv = [sys.executable, "-c", STUBBORN, str(room), str(pause_s)]
        limits = ChildLimits(scratch=(), tree=(room,))  # not emptied afterwards: the test wants to see
        return Child(
            Launch(argv=argv, cwd=tmp_path, environment={MARK: "stubborn"}, log=tmp_path / "log", limits=limits, disk_bytes=cap)
        )

    return start


def written(room: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in room.iterdir())


def alive_in(room: Path) -> list[int]:
    """The pids of those that have the folder in their command line; those that they know themselves by are of a namespace."""
    assert len((room / "pids").read_text().split()) == 2
    return [pid for pid in pids() if str(room).encode() in commandline(pid)]


def commandline(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_a_stubborn_family_is_gone_soon_after_its_timeout(stubborn: Callable[..., Child], tmp_path: Path) -> None:
    with stubborn(0.02, 4 << 30) as child:
        with pytest.raises(TimedOut):
            child.wait(time.monotonic() + 1)
        timeout = time.monotonic()
    assert time.monotonic() - timeout < 5
    assert alive_in(tmp_path / "room") == []
    assert list(groups_of("stubborn")) == []


def test_ten_gigabytes_stay_under_the_cap(stubborn: Callable[..., Child], tmp_path: Path) -> None:
    cap = 512 << 20
    began = time.monotonic()
    with stubborn(0, cap) as child, pytest.raises(TooMuch, match="wrote more than 256 MiB to the disk and was ended"):
        child.wait(began + 60)
    assert cap // 2 <= written(tmp_path / "room") < cap
    assert alive_in(tmp_path / "room") == []


def test_files_without_a_name_count(tmp_path: Path) -> None:
    program = """
import os, time
files = []
for number in range(100):
    files.append(open(f'room/{number}', 'wb')); os.unlink(f'room/{number}'); files[-1].write(bytes(4 << 20)); files[-1].flush()
time.sleep(60)
"""
    (tmp_path / "room").mkdir()
    argv, limits = [sys.executable, "-c", program], ChildLimits(scratch=(tmp_path / "room",))
    launch = Launch(argv=argv, cwd=tmp_path, environment={}, log=tmp_path / "log", limits=limits, disk_bytes=128 << 20)
    with Child(launch) as child, pytest.raises(TooMuch):
        child.wait(time.monotonic() + 30)


def test_what_was_too_much_is_given_back(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    argv = [
        sys.executable,
        "-c",
        "import time\nfor n in range(9): open(f'room/{n}', 'wb').write(bytes(8 << 20))\ntime.sleep(60)",
    ]
    limits = ChildLimits(scratch=(tmp_path / "room",))
    launch = Launch(argv=argv, cwd=tmp_path, environment={}, log=tmp_path / "log", limits=limits, disk_bytes=64 << 20)
    with Child(launch) as child, pytest.raises(TooMuch):
        child.wait(time.monotonic() + 30)
    assert list((tmp_path / "room").iterdir()) == []


def test_talk_without_end_is_cut_off(tmp_path: Path) -> None:
    launch = Launch(argv=TALKS, cwd=tmp_path, environment={"PATH": os.environ["PATH"]}, log=tmp_path / "log")
    with Child(launch) as child, pytest.raises(TooMuch, match="said more than 32 MiB"):
        child.wait(time.monotonic() + 30)
    assert (tmp_path / "log").stat().st_size == 1 << 20


def test_a_pid_that_was_given_out_again_is_another_process() -> None:
    now = identity_of(os.getpid())
    assert now is not None
    before = Identity(pid=now.pid, start_ticks=now.start_ticks - 1, boot=boot_id())
    assert not before.is_alive()
    before.send(signal.SIGKILL)
    assert now.is_alive()


# ------------------------------------------------------------------ what can't be killed


@pytest.fixture
def frozen() -> Iterator[Callable[[int], None]]:
    """Puts a process to where no signal reaches it, as a device that doesn't answer would."""
    group = FREEZER / f"expctl-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        pytest.skip("UNTRIED: no freezer of control groups (version 1) that we may use, so nothing here can't be killed")

    def freeze(pid: int) -> None:
        (group / "cgroup.procs").write_text(str(pid))
        (group / "freezer.state").write_text("FROZEN")
        while (group / "freezer.state").read_text() != "FROZEN\n":
            time.sleep(0.001)

    yield freeze
    (group / "freezer.state").write_text("THAWED")
    deadline = time.monotonic() + 60
    while (group / "cgroup.procs").read_text() and time.monotonic() < deadline:
        end_survivors("frozen")
    group.rmdir()


def test_what_cannot_be_killed_is_named_until_it_is_gone(tmp_path: Path, frozen: Callable[[int], None]) -> None:
    environment = {"PATH": os.environ["PATH"], MARK: "frozen"}
    child = Child(
        Launch(argv=SLEEPS, cwd=tmp_path, environment=environment, log=tmp_path / "log"), grace_s=(0.1, 0.1), kill_wait_s=0.3
    )
    frozen(child.pid)
    with pytest.raises(Unkillable, match=f"pid {child.pid}"):
        child.end()
    child.end()  # once is enough
    assert state_of(child.pid) == "D"
    with refuses("survivor-cannot-be-killed", Busy) as caught:
        end_survivors("frozen", kill_wait_s=0.3)
    assert f"(pid {child.pid}, state D)" in caught.value.found
    (FREEZER / f"expctl-test-{os.getpid()}" / "freezer.state").write_text("THAWED")
    end_survivors("frozen")
    assert identity_of(child.pid) is None
    assert home_of_groups() is None or list(groups_of("frozen")) == []


def test_a_step_that_cannot_be_killed_says_nothing_about_the_build(tmp_path: Path, frozen: Callable[[int], None]) -> None:
    steps = StepRunner(environment=Environment(), scratch=tmp_path / "scratch", mark="step", experiment="P1")

    class Freezes:
        def advance(self, _name: str, _done: int, _total: int) -> None:
            frozen(next(pid for pid in pids_of("step")))

        def tick(self) -> None:
            pass

    said = 'os.write(int(os.environ[\'EXPCTL_RESULT_FD\']), b\'{"event": "case", "ok": true}\\n\')'
    program = f"import os, time; {said}; time.sleep(60)"
    step = Step(argv=("{python}", "-c", program), timeout_s=0.5)
    outcome = steps.test(step, cwd=tmp_path, artifact=tmp_path / "a", progress=Freezes())  # type: ignore[arg-type]
    assert isinstance(outcome, Failed)
    assert outcome.fault
    assert "can't be killed" in outcome.reason


def pids_of(mark: str) -> Iterator[int]:
    from expctl.launcher.process import carries

    yield from (pid for pid in pids() if carries(pid, f"{MARK}={mark}".encode()))


def test_no_process_that_makes_namespaces_outlives_a_runner_that_died_at_its_fork() -> None:
    """The runner is killed between the fork and the prctl of its child, which then has another parent already."""
    program = (
        "import os, signal, sys, time\n"
        "from expctl.launcher import namespaces, own_processes\n"
        "late = own_processes.prctl\n"
        "def slow(*words):\n"
        "    while os.getppid() == runner: time.sleep(0.01)\n"
        "    return late(*words)\n"
        "own_processes.prctl, runner = slow, os.getpid()\n"
        "if os.fork() == 0: time.sleep(0.3); os.kill(runner, signal.SIGKILL); os._exit(0)\n"
        "namespaces._Maker(lambda: None, lambda: None, forks=False)\n"
    )
    runner = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    out, _ = runner.communicate(timeout=120)  # ends when nobody holds its output any more
    assert (runner.returncode, out) == (-signal.SIGKILL, b"")


def test_what_a_launch_left_ends_with_the_runner_although_it_is_unmarked_and_in_another_session(tmp_path: Path) -> None:
    """The runner is killed, and nobody looks: the namespace ends, where there is one."""
    if not detect_capabilities().own_processes:
        pytest.skip(f"UNTRIED: no pid namespaces here ({detect_capabilities().words()})")
    sign = f"left-by-{os.getpid()}-{tmp_path.name}"
    leaves = f"setsid env -i {sys.executable} -c 'import time; time.sleep(60)' {sign} & sleep 60"
    program = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from expctl.launcher import containment\n"
        "from expctl.adapters.child.contained_process import Child, ChildLimits, Launch\n"
        "containment.make_group = lambda mark: None\n"
        "folder = Path(sys.argv[1])\n"
        "launch = Launch(argv=['/bin/sh', '-c', sys.argv[2]], cwd=folder, environment={'PATH': os.environ['PATH']},\n"
        "                log=folder / 'log', limits=ChildLimits(scratch=(folder / 'scratch',)))\n"
        "with Child(launch) as child: child.wait(time.monotonic() + 60)\n"
    )
    runner = subprocess.Popen([sys.executable, "-c", program, str(tmp_path), leaves])
    deadline = time.monotonic() + 20
    while not (left := left_with(sign)) and time.monotonic() < deadline:
        time.sleep(0.01)
    runner.kill()
    runner.wait()
    assert left
    while left_with(sign) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left_with(sign) == []


def left_with(sign: str) -> list[int]:
    return [pid for pid in pids() if commandline(pid).endswith(sign.encode() + b"\0") and commandline(pid).startswith(b"/")]


def test_a_launch_sees_its_own_processes_alone_and_ends_as_it_did(tmp_path: Path) -> None:
    if not detect_capabilities().own_processes:
        pytest.skip(f"UNTRIED: no pid namespaces here ({detect_capabilities().words()})")
    limits, log = ChildLimits(scratch=(tmp_path / "scratch",)), tmp_path / "log"
    for program, status in (("ls /proc; exit 7", 7), ("kill -TERM $$", -signal.SIGTERM), ("kill -KILL $$", -signal.SIGKILL)):
        argv = ["/bin/sh", "-c", program]
        with Child(Launch(argv=argv, cwd=tmp_path, environment={"PATH": os.environ["PATH"]}, log=log, limits=limits)) as child:
            assert child.wait(time.monotonic() + 20) == status
    assert len([name for name in log.read_text().split() if name.isdigit()]) <= 4


def test_namespaces_whose_first_process_was_killed_are_made_again(tmp_path: Path) -> None:
    limits, log = ChildLimits(scratch=(tmp_path / "scratch",)), tmp_path / "log"
    launch = Launch(argv=["/bin/true"], cwd=tmp_path, environment={}, log=log, limits=limits)
    for _ in range(2):
        with Child(launch) as child:
            assert child.wait(time.monotonic() + 20) == 0
        for maker in makers():
            os.kill(maker, signal.SIGKILL)
        wait_until(lambda: {state_of(maker) for maker in makers()} <= {"Z", ""}, "the end of what holds the namespaces")


def test_it_can_be_stopped_and_goes_on(tmp_path: Path) -> None:
    limits = ChildLimits(scratch=(tmp_path / "scratch",))
    argv = ["/bin/sh", "-c", "sleep 0.3; exit 5"]
    launch = Launch(argv=argv, cwd=tmp_path, environment={"PATH": os.environ["PATH"]}, log=tmp_path / "log", limits=limits)
    with Child(launch) as child:
        os.killpg(child.pid, signal.SIGSTOP)
        with pytest.raises(TimedOut):
            child.wait(time.monotonic() + 1)
        os.killpg(child.pid, signal.SIGCONT)
        assert child.wait(time.monotonic() + 20) == 5
