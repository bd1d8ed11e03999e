"""The table kernel, benchmark file, config files."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from expctl.suite.coverage import coverage_of
from expctl.suite.terminal import coverage_lines
from tests.suite.suites import KERNEL, SUITE

FILES = ("ops/mm.py", "ops/add.py", "bench/bench_mm.py", "configs/gfx950-MM.json", "configs/gfx950-MM-N=128.json")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def test_table(root: Path) -> None:
    whole = replace(KERNEL, source="ops/mm.py", benchmark="bench/bench_mm.py", configs=("configs/*-MM*.json",))
    lacking = replace(KERNEL, benchmark="bench/gone.py", configs=("configs/*-BMM.json",))
    suite = replace(SUITE, kernels={"mm": whole, "bmm": lacking, "none": KERNEL}, sources=("ops/*.py",))
    found = coverage_of(suite, root)
    assert [(each.kernel, each.is_whole) for each in found] == [
        ("mm", True), ("bmm", False), ("none", False), ("ops/add.py", False),
    ]  # fmt: skip
    assert found[0].configs == ("configs/gfx950-MM-N=128.json", "configs/gfx950-MM.json")
    lines = coverage_lines(found)
    assert "gfx950-MM-N=128.json, gfx950-MM.json" in lines[1]
    assert "bench/bench_mm.py" in lines[1]
    assert "no: no file fits" in lines[2]
    assert "no: bench/gone.py is missing" in lines[2]
    assert "no: none is named" in lines[3]
    assert "no: it is not in the suite" in lines[4]
    assert lines[-1] == "1 of 4 kernels are covered"
