"""Arithmetic of a launch description: what it computes, and what it refuses to run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.check.expression import BadExpression, evaluate, numbers_in, whole

SHAPES = {"n": 1000, "m": 7}
NUMBERS = st.integers(0, 50).map(str) | st.sampled_from(["n", "m"])
EXPRESSIONS = st.recursive(
    NUMBERS,
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
        | st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})")
    ),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [("n", 1000), ("(n + 255) // 256", 4), ("-n % 256", 24), ("max(1, n - m, 3)", 993), ("min(n, 64) * m", 448), (12, 12)],
)
def test_arithmetic_of_shapes(text: str | int, value: int) -> None:
    assert whole(text, SHAPES) == value


@given(EXPRESSIONS)
def test_it_computes_what_python_does(text: str) -> None:
    if len(text) > 200:
        return
    try:
        expected = eval(text, {"min": min, "max": max, **SHAPES})
    except ZeroDivisionError:
        with pytest.raises(BadExpression, match="divides by zero"):
            evaluate(text, SHAPES)
        return
    if abs(expected) < 1 << 63:
        assert evaluate(text, SHAPES) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("k", "none of the shapes"),
        ("n / 2", "not allowed"),
        ("n ** 9", "not allowed"),
        ("__import__('os')", "not allowed"),
        ("n.real", "not allowed"),
        ("[n][0]", "not allowed"),
        ("min()", "not allowed"),
        ("min(n, key=m)", "not allowed"),
        ("True", "not allowed"),
        ("'n'", "not allowed"),
        ("n n", "no arithmetic"),
        ("", "no arithmetic"),
        ("(" * 90, "no arithmetic"),
        ("n" * 201, "201 characters"),
        ("n // (m - 7)", "divides by zero"),
        ("n * n * n * n * n * n * n", "too large"),
    ],
)
def test_anything_else_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadExpression, match=why):
        evaluate(text, SHAPES)


def test_a_count_is_whole() -> None:
    assert evaluate("0.5 * m", SHAPES) == 3.5
    with pytest.raises(BadExpression, match="whole number"):
        whole("0.5 * m", SHAPES)


def test_numbers_in_an_expression() -> None:
    assert numbers_in("(n + 255) // 256 + min(4, m)") == {255, 256, 4}
    assert numbers_in(64) == {64}
    assert numbers_in("n +") == set()
