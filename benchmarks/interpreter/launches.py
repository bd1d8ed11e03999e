"""Launches of this repository's kernel in the interpreter, judged as the harness judges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from expctl.gfx11.arguments import Unwritten
from expctl.gfx11.launch import Interpretation, interpret
from kernel.harness.reference import Limits, draw, expected, judge
from kernel.runtime.formats import Fp8, prepack

Config = tuple[int, int, int, int, int, int]
BASELINE: Config = (1, 8, 2, 2, 8, 2)
SMALL: Config = (2, 2, 2, 2, 2, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A launch, and the gate that its result fails, or None."""

    result: Interpretation
    failure: str | None

    @property
    def faults(self) -> list[str]:
        """In words."""
        return [str(fault) for fault in self.result.faults]

    @property
    def kinds(self) -> set[str]:
        """Of the faults."""
        return {fault.kind.value for fault in self.result.faults}


def scaled_mm(
    assembly: str,
    config: Config,
    fp8: Fp8,
    m: int,
    n: int,
    k: int,
    *,
    seed: int = 0,
    bias: bool = True,
    more_blocks: tuple[int, int] = (0, 0),
) -> Run:
    """The kernel's C (m, n), on the same inputs every time. `seed` orders the waves, `more_blocks` (x, y) lie beyond it."""
    inputs = draw(np.random.default_rng(7), fp8, m, n, k, scale=0.5, bias=bias)
    block_m, block_n = 16 * config[0] * config[4], 16 * config[1] * config[5]
    grid = (-(-n // block_n) + more_blocks[0], -(-m // block_m) + more_blocks[1], 1)
    result = interpret(
        assembly,
        f"scaled_mm_{fp8.label}_{'_'.join(map(str, config))}",
        grid,
        (32 * config[0] * config[1], 1, 1),
        {
            "a": inputs.a,
            "b": prepack(inputs.codes),
            "bias": inputs.bias,
            "c": Unwritten(shape=(m, n), dtype="float16"),
            "scale": inputs.scale,
            "m": m,
            "n": n,
            "k": k,
        },
        order_seed=seed,
    )
    rows = np.arange(m)
    failure = judge(inputs, rows, expected(inputs, rows), result.outputs["c"], Limits()).failure
    return Run(result=result, failure=failure)
