"""A load with glc is an atomic one: it doesn't race with atomics, but with plain stores, and it may acquire."""

from pathlib import Path

import numpy as np
import pytest

from expctl.gfx11.arguments import Unwritten
from expctl.gfx11.launch import launch, load
from expctl.gfx11.machine.faults import FaultKind
from expctl.inspection.device_compiler import Options, assembly_with_lines

PROLOGUE = """
#include <hip/hip_runtime.h>
__global__ void k(unsigned *p, unsigned *y) {
    unsigned i = blockIdx.x * 64 + threadIdx.x;
"""
CLEAN = {
    "beside updates": "y[i] = atomicAdd(p, 0); atomicCAS(p, 7u, i);",
    "beside loads": "y[i] = atomicAdd(p, 0) + p[1];",
    "beside a plain load": "y[i] = atomicAdd(p, 0) + p[0];",
}
RACING = {
    "a plain store": "y[i] = atomicAdd(p, 0); if (i == 70) *p = 3;",
    "a plain store before": "if (i == 70) *p = 3; y[i] = atomicAdd(p, 0);",
    "what isn't ordered by it": "if (i == 1) p[2] = 5; y[i] = atomicAdd(p, 0) + (i == 65 ? p[2] : 0);",
}


def races(folder: Path, body: str, seed: int) -> int:
    source = folder / "k.hip"
    source.write_text(PROLOGUE + body + "}\n")
    assembly = assembly_with_lines(source, Options(arch="gfx1151"))[1]
    assert " glc" in assembly
    given = {"p": np.arange(4, dtype=np.uint32), "y": Unwritten(shape=(256,), dtype="u4")}
    kernel = next(line[:-1] for line in assembly.splitlines() if line.startswith("_Z1k") and ":" in line).partition(":")[0]
    ran = launch(load(assembly, kernel), (4, 1, 1), (64, 1, 1), given, order_seed=seed)
    return sum(fault.kind is FaultKind.RACE for fault in ran.faults)


@pytest.mark.parametrize("name", CLEAN)
def test_no_race(tmp_path: Path, name: str) -> None:
    assert [races(tmp_path, CLEAN[name], seed) for seed in range(4)] == [0] * 4


@pytest.mark.parametrize("name", RACING)
def test_a_race_in_every_order(tmp_path: Path, name: str) -> None:
    assert all(races(tmp_path, RACING[name], seed) for seed in range(8))
