"""Files whose kernels are taken, and what is known of their parameters."""

from pathlib import Path

import pytest

from expctl.check.case import case_of
from expctl.check.case_file import Description
from expctl.check.examine import Plan, examine
from expctl.check.kernel_file import KernelFile, Parameter, named, read_kernels, typed
from expctl.inspection.device_compiler import Compiled, Options, compile_source
from tests.refusals import refuses

SOURCE = """\
#include <hip/hip_runtime.h>
template <class T, int N> __global__ void fill(T *__restrict__ out, T value) { out[blockIdx.x * N + threadIdx.x] = value; }
template __global__ void fill<_Float16, 8>(_Float16 *, _Float16);
extern "C" __global__ void __launch_bounds__(64) plane(const float4 *x, float *y, long rows, unsigned char flag) {
    y[threadIdx.y * rows + blockIdx.z] = x[threadIdx.x].y + flag;
}
"""
OPTIONS = Options(arch="")
CASE = case_of({"grid": [1], "block": [64], "arguments": [{"name": "x", "dtype": "f16", "shape": [64], "role": "out"}]}, "here")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    path = tmp_path_factory.mktemp("kernels") / "two.hip"
    path.write_text(SOURCE)
    return path


def test_a_name_that_looks_like_an_option(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-x.hip").write_text(source.read_text())
    read = read_kernels(Path("-x.hip"), OPTIONS)
    assert len(read.kernels) == 2
    assert typed(read, named(read, "plane")).parameters[3].type == "unsigned char"


@pytest.fixture(scope="module")
def compiled(source: Path) -> Compiled:
    return compile_source(source, Options(arch="gfx1151"))


@pytest.fixture(scope="module")
def read(source: Path) -> KernelFile:
    return read_kernels(source, OPTIONS)


def test_kernels_of_a_source(read: KernelFile) -> None:
    fill, plane = read.kernels
    assert (read.arch, str(fill.cpp_name)) == ("gfx1151", "fill<_Float16, 8>(_Float16*, _Float16)")
    assert [(each.name, each.type, each.size, each.is_pointer) for each in fill.parameters] == [
        ("out", "_Float16*", 8, True),
        ("value", "_Float16", 2, False),
    ]
    assert (fill.axes, plane.axes, plane.most_threads) == (1, 2, 64)
    assert (fill.group_axes, plane.group_axes) == (1, 3)
    assert {each.type for each in plane.parameters} == {""}


def test_a_c_symbol_has_the_types_that_its_source_declares(read: KernelFile) -> None:
    plane = named(read, "plane")
    assert [each.type for each in plane.parameters] == ["const float4 *", "float *", "long", "unsigned char"]
    assert str(plane.cpp_name) == "plane(const float4 *, float *, long, unsigned char)"


def test_assembly_has_the_same_kernels_without_names(tmp_path: Path, compiled: Compiled, read: KernelFile) -> None:
    for name in ("two.s", "two.amdgcn"):
        (tmp_path / name).write_text(compiled.assembly)
        found = read_kernels(tmp_path / name, OPTIONS)
        assert [each.symbol for each in found.kernels] == [each.symbol for each in read.kernels]
        assert found.kernels[0].parameters[0] == Parameter(
            name="", type="_Float16*", size=8, is_pointer=True, access="write_only"
        )


def test_a_code_object_is_listed_and_run_from_the_text_beside_it(tmp_path: Path, compiled: Compiled) -> None:
    code = tmp_path / "two.hsaco"
    code.write_bytes(compiled.code_object)
    found = read_kernels(code, OPTIONS)
    assert [each.cpp_name.name for each in found.kernels] == ["fill<_Float16, 8>", "plane"]
    value = {"name": "value", "dtype": "f16", "value": 1}
    raw = {"grid": [1], "block": [8], "arguments": [{"name": "x", "dtype": "f16", "shape": [8], "role": "out"}, value]}
    description = Description(case=case_of(raw, "here"), where="here")
    with refuses("code-object-without-text"):
        examine(found, description, Plan(orders=1), "fill")
    code.with_suffix(".amdgcn").write_text(compiled.assembly)
    result, first = examine(read_kernels(code, OPTIONS), description, Plan(orders=1), "fill")
    assert result.findings == ()
    assert first.outputs["x"].tolist() == [1.0] * 8


@pytest.mark.parametrize("arch", ["gfx90a", "gfx1201"])
def test_another_family_is_refused(source: Path, tmp_path: Path, arch: str) -> None:
    (tmp_path / "other.s").write_text(compile_source(source, Options(arch=arch)).assembly)
    with refuses("gpu-not-interpreted"):
        read_kernels(tmp_path / "other.s", OPTIONS)


def test_a_source_that_does_not_compile_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    (tmp_path / "bad.hip").write_text("__global__ void k(float *x) { x[0] = y; }\n")
    with refuses("does-not-compile") as caught:
        read_kernels(tmp_path / "bad.hip", OPTIONS)
    assert "bad.hip:1:" in caught.value.found


def test_a_description_for_another_kernel_is_refused(read: KernelFile) -> None:
    with refuses("case-has-problems"):
        examine(read, Description(case=CASE, where="here"), Plan(), "fill")
