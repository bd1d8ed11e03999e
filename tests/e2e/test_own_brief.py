"""The brief of this project, asked for one file: the hot loop that stands there, not those of other targets."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("path", "told", "kept_on"),
    [
        ("kernel/hip/ring_gfx11.h", {"gfx1151-static"}, {"gfx1151"}),
        ("kernel/hip/vector_cpu.h", {"cpu"}, {"cpu"}),
        ("kernel/hip/sm_90", {"sm_90", "sm_90-rows"}, {"sm_90", "sm_90-rows"}),
        ("kernel/hip/choose.h", {"cpu", "gfx1151-static", "sm_90", "sm_90-rows"}, {"gfx1151", "cpu", "sm_90", "sm_90-rows"}),
    ],
)
def test_only_the_hot_loops_of_the_file_are_told(path: str, told: set[str], kept_on: set[str]) -> None:
    argv = [sys.executable, "-m", "expctl", "brief", "--about", path]
    text = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    section = text.partition("\n## Hot loop")[2].partition("\n## ")[0]
    assert {line[2:].partition(":")[0] for line in section.splitlines() if ": Config: " in line} == told
    assert {words[5] for line in section.splitlines() if (words := line.split())[1:2] == ["changed"]} <= kept_on
