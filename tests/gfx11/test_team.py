"""Waves side by side: the same results, faults and counts as one after the other."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.interpreter.launches import SMALL, scaled_mm
from expctl import check
from expctl.check import runner
from expctl.gfx11.arguments import Unwritten
from expctl.gfx11.launch import Interpretation, launch, load
from expctl.gfx11.machine.faults import FaultKind
from expctl.inspection.device_compiler import Options, assembly_with_lines
from kernel.runtime.formats import Fp8

STRANGERS = Path(__file__).parents[2] / "benchmarks/check/strangers_kernels"
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


def test_the_kernel_runs_side_by_side_as_one_after_the_other(small: str) -> None:
    """With the loop over whole chunks and the one for the edge, A aligned and not, tiles that not all waves have a part in."""
    for fp8, m, n, k in ((Fp8.E5M2, 130, 70, 72), (Fp8.E4M3FN, 33, 65, 45)):
        one, other = (scaled_mm(small, SMALL, fp8, m, n, k, seed=seed).result for seed in (1, 0))
        assert one.faults == other.faults == ()
        assert one.counts == other.counts
        assert one.outputs["c"].tobytes() == other.outputs["c"].tobytes()
        assert one.written["c"].all()


def recorded(monkeypatch: pytest.MonkeyPatch, name: str) -> list[tuple[Interpretation, Interpretation]]:
    """Check a stranger's kernel; return what each of its launches gives one after the other, and side by side."""
    both: list[tuple[Interpretation, Interpretation]] = []

    def launch_both(*args: Any, **kwargs: Any) -> Interpretation:
        both.append((launch(*args, **kwargs, together=False), launch(*args, **kwargs, together=True)))
        return both[-1][1]

    monkeypatch.setattr(runner, "launch", launch_both)
    check.launch(STRANGERS / name / "kernel.hip", STRANGERS / name / "case.py")
    return both


@pytest.mark.parametrize("name", ["gemm_wmma_iu8", "reduce_dpp", "histogram_lds", "sgemm_double_buffer", "rotary_halves"])
def test_strangers_kernels_run_side_by_side_as_one_after_the_other(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    both = recorded(monkeypatch, name)
    assert both
    for one, other in both:
        assert one.faults == other.faults == ()
        assert one.counts == other.counts
        for array, values in one.outputs.items():
            assert values.tobytes() == other.outputs[array].tobytes()
            assert one.written[array].tobytes() == other.written[array].tobytes()
