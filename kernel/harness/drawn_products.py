"""Products drawn at random around the edges of a config's tiles, for the interpreter; and the smallest one that still fails."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from kernel.harness.emulated import Product
from kernel.runtime.formats import Fp8
from kernel.runtime.library import Config

FRAGMENT, PIECE = 16, 8
"""Values of a matrix instruction's side, and of one load. Where K is a multiple of PIECE and A is aligned, whole chunks go the
fast way.
"""
BYTE, SHORT = 1 << 8, 1 << 16
"""What counters of 8 and of 16 bits hold."""
WHOLE_TILES = (5, 6, 8, 9)
"""Of a long grid. With the part of a tile behind them they are no multiple of four: tiles are often taken in groups of four."""
SHIFTS = (0, 0, 2, 6, 8, 14)


def drawn_products(config: Config, seed: int, rounds: int) -> list[Product]:
    """Return `rounds` times eight products, drawn from `seed`, and nine more. Each lies on an edge, or beside it: of the tiles
    (up to 3 x 4 of them), of a fragment, of whole chunks of K (0 to 4, exactly or with a rest). Of the nine, six are large: one
    has more chunks than an 8-bit counter counts, two have up to ten tiles one way, and three have offsets into A or B that
    16 bits can't hold. Three have one value less and more than a tile and a chunk, and a third chunk that is not whole.
    """
    rng = random.Random(seed)  # noqa: S311  shapes, not secrets
    found = [product for _ in range(rounds) for product in _round(config, rng)]
    return [*found, *_large(config, rng), *_least_beside(config, rng)] if rounds else found


def far_products(config: Config, seed: int) -> list[Product]:
    """Return a product whose K a 16-bit counter can't hold, in whole chunks and a rest. It is for a config of few waves, and in
    the format that takes the least decoding.
    """
    rng = random.Random(seed)  # noqa: S311  a shape, not a secret
    *_, chunk = _tile(config)
    far = _aligned(rng, rng.randint(1, 3), rng.randint(1, 3), SHORT + _whole_and_rest(rng, chunk, 1))
    return [replace(far, fp8=Fp8.E5M2)]


def _round(config: Config, rng: random.Random) -> Iterator[Product]:
    rows, columns, chunk = _tile(config)
    few_m, few_n = rng.randint(1, FRAGMENT + 1), rng.randint(1, FRAGMENT + 1)
    yield _aligned(rng, _beside(rng, rows * rng.randint(1, 2)), few_n, chunk)
    yield _aligned(rng, few_m, _beside(rng, columns), _whole_and_rest(rng, chunk, rng.randint(0, 3)))
    yield _aligned(rng, _beside(rng, rows), few_n, chunk * rng.randint(1, 2) - PIECE)
    yield _aligned(rng, few_m, few_n, chunk * rng.randint(0, 2) + FRAGMENT + PIECE * rng.randint(0, 1))
    yield _product(rng, few_m, _beside(rng, columns), _beside(rng, chunk * rng.randint(1, 4)))
    yield _product(rng, _beside(rng, rows), few_n, chunk * rng.randint(1, 4) + rng.randrange(chunk))
    yield _product(rng, _beside(rng, rows * rng.randint(2, 3)), _beside(rng, columns * rng.randint(2, 4)), rng.randint(1, 8))
    yield _product(rng, rng.randint(1, rows), rng.randint(1, columns), rng.randrange(1, 3 * chunk, 2))


def _large(config: Config, rng: random.Random) -> Iterator[Product]:
    rows, columns, chunk = _tile(config)
    few, past = rng.randint(1, 3), SHORT // rows
    yield _aligned(rng, rng.randint(1, 3), few, BYTE * chunk + _whole_and_rest(rng, chunk, rng.randint(1, 2)))
    yield _aligned(rng, rows + few, few, past + PIECE * rng.randint(2, 3))
    yield _product(rng, rows + few, few, past + rng.randrange(9, 17, 2))
    yield _product(rng, rows * rng.choice(WHOLE_TILES) + few, columns + few, rng.randint(1, 4))
    yield _product(rng, rows + few, columns * rng.choice(WHOLE_TILES) + few, rng.randint(1, 4))
    yield _product(rng, few, SHORT // FRAGMENT + rng.randint(1, 9), _whole_and_rest(rng, chunk, rng.randint(0, 1)))


def _least_beside(config: Config, rng: random.Random) -> Iterator[Product]:
    rows, columns, chunk = _tile(config)
    yield _product(rng, rows - 1, columns + 1, chunk - 1)
    yield _product(rng, rows + 1, columns - 1, chunk + 1)
    yield _product(rng, rng.randint(1, 3), rng.randint(1, 3), 3 * chunk - 1)


def _whole_and_rest(rng: random.Random, chunk: int, chunks: int) -> int:
    return chunks * chunk + PIECE * rng.randint(1, chunk // PIECE - 1)


def _aligned(rng: random.Random, m: int, n: int, k: int) -> Product:
    return replace(_product(rng, m, n, k), shifted=0)


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
