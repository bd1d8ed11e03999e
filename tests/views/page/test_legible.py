"""Nothing on the page's plots is written over something else, as far as the width of letters is known."""

import re
from importlib import resources

from msgspec.structs import replace

from expctl.domain.ledger.account import NoiseSeen
from expctl.domain.verdict.spread import SideSpread
from expctl.views.page import effects
from expctl.views.page.document import render
from expctl.views.page.drawing import WIDTH
from expctl.views.page.experiment import rounds_plot
from expctl.views.page.history import noise_plot
from tests.views.page.accounts import account, part, some_records

LETTER, DIGIT = 5.9, 6.7  # of a label and of an effect, in the font of page.css as a browser measures it
GAP = 8


def test_a_short_search_leaves_room_for_its_label() -> None:
    found = some_records(30, 1)
    picture = next(each.picture for each in (part(record, found) for record in found) if each.picture and each.picture.confirm)
    assert picture is not None
    short = replace(
        picture, search=(1.0,) * 4, search_means=(1.0,) * 4, confirm=(1.0,) * 70, confirm_means=(1.0,) * 70, looks=()
    )
    labels = re.findall(r'<text x="([\d.]+)"[^>]*>((?:search|confirmation), \d+ rounds)<', rounds_plot(short))
    (search, words), (confirmation, _) = labels
    assert float(confirmation) > float(search) + LETTER * len(words)


def test_no_mark_lies_under_the_figures_of_the_forest() -> None:
    found = some_records(40, 5)
    wide = {"effect_percent": 164.96, "low_percent": 162.24, "high_percent": 170.76}
    found = [
        replace(each, estimates=tuple(replace(one, **wide) for one in each.estimates)) if number % 2 else each
        for number, each in enumerate(found)
    ]
    made = account(found)
    (forest,) = effects.forests(made.rows, made.ledger.protocol.keep)
    ends = [float(end) for end in re.findall(r'<path d="M[\d.]+ [\d.]+v6m0-3H([\d.]+)m0-3v6"/>', forest)]
    figures = re.findall(rf'<text x="{WIDTH}"[^>]*>([^<]+ % \[[^<]+)<', forest)
    assert len(ends) == len(figures) > 10
    assert "+164.96 % [+162.24, +170.76]" in figures
    assert [words for end, words in zip(ends, figures, strict=True) if end > WIDTH - DIGIT * len(words) - GAP] == []


def test_noise_of_one_day_names_it_once() -> None:
    seen = NoiseSeen(id="P1", target="here", epoch=1, date="2026-11-26T10:00:00Z", sd_percent=0.2)
    assert "Noise of here, 2026-11-26<" in noise_plot("here", [seen, seen])


def test_times_of_iterations_stand_in_the_order_of_the_effects() -> None:
    found = some_records(30, 1)
    record = next(each for each in found if len(each.estimates) > 2)
    sizes = [each.size for each in record.estimates][1:]
    whole = part(record, found)
    spreads: tuple[SideSpread, ...] = tuple(sorted(whole.spreads, key=lambda each: each.size))
    assert sizes != sorted(sizes)
    page = render(account(found), [replace(whole, spreads=spreads)])
    assert re.findall(r"<figcaption>Times of single iterations at ([^<]+)<", page) == sizes


def test_each_colour_of_a_text_stands_out_from_its_paper() -> None:
    """4.5 to 1, as WCAG asks; axe can't tell it of texts in a plot."""
    style = (resources.files("expctl.views.page") / "page.css").read_text()
    blocks = re.split(r"@media", style)
    light = dict(re.findall(r"--(\w+): (#[0-9a-f]{3,6})", blocks[0]))
    for block in blocks:
        palette = {**light, **dict(re.findall(r"--(\w+): (#[0-9a-f]{3,6})", block))}
        for name in ("ink", "faint", "link", "good", "bad", "open", "other", "one", "two"):
            for paper in ("paper", "raised"):
                assert _contrast(palette[paper], palette[name]) >= 4.5, (name, paper, block[:40])


def _contrast(one: str, other: str) -> float:
    """The contrast of two colours."""
    found = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (found[0] + 0.05) / (found[1] + 0.05)


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * letter for letter in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
