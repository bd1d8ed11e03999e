"""Kernels that have nothing to do with ours: tiled products, a reduction, a softmax, scratch, bytes. See stranger.hip."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from expctl.gfx11.arguments import Unwritten
from expctl.gfx11.launch import Interpretation, interpret

LEVELS = ("-O1", "-O3")


@pytest.fixture(scope="session", params=LEVELS)
def stranger(request: pytest.FixtureRequest, compile_hip: Callable[..., str]) -> str:
    return str(compile_hip(Path(__file__).with_name("stranger.hip"), request.param))


def clean(result: Interpretation) -> dict[str, np.ndarray]:
    assert [str(fault) for fault in result.faults] == []
    return result.outputs


def empty(shape: tuple[int, ...], dtype: str) -> Unwritten:
    return Unwritten(shape=shape, dtype=dtype)


def test_tiled_product(stranger: str) -> None:
    m, n, k = 33, 20, 37
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((m, k)).astype("f"), rng.standard_normal((k, n)).astype("f")
    arguments = {"a": a, "b": b, "c": empty((m, n), "f"), "m": m, "n": n, "k": k}
    c = clean(interpret(stranger, "gemm_f32", (2, 3, 1), (16, 16, 1), arguments, order_seed=1))["c"]
    np.testing.assert_allclose(c, a.astype("d") @ b, atol=1e-5)


def test_tiled_product_of_halves_and_bytes(stranger: str) -> None:
    m, n, k = 33, 20, 37
    rng = np.random.default_rng(3)
    a, bias = rng.standard_normal((m, k)).astype("e"), rng.standard_normal(n).astype("e")
    b = (rng.standard_normal((k, n)).astype("e").view("u2") >> 8).astype("u1")
    arguments = {"a": a, "b": b, "bias": bias, "c": empty((m, n), "e"), "scale": 0.5, "m": m, "n": n, "k": k}
    c = clean(interpret(stranger, "gemm_f16_bytes", (2, 3, 1), (16, 16, 1), arguments, order_seed=1))["c"]
    exact = a.astype("d") @ (b.astype("u2") << 8).view("e").astype("d") * 0.5 + bias
    np.testing.assert_allclose(c.astype("d"), exact, rtol=2e-3, atol=2e-3)


def test_reduction_and_divisions(stranger: str) -> None:
    x = np.random.default_rng(4).standard_normal(1000).astype("f")
    arguments = {
        "x": x,
        "sums": empty((3,), "f"),
        "best": empty((3,), "i4"),
        "count": 1000,
        "stride": 384,
        "q": empty((3,), "i4"),
    }
    out = clean(interpret(stranger, "reduce", (3, 1, 1), (128, 1, 1), arguments, order_seed=2))
    for block in range(3):
        mine = x[np.concatenate([np.arange(block * 128 + t, 1000, 384) for t in range(128)])]
        top = int((mine * np.float32(100)).astype("i4").max())
        assert out["sums"][block] == pytest.approx(np.sqrt((mine.astype("d") ** 2).sum()) / 3, rel=1e-6)
        assert out["best"][block] == top
        assert out["q"][block] == top // 384 + top % 7


def test_softmax(stranger: str) -> None:
    x = np.random.default_rng(5).standard_normal((2, 150)).astype("e")
    arguments = {"x": x, "y": empty((2, 150), "e"), "n": 150}
    y = clean(interpret(stranger, "softmax", (2, 1, 1), (64, 1, 1), arguments, order_seed=3))["y"]
    power = np.exp(x.astype("d") - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, power / power.sum(axis=1, keepdims=True), rtol=2e-3, atol=1e-6)


def test_scratch(stranger: str) -> None:
    x = np.random.default_rng(6).integers(-1000, 1000, 50).astype("i4")
    result = interpret(stranger, "scratchy", (2, 1, 1), (64, 1, 1), {"x": x, "y": empty((128,), "i4"), "n": 50}, order_seed=0)
    y = clean(result)["y"]
    assert result.counts.summary().scratch_bytes > 0
    for thread in range(64):
        local = [int(x[(thread + i) % 50]) for i in range(32)]
        for i in range(32):
            local[local[i] & 31] += i
        total = 0
        for value in local:
            total = (total * 3 + value) & 0xFFFFFFFF
        assert y.view("u4")[thread] == y.view("u4")[64 + thread] == total


def test_bytes_and_counted_bits(stranger: str) -> None:
    rng, n = np.random.default_rng(7), 100
    x, z = rng.integers(0, 256, n).astype("u1"), rng.integers(-128, 128, n).astype("i1")
    arguments = {"x": x, "z": z, "y": empty((n,), "u2"), "w": empty((n,), "u1"), "q": empty((n,), "u8"), "n": n}
    out = clean(interpret(stranger, "bytes", (2, 1, 1), (64, 1, 1), arguments, order_seed=0))
    for i in range(n):
        product = int(x[i]) * int(z[i])
        bits = product & 0xFFFFFFFF
        assert out["y"][i] == (product + (int(x[i]) << 3)) & 0xFFFF
        assert out["w"][i] == ((product >> 4) ^ bits.bit_count()) & 0xFF
        zeros = 32 - (bits | 1).bit_length() + ((bits | 256) & -(bits | 256)).bit_length() - 1
        assert out["q"][i] == (int(x[i]) * 0x123456789ABCDEF + zeros) & (1 << 64) - 1


def test_matrix_product_from_registers(stranger: str) -> None:
    rng = np.random.default_rng(8)
    a, b = rng.standard_normal((32, 48)).astype("e"), rng.standard_normal((48, 32)).astype("e")
    arguments = {"a": a, "b": b, "c": empty((32, 32), "f"), "n": 32, "k": 48}
    c = clean(interpret(stranger, "wmma_plain", (2, 2, 1), (32, 1, 1), arguments, order_seed=0))["c"]
    np.testing.assert_allclose(c, a.astype("d") @ b.astype("d"), atol=1e-5)


def test_workgroups_that_write_the_same_place_race(stranger: str) -> None:
    x = np.arange(50, dtype="i4")
    result = interpret(stranger, "scratchy", (2, 1, 1), (64, 1, 1), {"x": x, "y": empty((64,), "i4"), "n": 50}, order_seed=0)
    assert any("after the end of y" in fault.what for fault in result.faults)
    arguments = {"a": np.ones((16, 16), "e"), "b": np.ones((17, 16), "e"), "c": empty((17, 16), "f"), "n": 16, "k": 16}
    for seed in range(3):
        result = interpret(stranger, "wmma_plain", (2, 1, 1), (32, 1, 1), arguments, order_seed=seed)
        assert {fault.kind.value for fault in result.faults} == {"race"}
        assert all(" of c " in fault.what for fault in result.faults)


def test_an_output_that_is_read_is_uninitialised(stranger: str) -> None:
    arguments = {"a": empty((33, 37), "f"), "b": np.ones((37, 20), "f"), "c": empty((33, 20), "f"), "m": 33, "n": 20, "k": 37}
    result = interpret(stranger, "gemm_f32", (2, 3, 1), (16, 16, 1), arguments, order_seed=1)
    assert {fault.kind.value for fault in result.faults} == {"uninitialised"}
    assert all(" of c" in fault.what for fault in result.faults)
