"""Branches that are too far for their instruction, which clang writes as a distance added to the program counter."""

from pathlib import Path

import numpy as np
import pytest

from expctl.gfx11.launch import interpret
from tests.gfx11.conftest import Compile

SOURCE = """
extern "C" __attribute__((global)) void steps(const int *x, int *y) {
    int i = __builtin_amdgcn_workitem_id_x(), n = x[i], count = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        if (++count > 200) break;
    }
    y[i] = count;
}
"""


def steps(n: int) -> int:
    return 0 if n == 1 else 1 + steps(3 * n + 1 if n % 2 else n // 2)


@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_a_loop_whose_branches_are_far(tmp_path: Path, compile_hip: Compile, level: str) -> None:
    (tmp_path / "steps.hip").write_text(SOURCE)
    text = compile_hip(tmp_path / "steps.hip", level, "-mllvm", "-amdgpu-s-branch-bits=4")
    assert text.count("-.Lpost_getpc") >= 2
    given = {"x": np.arange(1, 65, dtype=np.int32), "y": np.zeros(64, np.int32)}
    for order in (0, 1):
        ran = interpret(text, "steps", (1, 1, 1), (64, 1, 1), given, order_seed=order)
        assert ran.faults == ()
        assert ran.outputs["y"].tolist() == [steps(n) for n in range(1, 65)]
