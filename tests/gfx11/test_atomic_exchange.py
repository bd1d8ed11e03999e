"""An exchange gives memory a beginning, whatever was there; only who uses the old value reads it."""

from pathlib import Path

import pytest

from expctl.gfx11.arguments import Unwritten
from expctl.gfx11.launch import launch, load
from expctl.gfx11.machine.faults import FaultKind
from expctl.inspection.device_compiler import Options, assembly_with_lines

PROLOGUE = """
#include <hip/hip_runtime.h>
extern "C" __global__ void k(unsigned *p, unsigned *y) {
    __shared__ unsigned s[64];
    unsigned t = threadIdx.x, i = blockIdx.x * 64 + t;
"""


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("atomicExch(y + i, i);", set()),
        ("atomicExch(p + i, i); y[i] = p[i];", set()),
        ("y[i] = atomicExch(p + i, i);", {FaultKind.UNINITIALISED}),
        ("y[i] = atomicAdd(p + i, 1);", {FaultKind.UNINITIALISED}),
        ("atomicExch(s + t, i); __syncthreads(); y[i] = s[63 - t];", set()),
        ("y[i] = atomicExch(s + t, i);", {FaultKind.UNINITIALISED}),
        ("atomicAdd(s + t, 1u); y[i] = s[t];", {FaultKind.UNINITIALISED}),
        ("y[i] = t; if (t < 32) atomicExch(s + t, i); __syncthreads(); y[i] = s[t];", {FaultKind.UNINITIALISED}),
    ],
)
def test_who_reads_the_old_value(tmp_path: Path, body: str, kinds: set[FaultKind]) -> None:
    source = tmp_path / "k.hip"
    source.write_text(PROLOGUE + body + "}\n")
    given = {"p": Unwritten(shape=(256,), dtype="u4"), "y": Unwritten(shape=(256,), dtype="u4")}
    ran = launch(load(assembly_with_lines(source, Options(arch="gfx1151"))[1], "k"), (4, 1, 1), (64, 1, 1), given, order_seed=1)
    assert {fault.kind for fault in ran.faults} == kinds
