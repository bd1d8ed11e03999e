"""Long lines are folded to the terminal's width."""

import pytest

from expctl.views.fold import cells, folded

LABELLED = "  REJECT     objective -0.66 % [-0.70, -0.62]: the candidate is slower, and here are yet more words of it"


def test_a_labelled_line_goes_on_under_its_text() -> None:
    assert folded(LABELLED, 60) == [
        "  REJECT     objective -0.66 % [-0.70, -0.62]: the candidate",
        "             is slower, and here are yet more words of it",
    ]


@pytest.mark.parametrize("width", [30, 41, 80])
@pytest.mark.parametrize("text", [LABELLED, "a" * 200, "  note       " + "ö" * 99, "語" * 99, "P1  " + "word " * 40])
def test_nothing_is_wider_and_nothing_is_lost(text: str, width: int) -> None:
    parts = folded(text, width)
    assert max(map(cells, parts)) <= width
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_what_fits_is_left_alone() -> None:
    assert folded("  two  spaces", 80) == ["  two  spaces"]
