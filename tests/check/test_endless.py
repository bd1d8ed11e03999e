"""Loops without an end: told after a bounded amount of work, with what was found up to then."""

from pathlib import Path
from typing import Any

import pytest

from expctl import check
from expctl.check import runner
from expctl.check.case import case_of
from expctl.check.case_file import Description
from expctl.check.examine import Plan, examine
from expctl.check.kernel_file import read_kernels
from expctl.gfx11.machine import arrays
from expctl.inspection.device_compiler import Options

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
LOOP = """\
#include <hip/hip_runtime.h>

__global__ void turn(int *out, int n) {
    unsigned t = threadIdx.x, v = t;
    out[t + 64] = 0;
    for (int i = 0; i != n; i++) v = (v >> 3) ^ (v * 1664525u);
    out[t] = v;
}
"""
CASE: dict[str, Any] = {
    "shapes": {"n": 1000},
    "grid": [1],
    "block": [256],
    "arguments": [
        {"name": "out", "dtype": "i32", "shape": [256], "role": "out"},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
}


@pytest.fixture
def loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(runner, "MOST_WORK", 8_000)
    (tmp_path / "loop.hip").write_text(LOOP)
    return tmp_path / "loop.hip"


def test_all_waves_together_are_bounded_and_faults_before_are_kept(loop: Path) -> None:
    with pytest.raises(check.FaultsFound) as caught:
        check.launch(loop, CASE, seed=0)
    assert {each.kind for each in caught.value.findings} == {"out of bounds", "endless loop"}
    assert "in 1 launch (1 order a shape, seed 0)" in str(caught.value), "other orders would take as long"
    assert "try --patience 10" in str(caught.value)


def test_each_launch_is_told_before_it_begins(loop: Path) -> None:
    told: list[str] = []
    loop.write_text(LOOP.replace("t + 64", "t"))
    description = Description(case=case_of(CASE, "here"), where="here")
    result, _ = examine(read_kernels(loop, Options(arch="")), description, Plan(orders=2, patience=10), tell=told.append)
    assert (told, result.launches) == (["order 1 of 2, n = 1000", "order 2 of 2, n = 1000"], 2)


def test_patience_lets_a_long_loop_end(loop: Path) -> None:
    loop.write_text(LOOP.replace("t + 64", "t"))
    with pytest.raises(check.FaultsFound, match="endless loop"):
        check.launch(loop, CASE, orders=1)
    assert check.launch(loop, CASE, orders=1, patience=10)["out"].shape == (256,)


def test_lane_masks_are_kept_in_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "MOST_MASKS", 8)
    for bits in range(100):
        assert arrays.lanes_of(bits)[:7].tolist() == [bool(bits >> i & 1) for i in range(7)]
    assert len(arrays._lanes_of) <= 8
