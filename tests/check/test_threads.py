"""A fault names the threads that commit it, by their coordinates in the block."""

import re
from pathlib import Path

import pytest

from expctl import check

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
SOURCE = """\
#include <hip/hip_runtime.h>
extern "C" __global__ void one(float *out) {
    int i = threadIdx.y * 16 + threadIdx.x, at = blockIdx.x * 64 + i;
    out[i == 37 && blockIdx.x == 1 ? 5000 : at] = 1.0f;
}
extern "C" __global__ void some(float *out) {
    __shared__ float tile[64];
    int i = threadIdx.x;
    tile[i < 40 ? i : i + 1000] = 2.0f;
    __syncthreads();
    out[blockIdx.x * 64 + i] = tile[0];
}
"""
OUT = {"name": "out", "dtype": "f32", "shape": [128], "role": "out"}


@pytest.mark.parametrize(
    ("kernel", "block", "told"),
    [
        ("one", [16, 4], r"writes 4 bytes at out\[5000\], outside its 128 elements, in thread \(5, 2\) of workgroup 1$"),
        ("some", [64], r"of LDS, which has 256, in thread 40 of workgroup \d and 23 more of its wave$"),
    ],
)
def test_threads_beyond_the_end(kernel: str, block: list[int], told: str, tmp_path: Path) -> None:
    source = tmp_path / "k.hip"
    source.write_text(SOURCE)
    case = {"kernel": kernel, "grid": [2], "block": block, "arguments": [OUT]}
    for seed in (0, 1):  # waves side by side, and one after the other
        with pytest.raises(check.FaultsFound) as caught:
            check.launch(source, case, orders=1, seed=seed)
        (found,) = [each for each in caught.value.findings if each.kind == "out of bounds"]
        assert re.search(told, found.what), found.what
