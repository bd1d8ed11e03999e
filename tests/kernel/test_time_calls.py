"""The script that times call by call, for `expctl suite`, on this CPU."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from expctl.domain.run.step_result import Failed
from expctl.suite.call_times import TIMES, reported
from kernel.runtime.library import Library

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("words", [("--bias",), ("--of", "torch"), ()])
def test_every_call_has_its_time(cpu_library: Library, tmp_path: Path, words: tuple[str, ...]) -> None:
    given = {**os.environ, "EXPCTL_KERNEL_LIBRARY": str(cpu_library.path)}
    argv = ["kernel/rivals/time_calls.py", "--size", "3x33x50", "--warmups", "3", "--iterations", "11", *words]
    subprocess.run([sys.executable, *argv, "--times", str(tmp_path / TIMES)], cwd=ROOT, env=given, check=True)
    found = reported(tmp_path)
    assert not isinstance(found, Failed)
    assert len(found) == 14
