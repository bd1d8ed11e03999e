"""Pictures: in the terminal letter by letter, as files by what a viewer must find in them."""

import xml.etree.ElementTree as ET
from importlib.util import find_spec
from random import Random

import pytest

from expctl.domain.experiment.record import Estimate
from expctl.domain.verdict.plot_data import Caption, Look, Picture
from expctl.views.plot.ascii import WIDTH, chart_lines
from expctl.views.plot.png import figure_bytes

needs_matplotlib = pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs matplotlib: pip install -e '.[plot]'")

ESTIMATE = Estimate(size="objective", effect_percent=1.0, low_percent=0.6, high_percent=1.4, sd_percent=0.5, rounds=4)
PICTURE = Picture(
    caption=Caption(id="P9", title="Wider tiles", target="cpu", outcome="KEEP", reason="objective +1.00 %: gain beyond noise"),
    search=(0.5, 1.5, 1.0, 0.0, 2.0),
    confirm=(0.5, 1.5, 0.8, 1.2),
    search_means=(0.5, 1.0, 1.0, 0.75, 1.0),
    confirm_means=(0.5, 1.0, 0.93, 1.0),
    looks=(Look(rounds=5, keep=0.9, futile=-0.5),),
    confirm_above=0.3,
    estimate=ESTIMATE,
)
CHART = """\
P9  Wider tiles   target cpu
      %  faster is up
   +2.10 +
         |                o
         |
   +1.65 +
         |    o                     x
         |                                     |
   +1.20 +                                  x  |
         |    -   o       -         -       -  #
         |                k             -      |
   +0.75 +            -                 x      |
         |                                     |
         |o                     x
   +0.30 +                                  k
         |
   +0.00 +. . . . . . o . . . . . . . . . . . . . . . . . . . . . . . . . .
         |
         |
         |                f
   -0.60 +
                          5                 4 rounds
         o round of the search, x of the confirmation, - mean so far
         at a look, a mean above k goes to the confirmation, below f is futile
         # estimate of the record, | its 95 % interval
  objective  +1.00 % [+0.60, +1.40], 4 rounds
  KEEP       objective +1.00 %: gain beyond noise
"""


def many(search: int, confirm: int, seed: int = 1) -> Picture:
    draw = Random(seed)

    def values(count: int) -> tuple[float, ...]:
        return tuple(draw.gauss(0.5, 1.0) for _ in range(count))

    one, other = values(search), values(confirm)
    looks = tuple(Look(rounds=n, keep=20 / n, futile=1 - 20 / n) for n in (5, 6, 8, 10, 13, 17, 22, 28, 36, 46) if n <= search)
    return Picture(
        caption=Caption(id="P9", title="word " * 40, target="cpu", outcome="INCONCLUSIVE", reason="because " * 40),
        search=one, confirm=other, search_means=one, confirm_means=other, looks=looks, confirm_above=0.1 if confirm else None,
        estimate=ESTIMATE,
    )  # fmt: skip


def test_a_small_picture_letter_by_letter() -> None:
    assert "\n".join(chart_lines(PICTURE)) + "\n" == CHART


@pytest.mark.parametrize(("search", "confirm"), [(1, 0), (2, 0), (5, 0), (5, 18), (17, 26), (46, 0), (46, 70), (46, 3), (0, 2)])
def test_no_line_is_wider_than_a_terminal_and_every_session_is_there(search: int, confirm: int) -> None:
    lines = chart_lines(many(search, confirm))
    assert max(map(len, lines)) <= WIDTH
    text = "\n".join(line[9:] for line in lines if line[9:10] in "|+")
    assert ("o" in text, "x" in text) == (search > 0, confirm > 0)
    assert "#" in text
    assert "INCONCLUSIVE" in "\n".join(lines)


def test_rounds_that_never_differ_are_drawn_too() -> None:
    flat = Picture(caption=PICTURE.caption, search=(0.0,) * 5, confirm=(), search_means=(0.0,) * 5, confirm_means=())
    assert sum("o . o . o . o . o" in line for line in chart_lines(flat)) == 1


@needs_matplotlib
def test_rounds_that_never_differ_make_a_file_too() -> None:
    flat = Picture(caption=PICTURE.caption, search=(0.0,) * 5, confirm=(), search_means=(0.0,) * 5, confirm_means=())
    assert figure_bytes(flat, "png").startswith(b"\x89PNG")


def test_untrusted_text_moves_no_cursor_and_breaks_no_line() -> None:
    hostile = Caption(id="P9", title="a\x1b[2Jb\nc", target="c\x07pu", outcome="KEEP", reason="x\r\ny\x1b]0;z\x07")
    lines = chart_lines(Picture(caption=hostile, search=(0.1, 0.2), confirm=(), search_means=(0.1, 0.1), confirm_means=()))
    assert lines[0] == "P9  ab c   target cpu"
    assert all(line.isprintable() for line in lines)


def texts(svg: bytes) -> list[str]:
    return ["".join(each.itertext()) for each in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@needs_matplotlib
def test_a_file_is_the_same_whenever_it_is_drawn_and_says_what_it_shows() -> None:
    svg = figure_bytes(PICTURE, "svg")
    assert svg == figure_bytes(PICTURE, "svg")
    assert figure_bytes(PICTURE, "png") == figure_bytes(PICTURE, "png")
    said = texts(svg)
    for words in (
        "P9  Wider tiles", "KEEP", "target cpu: +1.00 % [+0.60, +1.40], 4 rounds", "faster than the baseline, %", "search",
        "confirmation", "mean so far", "look: above, confirm", "look: below, futile", "confirmed only above",
        "estimate, 95 % interval",
    ):  # fmt: skip
        assert words in said, words


@needs_matplotlib
def test_what_is_not_there_is_not_in_the_legend() -> None:
    plain = Picture(caption=PICTURE.caption, search=(0.1, 0.2), confirm=(), search_means=(0.1, 0.15), confirm_means=())
    said = texts(figure_bytes(plain, "svg"))
    assert {"round", "mean so far"} <= set(said)
    assert {"search", "confirmation", "look: above, confirm", "confirmed only above", "estimate, 95 % interval"}.isdisjoint(
        said
    )


@needs_matplotlib
@pytest.mark.parametrize("title", ["$\\nonsense{1$ and x", "<script>alert(1)</script>", "漢字 \U0001f600", "a\x1b[2Jb\x00c"])
def test_a_title_is_text_and_nothing_else(title: str) -> None:
    caption = Caption(id="P9", title=title, target="cpu", outcome="KEEP", reason=title)
    picture = Picture(caption=caption, search=(0.1, 0.2), confirm=(), search_means=(0.1, 0.15), confirm_means=())
    svg = figure_bytes(picture, "svg")
    assert b"<script" not in svg
    assert any(text.startswith("P9  ") for text in texts(svg))
    assert figure_bytes(picture, "png").startswith(b"\x89PNG")
