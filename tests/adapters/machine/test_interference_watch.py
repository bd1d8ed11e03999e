"""A thread that looks while something is timed."""

import os
import threading
import time
from pathlib import Path

import pytest

from expctl.adapters.machine.interference_watch import PATIENCE_S, POLL_S, SHARE_MOST, LaunchWatch
from expctl.adapters.sensors.interface import ONLY_AROUND, Launch
from expctl.adapters.sensors.new_processes import NewProcesses
from expctl.adapters.sensors.process_table import ProcessTable
from expctl.domain.errors import Busy
from expctl.domain.machine.interference import Foreign
from tests.fakes.machine import FakeProc, FakeSensor

NCU = Foreign(sensor="process", what="ncu matches ncu", pid=7)
HOT = Foreign(sensor="gpu", what="gpu is hot", detail="99 degrees")


class Wait:
    """The gate's patience."""

    def __init__(self) -> None:
        self.times, self.ends = 0, True

    def __call__(self) -> None:
        self.times += 1
        if not self.ends:
            raise Busy("the machine is not quiet", code="machine-not-quiet")


@pytest.fixture
def wait() -> Wait:
    return Wait()


def watch(tmp_path: Path, wait: Wait, *sensors: FakeSensor, patience_s: float = PATIENCE_S) -> LaunchWatch:
    root = tmp_path / "proc"
    root.mkdir()
    FakeProc(root).add(1, "init")
    made = LaunchWatch(NewProcesses(ProcessTable(mark="m", root=root), root), wait, patience_s=patience_s)
    made.sensors = sensors
    return made


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "watch"]


def test_what_is_seen_before_during_and_at_the_end_of_a_launch_taints_it_and_no_other(tmp_path: Path, wait: Wait) -> None:
    sensor = FakeSensor(sees=[(NCU,)], judges=[(HOT,), ()])
    watched = watch(tmp_path, wait, sensor)
    with watched.watching("candidate", core=1):
        time.sleep(3 * POLL_S)
    assert watched.take_taints() == ("gpu is hot", "ncu matches ncu")
    assert sensor.launches == [Launch(side="candidate", core=1)]
    assert sensor.looks >= 2
    with watched.watching("candidate"):
        pass
    assert watched.take_taints() == ()
    assert threads() == []


def test_taints_of_both_parts_of_a_launch_add_up(tmp_path: Path, wait: Wait) -> None:
    watched = watch(tmp_path, wait, FakeSensor(sees=[], judges=[(NCU,), (HOT,)]))
    with watched.watching("baseline", timed=False):
        pass
    with pytest.raises(KeyError), watched.watching("baseline"):
        raise KeyError
    assert watched.take_taints() == ("gpu is hot", "ncu matches ncu")


def test_before_a_quiet_launch_nobody_waits_and_after_a_tainted_one_the_whole_gate_is_asked(tmp_path: Path, wait: Wait) -> None:
    sensor = FakeSensor()
    watched = watch(tmp_path, wait, sensor)
    watched.clear()
    assert (wait.times, sensor.looks) == (0, 1)
    sensor.judges = [(HOT,)]
    with watched.watching("both"):
        pass
    watched.take_taints()
    watched.clear()
    watched.clear()
    assert wait.times == 1
    sensor.sees = [(NCU,)]
    wait.ends = False
    with pytest.raises(Busy):
        watched.clear()


def test_a_sensor_that_judges_by_the_ends_is_not_polled(tmp_path: Path, wait: Wait) -> None:
    often, seldom = FakeSensor(), FakeSensor(every_s=ONLY_AROUND)
    watched = watch(tmp_path, wait, often, seldom)
    with watched.watching("both"):
        time.sleep(3 * POLL_S)
    assert (often.looks > 1, seldom.looks) == (True, 0)


def burn() -> None:
    began = time.thread_time()
    while time.thread_time() - began < 0.002:
        pass


def test_dear_looks_become_rare(tmp_path: Path, wait: Wait) -> None:
    sensor = FakeSensor(during=burn)
    watched = watch(tmp_path, wait, sensor)
    with watched.watching("both"):
        time.sleep(0.9)
    assert sensor.looks <= 3, "2 ms may be spent every 0.4 s"
    assert watched.spent_s <= 0.009
    assert watched.looked_s * SHARE_MOST * 2 > 0


def test_it_leaves_the_timed_core_to_it(tmp_path: Path, wait: Wait) -> None:
    cores = os.sched_getaffinity(0)
    if len(cores) < 2:
        pytest.skip("one core: there is no other to go to")
    timed, seen = max(cores), []
    watched = watch(tmp_path, wait, FakeSensor(during=lambda: seen.append(os.sched_getaffinity(0))))
    with watched.watching("both", core=timed):
        time.sleep(POLL_S)
    assert seen[0] == cores - {timed}
    assert os.sched_getaffinity(0) == cores


def test_a_bug_in_a_sensor_is_not_swallowed(tmp_path: Path, wait: Wait) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    watched = watch(tmp_path, wait, FakeSensor(during=fail))
    with pytest.raises(ZeroDivisionError), watched.watching("both"):
        time.sleep(POLL_S)


def test_a_sensor_that_hangs_taints_and_is_left_behind(tmp_path: Path, wait: Wait) -> None:
    forever = threading.Event()
    watched = watch(tmp_path, wait, FakeSensor(name="gpu", during=lambda: forever.wait(30)), patience_s=0.1)
    with watched.watching("both"):
        time.sleep(POLL_S)
    assert watched.take_taints() == ("the sensor gpu does not come back",)
    forever.set()
