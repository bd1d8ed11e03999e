"""One product in the gfx1151 interpreter: the machine code of a build, run wave by wave on the CPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from expctl.gfx11.arguments import Unwritten
from expctl.gfx11.launch import Interpretation, interpret
from kernel.harness import reference
from kernel.harness.formats import Fp8, prepack
from kernel.harness.library import Config
from kernel.harness.reference import Judgement, Limits

LANES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """C (m, n) = (A (m, k) x B (k, n)) * 0.5, with a bias or without."""

    fp8: Fp8
    m: int
    n: int
    k: int
    bias: bool = True

    @property
    def name(self) -> str:
        """As the cases of a test are called."""
        return f"{self.fp8.label} m={self.m} n={self.n} k={self.k} scale" + (" bias" if self.bias else "")


def run(assembly: str, config: Config, product: Product, *, seed: int, order_seed: int) -> tuple[Interpretation, Judgement]:
    """Launch the entry of `config` on inputs drawn from `seed`. Raises expctl.domain.errors.Refused for text it can't take."""
    inputs = reference.draw(
        np.random.default_rng(seed), product.fp8, product.m, product.n, product.k, scale=0.5, bias=product.bias
    )
    warps_m, warps_n, _, _, repeat_m, repeat_n = config
    block_m, block_n = 16 * warps_m * repeat_m, 16 * warps_n * repeat_n
    found = interpret(
        assembly,
        f"scaled_mm_{product.fp8.label}_{'_'.join(map(str, config))}",
        (-(-product.n // block_n), -(-product.m // block_m), 1),
        (LANES * warps_m * warps_n, 1, 1),
        {
            "A": inputs.a,
            "B": prepack(inputs.codes),
            "bias": inputs.bias,
            "C": Unwritten(shape=(product.m, product.n), dtype="float16"),
            "scale": inputs.scale,
            "m": product.m,
            "n": product.n,
            "k": product.k,
        },
        order_seed=order_seed,
    )
    rows = np.arange(product.m)
    exact = reference.expected(inputs, rows)
    return found, reference.judge(inputs, rows, exact, found.outputs["C"], Limits())
