"""Every figure on the page comes from its model, in the words and digits of the console, and lies where it belongs."""

import re
from collections.abc import Iterator, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.domain.experiment.figures import time_text
from expctl.domain.experiment.predictions import accuracy_text
from expctl.domain.experiment.record import Record
from expctl.domain.ledger.account import Account, Part
from expctl.views.ledger.document import render as ledger_text
from expctl.views.page import effects
from expctl.views.page.document import render
from expctl.views.page.drawing import around, signed, ticks
from expctl.views.report import record_lines
from tests.views.page.accounts import account, part, parts, some_records
from tests.views.page.reading import Read

NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[-+]\d+)?")
FIXED = {"95", "1", "1.0"}  # "95 % intervals", "linear within 1 %"
RECORDS = 7


def numbers(text: str) -> set[str]:
    return set(NUMBER.findall(text))


def shown(page: str) -> set[str]:
    """The figures that a reader of the page sees; numbers of an axis are its scale and no figures."""
    return set().union(*(numbers(text) for text, _, classes in Read.of(page).texts if "tick" not in classes))


def leaves(value: object) -> Iterator[object]:
    match value:
        case dict():
            for key, each in value.items():
                yield from (key, *leaves(each))
        case list() | tuple():
            yield len(value)
            for each in value:
                yield from leaves(each)
        case _:
            yield value


def known(shown: Account, found: Sequence[Part]) -> set[str]:
    """Every way in which the console writes what is in the model: its texts, its numbers rounded, its times with units."""
    texts = [ledger_text(shown.ledger), *(line for each in found for line in record_lines(each.record))]
    allowed = set().union(*map(numbers, texts)) | FIXED
    for leaf in leaves(msgspec.to_builtins((shown, found))):
        if isinstance(leaf, str):
            allowed |= numbers(leaf)
        elif isinstance(leaf, int | float):
            size = abs(leaf)
            allowed |= numbers(" ".join([f"{size:.0f} {size:.1f} {size:.2f} {size:.3f} {size:g} {size:.12g}", time_text(size)]))
    rounds = max((len(each.picture.search + each.picture.confirm) for each in found if each.picture), default=0)
    return allowed | {str(number) for number in range(rounds + 1)}


def page_of(found: Sequence[Record]) -> tuple[str, Account, list[Part]]:
    made = account(found)
    whole = parts(made, found)
    return render(made, whole), made, whole


@given(st.integers(0, 10_000))
def test_every_figure_on_the_page_is_in_its_model(seed: int) -> None:
    page, made, whole = page_of(some_records(RECORDS, seed))
    assert shown(page) - known(made, whole) == set()


@pytest.mark.parametrize("where", [r"<em>\+?-?[\d.]+", r"<title>P\d+ \S+ on \S+: [-+][\d.]+", r"search, round \d+: [-+][\d.]+"])
def test_a_figure_of_nowhere_is_found(where: str) -> None:
    page, made, whole = page_of(some_records(RECORDS, 3))
    planted, count = re.subn(where, lambda found: re.sub(r"[\d.]+$", "913.37", found[0]), page, count=1)
    assert count == 1
    assert shown(planted) - known(made, whole) == {"913.37"}


@given(st.integers(0, 10_000))
def test_effects_stand_as_in_the_ledger(seed: int) -> None:
    found = some_records(12, seed)
    page, made, _ = page_of(found)
    ledger = ledger_text(made.ledger)
    cells = [text for text, tags, _ in Read.of(page).texts if tags[-1] == "em" and "%" in text and "[" in text]
    timed = [row for row in made.rows if row.effect_percent is not None]
    assert len(cells) == len(timed)
    assert [cell for cell in cells if cell not in ledger] == []


def test_marks_lie_in_the_order_of_their_effects() -> None:
    made = account(some_records(60, 5))
    (forest,) = effects.forests(made.rows, made.ledger.protocol.keep)
    told = re.findall(r"<title>P\d+ \S+ on \S+: ([-+][\d.]+) % .*?</title><path d=\"M([\d.]+) [\d.]+v6m0-3H([\d.]+)", forest)
    assert len(told) == sum(row.effect_percent is not None for row in made.rows)
    middles = [(float(effect), (float(low) + float(high)) / 2) for effect, low, high in told]
    apart = [(one, other) for one in middles for other in middles if one[0] - other[0] > 0.5]
    assert apart
    assert all(one[1] > other[1] for one, other in apart)


@given(st.lists(st.floats(-900, 900), min_size=1, max_size=20), st.sampled_from([float, signed]))
def test_an_axis_keeps_order_and_has_ticks(values: list[float], bend: object) -> None:
    axis = around(values, start=10, end=700, bend=bend)  # type: ignore[arg-type]
    ordered = [axis.at(value) for value in sorted(values)]
    assert ordered == sorted(ordered)
    assert all(10 <= place <= 700 for place in ordered)
    assert all(axis.low <= tick <= axis.high for tick in ticks(axis))


def test_rounds_are_those_of_the_picture() -> None:
    found = some_records(30, 2)
    whole = [each for each in (part(record, found) for record in found) if each.picture]
    assert whole
    for each in whole:
        page = render(account(found), [each])
        assert each.picture is not None
        told = re.findall(r"<title>(search|confirmation), round (\d+): ([-+][\d.]+) %", page)
        expected = [("search", n, v) for n, v in enumerate(each.picture.search, 1)]
        expected += [("confirmation", n, v) for n, v in enumerate(each.picture.confirm, 1)]
        assert told == [(name, str(number), f"{value:+.2f}") for name, number, value in expected]


def test_the_sentence_on_predictions_stands_whole() -> None:
    page, made, _ = page_of(some_records(RECORDS, 3))
    said = accuracy_text(made.ledger.accuracy)
    assert said[0].isdecimal()
    assert f"<p>{said}.</p>" in page
