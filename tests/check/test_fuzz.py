"""Drawn shapes lie at boundaries, and a shape that shows a fault is made as small as it can be."""

from typing import Any

import pytest
from msgspec.structs import replace

from expctl.check.case import Case, case_of
from expctl.check.fuzz import LAUNCHES_MOST, boundaries, drawn_shapes, shrunk


def varying(**vary: tuple[int, int]) -> Case:
    raw: dict[str, Any] = {
        "shapes": {name: most for name, (_, most) in vary.items()} | {"fixed": 5},
        "vary": {name: list(ends) for name, ends in vary.items()},
        "grid": ["(n + 47) // 48"],
        "block": [96, 2],
        "arguments": [{"name": "x", "dtype": "f32", "shape": ["n"]}],
    }
    return case_of(raw, "here")


def test_boundaries_are_those_of_wave_block_expressions_and_powers_of_two() -> None:
    found = boundaries(varying(n=(1, 2000)), "n")
    assert {1, 2, 3, 31, 32, 33, 47, 48, 49, 95, 96, 97, 191, 192, 193, 384, 1023, 1024, 1025, 1999, 2000} <= set(found)
    assert found == sorted(set(found))
    assert boundaries(varying(n=(40, 50)), "n") == [40, 41, 46, 47, 48, 49, 50]


def test_drawn_shapes_are_different_and_in_range_and_depend_on_the_seed_alone() -> None:
    case = varying(n=(3, 500), m=(1, 9))
    found = drawn_shapes(case, 50, seed=7)
    assert found == drawn_shapes(case, 50, seed=7) != drawn_shapes(case, 50, seed=8)
    assert len({tuple(each.items()) for each in found}) == 50
    assert all(3 <= each["n"] <= 500 and 1 <= each["m"] <= 9 and each["fixed"] == 5 for each in found)
    at_boundary = sum(each["n"] in boundaries(case, "n") for each in found)
    assert at_boundary > 30


def test_no_more_shapes_than_there_are() -> None:
    assert len(drawn_shapes(varying(n=(1, 4)), 50, seed=0)) == 3  # the described one is not drawn
    assert drawn_shapes(replace(varying(n=(1, 4)), vary={}), 50, seed=0) == []


@pytest.mark.parametrize(
    ("shows", "shape", "smallest"),
    [
        (lambda s: s["n"] > 256, {"n": 1999, "m": 30}, {"n": 257, "m": 1}),
        (lambda s: s["n"] % 32 != 0, {"n": 999, "m": 30}, {"n": 1, "m": 1}),
        (lambda s: s["n"] * s["m"] > 100, {"n": 1999, "m": 30}, {"n": 4, "m": 26}),
        (lambda s: s["m"] >= 17 and s["n"] >= 3, {"n": 64, "m": 30}, {"n": 3, "m": 17}),
        (lambda s: s == {"n": 64, "m": 30}, {"n": 64, "m": 30}, {"n": 64, "m": 30}),
    ],
)
def test_the_smallest_shape_that_shows_it(shows: Any, shape: dict[str, int], smallest: dict[str, int]) -> None:
    found = shrunk(shape, {"n": (1, 2000), "m": (1, 30)}, shows)
    assert found == smallest
    assert shows(found)


def test_shrinking_ends_even_where_each_try_shows_something_else() -> None:
    tries = 0

    def shows(shapes: dict[str, int]) -> bool:
        nonlocal tries
        tries += 1
        return hash(tuple(shapes.items())) % 3 == 0

    ranges = dict.fromkeys("abcdefgh", (1, 10**6))
    shrunk(dict.fromkeys("abcdefgh", 10**6), ranges, shows)
    assert tries <= LAUNCHES_MOST
