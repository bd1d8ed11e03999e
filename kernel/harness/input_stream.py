"""Draws new inputs for every timed launch from one seed, so that both sides of a round get the same sequence.

A and bias are windows of pools of random numbers, at another place each time, so that a draw costs no more than a copy. On a
GPU so is B. On a CPU every byte of B is drawn anew: windows overlap, and a build that recognised a piece of B could use its
upcast from an earlier launch.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernel.harness import reference
from kernel.harness.packing import Packing
from kernel.harness.shapes import Extents
from kernel.runtime.formats import PIECE_K, Bytes, Doubles, Fp8, Halves, decode

MOST_SLACK = 1 << 20
"""Values that a pool holds beyond one matrix: a window can begin at so many places. Large windows overlap."""
MOST_DOUBLES = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Where the operands of one launch begin in their pools: `a_at`, `bias_at` in fp16 values, `b_at` in pieces of 16 bytes.

    With a `b_seed`, B is drawn from that seed instead of its pool.
    """

    a_at: int
    b_at: int
    bias_at: int
    scale: float
    b_seed: int | None = None


class InputStream:
    """Draws inputs of products of the same extents. Windows begin at multiples of `step` values: pointers stay aligned.

    With `new_b`, each B is drawn anew instead of being a window.
    """

    def __init__(self, seed: int, fp8: Fp8, extents: Extents, packing: Packing, *, step: int = 1, new_b: bool = False) -> None:
        m, n, k = extents
        rng = np.random.default_rng([seed, n])
        self._draws = random.Random(seed)  # noqa: S311  whose calls cost a microsecond
        self.extents, self.fp8, self._packing, self._step = extents, fp8, packing, step
        self.slack = min(m * k, n * k, MOST_SLACK) // PIECE_K * PIECE_K
        self.a_pool: Halves = reference.halves(rng, m * k + self.slack)
        self._b_slack = 0 if packing.padding.size else self.slack  # elsewhere its padding would not be zero
        self.packed_pool: Bytes = reference.codes(rng, fp8, packing.size + self._b_slack)
        self.packed_pool[packing.padding] = 0
        self.bias_pool: Halves = reference.halves(rng, n + self.slack)
        self.largest_a = reference.largest(self.a_pool)
        is_there = np.zeros(256, bool)
        is_there[self.packed_pool] = True
        self.largest_b = float(np.max(np.abs(decode(np.flatnonzero(is_there).astype(np.uint8), fp8))))
        self._codes = reference.normal_codes(fp8) if new_b else b""
        self._doubles: Doubles | None = self.a_pool.astype(np.float64) if self.a_pool.size <= MOST_DOUBLES else None

    def draw(self) -> Draw:
        """Draw the inputs of the next launch."""
        places = max(1, self.slack // self._step)
        pieces = self._b_slack // PIECE_K // self._step
        draw = self._draws.randrange
        return Draw(
            a_at=draw(places) * self._step,
            b_at=draw(max(1, pieces)) * self._step,
            bias_at=draw(places) * self._step,
            scale=draw(1 << 8, 1 << 10) / (1 << 10),
            b_seed=self._draws.getrandbits(63) if self._codes else None,
        )

    def a(self, draw: Draw) -> Halves:
        """Return A (m, k) fp16, a view."""
        return self._window(self.a_pool, draw)

    def _window(self, pool: NDArray[Any], draw: Draw) -> NDArray[Any]:
        m, _, k = self.extents
        return pool[draw.a_at : draw.a_at + m * k].reshape(m, k)

    def packed(self, draw: Draw) -> Bytes:
        """Return the prepacked B of fp8 codes, as the build packs it; perhaps a view."""
        size, padding = self._packing.size, self._packing.padding
        if draw.b_seed is None:
            return self.packed_pool[draw.b_at * PIECE_K : draw.b_at * PIECE_K + size]
        noise = np.random.Generator(np.random.SFC64(draw.b_seed)).bytes(size)
        packed = np.frombuffer(noise.translate(self._codes), np.uint8)
        if padding.size:
            packed = packed.copy()
            packed[padding] = 0
        return packed

    def bias(self, draw: Draw) -> Halves:
        """Return the bias (n,) fp16, a view."""
        return self.bias_pool[draw.bias_at : draw.bias_at + self.extents.n]

    def inputs(self, draw: Draw) -> reference.Inputs:
        """Return the operands that `draw` stands for, as reference.expected and reference.judge take them."""
        codes = self._packing.unpack(self.packed(draw))
        return reference.Inputs(a=self.a(draw), codes=codes, bias=self.bias(draw), scale=draw.scale, fp8=self.fp8)

    def exact(self, draw: Draw, rows: slice | np.typing.NDArray[np.intp], columns: np.typing.NDArray[np.intp]) -> Doubles:
        """Return these rows and columns of the exact product in float64."""
        pool = self.a_pool if self._doubles is None else self._doubles
        a = self._window(pool, draw)[rows].astype(np.float64, copy=False)
        b = decode(self._packing.columns(self.packed(draw), columns), self.fp8)
        return np.asarray(a @ b * draw.scale + self.bias(draw)[columns].astype(np.float64))

    def limit(self, draw: Draw, exact: Doubles, *, truncating: bool) -> Doubles:
        """Return the error allowed for each element of `exact`, as reference.scaled_limit by the pools' largest values."""
        lost = reference.rounding_loss(self.largest_a, self.largest_b, self.extents.k, draw.scale, truncating=truncating)
        return np.asarray(reference.ulp_fp16(exact) + lost)
