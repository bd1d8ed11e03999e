"""`expctl.check.launch` in a test of one's own."""

import re
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from expctl import check
from tests.check.made import CASE, RACY, SUM
from tests.refusals import refuses

X = np.random.default_rng(1).standard_normal(600).astype("f4")
SUMS: dict[str, Any] = {
    "kernel": "block_sum",
    "grid": [3],
    "block": [256],
    "arguments": [
        {"name": "x", "dtype": "f32", "shape": [600], "values": X},
        {"name": "out", "dtype": "f32", "shape": [3], "role": "out"},
        {"name": "n", "dtype": "i32", "value": 600},
    ],
}


@pytest.fixture
def sums(tmp_path: Path) -> Path:
    (tmp_path / "sum.hip").write_text(SUM)
    return tmp_path / "sum.hip"


def test_outputs_of_a_right_kernel_are_returned(sums: Path) -> None:
    out = check.launch(sums, SUMS, orders=1)["out"]
    np.testing.assert_allclose(out, [X[:256].sum(), X[256:512].sum(), X[512:].sum()], rtol=1e-4)


def test_a_fault_fails_the_test_with_its_text(tmp_path: Path) -> None:
    (tmp_path / "racy.hip").write_text(RACY)
    with pytest.raises(check.FaultsFound, match=r"racy\.hip:9:\d+: race: ") as caught:
        check.launch(tmp_path / "racy.hip", SUMS, orders=1)
    assert isinstance(caught.value, AssertionError)
    assert str(caught.value).startswith(f"{tmp_path / 'racy.hip'}:9:"), "the line that pytest's summary shows"
    assert caught.value.findings[0].kind == "race"


def test_a_reference_of_the_test_itself(sums: Path) -> None:
    def first_alone(arrays: Any, shapes: Any) -> Any:
        assert shapes == {}
        return {"out": [arrays["x"][:256].sum(dtype="f8"), 0, 0]}

    with pytest.raises(check.FaultsFound, match=r"wrong result: out\[1\] is "):
        check.launch(sums, SUMS, first_alone, orders=1)

    def broken(*_: Any) -> Any:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        check.launch(sums, SUMS, broken, orders=1)


def test_a_refusal_says_the_whole_of_it_in_a_traceback(sums: Path) -> None:
    with refuses("kernel-not-named") as caught:
        check.launch(sums, SUMS, kernel="thrice")
    said = "".join(traceback.format_exception(caught.value))
    assert re.search(r"  expected +.*\n  found +thrice", said), said


@pytest.mark.parametrize("returned", [3, {"out": "abc"}, {"out": [[1], [2, 3]]}])
def test_a_reference_that_returns_no_arrays(sums: Path, returned: Any) -> None:
    with refuses("reference-misfits"):
        check.launch(sums, SUMS, lambda *_: returned, orders=1)


def test_a_reference_has_the_shape_of_its_output_or_one_axis(sums: Path) -> None:
    x, out, n = SUMS["arguments"]
    wide = SUMS | {"grid": [4], "arguments": [x, out | {"shape": [2, 2]}, n]}
    sums_of = [X[:256].sum(), X[256:512].sum(), X[512:].sum(), 0]
    assert check.launch(sums, wide, lambda *_: {"out": sums_of}, orders=1)["out"].shape == (2, 2)
    with refuses("reference-misfits") as caught:
        check.launch(sums, wide, lambda *_: {"out": np.array([sums_of])}, orders=1)
    assert "[2, 2]" in caught.value.expected
    assert caught.value.found == "an array of the shape [1, 4]"


def test_drawn_shapes_need_ranges(sums: Path) -> None:
    with refuses("case-has-problems") as caught:
        check.launch(sums, SUMS, fuzz_shapes=3)
    assert caught.value.found.startswith("vary: --fuzz-shapes draws shapes")


def test_drawn_shapes_with_a_grid_beyond_all_bounds_are_skipped(sums: Path) -> None:
    case = SUMS | {"shapes": {"groups": 3}, "vary": {"groups": [1 << 21, 1 << 22]}, "grid": ["groups"]}
    assert check.launch(sums, case, orders=1, fuzz_shapes=2)["out"].shape == (3,)


def test_an_array_without_elements_may_have_a_range_that_is_empty(sums: Path) -> None:
    x, out, n = SUMS["arguments"]
    empty = x | {"shape": ["n"], "values": {"low": 0, "high": "n - 1"}}
    case = SUMS | {"shapes": {"n": 0}, "arguments": [empty, out, n | {"value": "n"}]}
    assert check.launch(sums, case, orders=1)["out"].tolist() == [0, 0, 0]


def test_a_description_in_a_file(sums: Path) -> None:
    (sums.parent / "case.py").write_text(CASE)
    assert check.launch(sums, sums.parent / "case.py", orders=1)["out"].shape == (4,)
