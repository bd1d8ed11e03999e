"""Who takes the CPU time, by name."""

from pathlib import Path

import pytest

from expctl.adapters.sensors.busiest_processes import BusiestProcesses
from expctl.adapters.sensors.process_table import ProcessTable
from tests.fakes.machine import FakeProc


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def burn(proc: FakeProc, pid: int, ticks: int) -> None:
    """The process has taken so many ticks of CPU time since its start."""
    file = proc.root / str(pid) / "stat"
    head, fields = file.read_text().rsplit(") ", 1)
    words = fields.split()
    words[11] = str(ticks)
    file.write_text(f"{head}) {' '.join(words)}\n")


@pytest.mark.parametrize(
    ("name", "words", "shown"),
    [
        ("python3", ["python3", "-u", "/home/ada/train.py", "--fast"], "python3 train.py"),
        ("python", ["python", "-m", "pytest", "-q"], "python pytest"),
        ("python", ["python", "-c", "while True: pass"], "python"),
        ("zig", ["zig", "build"], "zig"),
        ("node", [], "node"),
    ],
)
def test_an_interpreter_is_named_with_what_it_runs(tmp_path: Path, name: str, words: list[str], shown: str) -> None:
    proc, clock = FakeProc(tmp_path), Clock()
    proc.add(10, *words, name=name)
    busiest = BusiestProcesses(ProcessTable(mark="m", root=tmp_path, me=1 << 22), clock_s=clock)
    busiest.look()
    clock.now_s += 2
    burn(proc, 10, 100)
    assert [each.name for each in busiest.look()] == [shown]


def test_the_three_busiest_that_are_not_ours(tmp_path: Path) -> None:
    proc, clock = FakeProc(tmp_path), Clock()
    for pid, name in ((10, "zig"), (11, "node"), (12, "sh"), (13, "idle"), (14, "late"), (15, "ours")):
        proc.add(pid, name, mark="m" if name == "ours" else "")
    busiest = BusiestProcesses(ProcessTable(mark="m", root=tmp_path, me=1 << 22), clock_s=clock)
    assert busiest.look() == ()
    clock.now_s += 2
    for pid, ticks in ((10, 194), (11, 100), (12, 40), (14, 30), (15, 200)):
        burn(proc, pid, ticks)
    found = busiest.look()
    assert [(each.name, round(each.percent)) for each in found] == [("zig", 97), ("node", 50), ("sh", 20)]
    assert found[0].user
    clock.now_s += 0.5
    burn(proc, 12, 999)
    assert busiest.look() == found, "not looked again so soon"
