"""A benchmark of a suite as a child: its variables, its folder, how it fails, and other work beside it."""

import sys
from pathlib import Path

import pytest

from expctl.adapters.steps.rounds import LAUNCHES_MOST
from expctl.adapters.steps.timed_command import TimedCommand
from expctl.domain.errors import Busy
from expctl.domain.protocol.model import Environment
from expctl.domain.run.step_result import Failed
from tests.fakes.machine import FakeWatch

SCRIPT = """import os, sys
out, times, *words = sys.argv[1:]
left = open(os.environ["HOME"] + "/runs", "a+")
left.write("x")
assert not os.listdir(out), os.listdir(out)
open(times, "w").write(os.environ["SPEED"])
sys.exit(" ".join(words) or None)
"""


@pytest.fixture
def watch() -> FakeWatch:
    return FakeWatch()


@pytest.fixture
def command(tmp_path: Path, watch: FakeWatch) -> TimedCommand:
    (tmp_path / "bench.py").write_text(SCRIPT)
    environment = Environment(python=sys.executable, set={"SPEED": "9.5"})
    return TimedCommand(environment, cwd=tmp_path, scratch=tmp_path / "golden", mark="suite-test", watch=watch)


def run(command: TimedCommand, folder: Path, *words: str, timeout_s: float = 30.0) -> Failed | None:
    argv = words if words[:1] == ("gone",) else ("{python}", "bench.py", "{out}", "{times}", *words)
    return command.run(argv, out=folder / "out", times="times.txt", timeout_s=timeout_s)


def test_it_finds_an_empty_folder_and_the_same_home(command: TimedCommand, tmp_path: Path) -> None:
    assert run(command, tmp_path) is None
    assert run(command, tmp_path) is None
    assert (tmp_path / "out/times.txt").read_text() == "9.5"
    assert (tmp_path / "golden/home/runs").read_text() == "xx"


def test_failures(command: TimedCommand, tmp_path: Path) -> None:
    failed, missing = run(command, tmp_path, "no such shape"), run(command, tmp_path, "gone")
    assert failed is not None
    assert failed.reason == "exited with status 1 (no such shape)"
    assert missing is not None
    assert "gone" in missing.reason


def test_a_command_that_hangs(command: TimedCommand, tmp_path: Path) -> None:
    (tmp_path / "bench.py").write_text("import time; time.sleep(60)")
    failed = run(command, tmp_path, timeout_s=0.3)
    assert failed is not None
    assert failed.reason.startswith("did not end within 0.3 s")


def test_what_was_disturbed_is_run_again(command: TimedCommand, tmp_path: Path, watch: FakeWatch) -> None:
    watch.taints = [("ncu matches ncu",), ()]
    assert run(command, tmp_path) is None
    assert (tmp_path / "golden/home/runs").read_text() == "xx"
    watch.taints = [("ncu matches ncu",)] * LAUNCHES_MOST
    with pytest.raises(Busy) as busy:
        run(command, tmp_path)
    assert (busy.value.code, busy.value.found) == ("machine-stays-noisy", "ncu matches ncu")
