"""What an author wrote stays as it was: only Markdown's emphasis goes, and dashes of lists."""

import pytest

from expctl.imported.emphasis import undashed, unmarked
from expctl.imported.headings import title_and_name


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**E3**: hoist", "E3: hoist"),
        ("a *wide* load", "a wide load"),
        ("***both*** of them", "both of them"),
        ("**Iter 4, unrolled", "Iter 4, unrolled"),
        ("unrolled**:", "unrolled:"),
        ("2*sigmoid", "2*sigmoid"),
        ("probs * reciprocal(denom) * c", "probs * reciprocal(denom) * c"),
        ("ell**(-1/4)", "ell**(-1/4)"),
        ("(silu*up)", "(silu*up)"),
        ("1e-4*logits and 2*x", "1e-4*logits and 2*x"),
        ("a**2 + b**2", "a**2 + b**2"),
        ("int *p, int *q", "int *p, int *q"),
    ],
)
def test_emphasis_goes_and_products_stay(text: str, shown: str) -> None:
    assert unmarked(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" — wider loads:", "wider loads"),
        ("- a load -", "a load"),
        ("-O3 + skip", "-O3 + skip"),
        ("-march=native", "-march=native"),
    ],
)
def test_dashes_go_and_options_stay(text: str, shown: str) -> None:
    assert undashed(text) == shown


@pytest.mark.parametrize(
    ("text", "title", "name"),
    [
        ("**E3**: hoist constants", "hoist constants", "E3"),
        ("E3-hoist constants", "hoist constants", "E3"),
        ("E3 — -O3 for all", "-O3 for all", "E3"),
        ("-O3 + skip the check", "-O3 + skip the check", ""),
        ("1abc234 wider loads", "wider loads", "1abc234"),
        ("E4: `x*y` once", "x*y` once", "E4"),
    ],
)
def test_titles_keep_options_and_products(text: str, title: str, name: str) -> None:
    assert title_and_name(text) == (title, name)
