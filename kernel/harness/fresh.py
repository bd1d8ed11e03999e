"""Inputs that are new for every timed launch: windows of a pool of random numbers, so that a draw costs a copy and no more.

Nothing that a build could keep from an earlier launch fits: A, B and bias begin elsewhere in their pools, scale is another
number. Both sides of a round are given the same sequence, from one seed.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from kernel.harness import reference
from kernel.harness.formats import PIECE_K, Bytes, Doubles, Fp8, Halves, decode

MOST_SLACK = 1 << 20
"""Values that a pool holds beyond one matrix. A window of a large matrix overlaps the one before, and fits it nowhere."""
MOST_DOUBLES = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Where the operands of one launch begin in their pools: halves of A, pieces of B, halves of the bias."""

    a_at: int
    b_at: int
    bias_at: int
    scale: float


class FreshInputs:
    """Of n x n x n products. Windows begin at multiples of `step` values: on a GPU, pointers stay as aligned as they were."""

    def __init__(self, seed: int, fp8: Fp8, n: int, *, step: int = 1) -> None:
        rng = np.random.default_rng([seed, n])
        self._draws = random.Random(seed)  # noqa: S311  whose calls cost a microsecond
        self.n, self.fp8, self._step = n, fp8, step
        self.slack = min(n * n, MOST_SLACK) // PIECE_K * PIECE_K
        self.k_pieces = -(-n // PIECE_K)
        self.a_pool: Halves = reference.halves(rng, n * n + self.slack)
        self.pieces: Bytes = reference.codes(rng, fp8, self.k_pieces * n + self.slack // PIECE_K, PIECE_K)
        self.bias_pool: Halves = reference.halves(rng, n + self.slack)
        self.largest_a = float(np.max(np.abs(self.a_pool)))
        self.largest_b = float(np.max(np.abs(decode(np.unique(self.pieces), fp8))))
        self._doubles: Doubles | None = self.a_pool.astype(np.float64) if self.a_pool.size <= MOST_DOUBLES else None

    def draw(self) -> Draw:
        """The next launch."""
        places = self.slack // self._step
        pieces = self.slack // PIECE_K // self._step
        draw = self._draws.randrange
        return Draw(
            a_at=draw(places) * self._step,
            b_at=draw(max(1, pieces)) * self._step,
            bias_at=draw(places) * self._step,
            scale=draw(1 << 8, 1 << 10) / (1 << 10),
        )

    def a(self, draw: Draw) -> Halves:
        """(n, n), a view."""
        return self.a_pool[draw.a_at : draw.a_at + self.n * self.n].reshape(self.n, self.n)

    def packed(self, draw: Draw) -> Bytes:
        """(ceil(n/16), n, 16): a view, or where n is no multiple of 16 a copy with zero codes after the last k."""
        window = self.pieces[draw.b_at : draw.b_at + self.k_pieces * self.n].reshape(self.k_pieces, self.n, PIECE_K)
        if self.n % PIECE_K:
            window = window.copy()
            window[-1, :, self.n % PIECE_K :] = 0
        return window

    def bias(self, draw: Draw) -> Halves:
        """(n,), a view."""
        return self.bias_pool[draw.bias_at : draw.bias_at + self.n]

    def inputs(self, draw: Draw) -> reference.Inputs:
        """As the reference takes them."""
        codes = self.packed(draw).transpose(0, 2, 1).reshape(-1, self.n)[: self.n]
        return reference.Inputs(a=self.a(draw), codes=codes, bias=self.bias(draw), scale=draw.scale, fp8=self.fp8)

    def exact(self, draw: Draw, rows: slice | np.typing.NDArray[np.intp], columns: np.typing.NDArray[np.intp]) -> Doubles:
        """(rows, columns) of the product in float64."""
        if self._doubles is None:
            a = self.a(draw)[rows].astype(np.float64)
        else:
            a = self._doubles[draw.a_at : draw.a_at + self.n * self.n].reshape(self.n, self.n)[rows]
        places = draw.b_at + columns[:, np.newaxis] + np.arange(self.k_pieces) * self.n
        b = decode(self.pieces[places].reshape(len(columns), -1)[:, : self.n], self.fp8)
        return np.asarray(a @ b.T * draw.scale + self.bias(draw)[columns].astype(np.float64))

    def limit(self, draw: Draw, exact: Doubles, *, truncating: bool) -> Doubles:
        """As `reference.scaled_limit`, with the largest values of the pools."""
        lost = reference.rounding_loss(self.largest_a, self.largest_b, self.n, draw.scale, truncating=truncating)
        return np.asarray(reference.ulp_fp16(exact) + lost)
