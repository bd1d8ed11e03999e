"""What is said of a race between workgroups: who did what, and where."""

from pathlib import Path

import pytest

from expctl import check

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
COUNT = """\
#include <hip/hip_runtime.h>

__global__ void count(int *total) {
    if (threadIdx.x == 0) total[1] += 1;
}
"""


def test_both_sides_are_named(tmp_path: Path) -> None:
    (tmp_path / "count.hip").write_text(COUNT)
    total = {"name": "total", "dtype": "i32", "shape": [2], "role": "inout", "values": "zeros"}
    with pytest.raises(check.FaultsFound) as caught:
        check.launch(tmp_path / "count.hip", {"grid": [2], "block": [32], "arguments": [total]}, orders=1)
    (race,) = caught.value.findings
    assert (race.kind, race.place.line) == ("race", 4)
    first, second = "workgroup 0, wave 0", "workgroup 1, wave 0"
    assert race.what in {
        f"memory from total[1] on that {reader} reads and {other} touches, with nothing to order them"
        for reader, other in ((first, second), (second, first))
    }


SCRATCH = """\
#include <hip/hip_runtime.h>

__global__ void first(const float *x, float *out, int n) {
    __shared__ float part[8];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    if (t % 32 == 0) part[t / 32] = i < n ? x[i] : 0.0f;
    if (t < 32) out[blockIdx.x * 8 + t % 8] = part[t % 8];
}
"""


def test_a_race_is_shrunk_whichever_side_comes_second(tmp_path: Path) -> None:
    (tmp_path / "first.hip").write_text(SCRATCH)
    case = {
        "shapes": {"n": 1000},
        "vary": {"n": [1, 2000]},
        "grid": ["(n + 255) // 256"],
        "block": [256],
        "arguments": [
            {"name": "x", "dtype": "f32", "shape": ["n"]},
            {"name": "out", "dtype": "f32", "shape": ["(n + 255) // 256 * 8"], "role": "out"},
            {"name": "n", "dtype": "i32", "value": "n"},
        ],
    }
    with pytest.raises(check.FaultsFound, match=r"n = 1 is the smallest that shows it"):
        check.launch(tmp_path / "first.hip", case, orders=1, fuzz_shapes=1)
