"""The gate as a whole: its lock, its sensors, its patience."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from expctl.adapters.machine.device_lock import MachineLock
from expctl.adapters.machine.gate import MachineGate
from expctl.adapters.sensors.interface import Sensor
from expctl.adapters.sensors.process_patterns import ProcessPatterns
from expctl.adapters.sensors.process_table import ProcessTable
from expctl.domain.errors import Busy
from expctl.domain.machine.interference import Foreign
from expctl.domain.protocol.model import Build, Gate, Target, Toolchain
from tests.fakes.machine import FakeSensor
from tests.refusals import refuses

pytestmark = pytest.mark.alone

TARGET = Target(build=Build(toolchain=Toolchain.COMMAND, argv=("make",)))
RULE = Gate(wait_s=0.2, quiet_s=0)
BUSY = Foreign(sensor="fake", what="gpu is busy", detail="57 %", who="train (pid 9, user a)", since="2026-03-01T10:00:00Z")


def gate(*sensors: Sensor | FakeSensor, rule: Gate = RULE, experiment: str = "") -> MachineGate:
    table = ProcessTable(mark="m")
    return MachineGate(rule, lock=MachineLock(experiment=experiment), table=table, sensors=sensors)


def test_a_quiet_machine_is_had_after_the_quiet_time() -> None:
    with gate(FakeSensor(), rule=replace(RULE, quiet_s=0.15)).measuring(TARGET) as waited_s:
        assert 0.15 <= waited_s < 3


def test_the_quiet_time_begins_anew_after_foreign_work() -> None:
    rule = replace(RULE, quiet_s=0.25, wait_s=10)
    with gate(FakeSensor(blocks=[(), (), (BUSY,)]), rule=rule).measuring(TARGET) as waited_s:
        assert waited_s > 0.5


def test_a_machine_that_becomes_quiet_is_waited_for() -> None:
    with gate(FakeSensor(blocks=[(BUSY,)] * 3), rule=replace(RULE, wait_s=10)).measuring(TARGET) as waited_s:
        assert 0.1 < waited_s < 5


def test_a_machine_that_stays_noisy_is_busy_naming_what_who_and_since_when() -> None:
    with pytest.raises(Busy) as caught, gate(FakeSensor(blocks=[(BUSY,)] * 99)).measuring(TARGET):
        pytest.fail("measured")
    assert caught.value.found == "gpu is busy: 57 %, train (pid 9, user a), since 2026-03-01T10:00:00Z"
    assert MachineLock().holders() == (), "the lock is free again"


def test_sensors_that_do_not_serve_the_target_are_not_asked() -> None:
    idle = FakeSensor(not_asked="no GPU is timed", blocks=[(BUSY,)] * 9)
    asked = FakeSensor()
    made = gate(idle, asked)
    with made.measuring(TARGET):
        assert (idle.sessions, asked.sessions) == (0, 1)
        with made.watch.watching("both"):
            pass
    assert (len(idle.launches), len(asked.launches)) == (0, 1)
    assert asked.sessions == 0
    assert made.watch.sensors == ()


def test_one_that_measures_keeps_out_whoever_wants_to_build() -> None:
    with gate(experiment="P3").measuring(TARGET):
        with refuses("machine-in-use", Busy), gate().working():
            pytest.fail("built")
        (found,) = gate().blocking(TARGET)
        assert (found.sensor, found.what, found.detail) == ("lock", "expctl is measuring", "P3, step measuring")
        assert f"(pid {os.getpid()}, user" in found.who
        assert found.since
    with gate().working(), gate().working():
        (found,) = gate().blocking(TARGET)
        assert (found.what, found.pid) == ("expctl builds or tests", os.getpid())


def test_asking_what_blocks_takes_no_lock() -> None:
    made = gate(FakeSensor(window_s=0.05, blocks=[(), (BUSY,)]))
    with MachineLock().alone(wait_s=0):
        assert [each.what for each in made.blocking(TARGET)] == ["expctl is measuring", "gpu is busy"]
    absent = FakeSensor(name="b", missing="no card")
    seen = gate(FakeSensor(name="a"), absent, FakeSensor(name="c", not_asked="not here")).seen(TARGET)
    assert [(each.says, each.absent, each.unused) for each in seen] == [
        ("all is well", "", ""),
        ("", "no card", ""),
        ("", "", "not here"),
    ]


class Compares(FakeSensor):
    """Takes time to look for the first time, and knows when it has looked."""

    def blocking(self) -> tuple[Foreign, ...]:
        time.sleep(0 if self.launches else 0.2)
        self.launches.append(time.monotonic())
        return ()


def test_a_sensor_is_asked_again_once_its_window_has_passed_and_no_later() -> None:
    sensor = Compares(window_s=0.1)
    gate(sensor).blocking(TARGET)
    first_s, second_s = sensor.launches
    assert isinstance(first_s, float)
    assert isinstance(second_s, float)
    assert 0.1 <= second_s - first_s < 0.18


def test_a_lock_that_cannot_be_opened_is_found_before_the_build(tmp_path: Path) -> None:
    (tmp_path / "locks").rmdir()
    with refuses("machine-lock-cannot-open"):
        gate().check()


# ------------------------------------------------------------------ with a real process

PATTERN = f"unit_benchmark_{os.getpid()}*"  # of this very test run


@contextmanager
def somebody_else(folder: Path) -> Iterator[int]:
    """A benchmark that sleeps."""
    script = folder / f"unit_benchmark_{os.getpid()}.py"
    script.write_text("import time\ntime.sleep(60)\n")
    with subprocess.Popen([sys.executable, str(script)]) as process:
        try:
            deadline = time.monotonic() + 5
            while script.name.encode() not in Path(f"/proc/{process.pid}/cmdline").read_bytes():
                assert time.monotonic() < deadline
                time.sleep(0.01)
            yield process.pid
        finally:
            process.kill()


def test_a_benchmark_that_runs_for_a_moment_beside_a_launch_taints_it(tmp_path: Path) -> None:
    stranger = ProcessTable(mark="m", me=1 << 22)  # to whom a child of this process isn't its own
    made = gate(ProcessPatterns(stranger, (PATTERN,)), rule=replace(RULE, wait_s=10))
    with made.measuring(TARGET):
        taints = []
        for is_disturbed in (False, True, False):
            made.watch.clear()
            with made.watch.watching("both"):
                if is_disturbed:
                    with somebody_else(tmp_path):
                        time.sleep(0.3)
                else:
                    time.sleep(0.1)
            taints.append(made.watch.take_taints())
    assert taints == [(), (f"unit_benchmark_{os.getpid()}.py matches {PATTERN}",), ()]
