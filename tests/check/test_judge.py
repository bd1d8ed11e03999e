"""Arrays after a launch against those before, and against what is expected."""

from typing import Any

import numpy as np
import pytest

from expctl.check.buffers import values_for
from expctl.check.case import Case, case_of
from expctl.check.judge import changed_inputs, differing_orders, unexpected_outputs, unwritten_outputs, wrong_results
from expctl.check.resolved import resolve
from expctl.gfx11.launch import Interpretation
from expctl.gfx11.machine.counts import Counts
from expctl.gfx11.text.program import Program


def case_with(dtype: str, *, limits: Any = None, role: str = "out") -> Case:
    array = {"name": "y", "dtype": dtype, "shape": [2, 3], "role": role}
    return case_of({"grid": [1], "block": [1], "arguments": [array], "limits": limits or {}}, "here")


def after(y: Any, written: Any = True) -> Interpretation:
    array = np.asarray(y).reshape(2, 3)
    counts = Counts(program=Program(name="k", instructions=(), labels={}, alignments={}), executed=(), traffic={})
    flags = np.broadcast_to(np.asarray(written), (2, 3))
    return Interpretation(outputs={"y": array}, written={"y": flags}, faults=(), counts=counts)


ONE = np.ones((2, 3), "f4")


@pytest.mark.parametrize(
    ("dtype", "off", "is_wrong"),
    [("f32", 1e-5, False), ("f32", 3e-5, True), ("f64", 1e-11, True), ("f16", 0.019, False), ("f16", 0.03, True)],
)
def test_default_limits(dtype: str, off: float, is_wrong: bool) -> None:
    case = case_with(dtype)
    got = np.ones((2, 3), case.arguments[0].dtype.stored) + np.array(off, case.arguments[0].dtype.stored)
    assert bool(list(wrong_results(case, {"y": np.ones((2, 3))}, after(got)))) is is_wrong


def test_the_first_wrong_element_is_named() -> None:
    got = ONE.copy()
    got[1, 2] = 1.5
    (verdict,) = wrong_results(case_with("f32"), {"y": ONE}, after(got))
    assert (verdict.kind, verdict.what) == ("wrong result", "y[1, 2] is 1.5, expected 1; 1 of 6 elements is so")


def test_integers_are_equal_or_within_a_limit_of_the_case() -> None:
    got = np.arange(6, dtype="i4")
    (verdict,) = wrong_results(case_with("i32"), {"y": (got + 1).reshape(2, 3)}, after(got))
    assert verdict.what == "y[0, 0] is 0, expected 1; 6 of 6 elements are so"
    near = case_with("i32", limits={"y": {"abs": 1}})
    assert list(wrong_results(near, {"y": (got + 1).reshape(2, 3)}, after(got))) == []


def test_infinities_and_nans_are_expected_exactly() -> None:
    odd = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1], "f4").reshape(2, 3)
    assert list(wrong_results(case_with("f32"), {"y": odd}, after(odd))) == []
    for at in range(3):
        got = odd.copy()
        got[0, at] = 7
        assert [each.what.split(";")[1] for each in wrong_results(case_with("f32"), {"y": odd}, after(got))] == [
            " 1 of 6 elements is so"
        ]


def test_a_signalling_nan_is_a_nan_and_warns_of_nothing() -> None:
    signalling = np.full(6, 0x7FA00000, "u4").view("f4")
    assert list(wrong_results(case_with("f32"), {"y": np.full((2, 3), np.nan)}, after(signalling))) == []
    assert len(list(wrong_results(case_with("f32"), {"y": ONE}, after(signalling)))) == 1


def test_an_element_that_nothing_wrote_is_wrong() -> None:
    flags = np.array([[True, True, False], [True, True, True]])
    (verdict,) = wrong_results(case_with("f32"), {"y": ONE}, after(ONE, flags))
    assert verdict.what == "y[0, 2] was never written, expected 1; 1 of 6 elements is so"
    assert list(unwritten_outputs(case_with("f32"), after(ONE, flags))) == ["y[0, 2] was never written; 1 of 6 elements is so"]
    assert list(unwritten_outputs(case_with("f32", role="inout"), after(ONE, flags))) == []


def test_bf16_is_judged_as_numbers() -> None:
    bits = np.full(6, 0x3F80, "u2")
    assert list(wrong_results(case_with("bf16"), {"y": ONE}, after(bits))) == []
    (verdict,) = wrong_results(case_with("bf16"), {"y": 2 * ONE}, after(bits))
    assert verdict.what.startswith("y[0, 0] is 1, expected 2")


def test_a_changed_input_is_named_and_a_nan_that_stayed_is_none() -> None:
    case = case_with("f32", role="in")
    before = values_for(case, resolve(case, {}), 0)
    y: Any = before["y"]
    y[0, 1] = np.nan
    assert list(changed_inputs(case, before, after(y.copy()))) == []
    changed = y.copy()
    changed[0, 1] = -1
    (verdict,) = changed_inputs(case, before, after(changed))
    assert verdict.what == "y[0, 1] was nan and is -1, though its role is in; 1 of 6 elements is so"


def test_orders_that_differ_beyond_the_limit() -> None:
    case = case_with("f32")
    assert list(differing_orders(case, {}, [after(ONE), after(ONE + np.float32(1e-6))])) == []
    (note,) = differing_orders(case, {}, [after(ONE), after(ONE), after(ONE * 2)])
    assert note == "y[0, 0] depends on the order of waves: 1 and 2; 6 of 6 elements are so"
    assert list(differing_orders(case, {"y": ONE}, [after(ONE), after(ONE * 2)])) == []


def test_an_output_that_the_reference_leaves_out_is_noted() -> None:
    case = case_with("f32")
    assert list(unexpected_outputs(case, {"y": ONE})) == []
    assert list(unexpected_outputs(case, {})) == ["the reference says nothing of y"]
