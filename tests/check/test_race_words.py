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
