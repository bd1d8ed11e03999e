"""Waves side by side: the same results, faults and counts as one after the other."""

from pathlib import Path

import numpy as np
import pytest

from expctl.gfx11.arguments import Unwritten
from expctl.gfx11.launch import Interpretation, launch, load
from expctl.gfx11.machine.faults import FaultKind
from expctl.inspection.device_compiler import Options, assembly_with_lines

SOURCE = """
#include <hip/hip_runtime.h>
__global__ void k(const float *x, float *y, unsigned *z, int n, int wrong) {
    __shared__ float tile[256];
    __shared__ unsigned total;
    int t = threadIdx.x, i = blockIdx.x * 256 + t, wave = t / 32;
    if (t == 0) total = 0;
    tile[t] = i < n ? x[i] * (wave + 1) : 0.0f;
    if (!wrong) __syncthreads();
    float v = tile[(t * 7) & 255] + tile[255 - t];
    for (int k = 0; k < wave % 3; k++) v = v * 1.5f + __popc(t + k);
    if (wave == 2) v = -v;
    if (t & 1) { v += 2; atomicAdd(&total, __popcll(__ballot(v > 0))); }
    v += __shfl_xor(v, 5);
    __syncthreads();
    if (i < n) { y[i] = v; z[i] = total + __brev(t) + (unsigned)(v > 1) * wave; }
}
"""


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    source: Path = tmp_path_factory.mktemp("team") / "k.hip"
    source.write_text(SOURCE)
    return assembly_with_lines(source, Options(arch="gfx1151"))[1]


def ran(assembly: str, seed: int, *, together: bool, wrong: int = 0) -> Interpretation:
    n = 1000
    x = np.random.default_rng(3).standard_normal(n).astype(np.float32)
    outputs = {name: Unwritten(shape=(n,), dtype=kind) for name, kind in (("y", "f4"), ("z", "u4"))}
    given = {"x": x, **outputs, "n": n, "wrong": wrong}
    return launch(load(assembly, "_Z1kPKfPfPjii"), (4, 1, 1), (256, 1, 1), given, order_seed=seed, together=together)


@pytest.mark.parametrize("seed", range(4))
def test_side_by_side_is_as_one_after_the_other(assembly: str, seed: int) -> None:
    one, other = (ran(assembly, seed, together=together) for together in (False, True))
    assert one.faults == other.faults == ()
    assert one.counts == other.counts
    for name in ("y", "z"):
        assert one.outputs[name].tobytes() == other.outputs[name].tobytes()
        assert one.written[name].all()


def test_the_same_race_is_found(assembly: str) -> None:
    found = [
        {tuple(sorted((fault.line, fault.other_line))) for fault in run.faults if fault.kind is FaultKind.RACE}
        for run in (ran(assembly, 1, together=each, wrong=1) for each in (False, True))
    ]
    assert found[0] == found[1] != set()
