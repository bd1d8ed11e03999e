"""The shapes that the guard draws, and how it makes one that fails small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel.harness.drawn_products import drawn_products, far_products, smallest
from kernel.harness.emulate_scaled_mm import DRAWN
from kernel.harness.emulated import Product
from kernel.runtime.formats import Fp8
from kernel.runtime.library import WINNER, Config

CONFIGS: tuple[Config, ...] = (WINNER, (1, 2, 4, 2, 2, 2), (2, 2, 2, 2, 4, 4))
FRAGMENT, SHORT = 16, 1 << 16
Boundary = Callable[[Product, int, int, int], bool]


def _at_the_edge(turns: int) -> Boundary:
    return lambda p, rows, columns, chunk: not is_fast(p) and -(-p.k // chunk) == turns


def _of(form: Fp8) -> Boundary:
    return lambda p, rows, columns, chunk: p.fp8 is form


BOUNDARIES: dict[str, Boundary] = {
    "one chunk exactly": lambda p, rows, columns, chunk: p.k == chunk,
    "one chunk less one": lambda p, rows, columns, chunk: p.k == chunk - 1,
    "one chunk and one": lambda p, rows, columns, chunk: p.k == chunk + 1,
    "whole chunks the fast way, and a rest": lambda p, rows, columns, chunk: p.k > chunk and p.k % chunk > 0 and is_fast(p),
    **{f"{turns} turns at the edge": _at_the_edge(turns) for turns in (1, 2, 3)},
    "more turns at the edge": lambda p, rows, columns, chunk: not is_fast(p) and p.k > 3 * chunk,
    "more than 256 chunks": lambda p, rows, columns, chunk: p.k > 256 * chunk,
    "odd K": lambda p, rows, columns, chunk: p.k % 2 == 1,
    "rows of tiles less one": lambda p, rows, columns, chunk: p.m % rows == rows - 1,
    "rows of tiles and one": lambda p, rows, columns, chunk: p.m % rows == 1 and p.m > 1,
    "columns of tiles less one": lambda p, rows, columns, chunk: p.n % columns == columns - 1,
    "columns of tiles and one": lambda p, rows, columns, chunk: p.n % columns == 1 and p.n > 1,
    "several workgroups each way": lambda p, rows, columns, chunk: p.m > rows and p.n > columns,
    "more than four tiles of rows": lambda p, rows, columns, chunk: p.m > 4 * rows,
    "more than four tiles of columns": lambda p, rows, columns, chunk: p.n > 4 * columns,
    "long in rows, in no whole fours": lambda p, rows, columns, chunk: in_no_fours(p.m, rows) and p.n > columns,
    "long in columns, in no whole fours": lambda p, rows, columns, chunk: in_no_fours(p.n, columns) and p.m > rows,
    "N below a fragment": lambda p, rows, columns, chunk: p.n < FRAGMENT,
    "M below a fragment": lambda p, rows, columns, chunk: p.m < FRAGMENT,
    "offsets into A beyond 16 bits": lambda p, rows, columns, chunk: 2 * p.m * p.k > SHORT,
    "offsets into B beyond 16 bits": lambda p, rows, columns, chunk: FRAGMENT * p.n > SHORT,
    "bias": lambda p, rows, columns, chunk: p.bias,
    "no bias": lambda p, rows, columns, chunk: not p.bias,
    "scale": lambda p, rows, columns, chunk: p.scale != 1.0,
    "no scale": lambda p, rows, columns, chunk: p.scale == 1.0,
    "A not aligned": lambda p, rows, columns, chunk: p.shifted > 0,
    **{form.label: _of(form) for form in Fp8},
}  # fmt: skip
PLAIN = Product(fp8=Fp8.E5M2, m=200, n=700, k=333, bias=True, scale=1.5, shifted=6)


def tile(config: Config) -> tuple[int, int, int]:
    """Rows, columns and values of K that a workgroup multiplies in a turn."""
    warps_m, warps_n, unroll_k, _, repeat_m, repeat_n = config
    return FRAGMENT * warps_m * repeat_m, FRAGMENT * warps_n * repeat_n, FRAGMENT * unroll_k


def in_no_fours(extent: int, tile_extent: int) -> bool:
    """Whether an extent has more than four tiles, and they are no multiple of four."""
    tiles = -(-extent // tile_extent)
    return tiles > 4 and tiles % 4 != 0


def is_fast(product: Product) -> bool:
    """Whether whole chunks need no check of each value."""
    return product.k % 8 == 0 and product.shifted % 16 == 0


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("seed", range(20))
def test_every_run_lies_on_every_boundary(config: Config, seed: int) -> None:
    found = drawn_products(config, seed, DRAWN)
    assert [name for name, lies_on in BOUNDARIES.items() if not any(lies_on(each, *tile(config)) for each in found)] == []


@pytest.mark.parametrize("config", CONFIGS)
def test_products_are_drawn_from_the_seed_alone(config: Config) -> None:
    assert drawn_products(config, 7, DRAWN) == drawn_products(config, 7, DRAWN)
    assert len({tuple(drawn_products(config, seed, DRAWN)) for seed in range(20)}) == 20
    assert far_products(config, 7) == far_products(config, 7)


@pytest.mark.parametrize("config", CONFIGS)
def test_rounds_say_how_many(config: Config) -> None:
    assert drawn_products(config, 3, 0) == []
    assert [len(drawn_products(config, 3, rounds)) for rounds in (1, 2, 5)] == [17, 25, 49]


@given(seed=st.integers(0, 2**32 - 1), rounds=st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_every_product_can_be_launched(seed: int, rounds: int) -> None:
    """Extents of at least 1, at most ten tiles and 2**22; A at an even address, as halves are."""
    for config in CONFIGS:
        rows, columns, _ = tile(config)
        for each in drawn_products(config, seed, rounds):
            assert min(each.m, each.n, each.k) >= 1
            assert each.shifted % 2 == 0
            assert each.m <= 10 * rows
            assert each.n <= max(10 * columns, 4200)
            assert not each.every_code


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("seed", range(20))
def test_the_far_product_is_beyond_a_counter_of_16_bits(config: Config, seed: int) -> None:
    (found,) = far_products(config, seed)
    chunk = tile(config)[2]
    assert (found.k > SHORT, found.k % chunk > 0, is_fast(found)) == (True, True, True)


def shrunk(fails: Callable[[Product], bool], *, trials: int = 10_000) -> tuple[Product, str, int]:
    """The smallest, its failure, and how often it was asked. A failure names its product."""
    asked = 0

    def judge(product: Product) -> str | None:
        nonlocal asked
        asked += 1
        return f"{product} fails" if fails(product) else None

    found, failure = smallest(PLAIN, f"{PLAIN} fails", judge, trials=trials)
    return found, failure, asked


@given(m=st.integers(1, 200), n=st.integers(1, 700), k=st.integers(1, 333))
@settings(max_examples=60, deadline=None)
def test_what_fails_from_an_extent_on_shrinks_to_it(m: int, n: int, k: int) -> None:
    found, failure, _ = shrunk(lambda each: each.m >= m and each.n >= n and each.k >= k)
    assert found == Product(fp8=Fp8.E5M2, m=m, n=n, k=k, bias=False, scale=1.0, shifted=0)
    assert failure == f"{found} fails"


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_no_step_down_from_the_smallest_fails(data: st.DataObject) -> None:
    """Whatever the fault depends on: remainders, bias, scale, address."""
    by, kept = data.draw(st.integers(2, 40)), data.draw(st.sets(st.sampled_from(("bias", "scale", "shifted"))))

    def fails(each: Product) -> bool:
        return each.k % by == PLAIN.k % by and all(getattr(each, name) == getattr(PLAIN, name) for name in kept)

    found, failure, _ = shrunk(fails)
    assert fails(found)
    assert failure == f"{found} fails"
    steps = [replace(found, **{name: getattr(found, name) - 1}) for name in "mnk" if getattr(found, name) > 1]
    steps += [replace(found, bias=False), replace(found, scale=1.0), replace(found, shifted=0)]
    assert [each for each in steps if each != found and fails(each)] == []
    assert (found.m, found.n) == (1, 1)


@pytest.mark.parametrize("trials", [0, 1, 7])
def test_trials_are_a_limit(trials: int) -> None:
    found, failure, asked = shrunk(lambda each: each.m > 3, trials=trials)
    assert asked <= trials
    assert (found.m > 3, failure) == (True, f"{found} fails")


def test_what_fails_only_as_it_is_stays() -> None:
    found, failure, asked = shrunk(lambda each: each == PLAIN)
    assert (found, failure) == (PLAIN, f"{PLAIN} fails")
    assert 0 < asked < 100


def test_a_product_of_all_codes_keeps_its_extents() -> None:
    codes = replace(PLAIN, n=256, every_code=True)
    found, _ = smallest(codes, "wrong", lambda each: "wrong", trials=1000)
    assert found == replace(codes, bias=False, scale=1.0, shifted=0)
