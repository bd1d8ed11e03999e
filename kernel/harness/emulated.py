"""Runs one product in the gfx1151 interpreter: a build's machine code, wave by wave on the CPU."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from expctl.gfx11.arguments import Shifted, Unwritten
from expctl.gfx11.launch import Interpretation, interpret
from expctl.gfx11.machine.arrays import Anything
from expctl.harness.limits import Judgement
from kernel.harness import reference
from kernel.harness.reference import Inputs, Limits
from kernel.runtime.formats import Fp8, prepack
from kernel.runtime.library import Config

LANES = 32
MAGNIFIED = 1024.0
MOST_BESIDE, MARGIN = 50_000, 2
PER_MATRIX, PER_ROWS, PER_COLUMNS = 6, 100, {Fp8.E5M2: 15, Fp8.E4M3FN: 130}
"""Instructions of a wave: for each matrix instruction; for each fragment of A that is not loaded in whole pieces; for each
fragment of B, which is decoded. Builds of today take about what that gives, or less; a wave that takes MARGIN times as much is
in an endless loop. So that ends within seconds.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """C (m, n) = (A (m, k) x B (k, n)) * scale, with a bias or without. `every_code`: B holds all 256 bytes, NaN and infinities
    too (n is 256 then), in its row 0; if `magnified` in its row 1, and A is so large that the smallest codes count and the
    largest products are infinite. A begins `shifted` bytes beyond an aligned address.
    """

    fp8: Fp8
    m: int
    n: int
    k: int
    bias: bool = True
    scale: float = 0.5
    every_code: bool = False
    magnified: bool = False
    shifted: int = 0

    @property
    def name(self) -> str:
        """Return the name of the case in a test."""
        words = f"{self.fp8.label} m={self.m} n={self.n} k={self.k} scale"
        return (
            words
            + " bias" * self.bias
            + " every code" * self.every_code
            + " magnified" * self.magnified
            + " A shifted" * bool(self.shifted)
        )


def entry(fp8: Fp8, config: Config) -> str:
    """Return the symbol of the kernel for `fp8` and `config`."""
    return f"scaled_mm_{fp8.label}_{'_'.join(map(str, config))}"


def _most_instructions(product: Product, config: Config) -> int:
    *_, unroll_k, _, repeat_m, repeat_n = config
    chunks, in_pieces = -(-product.k // (16 * unroll_k)) + 1, product.k % 8 == 0 and product.shifted == 0
    of_slice = (
        PER_MATRIX * repeat_m * repeat_n + PER_COLUMNS[product.fp8] * repeat_n + (0 if in_pieces else PER_ROWS * repeat_m)
    )
    return MOST_BESIDE + MARGIN * chunks * unroll_k * of_slice


def run(assembly: str, config: Config, product: Product, *, seed: int, order_seed: int) -> tuple[Interpretation, Judgement]:
    """Launch the entry of `config` on inputs drawn from `seed`. Raises the errors of expctl.gfx11.text."""
    inputs = _inputs(product, seed)
    warps_m, warps_n, _, _, repeat_m, repeat_n = config
    block_m, block_n = 16 * warps_m * repeat_m, 16 * warps_n * repeat_n
    given = {"A": inputs.a, "B": prepack(inputs.codes), "bias": inputs.bias}
    found = interpret(
        assembly,
        entry(product.fp8, config),
        (-(-product.n // block_n), -(-product.m // block_m), 1),
        (LANES * warps_m * warps_n, 1, 1),
        {
            **given,
            "A": Shifted(values=inputs.a, by=product.shifted) if product.shifted else inputs.a,
            "C": Unwritten(shape=(product.m, product.n), dtype="float16"),
            "scale": inputs.scale,
            "m": product.m,
            "n": product.n,
            "k": product.k,
        },
        order_seed=order_seed,
        most_instructions=_most_instructions(product, config),
    )
    rows = np.arange(product.m)
    exact = reference.expected(inputs, rows)
    judgement = reference.judge(inputs, rows, exact, found.outputs["C"], Limits())
    overwritten = [name for name, values in given.items() if values is not None and _differ(values, found.outputs[name])]
    if overwritten and judgement.failure is None:
        judgement = replace(judgement, failure=f"the launch changed its input {overwritten[0]}")
    return found, judgement


def _differ(before: Anything, after: Anything) -> bool:
    return np.ascontiguousarray(before).tobytes() != np.ascontiguousarray(after).tobytes()


def _inputs(product: Product, seed: int) -> Inputs:
    if product.every_code:
        row, times = (1, MAGNIFIED) if product.magnified else (0, 1.0)
        return reference.every_code(product.fp8, product.m, product.k, row=row, times=times)
    return reference.draw(
        np.random.default_rng(seed), product.fp8, product.m, product.n, product.k, scale=product.scale, bias=product.bias
    )
