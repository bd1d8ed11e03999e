"""Kernels that assert, stop themselves or print."""

import json
from pathlib import Path
from typing import Any

import pytest

from expctl import check
from expctl.check.case import case_of
from expctl.check.case_file import Description
from expctl.check.examine import Examined, Plan, examine
from expctl.check.kernel_file import read_kernels
from expctl.check.sarif import sarif
from expctl.inspection.device_compiler import Options
from tests.refusals import refuses

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
SOURCE = """\
#include <cassert>
#include <hip/hip_runtime.h>
__global__ void guarded(const int *x, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(x[i] < n);
    __syncthreads();
    out[i] = x[i];
    if (x[i] == 7) printf("seven at %d\\n", i);
}
"""
LATE = SOURCE.replace("#include <cassert>\n", "").replace("runtime.h>\n", "runtime.h>\n#include <assert.h>\n")
ARGUMENTS: list[dict[str, Any]] = [
    {"name": "x", "dtype": "i32", "shape": [128], "values": [*range(128)]},
    {"name": "out", "dtype": "i32", "shape": [128], "role": "out"},
]
GPUS = ["gfx1151", "gfx1100"]


def examined(folder: Path, source: str, n: int, *, arch: str = "", defines: tuple[str, ...] = (), **extent: Any) -> Examined:
    (folder / "k.hip").write_text(source)
    raw = {"grid": [2], "block": [64], **extent, "arguments": [*ARGUMENTS, {"name": "n", "dtype": "i32", "value": n}]}
    file = read_kernels(folder / "k.hip", Options(arch=arch, defines=defines))
    return examine(file, Description(case=case_of(raw, "here"), where="here"), Plan(orders=2))[0]


@pytest.mark.parametrize("arch", GPUS)
@pytest.mark.parametrize("source", [SOURCE, LATE], ids=["included first", "included last"])
def test_an_assertion_that_fails_is_a_fault_with_line_and_thread(tmp_path: Path, source: str, arch: str) -> None:
    result = examined(tmp_path, source, 100, arch=arch)
    kinds = [(each.kind, each.place.line, each.place.text.strip()) for each in result.findings if each.place]
    assert kinds == [("trap", 5, "assert(x[i] < n);")], "and nothing that follows from it"
    assert "thread 36 of workgroup 1 and 27 more of its wave stops here" in result.findings[0].what
    document = sarif(result, "1")
    assert json.loads(json.dumps(document))["runs"][0]["results"][0]["ruleId"] == "trap"


@pytest.mark.parametrize("arch", GPUS)
def test_an_assertion_that_holds_costs_nothing(tmp_path: Path, arch: str) -> None:
    assert examined(tmp_path, SOURCE, 128, arch=arch).findings == ()
    assert examined(tmp_path, SOURCE, 0, arch=arch, defines=("NDEBUG",)).findings == ()


def test_threads_of_two_axes_are_told_with_both(tmp_path: Path) -> None:
    one = SOURCE.replace("threadIdx.x;", "threadIdx.x + 16 * threadIdx.y;").replace("blockDim.x +", "64 +")
    result = examined(tmp_path, one, 127, block=[16, 4])
    assert "thread (15, 3) of workgroup 1 stops here" in result.findings[0].what


@pytest.mark.parametrize("stop", ["abort();", "__trap();", "__builtin_trap();"])
def test_a_kernel_that_stops_itself(tmp_path: Path, stop: str) -> None:
    result = examined(tmp_path, SOURCE.replace("assert(x[i] < n);", f"if (x[i] >= n) {stop}"), 127)
    assert [each.kind for each in result.findings] == ["trap"]
    assert "thread 63 of workgroup 1 stops here" in result.findings[0].what


def test_another_trap_is_refused(tmp_path: Path) -> None:
    with refuses("assembly-not-supported"):
        examined(tmp_path, SOURCE.replace("assert(x[i] < n);", 'asm volatile("s_trap 3");'), 1)


def test_a_printf_is_said_to_print_nothing(tmp_path: Path) -> None:
    result = examined(tmp_path, SOURCE, 128)
    path = tmp_path / "k.hip"
    assert result.notes == (f"printf prints nothing here ({path}:8)",)
    silent = SOURCE.replace("    if (x[i] == 7)", "    //") + 'void host() { printf("of the host"); }\n'
    assert examined(tmp_path, silent, 128).notes == ()


def test_a_barrier_over_the_grid_is_refused_by_name_and_line(tmp_path: Path) -> None:
    (tmp_path / "k.hip").write_text(
        "#include <hip/hip_cooperative_groups.h>\n"
        "__global__ void k(float *x) {\n    auto grid = cooperative_groups::this_grid();\n"
        "    x[grid.thread_rank()] = 1;\n    grid.sync();\n}\n"
    )
    with refuses("does-not-compile") as caught:
        check.launch(tmp_path / "k.hip", {})
    assert "k.hip:5:" in caught.value.found
    assert "a barrier over the grid needs all workgroups on the GPU at once" in caught.value.found
