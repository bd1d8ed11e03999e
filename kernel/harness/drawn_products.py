"""Products drawn at random around the edges of a config's tiles, for the interpreter; and the smallest one that still fails."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from kernel.harness.emulated import Product
from kernel.runtime.formats import Fp8
from kernel.runtime.library import Config

FRAGMENT = 16
BYTE = 1 << 8
"""What an 8-bit counter holds."""
SHIFTS = (0, 0, 2, 6, 8, 14)


def drawn_products(config: Config, seed: int, rounds: int) -> list[Product]:
    """Return `rounds` times six products, drawn from `seed`, and a long one. Each lies on an edge, or beside it: of the tiles
    (up to 3 x 4 of them), of a fragment, of whole chunks of K (0 to 4, and a rest). The long one has more chunks than an 8-bit
    counter counts.
    """
    rng = random.Random(seed)  # noqa: S311  shapes, not secrets
    found = [product for _ in range(rounds) for product in _round(config, rng)]
    return [*found, *_long(config, rng)] if rounds else found


def _round(config: Config, rng: random.Random) -> Iterator[Product]:
    rows, columns, chunk = _tile(config)
    few_m, few_n = rng.randint(1, FRAGMENT + 1), rng.randint(1, FRAGMENT + 1)
    yield _product(rng, _beside(rng, rows * rng.randint(1, 2)), _beside(rng, columns), _beside(rng, chunk))
    yield _product(rng, _beside(rng, rows), _beside(rng, columns * rng.randint(1, 2)), rng.randint(1, chunk))
    yield _product(rng, few_m, _beside(rng, columns), _beside(rng, chunk * rng.randint(2, 4)))
    yield _product(rng, _beside(rng, rows), few_n, chunk * rng.randint(1, 4) + rng.randrange(chunk))
    yield _product(rng, _beside(rng, rows * rng.randint(2, 3)), _beside(rng, columns * rng.randint(2, 4)), rng.randint(1, 8))
    yield _product(rng, rng.randint(1, rows), rng.randint(1, columns), rng.randrange(1, 3 * chunk, 2))


def _long(config: Config, rng: random.Random) -> Iterator[Product]:
    *_, chunk = _tile(config)
    yield _product(rng, rng.randint(1, 3), rng.randint(1, 3), BYTE * chunk + _beside(rng, 3 * chunk // 2))


def _tile(config: Config) -> tuple[int, int, int]:
    warps_m, warps_n, unroll_k, _, repeat_m, repeat_n = config
    return FRAGMENT * warps_m * repeat_m, FRAGMENT * warps_n * repeat_n, FRAGMENT * unroll_k


def _beside(rng: random.Random, edge: int) -> int:
    return edge + rng.choice((-9, -1, 0, 1, 2, 8))


def _product(rng: random.Random, m: int, n: int, k: int) -> Product:
    return Product(
        fp8=rng.choice((Fp8.E5M2, Fp8.E4M3FN)),
        m=max(m, 1),
        n=max(n, 1),
        k=max(k, 1),
        bias=rng.random() < 0.5,
        scale=rng.choice((1.0, -1.25, 0.37, 1.5)),
        shifted=rng.choice(SHIFTS),
    )


def smallest(product: Product, failure: str, fails: Callable[[Product], str | None], *, trials: int) -> tuple[Product, str]:
    """Return a product as small as `product` can be made so that it still fails, and its failure. `fails` returns what is wrong
    with a product, or None; it is called at most `trials` times.
    """
    smaller = True
    while smaller:
        smaller = False
        for candidate in _smaller(product):
            if trials == 0:
                return product, failure
            trials -= 1
            found = fails(candidate)
            if found is not None:
                product, failure, smaller = candidate, found, True
                break
    return product, failure


def _smaller(product: Product) -> Iterator[Product]:
    for plainer in (replace(product, shifted=0), replace(product, bias=False), replace(product, scale=1.0)):
        if plainer != product:
            yield plainer
    for extent in ("k", "n", "m"):
        size = getattr(product, extent)
        for less in dict.fromkeys((1, size // 2, size - FRAGMENT, size - 1)):
            if 0 < less < size and not product.every_code:
                yield replace(product, **{extent: less})
