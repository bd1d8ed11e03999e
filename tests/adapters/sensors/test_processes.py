"""Who is there, who is ours, who is worth a look."""

import os
import subprocess
import sys
import time

import pytest

from expctl.adapters.child.contained_process import MARK
from expctl.adapters.sensors.interface import Launch
from expctl.adapters.sensors.new_processes import GAP_MOST, TURNS, NewProcesses
from expctl.adapters.sensors.process_patterns import ProcessPatterns
from expctl.adapters.sensors.process_table import ProcessTable
from tests.fakes.machine import FakeProc

ME = 500
PATTERNS = ("benchmark_*", "ncu")


def table(proc: FakeProc) -> ProcessTable:
    return ProcessTable(mark="m", root=proc.root, me=ME)


def sensor(proc: FakeProc) -> ProcessPatterns:
    return ProcessPatterns(table(proc), PATTERNS)


def blockers(proc: FakeProc) -> list[tuple[int, str]]:
    return [(each.pid, each.what) for each in sensor(proc).blocking()]


BLOCKS = {
    "an executable": (("/opt/ncu", "--set", "full"), "ncu matches ncu"),
    "a script": (("/usr/bin/python3.11", "-u", "/home/a/benchmark_x.py"), "benchmark_x.py matches benchmark_*"),
    "after the value of an option": (("python3", "-W", "ignore", "benchmark_x.py"), "benchmark_x.py matches benchmark_*"),
    "a hostile name": (("benchmark_\x1b[31mred\u202e",), "benchmark_red matches benchmark_*"),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_what_blocks(proc: FakeProc, name: str) -> None:
    argv, what = BLOCKS[name]
    proc.add(600, *argv)
    assert blockers(proc) == [(600, what)]


PASSES: dict[str, dict[str, object]] = {
    "an editor": {"argv": ("vim", "benchmark_x.py")},
    "a linter": {"argv": ("python3", "lint.py", "benchmark_x.py")},
    "a zombie": {"argv": ("ncu",), "state": "Z"},
    "a child of ours": {"argv": ("ncu",), "parent": ME},
    "a grandchild of ours": {"argv": ("ncu",), "parent": 601},
    "whoever carries our mark": {"argv": ("ncu",), "mark": "m"},
    "a kernel thread": {"argv": ()},
}


@pytest.mark.parametrize("name", PASSES)
def test_what_does_not_block(proc: FakeProc, name: str) -> None:
    kind = dict(PASSES[name])
    proc.add(601, "sh", parent=ME)
    proc.add(600, *kind.pop("argv"), **kind)  # type: ignore[misc, arg-type]
    assert blockers(proc) == []


def test_another_repositorys_children_block() -> None:
    """Ten runners in ten repositories: only one measures, and its children are strangers to the others."""
    with subprocess.Popen(
        [sys.executable, "-c", "import time; print(flush=True); time.sleep(60)", "x"],
        env={**os.environ, MARK: "other"},
        start_new_session=True,
        stdout=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()  # a moment after exec, the kernel doesn't know its environment yet
            here = ProcessTable(mark="m")
            assert here.is_ours(process.pid), "it descends from this very process"
            assert not ProcessTable(mark="m", me=1 << 22).is_ours(process.pid)
            assert ProcessTable(mark="other", me=1 << 22).is_ours(process.pid)
        finally:
            process.kill()


def test_who_it_is_is_told_without_its_arguments(proc: FakeProc) -> None:
    proc.add(600, "/opt/ncu", "--token", "secret", name="ncu")
    (found,) = sensor(proc).blocking()
    assert found.who.startswith("ncu (pid 600, user ")
    assert "secret" not in repr(found)


def test_since_when_it_runs() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        try:
            told = time.mktime(time.strptime(ProcessTable(mark="m").since(process.pid), "%Y-%m-%dT%H:%M:%SZ")) - time.timezone
            assert abs(told - time.time()) < 5
        finally:
            process.kill()


def test_hidden_processes_are_said_to_be(proc: FakeProc) -> None:
    assert sensor(proc).why_absent() == ""
    proc.remove(1)
    assert "hidepid" in sensor(proc).why_absent()


# ------------------------------------------------------------------ new_processes


def test_the_first_answer_is_everybody_but_the_kernels_threads(proc: FakeProc) -> None:
    assert set(NewProcesses(table(proc), proc.root).fresh()) == {1, 400, ME}


def settled(proc: FakeProc) -> NewProcesses:
    """NewProcesses after the first look, when nobody is young any more."""
    made = NewProcesses(table(proc), proc.root)
    for _ in range(TURNS):
        made.fresh()
    return made


@pytest.mark.parametrize("pid", [ME + GAP_MOST, ME + GAP_MOST + 1])
def test_whoever_comes_is_seen_at_once_and_again_later(proc: FakeProc, pid: int) -> None:
    new_processes = settled(proc)
    proc.add(pid, "sh")
    seen = [pid in new_processes.fresh() for _ in range(6)]
    assert seen[:2] == [True, True], "it may have become another program"
    assert True in seen[2:]


def test_an_old_process_that_becomes_another_program_is_seen_in_turn(proc: FakeProc) -> None:
    new_processes, sees = settled(proc), sensor(proc)
    proc.add(400, "ncu")
    proc.add(ME, "python3", parent=1)  # else it is above us
    assert any(sees.look(new_processes.fresh()) for _ in range(2 * TURNS))


@pytest.mark.parametrize("last", [600 + GAP_MOST + 1, 10])
def test_many_newcomers_and_numbers_that_start_over_are_found_by_a_list(proc: FakeProc, last: int) -> None:
    new_processes = settled(proc)
    proc.add(450, "ncu")
    proc.count(last)
    assert 450 in new_processes.fresh()


def test_without_a_count_of_processes_everybody_new_is_found(proc: FakeProc) -> None:
    (proc.root / "loadavg").unlink()
    new_processes = settled(proc)
    proc.add(450, "ncu")
    (proc.root / "loadavg").unlink()
    assert 450 in new_processes.fresh()


def test_nobody_came_and_little_is_looked_at(proc: FakeProc) -> None:
    for pid in range(1000, 1200):
        proc.add(pid, "sh")
    new_processes = settled(proc)
    assert max(len(new_processes.fresh()) for _ in range(TURNS)) <= 200 // TURNS + 2


def test_the_timed_part_ends_in_a_look_at_candidates(proc: FakeProc) -> None:
    sees = sensor(proc)
    proc.add(600, "ncu")
    sees.start(Launch(side="both"))
    assert [each.pid for each in sees.stop()] == [600]
    sees.start(Launch(side="both", timed=False))
    assert sees.stop() == ()
