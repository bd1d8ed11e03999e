"""The arrays and scalars that a description stands for."""

from typing import Any

import numpy as np
import pytest

from expctl.check.buffers import values_for
from expctl.check.case import case_of
from expctl.check.dtypes import Dtype, bits_of, values_of
from expctl.check.resolved import resolve
from expctl.gfx11.arguments import Unwritten


def drawn(seed: int = 0, **argument: Any) -> Any:
    case = case_of({"shapes": {"n": 1000}, "grid": [1], "block": [1], "arguments": [{"name": "x", **argument}]}, "here")
    return values_for(case, resolve(case, case.shapes), seed)["x"]


@pytest.mark.parametrize("dtype", Dtype)
def test_random_values_have_the_type_and_depend_on_the_seed(dtype: Dtype) -> None:
    x = drawn(dtype=dtype.value, shape=["n", 2])
    assert (x.shape, x.dtype) == ((1000, 2), dtype.stored)
    assert (
        x.tobytes()
        == drawn(dtype=dtype.value, shape=["n", 2]).tobytes()
        != drawn(1, dtype=dtype.value, shape=["n", 2]).tobytes()
    )
    if dtype.is_float:
        assert abs(values_of(x, dtype).astype(float).std() - 1) < 0.1
    else:
        assert np.ptp(x.astype(float)) > 0.9 * (2.0 ** (8 * x.itemsize) - 1)


def test_values_as_described() -> None:
    assert not drawn(dtype="f32", shape=["n"], values="zeros").any()
    assert drawn(dtype="i32", shape=[5], values=[1, -2]).tolist() == [1, -2, 1, -2, 1]
    assert set(drawn(dtype="u8", shape=["n"], values={"low": 3, "high": 5})) == {3, 4, 5}
    assert drawn(dtype="i32", shape=["n"], values={"low": 0, "high": "n - 1"}).max() > 900
    floats = drawn(dtype="f16", shape=["n"], values={"low": -1, "high": 1})
    assert -1 <= floats.min() < -0.9
    assert 0.9 < floats.max() <= 1
    mine = np.arange(6).reshape(2, 3)
    assert drawn(dtype="f32", shape=[2, 3], values=mine).tolist() == mine.tolist()


def test_an_output_begins_undefined() -> None:
    assert drawn(dtype="bf16", shape=["n"], role="out") == Unwritten(shape=(1000,), dtype="<u2")


@pytest.mark.parametrize(
    ("dtype", "value", "found"),
    [
        ("i32", "n - 1001", np.uint32(0xFFFFFFFF)), ("u64", 1 << 62, 1 << 62), ("f32", 3, np.float32(3)),
        ("f16", 0.1, np.float16(0.1)), ("bf16", 1.0, 0x3F80), ("f64", "0.5 * n", 500.0),
    ],
)  # fmt: skip
def test_scalars_have_the_type_of_the_description(dtype: str, value: Any, found: Any) -> None:
    scalar = drawn(dtype=dtype, value=value)
    assert isinstance(scalar, int | np.floating)
    size = Dtype(dtype).stored.itemsize
    assert int(scalar) & ((1 << 8 * size) - 1) == int(found)
    if Dtype(dtype).is_float and dtype != "bf16":
        assert scalar == found


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (1.0, 0x3F80), (-2.5, 0xC020), (1.00390625, 0x3F80), (1.01171875, 0x3F82), (float("inf"), 0x7F80), (3.4e38, 0x7F80),
        (1e-40, 0x0001), (-0.0, 0x8000),
    ],
)  # fmt: skip
def test_bf16_is_rounded_to_the_nearest_even(value: float, bits: int) -> None:
    assert bits_of(np.array([value]), Dtype.BF16).tolist() == [bits]


def test_bf16_there_and_back() -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    numbers = values_of(bits, Dtype.BF16)
    back = bits_of(numbers, Dtype.BF16)
    assert (back == bits)[~np.isnan(numbers)].all()
    assert np.isnan(values_of(back, Dtype.BF16))[np.isnan(numbers)].all()


@pytest.mark.parametrize("dtype", [Dtype.F32, Dtype.F16, Dtype.BF16])
def test_a_number_beyond_a_float_type_is_infinite_without_a_warning(dtype: Dtype) -> None:
    assert values_of(bits_of([1e300, -1e300, 1], dtype), dtype).tolist() == [np.inf, -np.inf, 1]
