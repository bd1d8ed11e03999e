"""What others take of the CPU, its clock, and a machine that sleeps."""

from pathlib import Path

import pytest

from expctl.adapters.sensors.clock_history import LAUNCHES_LEAST
from expctl.adapters.sensors.cpu_clock import CpuClock
from expctl.adapters.sensors.cpu_load import CpuLoad, Schedule, kept_waiting
from expctl.adapters.sensors.interface import Launch
from expctl.adapters.sensors.process_table import ProcessTable
from expctl.adapters.sensors.suspend import Suspend, asleep_s
from expctl.domain.protocol.model import Build, NumberKind, Target, Toolchain
from tests.fakes.machine import FakeProc

ME = 500
MS = 1_000_000
TARGET = Target(build=Build(toolchain=Toolchain.COMMAND, argv=("make",)))


class Time:
    """A clock that goes on when it is told to."""

    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Time:
    return Time()


def load(proc: FakeProc, clock: Time, limit: float = 25.0) -> CpuLoad:
    table = ProcessTable(mark="m", root=proc.root, me=ME)
    return CpuLoad(table, limit, root=proc.root, cores={0, 1}, clock_s=clock)


def worker(proc: FakeProc, ran_ms: int, waited_ms: int) -> None:
    """Ours, with a child of its own that ran and waited."""
    proc.add(ME, "python3", parent=400, below=[600])
    proc.add(600, "sh", parent=ME, below=[601])
    proc.add(601, "python3", parent=600, waited=(ran_ms * MS, waited_ms * MS))


WAITS = {"alone": (1, []), "a little": (300, []), "half": (1000, ["others use the CPU"])}


@pytest.mark.parametrize("name", WAITS)
def test_workers_that_wait_for_their_core(proc: FakeProc, clock: Time, name: str) -> None:
    waited_ms, expected = WAITS[name]
    proc.ticks((0, 0, 0), (0, 0, 0))
    worker(proc, 5000, 9000)  # of the start, which isn't timed
    sensor = load(proc, clock)
    sensor.start(Launch(side="both", core=1))
    clock.now_s += 2
    worker(proc, 6000, 9000 + waited_ms)
    found = sensor.stop()
    assert [each.what for each in found] == expected
    assert not found or "waited 50 % of their time" in found[0].detail


# Of a group: (ran, waited) of its threads. A warden works for 1 ms, its cell for 3, and each is ready while the other runs.
GROUPS = {
    "alone": ([("1", 1, 3), ("1", 3, 1)], (3, 0)),
    "beside a stranger": ([("1", 1, 4), ("1", 3, 4)], (3, 3)),
    "one that is stopped meanwhile": ([("1", 1, 0), ("1", 3, 1), ("2", 4, 4)], (7, 4)),
}


@pytest.mark.parametrize("name", GROUPS)
def test_a_worker_does_not_keep_itself_waiting(name: str) -> None:
    threads, expected = GROUPS[name]
    assert kept_waiting([Schedule(group=group, ran_ns=ran, waited_ns=waited) for group, ran, waited in threads]) == expected


def test_a_host_that_keeps_the_core_and_one_that_keeps_another(proc: FakeProc, clock: Time) -> None:
    sensor = load(proc, clock)
    worker(proc, 0, 0)
    for stolen, expected in (((100, 0), 0), ((0, 100), 1)):
        proc.ticks((0, 0, 0), (0, 0, 0))
        sensor.start(Launch(side="both", core=1))
        clock.now_s += 2
        proc.ticks((0, 0, stolen[0]), (0, 0, stolen[1]))
        assert len(sensor.stop()) == expected


def test_what_is_not_timed_is_not_judged(proc: FakeProc, clock: Time) -> None:
    proc.ticks((0, 0, 0), (0, 0, 0))
    worker(proc, 0, 0)
    sensor = load(proc, clock)
    sensor.start(Launch(side="baseline", timed=False, core=1))
    clock.now_s += 2
    worker(proc, 1000, 9000)
    assert sensor.stop() == ()


LOADS = {"idle": (0, 0, 0), "one core of two": (100, 0, 0), "too little is left": (100, 40, 1), "all of it": (100, 100, 1)}


@pytest.mark.parametrize("name", LOADS)
def test_before_a_launch_a_core_must_be_free(proc: FakeProc, clock: Time, name: str) -> None:
    first, second, expected = LOADS[name]
    sensor = load(proc, clock)
    proc.ticks((0, 0, 0), (0, 0, 0))
    assert sensor.blocking() == (), "one look says nothing"
    clock.now_s += 1
    proc.ticks((first, 100 - first, 0), (second, 100 - second, 0))
    found = sensor.blocking()
    assert len(found) == expected
    assert sensor.says() == f"others use {(first + second) / 100:.1f} of 2 cores"


def test_it_is_asked_where_wall_time_counts_and_a_limit_is_given(proc: FakeProc, clock: Time) -> None:
    proc.ticks((0, 0, 0), (0, 0, 0))
    assert load(proc, clock).why_unused(TARGET) == ""
    assert load(proc, clock).why_absent() == ""
    assert load(proc, clock, 0.0).why_unused(TARGET) == "gate.others_percent is 0"
    on_gpu = Target(build=TARGET.build, number_kind=NumberKind.DEVICE_TIME)
    assert load(proc, clock).why_unused(on_gpu) == "no wall time is measured"
    (proc.root / "stat").unlink()
    assert load(proc, clock).why_absent() == "no /proc/stat"


# ------------------------------------------------------------------ clock


def cpu(root: Path, khz: int, events: int = 0) -> None:
    for file, text in {"cpufreq/scaling_cur_freq": khz, "thermal_throttle/core_throttle_count": events}.items():
        (root / "cpu1" / file).parent.mkdir(parents=True, exist_ok=True)
        (root / "cpu1" / file).write_text(f"{text}\n")


def timed(sensor: CpuClock, root: Path, khz: int, events: int = 0) -> list[str]:
    sensor.start(Launch(side="both", core=1))
    cpu(root, khz, events)
    sensor.look([])
    return [each.what for each in sensor.stop()]


def test_a_clock_below_the_sessions_median_and_heat(tmp_path: Path) -> None:
    cpu(tmp_path, 3_000_000)
    sensor = CpuClock(10.0, root=tmp_path)
    with sensor.session():
        for _ in range(LAUNCHES_LEAST):
            assert timed(sensor, tmp_path, 3_000_000) == []
        assert timed(sensor, tmp_path, 2_600_000) == ["the CPU runs below its clock"]
        assert timed(sensor, tmp_path, 2_800_000) == []
        assert timed(sensor, tmp_path, 3_000_000, events=3) == ["the CPU is throttled by heat"]
    assert sensor.why_absent() == ""


def test_what_the_kernel_does_not_show_is_absent(tmp_path: Path) -> None:
    sensor = CpuClock(10.0, root=tmp_path)
    assert sensor.why_absent() == "the kernel shows no cpufreq and no throttle counts of the CPU"
    assert timed(CpuClock(10.0, root=tmp_path / "no"), tmp_path, 1) == []


# ------------------------------------------------------------------ suspend


def test_a_launch_over_which_the_machine_slept() -> None:
    slept_s = [5.0]
    sensor = Suspend(lambda: slept_s[0])
    sensor.start(Launch(side="both"))
    slept_s[0] = 17.0
    (found,) = sensor.stop()
    assert (found.what, found.detail) == ("the machine was suspended", "for 12 s")
    sensor.start(Launch(side="both"))
    assert sensor.stop() == ()


def test_the_clocks_of_this_machine_agree_while_it_is_awake() -> None:
    assert abs(asleep_s() - asleep_s()) < 0.01
