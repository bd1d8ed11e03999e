"""Machines that exist as files only."""

from pathlib import Path

import pytest

from tests.fakes.machine import FakeProc

ME = 500


@pytest.fixture
def proc(tmp_path: Path) -> FakeProc:
    """Process 1, a kernel thread, a shell, and ourselves below it."""
    root = tmp_path / "proc"
    root.mkdir()
    made = FakeProc(root)
    made.add(1, "/sbin/init")
    made.add(2, parent=0)
    made.add(3, parent=2)
    made.add(400, "bash", "/home/user/benchmark_all.sh")
    made.add(ME, "python3", "/usr/bin/expctl", "run", parent=400)
    return made
