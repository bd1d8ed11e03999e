"""The products that the interpreter runs: small ones that still have every kind of edge of a gfx1151 launch."""

from __future__ import annotations

import re
from dataclasses import replace

from expctl.harness.report import BuildFailed
from kernel.harness.emulated import Product
from kernel.runtime.formats import Fp8
from kernel.runtime.library import Config, parse_config


def products(config: Config) -> list[Product]:
    """Return the products to test. In both formats: two tiles each way, whole and ragged, over three whole chunks of K and a
    part of one; rows of A that are not aligned; less than a fragment; every byte of B, in even and in odd rows. In one format:
    K in whole chunks, A at an odd address, offsets into B and C that 16 bits can't hold.
    """
    warps_m, warps_n, unroll_k, _, repeat_m, repeat_n = config
    rows, columns, chunk = 16 * warps_m * repeat_m, 16 * warps_n * repeat_n, 16 * unroll_k
    found = []
    for fp8 in (Fp8.E5M2, Fp8.E4M3FN):
        found += [
            Product(fp8=fp8, m=rows + 2, n=columns + 8, k=3 * chunk + 8, scale=0.37),
            Product(fp8=fp8, m=rows + 2, n=40, k=chunk + 13, bias=False),
            Product(fp8=fp8, m=5, n=7, k=3, scale=1.5),
            Product(fp8=fp8, m=3, n=256, k=2 * chunk, bias=False, every_code=True),
            Product(fp8=fp8, m=2, n=256, k=chunk, bias=False, every_code=True, magnified=True),
        ]
    return [
        *found,
        Product(fp8=Fp8.E5M2, m=rows + 2, n=columns + 8, k=3 * chunk, scale=-1.25),
        Product(fp8=Fp8.E5M2, m=9, n=40, k=2 * chunk, shifted=2),
        Product(fp8=Fp8.E5M2, m=17, n=4104, k=2 * chunk, bias=False),
    ]


def few_products(config: Config) -> list[Product]:
    """Return two products, for a test of all configs: two ragged tiles each way, and less than a tile."""
    first, *_, last = products(config)
    ragged = replace(first, fp8=Fp8.E4M3FN if sum(config) % 2 else Fp8.E5M2)
    return [ragged, replace(last, fp8=Fp8.E5M2 if sum(config) % 2 else Fp8.E4M3FN, m=9, n=40, k=16 * config[2] + 13)]


def configs_of(assembly: str) -> list[Config]:
    """Return the configs of the kernels in `assembly`. Raises BuildFailed unless each is there in both formats."""
    names = re.findall(r"^\s*\.amdhsa_kernel scaled_mm_(\w+?)_([\d_]+)$", assembly, re.MULTILINE)
    found = [parse_config(numbers.replace("_", ",")) for label, numbers in names if label == Fp8.E5M2.label]
    if not found or len(names) != 2 * len(found):
        raise BuildFailed(f"{len(names)} kernels named scaled_mm_<format>_<config>, expected one for each config and format")
    return found
