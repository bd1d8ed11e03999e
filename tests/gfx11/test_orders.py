"""What a workgroup does may depend on those that ran before it: two orders in succession are each other's reverse."""

from pathlib import Path

import numpy as np
import pytest

from expctl.gfx11.launch import launch, load
from expctl.gfx11.machine.faults import FaultKind
from expctl.inspection.device_compiler import Options, assembly_with_lines

SOURCE = """
#include <hip/hip_runtime.h>
extern "C" __global__ void hand_over(int *flag, volatile int *data, int *seen) {
    if (threadIdx.x) return;
    if (blockIdx.x == 1) {
        data[0] = 42;
        __threadfence();
        LATER
        atomicExch(flag, 1);
        LAST
    } else {
        int is_there = atomicAdd(flag, 0);
        __threadfence();
        seen[blockIdx.x] = READS;
    }
}
"""


@pytest.mark.parametrize(("later", "last"), [("", ""), ("data[1] = 3;", ""), ("int other = data[1];", "data[2] = other;")])
@pytest.mark.parametrize("level", ["-O0", "-O3"])  # at -O0 arguments of the atomic go to private memory behind the fence
@pytest.mark.parametrize(("reads", "races"), [("data[0]", True), ("is_there ? data[0] : -1", False)])
def test_a_reader_that_is_right_only_after_the_writer(
    tmp_path: Path, reads: str, races: bool, level: str, later: str, last: str
) -> None:
    (tmp_path / "k.hip").write_text(SOURCE)
    options = Options(arch="gfx1151", level=level, defines=(f"READS={reads}", f"LATER={later}", f"LAST={last}"))
    kernel = load(assembly_with_lines(tmp_path / "k.hip", options)[1], "hand_over")
    given = {"flag": np.zeros(1, np.int32), "data": np.zeros(3, np.int32), "seen": np.zeros(3, np.int32)}

    def is_seen(seed: int) -> bool:
        faults = launch(kernel, (3, 1, 1), (32, 1, 1), given, order_seed=seed).faults
        return any(fault.kind is FaultKind.RACE for fault in faults)

    assert [is_seen(seed) or is_seen(seed + 1) for seed in range(0, 20, 2)] == [races] * 10
