from __future__ import annotations

import numpy as np
import pytest
import torch

from kernel import op
from kernel.harness.reference import Inputs, Limits, judge, ulp_fp16
from kernel.runtime.formats import VALUES, Fp8, decode, encode, prepack

TORCH = {Fp8.E5M2: torch.float8_e5m2, Fp8.E4M3FN: torch.float8_e4m3fn}


@pytest.mark.parametrize("fp8", list(Fp8))
def test_tables_agree_with_torch_on_every_code(fp8: Fp8) -> None:
    codes = torch.arange(256, dtype=torch.uint8)
    np.testing.assert_array_equal(VALUES[fp8], codes.view(TORCH[fp8]).to(torch.float64).numpy())


@pytest.mark.parametrize("fp8", list(Fp8))
def test_encode_finds_every_finite_value(fp8: Fp8) -> None:
    finite = VALUES[fp8][np.isfinite(VALUES[fp8])]
    np.testing.assert_array_equal(decode(encode(finite, fp8), fp8), finite)


@pytest.mark.parametrize("k", [1, 15, 16, 17, 48])
def test_prepacked_layout(k: int) -> None:
    codes = np.random.default_rng(k).integers(0, 256, (k, 5), dtype=np.uint8)
    packed = prepack(codes)
    assert packed.shape == (-(-k // 16), 5, 16)
    for piece, column, depth in np.ndindex(packed.shape):
        at = 16 * piece + depth
        assert packed[piece, column, depth] == (codes[at, column] if at < k else 0)
    for dtype in TORCH.values():
        b = torch.from_numpy(codes).view(dtype)
        assert op.prepack(b).dtype == dtype
        np.testing.assert_array_equal(op.prepack(b).view(torch.uint8).numpy(), packed)


def test_ulp_is_the_distance_to_the_next_half() -> None:
    halves = np.arange(0x7BFF, dtype=np.uint16).view(np.float16)
    following = np.arange(1, 0x7C00, dtype=np.uint16).view(np.float16)
    np.testing.assert_array_equal(ulp_fp16(halves.astype(np.float64)), following.astype(np.float64) - halves.astype(np.float64))


def test_each_gate_fails_alone() -> None:
    a = np.ones((1, 4), dtype=np.float16)
    inputs = Inputs(a=a, codes=np.full((4, 1), 0x3C, dtype=np.uint8), bias=None, scale=1.0, fp8=Fp8.E5M2)
    rows, exact = np.arange(1), np.array([[4.0]])
    assert judge(inputs, rows, exact, np.array([[4.0]], dtype=np.float16), Limits()).failure is None
    scaled = judge(inputs, rows, exact, np.array([[4.01]], dtype=np.float16), Limits()).failure
    assert scaled is not None
    assert scaled.startswith("C[0,0] is 4.01172, expected 4; error 0.0117, limit")
    near = np.array([[4.00390625]], dtype=np.float16)
    assert "relative L2" in str(judge(inputs, rows, exact, near, Limits(rel_l2=1e-4)).failure)
    assert "largest absolute" in str(judge(inputs, rows, exact, near, Limits(max_abs=1e-3)).failure)
    assert judge(inputs, rows, exact, np.array([[np.nan]], dtype=np.float16), Limits()).failure is not None
