"""Launch descriptions: files that are taken, and every mistake with its place."""

from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from expctl.check.case import Case, Role, case_of
from expctl.check.case_file import read_case
from expctl.check.dtypes import Dtype
from expctl.check.expression import whole
from expctl.check.resolved import BadShapes, resolve
from tests.refusals import refuses

SUM = """\
kernel: reduce_sum
shapes: {n: 1000}
vary: {n: [1, 2000]}
grid: ["(n + 255) // 256"]
block: [256]
dynamic_lds: "4 * 256"
arguments:
  - {name: x, dtype: f32, shape: [n]}
  - {name: no, dtype: f32, shape: [1], role: inout, values: zeros}
  - {name: n, dtype: i32, value: n}
  - {name: scale, dtype: f16, value: 1e-3}
limits: {no: {rel: 1e-5, abs: 2}}
"""


def given(**changes: Any) -> dict[str, Any]:
    """A description as a dict, with some keys changed."""
    array = {"name": "x", "dtype": "f32", "shape": ["n"]}
    return {"shapes": {"n": 10}, "grid": [1], "block": [32], "arguments": [array], **changes}


def array(**changes: Any) -> dict[str, Any]:
    return given(arguments=[{"name": "x", "dtype": "f32", "shape": ["n"], **changes}])


def written(tmp_path: Path, text: str, name: str = "case.yaml") -> Path:
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_a_yaml_file(tmp_path: Path) -> None:
    case = read_case(written(tmp_path, SUM)).case
    assert [argument.name for argument in case.arguments] == ["x", "no", "n", "scale"]
    assert case.arguments[1].role is Role.INOUT
    assert case.arguments[3].value == 1e-3
    assert case.limit_of(case.arguments[1]).rel == 1e-5
    odd = read_case(written(tmp_path, SUM.replace("1e-3", "-.inf"))).case
    assert odd.arguments[3].value == -inf
    at = resolve(case, {"n": 257})
    assert (at.grid, at.block, at.dynamic_lds) == ((2, 1, 1), (256, 1, 1), 1024)
    assert (at.extents, at.scalars) == ({"x": (257,), "no": (1,)}, {"n": 257, "scale": 1e-3})


def test_a_python_file_with_a_reference(tmp_path: Path) -> None:
    text = f"case = {given()!r}\ndef reference(arrays, shapes):\n    return {{'x': shapes['n']}}\n"
    found = read_case(written(tmp_path, text, "case.py"))
    assert found.reference is not None
    assert found.reference({}, {"n": 3}) == {"x": 3}


OUT = {"name": "y", "dtype": "f32", "shape": ["n"], "role": "out"}
PROBLEMS = [
    (given(grid=[]), "grid: expected 1 to 3 entries, found 0"),
    (given(block=[1, 1, 1, 1]), "block: expected 1 to 3 entries, found 4"),
    (given(grid=["k"]), "grid[0]: k is none of the shapes (n)"),
    (given(grid=["n / 2"]), "grid[0]: n / 2 is not allowed"),
    (given(shapes={"a b": 1, "n": 1}), "shapes.a b: a shape's name has letters"),
    (given(vary={"m": [1, 2]}), "vary.m: m is none of the shapes"),
    (given(vary={"n": [2, 1]}), "vary.n: expected the smaller end first"),
    (given(dynamic_lds=0.5), "dynamic_lds: Expected `int | str`"),
    (given(wave=32), "wave: unknown field `wave`, expected one of grid, block, arguments, kernel"),
    (given(blocks=[32]), "blocks: unknown field `blocks`, expected one of grid, block"),
    (given(blocks=[32]), "did you mean block?"),
    (array(type="f32"), "arguments[0].type: unknown field `type`, expected one of name, dtype, shape"),
    (given(limits={"x": {"relative": 1}}), "unknown field `relative`, expected one of rel, abs"),
    (given(arguments=[]) | {"shapes": {"n": "3"}}, "Expected `int`"),
    (array(name="x y"), "arguments[0].name: a name has letters"),
    (array(dtype="f31"), "arguments[0].dtype: Invalid enum value 'f31'"),
    (array(value=1), "arguments[0]: expected shape for an array, or value for a scalar; found both"),
    (array(shape=None), "arguments[0]: expected shape for an array, or value for a scalar; found neither"),
    (array(shape=["n", "q"]), "arguments[0].shape[1]: q is none of the shapes"),
    (array(shape=[1] * 33), "arguments[0].shape: expected at most 32 extents, found 33"),
    (array(values="ones"), "arguments[0].values: expected random, zeros"),
    (array(values=[]), "arguments[0].values: expected a list of numbers"),
    (array(values=["a"]), "arguments[0].values: expected a list of numbers"),
    (array(values={"low": 1}), "arguments[0].values: expected a mapping of low and high"),
    (array(values={"low": 1, "high": "q"}), "arguments[0].values.high: q is none"),
    (array(dtype="i32", values=[1, 2.5]), "arguments[0].values: 2.5 is no i32"),
    (array(dtype="u8", values=np.arange(300)), "arguments[0].values: 256 is no u8"),
    (array(values=np.array(["a"])), "arguments[0].values: an element of type <U1 is no f32"),
    (array(dtype="f31"), "expected one of f64, f32, f16, bf16, i8"),
    (array(role="input"), "arguments[0].role: Invalid enum value 'input', expected one of in, out, inout"),
    (given(limits={"y": {"rel": -1}}, arguments=[OUT]), "limits.y: expected numbers from 0 on, found rel -1 and abs 0"),
    (
        given(limits={"y": {"abs": float("nan")}}, arguments=[OUT]),
        "limits.y: expected numbers from 0 on, found rel 0 and abs nan",
    ),
    (array(role="out", values="zeros"), "arguments[0].values: an array with the role out begins undefined"),
    (array(shape=None, value=0.5, dtype="i32"), "arguments[0].value: 0.5 is 0.5, and a whole number is needed"),
    (array(shape=None, value=1, role="out"), "arguments[0].role: a scalar is passed by value"),
    (given(arguments=2 * [given()["arguments"][0]]), "arguments[1].name: two arguments are called x"),
    (given(limits={"x": {"rel": 1}}), "limits.x: x is no array with the role out or inout"),
]


@pytest.mark.parametrize(("raw", "problem"), PROBLEMS, ids=[problem for _, problem in PROBLEMS])
def test_a_mistake_is_named_with_its_place(raw: dict[str, Any], problem: str) -> None:
    with refuses("case-has-problems") as caught:
        case_of(raw, "case.yaml")
    assert problem in caught.value.found


def test_all_mistakes_are_named_at_once_with_their_lines(tmp_path: Path) -> None:
    text = SUM.replace("shape: [n]", "shape: [p]").replace("value: n}", "value: q}").replace("role: inout", "role: in")
    with refuses("case-has-problems") as caught:
        read_case(written(tmp_path, text))
    places = [line.split(": ")[0] for line in caught.value.found.splitlines()]
    assert places == ["arguments[0].shape[0] (line 8)", "arguments[2].value (line 10)", "limits.no (line 12)"]
    with refuses("case-has-problems") as caught:
        read_case(written(tmp_path, SUM.replace("dtype: i32", "dtype: int")))
    assert caught.value.found.startswith("arguments[2].dtype (line 10): Invalid enum value 'int'")
    with refuses("case-has-problems") as caught:
        read_case(written(tmp_path, SUM.replace("block:", "blocks:")))
    assert caught.value.found.startswith("blocks (line 5): unknown field `blocks`")


@pytest.mark.parametrize(
    "text",
    [
        "a: [",
        "- 1",
        "",
        SUM + "grid: [1]\n",
        SUM.replace("{n: 1000}", "{n: 1, n: 2}"),
        "a: !!python/object:os.system {}",
        "&a [*a]",
        "shapes: &a {n: *a}",
    ],
)
def test_no_description_at_all(text: str, tmp_path: Path) -> None:
    with refuses("case-has-problems"):
        read_case(written(tmp_path, text))


def test_lists_of_lists_by_aliases_take_no_time(tmp_path: Path) -> None:
    lines = ["a: &a [1, 1, 1, 1, 1, 1, 1, 1]"] + [f"{b}: &{b} [{', '.join([f'*{a}'] * 8)}]" for a, b in pairwise("abcdefgh")]
    with refuses("case-has-problems") as caught:
        read_case(written(tmp_path, "\n".join(lines)))
    assert "aliases are not taken" in caught.value.found
    assert "line 2" in caught.value.found


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("float", "f32"), ("float32", "f32"), ("F16", "f16"), ("half", "f16"), ("bfloat16", "bf16"), ("int", "i32"),
        ("uint8_t", "u8"), ("float4", "f32"), ("complex", ""),
    ],
)  # fmt: skip
def test_the_type_that_is_meant(wrong: str, meant: str) -> None:
    with refuses("case-has-problems") as caught:
        case_of(array(dtype=wrong), "case.yaml")
    assert caught.value.found.endswith(f"i64, u64; did you mean {meant}?" if meant else "i64, u64")


@pytest.mark.parametrize(("raw", "found"), [(None, "nothing"), ([1], "a list"), ("hello", "a str")])
def test_what_is_no_mapping_is_named(raw: object, found: str) -> None:
    with refuses("case-has-problems") as caught:
        case_of(raw, "case.yaml")
    assert caught.value.found == f"the description: expected a mapping with grid, block and arguments, found {found}"


def test_a_lone_number_stands_for_a_list_of_one() -> None:
    case = case_of(array(shape="n") | {"grid": "n", "block": 32, "shapes": {"n": 10, "block": 3}}, "here")
    assert (case.grid, case.block, case.arguments[0].shape, case.shapes["block"]) == (("n",), (32,), ("n",), 3)
    with refuses("case-has-problems"):
        case_of(given(block=1.5), "here")


def test_numpy_s_numbers_and_arrays_are_taken(tmp_path: Path) -> None:
    scale = {"name": "scale", "dtype": "f32", "value": np.float32(0.5)}
    whole_numbers = {"name": "ids", "dtype": "i32", "shape": [np.int64(4)], "values": [np.int32(1), np.uint8(2)]}
    raw = given(shapes={"n": np.int64(10)}, block=[np.int64(32)], arguments=[scale, whole_numbers])
    case = case_of(raw, "here")
    assert (case.shapes, case.block, case.arguments[0].value) == ({"n": 10}, (32,), 0.5)
    assert (case.arguments[1].shape, case.arguments[1].values) == ((4,), [1, 2])
    text = f"import numpy as np\ncase = {given()!r}\ncase['block'] = [np.int64(64)]\n"
    assert read_case(written(tmp_path, text, "case.py")).case.block == (64,)
    arrays = given(grid=np.array([2, 3]), arguments=[{"name": "a", "dtype": "i32", "value": np.arange(4)}])
    case = case_of(arrays, "here")
    assert (case.grid, case.arguments[0].value) == ((2, 3), [0, 1, 2, 3])


@pytest.mark.parametrize(
    ("text", "found", "line"),
    [("x = 1\ncase = {1 / 0}\n", "ZeroDivisionError", 2), ("case = {\n", "SyntaxError", 1), ("\nraise SystemExit(3)", "3", 2)],
)
def test_python_that_fails_names_its_line(text: str, found: str, line: int, tmp_path: Path) -> None:
    with refuses("case-failed") as caught:
        read_case(written(tmp_path, text, "case.py"))
    assert found in caught.value.found
    assert caught.value.where.endswith(f"case.py:{line}")


@pytest.mark.parametrize("text", ["case = {'grid': [1], 'block': lambda: 32}", "import re\ncase = {'grid': re}"])
def test_python_that_gives_more_than_data(text: str, tmp_path: Path) -> None:
    with refuses("case-failed") as caught:
        read_case(written(tmp_path, text, "case.py"))
    assert "no plain data (dicts, lists" in caught.value.found


@pytest.mark.parametrize("text", ["x = 1", f"case = {given()!r}\nreference = 3"])
def test_python_without_what_is_needed(text: str, tmp_path: Path) -> None:
    with refuses("case-has-problems"):
        read_case(written(tmp_path, text, "case.py"))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"grid": ["n // 64"]}, "n // 64 is 0, expected at least 1, at n = 10"),
        ({"grid": [1, "100 // (n - 10)"]}, "divides by zero"),
        ({"grid": [-1]}, "^-1, expected at least 1, at n = 10"),
        ({"dynamic_lds": "n - 11"}, "n - 11 is -1, expected at least 0"),
        ({"arguments": [{"name": "x", "dtype": "f32", "shape": ["n * 100000000"]}]}, "bytes of arrays"),
        (array(shape=[0, 10**18, 10**18]), "bytes of arrays"),
        ({"arguments": [{"name": "x", "dtype": "i8", "value": "n * 20"}]}, "200 is no i8"),
        ({"arguments": [{"name": "x", "dtype": "u8", "value": "n - 20"}]}, "-10 is no u8"),
        (array(values={"low": "11 - n", "high": 0}), "expected the smaller end first, found low 1 and high 0"),
        (array(dtype="i8", values={"low": 0, "high": "n * 20"}), "200 is no i8"),
        (array(values={"low": 0, "high": "4 // (n - 10)"}), "divides by zero"),
    ],
)
def test_shapes_that_can_t_be_launched(changes: dict[str, Any], problem: str) -> None:
    raw = given(**changes)
    raw["shapes"]["n"] = 11  # fine where the description is read
    case = case_of(raw, "case.yaml")
    with pytest.raises(BadShapes, match=problem.replace("(", r"\(").replace(")", r"\)")):
        resolve(case, {"n": 10})


def test_every_dtype_has_its_size() -> None:
    assert {dtype.value: dtype.stored.itemsize for dtype in Dtype} == {
        "f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8,
    }  # fmt: skip


def test_a_case_is_plain_data() -> None:
    case = case_of(given(grid=["n"]), "here")
    assert isinstance(case, Case)
    assert whole(case.grid[0], case.shapes) == 10
