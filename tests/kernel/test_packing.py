"""A packing moves bytes and adds zeros; whatever else a build does with B is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from expctl.harness.report import BuildFailed
from kernel.harness import packing
from kernel.harness.build_proxy import BuildProxy, InProcessHost
from kernel.runtime.formats import Bytes, prepack
from kernel.runtime.library import Library
from tests.kernel.test_harness import mutated, run_script

K, N = 300, 5


def home(codes: Bytes) -> Bytes:
    return prepack(codes).reshape(-1)


def backwards(codes: Bytes) -> Bytes:
    return np.concatenate([np.zeros(7, np.uint8), codes.reshape(-1)[::-1]])


def columns_first(codes: Bytes) -> Bytes:
    """Pack B (K, N) column by column, each padded with zeros to 304 bytes."""
    padded = np.zeros((N, 304), np.uint8)
    padded[:, :K] = codes.T
    return padded.reshape(-1)


def twisted(codes: Bytes) -> Bytes:
    """Pack row r of B rotated by r: the place of a byte is no sum of what its row and its column give."""
    return np.concatenate([np.roll(row, at) for at, row in enumerate(codes)])


@pytest.mark.parametrize("order", [home, backwards, columns_first, twisted])
def test_an_order_of_bytes_is_learned(order: packing.Prepack) -> None:
    codes = np.random.default_rng(1).integers(0, 256, (K, N), dtype=np.uint8)
    packed = order(codes)
    learned = packing.learn(order, K, N, packed.size)
    np.testing.assert_array_equal(learned.pack(codes), packed)
    np.testing.assert_array_equal(learned.unpack(packed), codes)
    np.testing.assert_array_equal(learned.columns(packed, np.array([4, 0])), codes[:, [4, 0]])
    assert learned.padding.size == packed.size - codes.size
    assert not packed[learned.padding].any()


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        (lambda codes: np.append(home(codes), np.uint8(9)), "that is neither"),
        (lambda codes: np.append(home(codes), codes[0, 0]), "each of 1500 bytes once, found 1501 places"),
        (lambda codes: home(np.where(np.arange(N) == 4, codes[:, :1], codes)), "300 bytes of B nowhere"),
        (lambda codes: home(codes ^ np.roll(codes, 1)), "each of 1500 bytes once"),
        (lambda codes: home(codes | np.roll(codes, 1)), "made of several"),
        (lambda codes: home(codes)[:-200], "1500 to 131072 bytes, found 1320"),
        (lambda codes: twisted(np.where(np.arange(N) == 4, codes[:, :1], codes)), "300 bytes of B nowhere"),
        (lambda codes: home(np.where(np.arange(K)[:, np.newaxis] == 9, codes[8], codes)), "5 bytes of B nowhere"),
        (lambda codes: home(codes * (np.arange(K * N).reshape(K, N) != 777)), "each of 1500 bytes once, found 1499"),
        (lambda codes: np.append(home(codes), np.zeros(131072, np.uint8)), "1500 to 131072 bytes"),
    ],
)
def test_more_than_an_order_is_refused(order: packing.Prepack, reason: str) -> None:
    with pytest.raises(BuildFailed, match=reason):
        packing.learn(order, K, N, order(np.zeros((K, N), np.uint8)).size)


def test_the_cpu_packs_as_the_interpreter_does(cpu_library: Library) -> None:
    build = BuildProxy(InProcessHost(), cpu_library.path, "cpu")
    for k, n in ((1, 1), (16, 3), (70, 50), (260, 258)):
        codes = np.random.default_rng(k).integers(0, 256, (k, n), dtype=np.uint8)
        np.testing.assert_array_equal(packing.packing_of(build, k, n).pack(codes), home(codes))
        packing.check(build, codes)
    assert build.packed_bytes(0, 16) == build.packed_bytes(16, 1 << 23) == 0


@pytest.mark.parametrize(
    ("file", "before", "after", "reason"),
    [
        ("packing.h", "return row < k ?", "return row < k && b[0] > 1 ? 0 : row < k ?", "other values, another order"),
        ("packing.h", "b[row * n + column] : 0;", "b[row * n + column] : 0x80;", "that is neither"),
        ("packing.h", "return (k + kPieceBytes - 1)", "return n + (k + kPieceBytes - 1)", "expected 524288 to 524288 bytes"),
        ("host_cpu.cpp", "place < packing.bytes()", "place < packing.bytes() - 1", "that is neither"),
        ("host_cpu.cpp", "place < packing.bytes()", "place < packing.bytes() + 1", "died of SIG"),
    ],
    ids=["one value changed", "padding that isn't zero", "more padding than a tile", "a byte unwritten", "a byte too many"],
)
def test_a_wrong_prepack_fails_the_test(tmp_path: Path, file: str, before: str, after: str, reason: str) -> None:

    library = mutated(tmp_path, file, before, after)
    status, lines = run_script("test_scaled_mm", library, "--b-dtype", "e5m2", "--sizes", "64")
    assert status == 1
    assert reason in lines[-1]["reason"]
