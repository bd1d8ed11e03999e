"""A whole check: what is noted beside its findings."""

from pathlib import Path
from typing import Any

import pytest

from expctl.check.case import Reference, case_of
from expctl.check.case_file import Description
from expctl.check.examine import Examined, Plan, examine
from expctl.check.kernel_file import read_kernels
from expctl.inspection.device_compiler import Options

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
TWO_FAULTS = """\
#include <hip/hip_runtime.h>

__global__ void copy(const float *x, float *out, int *last, int n) {
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n) out[i] = x[i + 1];
    if (n > 40 && i == 40) out[n + 2] = 0;
    *last = blockIdx.x;
}
"""
RIGHT = """\
#include <hip/hip_runtime.h>

__global__ void copy(const float *x, float *out, int *last, int n) {
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n) out[i] = x[i];
    atomicExch(last, blockIdx.x);
}
"""
CASE: dict[str, Any] = {
    "shapes": {"n": 60},
    "vary": {"n": [1, 60]},
    "grid": ["(n + 31) // 32"],
    "block": [32],
    "arguments": [
        {"name": "x", "dtype": "f32", "shape": ["n"]},
        {"name": "out", "dtype": "f32", "shape": ["n"], "role": "out"},
        {"name": "last", "dtype": "i32", "shape": [1], "role": "inout"},
        {"name": "n", "dtype": "i32", "value": "n"},
    ],
}


def examined(source: str, folder: Path, plan: Plan, reference: Reference | None = None) -> Examined:
    (folder / "copy.hip").write_text(source)
    description = Description(case=case_of(CASE, "here"), reference=reference, where="here")
    return examine(read_kernels(folder / "copy.hip", Options(arch="")), description, plan)[0]


def test_faults_that_the_smallest_shape_does_not_show_are_noted(tmp_path: Path) -> None:
    found = examined(TWO_FAULTS, tmp_path, Plan(orders=1, fuzz_shapes=1))
    assert [(each.place.line, found.shapes) for each in found.findings if each.place] == [(5, {"n": 1})]
    (note,) = found.notes
    assert note.startswith("at n = 60 also: out of bounds at ")
    assert "copy.hip:6:" in note
    assert "; race at " in note


def test_an_output_that_the_reference_leaves_out_is_noted_and_its_orders_are_compared(tmp_path: Path) -> None:
    found = examined(RIGHT, tmp_path, Plan(orders=3), lambda arrays, _: {"out": arrays["x"]})
    assert found.findings == ()
    assert [note.split(";")[0] for note in found.notes] == [
        "last[0] depends on the order of waves: 1 and 0",
        "the reference says nothing of last",
    ]
