"""Structs and vectors that kernels take by value: where their fields lie, what is proposed for them, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from expctl import check
from expctl.check.case import case_of
from expctl.check.kernel_file import KernelFile, named, read_kernels
from expctl.check.proposal import proposal
from expctl.inspection.device_compiler import Options, assembly_with_lines
from tests.refusals import refuses

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
SOURCE = """\
#include <hip/hip_runtime.h>
struct Base { char kind; };
struct Scale { double unused; float by, add; };
struct Params : Base {
    int n; float a; const float *x; Scale scale; short strides[3]; float4 shift; unsigned low : 3, high : 5; float *out;
};
__global__ void scale(Params p, float2 more) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.n) p.out[i * p.strides[2]] = p.a * p.x[i] * p.scale.by + p.scale.add + p.shift.z + more.y + p.high;
}
struct Simple { int n; float *x; };
extern "C" __global__ void twice(Simple s) {
    int i = threadIdx.x;
    if (i < s.n) s.x[i] *= 2.0f;
}
"""
X = np.arange(100, dtype="f4")
FIELDS: list[dict[str, Any]] = [
    {"name": "kind", "dtype": "u8", "value": 7},
    {"name": "n", "dtype": "i32", "value": "n"},
    {"name": "a", "dtype": "f32", "value": 0.5},
    {"name": "x", "dtype": "f32", "shape": ["n"], "values": X},
    {"name": "scale_unused", "dtype": "f64", "value": 0},
    {"name": "scale_by", "dtype": "f32", "value": 4},
    {"name": "scale_add", "dtype": "f32", "value": 1},
    {"name": "strides", "dtype": "i16", "value": [-1, -1, 1]},
    {"name": "shift", "dtype": "f32", "value": [0, 0, "n", 0]},
    {"name": "low", "dtype": "u32", "value": 2 + 8 * 3},
    {"name": "out", "dtype": "f32", "shape": ["n"], "role": "out"},
]
MORE = {"name": "more", "dtype": "f32", "value": [0, 1000]}
EXPECTED = 2 * X + 1 + 100 + 1000 + 3


def given(*arguments: dict[str, Any], kernel: str = "scale") -> dict[str, Any]:
    return {"kernel": kernel, "shapes": {"n": 100}, "grid": [1], "block": [128], "arguments": list(arguments)}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("structs") / "scale.hip"
    path.write_text(SOURCE)
    return path


@pytest.fixture(scope="module")
def plain_text(source: Path) -> Path:
    """Assembly that says nothing of types."""
    path = source.with_name("plain.s")
    path.write_text(assembly_with_lines(source, Options(arch="gfx1151"))[1])
    return path


def test_fields_are_laid_out_as_the_compiler_does(source: Path) -> None:
    found = check.launch(source, given({"name": "p", "fields": FIELDS}, MORE), orders=1)
    np.testing.assert_array_equal(found["p.out"], EXPECTED)


def test_fields_may_stand_in_any_order_where_the_file_names_them(source: Path) -> None:
    found = check.launch(source, given({"name": "p", "fields": FIELDS[::-1]}, MORE), orders=1)
    np.testing.assert_array_equal(found["p.out"], EXPECTED)


def test_a_file_without_types_takes_the_layout_of_c(plain_text: Path) -> None:
    fields: list[dict[str, Any]] = [
        {"name": "n", "dtype": "i32", "value": 3},
        {"name": "x", "dtype": "f32", "shape": [3], "role": "inout", "values": [5]},
    ]
    case = given({"name": "s", "fields": fields}, kernel="twice")
    assert check.launch(plain_text, case, orders=1)["s.x"].tolist() == [10, 10, 10]
    placed = [{**fields[1], "offset": 8}, {**fields[0], "offset": 0}]
    assert (
        check.launch(plain_text, given({"name": "s", "fields": placed}, kernel="twice"), orders=1)["s.x"].tolist() == [10] * 3
    )
    with refuses("case-has-problems") as caught:
        check.launch(plain_text, given({"name": "s", "fields": fields[1:]}, kernel="twice"))
    assert "a struct of 8 bytes, but the parameter (Simple) has 16" in caught.value.found or "has 16" in caught.value.found


def test_a_fault_in_memory_that_a_struct_points_to_names_the_field(source: Path) -> None:
    short = [{**each, "shape": [60], "values": "zeros"} if each["name"] == "x" else each for each in FIELDS]
    with pytest.raises(check.FaultsFound, match=r"out of bounds: .*p\.x\[\d+\], outside its 60 elements"):
        check.launch(source, given({"name": "p", "fields": short}, MORE), orders=1)


def changed(name: str, **keys: Any) -> dict[str, Any]:
    return {"name": "p", "fields": [{**each, **keys} if each["name"] == name else each for each in FIELDS]}


WITHOUT_SHAPE = [{"name": "x", "dtype": "f32", "value": 1} if each["name"] == "x" else each for each in FIELDS]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            [{"name": "p", "fields": FIELDS[1:]}, MORE],
            "has kind, n, a, x, scale_unused, scale_by, scale_add, strides, shift, low, out",
        ),
        ([changed("n", dtype="f32", value=1), MORE], "arguments[0]: p is a struct whose field n (int) is i32, not f32"),
        ([changed("a", dtype="i32"), MORE], "arguments[0].fields[2].value: 0.5 is 0.5, and a whole number is needed"),
        ([changed("a", dtype="f64"), MORE], "p is a struct whose field a (float) has 4 bytes, not 8"),
        ([changed("strides", value=[1]), MORE], "p is a struct whose field strides (short) has 6 bytes, not 2"),
        (
            [{"name": "p", "fields": WITHOUT_SHAPE}, MORE],
            "p is a struct whose field x (float const*) is a pointer: give it a shape",
        ),
        ([{"name": "p", "dtype": "i32", "value": 1}, MORE], "p is i32, which has 4 bytes, but the parameter (Params) has"),
        ([changed("n", value="m"), MORE], "arguments[0].fields[1].value: m is none of the shapes (n)"),
        ([changed("n", size=3), MORE], "arguments[0].fields[1].size: unknown field `size`, expected one of name"),
        ([{"name": "p", "fields": FIELDS, "dtype": "f32"}, MORE], "arguments[0].dtype: a struct has a name and fields"),
        ([{"name": "p", "fields": []}, MORE], "arguments[0].fields: expected a list of fields"),
        ([{"name": "p", "fields": [{"fields": []}]}, MORE], "arguments[0].fields[0]: expected a mapping"),
        ([{"fields": FIELDS}, MORE], "arguments[0]: a struct needs a name"),
        (
            [{"name": "p", "fields": FIELDS}, {**MORE, "value": [1]}],
            "arguments[1]: more is f32, which has 4 bytes, but the parameter",
        ),
        (
            [{"name": "p", "fields": FIELDS}, {**MORE, "dtype": "i32"}],
            "arguments[1]: more is i32, but the parameter (float2) is f32",
        ),
        (
            [{"name": "p", "fields": FIELDS}, {**MORE, "offset": 8}],
            "arguments[1].offset: only a field of a struct has an offset",
        ),
        ([{"name": "p.q", "dtype": "i32", "value": 1}, MORE], "arguments[0].name: a name has letters, digits and _"),
    ],
)
def test_fields_that_the_struct_does_not_have(source: Path, arguments: list[dict[str, Any]], problem: str) -> None:
    with refuses("case-has-problems") as caught:
        check.launch(source, given(*arguments))
    assert problem in caught.value.found


def test_fields_are_proposed_from_the_source_and_from_debugging_information(source: Path, tmp_path: Path) -> None:
    with_types = tmp_path / "types.s"
    with_types.write_text(assembly_with_lines(source, Options(arch="gfx1151", defines=("X",)))[1])
    read = read_kernels(source, Options(arch=""))
    text = proposal(read, named(read, "scale"))
    assert "- name: p" in text
    entries = yaml.safe_load(text)["arguments"]
    assert [each["name"] for each in entries[0]["fields"]] == [each["name"] for each in FIELDS]
    assert [each["dtype"] for each in entries[0]["fields"]] == ["i8", *(each["dtype"] for each in FIELDS[1:])]
    assert entries[0]["fields"][8]["value"] == [1, 1, 1, 1]
    assert entries[1] == {"name": "more", "dtype": "f32", "value": [1, 1]}
    case_of(yaml.safe_load(text), "here")


def test_an_unknown_struct_is_proposed_as_numbers(plain_text: Path) -> None:
    read: KernelFile = read_kernels(plain_text, Options(arch=""))
    text = proposal(read, named(read, "twice"))
    assert yaml.safe_load(text)["arguments"] == [{"name": "p0", "dtype": "i32", "value": [1, 1, 1, 1]}]
    assert "or give it fields" in text
