"""Everyday names of HIP and CUDA compute what their manuals say: integers, halves, bfloat16, vectors, atomics, groups."""

from __future__ import annotations

from typing import Any

import pytest

from tests.inspection.test_hip_stubs import compiled, empty, run

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
np = pytest.importorskip("numpy")

ONE, LANES = (1, 1, 1), (32, 1, 1)
FILE = "everyday.hip"
RNG = np.random.default_rng(8)


def launched(kernel: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return run(FILE, kernel, ONE, LANES, arguments)


def bits(x: Any, count: int) -> Any:
    return (x[:, None] >> np.arange(count, dtype=np.uint32)) & 1


def test_integers() -> None:
    a = RNG.integers(0, 1 << 32, 32, dtype=np.uint32)
    a[:3] = 0, 1, 7
    b = a[np.arange(32) ^ 1]
    y = launched("integers", {"x": a, "y": empty((32, 16), "i4")})["y"].view("u4")
    wide, signed = a.astype("u8"), a.view("i4").astype("i8")
    low24 = [((each << 40).astype("i8") >> 40) for each in (a.astype("i8"), b.astype("i8"))]
    chosen = np.stack([a, a >> 16, b, b >> 16], 1)  # bytes 0, 4, 2, 6 of b:a
    np.testing.assert_array_equal(y[:, 0], bits(a, 32).sum(1))
    np.testing.assert_array_equal(y[:, 1], [32 - int(each).bit_length() for each in a])
    np.testing.assert_array_equal(y[:, 2], [(int(each) & -int(each)).bit_length() for each in a])
    np.testing.assert_array_equal(y[:, 3], [int(f"{each:032b}"[::-1], 2) for each in a])
    np.testing.assert_array_equal(y[:, 4], (wide * b.astype("u8") >> np.uint64(32)).astype("u4"))
    np.testing.assert_array_equal(y[:, 5], (low24[0] * low24[1]).astype("u8").astype("u4"))
    np.testing.assert_array_equal(y[:, 6], (a & 255) | (b & 255) << 8 | (chosen[:, 1] & 255) << 16 | (chosen[:, 3] & 255) << 24)
    np.testing.assert_array_equal(y[:, 7], ((b.astype("u8") << np.uint64(32) | wide) >> np.uint64(7)).astype("u4"))
    parts = [each[:, None] >> np.array([0, 8, 16, 24], "u4") & 255 for each in (a, b)]
    np.testing.assert_array_equal(
        y[:, 8].view("i4"), 5 + (parts[0].astype("i1").astype("i4") * parts[1].astype("i1").astype("i4")).sum(1)
    )
    np.testing.assert_array_equal(y[:, 9], 5 + (parts[0] * parts[1]).sum(1))
    np.testing.assert_array_equal(y[:, 10], np.maximum(a, b) - np.minimum(a, b) + np.uint32(1))
    np.testing.assert_array_equal(y[:, 11].view("i4"), (signed + b.view("i4").astype("i8")) >> 1)
    odd = sum(1 << lane for lane in range(32) if a[lane] & 1)
    np.testing.assert_array_equal(y[:, 12], odd)
    np.testing.assert_array_equal(y[:, 13], [sum(1 << lane for lane in range(32) if a[lane] & 3 == each & 3) for each in a])
    np.testing.assert_array_equal(y[:, 14], (a & 255).sum())
    np.testing.assert_array_equal(y[:, 15], (a & 1).sum() + 100 + 1000)


def test_halves() -> None:
    x = RNG.uniform(0.5, 4, (32, 2)).astype("e") * np.array([1, -1], "e")
    y = np.zeros((33, 8, 2), "e")
    out = launched("halves", {"x": x, "y": y, "f": np.array([0.1], "f4")})["y"]
    a, b = x.astype("f4"), x[:, ::-1].astype("f4")
    half = np.float16
    np.testing.assert_array_equal(out[:32, 0], (a.astype("f8") * b + 0.5).astype(half))
    np.testing.assert_array_equal(out[:32, 1], np.maximum(a, -b))
    np.testing.assert_array_equal(out[:32, 2], (np.abs(a) - b).astype(half))
    np.testing.assert_allclose(out[:32, 3], np.stack([np.sqrt(a[:, 0]), np.exp(a[:, 1])], 1), rtol=1e-3)
    np.testing.assert_array_equal(out[:32, 4], a > b)
    np.testing.assert_array_equal(out[:32, 5], (a * 3).astype(half))
    np.testing.assert_array_equal(out[:32, 6], np.stack([np.full(32, half(0.1)), x[:, 0]], 1))
    np.testing.assert_array_equal(out[:32, 7], (a + b).astype(half))
    np.testing.assert_allclose(out[32, 0], a.sum(0), rtol=1e-2)


def rounded(x: Any) -> Any:
    raw = np.ascontiguousarray(x, "f4").view("u4")
    return ((raw + 0x7FFF + (raw >> 16 & 1)) >> 16 << 16).view("f4")


def test_brain_floats() -> None:
    x = rounded(RNG.standard_normal(64).astype("f4"))
    arguments = {"x": (x.view("u4") >> 16).astype("u2"), "y": empty((32, 8), "u2"), "f": empty((32,), "f4")}
    out = launched("brain_floats", arguments)
    y, a, b = (out["y"].astype("u4") << 16).view("f4"), x[:32], x[32:]
    wanted = [a + b, a * b, a * b + a, np.maximum(a, b), a * a, np.exp(a), -a, 1 + b]
    for at, each in enumerate(wanted):
        np.testing.assert_array_equal(y[:, at], rounded(each.astype("f4")), err_msg=str(at))
    np.testing.assert_array_equal(out["f"], a * 2 + b)


def test_vectors() -> None:
    x = RNG.standard_normal((32, 4)).astype("f4")
    out = launched("vectors", {"x": x, "y": empty((32, 4, 4), "f4"), "n": empty((32, 4), "i4")})
    b = np.array([1, 2, 3, 4], "f4")
    np.testing.assert_allclose(out["y"][:, 0], 2 * x - b, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(out["y"][:, 1], -x / b, rtol=1e-6)
    np.testing.assert_allclose(out["y"][:, 2], x * np.float32(0.5) + b, rtol=1e-6)
    np.testing.assert_array_equal(out["y"][:, 3], x + b)
    c = np.array([5, 6, 7, 8]) + np.arange(32)[:, None]
    np.testing.assert_array_equal(out["n"], ((c << 2) ^ (c & 3)) | (c % 5 == c).all(1)[:, None])


def test_atomics() -> None:
    words = {"n": np.zeros(8, "i4"), "u": np.array([3, 3, 0, 0, 0xFFFFFFFF], "u4"), "f": np.zeros(5, "f4")}
    others = {"d": np.zeros(1, "f8"), "l": np.zeros(3, "u8"), "s": np.zeros(2, "u2")}
    try:
        out = launched("atomics", words | others)
    except Exception as error:
        if getattr(error, "code", "") == "assembly-not-supported" and "f64" in str(getattr(error, "found", "")):
            pytest.skip("no double precision")
        raise
    assert out["n"].tolist() == [496, 31, -31, 0, -1, -32, 0, 0]
    assert out["u"].tolist() == [(3 + 32) % 10, (3 - 32) % 10, 5, 3, 0]
    assert out["f"].tolist() == [248, 31, -31, 32, 2]
    assert out["d"].tolist() == [8]
    assert out["l"].tolist() == [32 << 40, 1 << 31, 7]
    assert out["s"].tolist() == [0, 9]


def test_groups() -> None:
    x = RNG.integers(0, 100, 32).astype("i4")
    y = launched("groups", {"x": x, "y": empty((32, 12), "i4")})["y"]
    lane, tiles = np.arange(32), x.reshape(4, 8)
    sums = np.cumsum(tiles, 1)
    np.testing.assert_array_equal(y[:, 0], lane % 8 + 100 * (lane // 8) + 80000)
    np.testing.assert_array_equal(y[:, 1], np.repeat(tiles.sum(1), 8))
    np.testing.assert_array_equal(y[:, 2], sums.ravel())
    np.testing.assert_array_equal(y[:, 3], (sums - tiles).ravel())
    np.testing.assert_array_equal(y[:, 4], np.concatenate([tiles[:, 1:], tiles[:, 7:]], 1).ravel())
    np.testing.assert_array_equal(y[:, 5], np.repeat(tiles[:, 3], 8))
    np.testing.assert_array_equal(y[:, 6], np.repeat((tiles % 2 << np.arange(8)).sum(1), 8))
    np.testing.assert_array_equal(y[:, 7], np.repeat((tiles == 5).any(1) + 2 * (tiles > 2).all(1), 8))
    np.testing.assert_array_equal(y[:, 8], lane % 16 + 1600)
    np.testing.assert_array_equal(y[:, 9], lane)
    third = x % 3 == 0
    np.testing.assert_array_equal(y[third, 10], np.arange(third.sum()) + 100 * third.sum())
    np.testing.assert_array_equal(y[third, 11], x[third][1])
    assert (y[~third, 10:] == 0).all()


def test_a_cuda_file_with_its_host_code() -> None:
    text = compiled("host_side.cu").assembly
    assert "weights" in text
    assert "s_swappc" not in text
