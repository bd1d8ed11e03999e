"""No launch is given what an earlier one was, and what it was given can be worked out again."""

from __future__ import annotations

import numpy as np
import pytest

from kernel.harness import reference
from kernel.harness.input_stream import Draw, InputStream
from kernel.harness.packing import Packing, learn
from kernel.harness.shapes import Extents
from kernel.runtime.formats import Bytes, Fp8, decode, prepack

N = 72


def home_packing(n: int) -> Packing:
    def packed(codes: Bytes) -> Bytes:
        return prepack(codes).reshape(-1)

    return learn(packed, n, n, packed(np.zeros((n, n), np.uint8)).size)


def pieces(inputs: InputStream, draw: Draw) -> set[bytes]:
    return {piece.tobytes() for piece in inputs.packed(draw).reshape(-1, 16)}


@pytest.mark.parametrize("fp8", list(Fp8))
def test_two_new_bs_share_no_piece(fp8: Fp8) -> None:
    inputs = InputStream(3, fp8, Extents.cube(64), home_packing(64), new_b=True)
    one, two = (pieces(inputs, inputs.draw()) for _ in range(2))
    assert len(one) == len(two) == 64 * 4
    assert not one & two


def test_windows_of_a_pool_do_share_pieces() -> None:
    """Why a CPU is not given them: the test above would see it."""
    inputs = InputStream(3, Fp8.E5M2, Extents.cube(64), home_packing(64))
    assert pieces(inputs, inputs.draw()) & pieces(inputs, inputs.draw())


@pytest.mark.parametrize("new_b", [False, True])
def test_both_sides_are_given_the_same(new_b: bool) -> None:
    sides = [InputStream(5, Fp8.E5M2, Extents.cube(N), home_packing(N), new_b=new_b) for _ in range(2)]
    for _ in range(3):
        one, two = (side.inputs(side.draw()) for side in sides)
        assert one.scale == two.scale
        for name in ("a", "codes", "bias"):
            assert np.array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize("new_b", [False, True])
@pytest.mark.parametrize("fp8", list(Fp8))
def test_the_exact_product_is_that_of_the_inputs(fp8: Fp8, new_b: bool) -> None:
    inputs = InputStream(7, fp8, Extents(5, N, N), home_packing(N), new_b=new_b)
    draw = inputs.draw()
    given = inputs.inputs(draw)
    assert given.bias is not None
    whole = given.a.astype(np.float64) @ decode(given.codes, fp8) * given.scale + given.bias.astype(np.float64)
    rows, columns = np.array([0, 3, 4]), np.array([1, N - 1])
    np.testing.assert_allclose(inputs.exact(draw, rows, columns), whole[rows][:, columns], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("fp8", list(Fp8))
def test_codes_of_random_bytes_are_normal(fp8: Fp8) -> None:
    values = decode(np.frombuffer(reference.normal_codes(fp8), np.uint8), fp8)
    assert abs(values.mean()) < 0.01
    assert abs(values.std() - 1) < 0.05
    assert np.abs(values).max() < 4
