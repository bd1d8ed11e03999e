"""Made inputs: an assembly text with a line table and the source it names; a kernel that is right, one with a race, a case."""

from pathlib import Path

SOURCE = """\
#include "tile.h"
__global__ void k(float *x) {
    x[0] = tile[1];
    tile[0] = x[1];
}
"""
ASSEMBLY = """\
other:
\ts_endpgm
k:
\t.loc\t0 2 0                            ; k.hip:2:0
\t.loc\t0 3 9 prologue_end               ; k.hip:3:9
\tds_load_b32 v1, v0                     ; no place: 1:2:3
\t.loc\t1 9 5                            ; site/hip_stubs/hip/expctl_index.h:9:5 @[ k.hip:4:5 ]
\tds_store_b32 v0, v1
\t.loc\t0 0 5                            ; k.hip:0:5
\ts_barrier
\ts_endpgm
"""
SUM = """\
#include <hip/hip_runtime.h>

__global__ void block_sum(const float *x, float *out, int n) {
    __shared__ float tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    tile[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = tile[0];
}

__global__ void twice(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2.0f;
}
"""
RACY = SUM.replace("] += tile[t + half];\n        __syncthreads();", "] += tile[t + half];")
CASE = """\
import numpy as np

case = {
    "kernel": "block_sum",
    "shapes": {"n": 1000},
    "vary": {"n": [1, 2000]},
    "grid": ["(n + 255) // 256"],
    "block": [256],
    "arguments": [
        {"name": "x", "dtype": "f32", "shape": ["n"]},
        {"name": "out", "dtype": "f32", "shape": ["(n + 255) // 256"], "role": "out"},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
}


def reference(arrays, shapes):
    whole = np.zeros(-(-shapes["n"] // 256) * 256, "f4")
    whole[: shapes["n"]] = arrays["x"]
    return {"out": whole.reshape(-1, 256).sum(axis=1, dtype="f8")}
"""


def source_of(folder: Path) -> Path:
    """Write SOURCE as k.hip below `folder`, and return its path."""
    path = folder / "k.hip"
    path.write_text(SOURCE)
    return path
