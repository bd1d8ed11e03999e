"""More of blind slots by their text, kept from whoever mends them."""

import json

import numpy
import pytest
from msgspec.structs import replace

from expctl.adapters.codec.record_codec import blind_bytes, blind_of
from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.history.blind import Truth, blind_rates, false_keep_text, rates_text
from expctl.domain.verdict.exact_tests import most_share
from tests.domain.history.test_blind import ELSEWHERE, HERE, slot
from tests.domain.history.test_blind_cases import at_most
from tests.refusals import refuses

TEXT = b"".join(blind_bytes(slot(date=f"2026-11-{day}")) for day in range(10, 20))


def test_random_counts_have_exact_bounds() -> None:
    draw = numpy.random.default_rng(99)
    for trials in draw.integers(1, 200, 20):
        hits = int(draw.integers(0, trials + 1))
        assert most_share(hits, int(trials)) == pytest.approx(at_most(hits, int(trials)), abs=1e-8)


def test_the_bound_covers_the_truth_in_ninety_five_of_a_hundred() -> None:
    draw = numpy.random.default_rng(98)
    for share, trials in ((0.001, 35), (0.05, 35), (0.3, 20), (0.9, 12)):
        holds = [share <= most_share(int(hits), trials) for hits in draw.binomial(trials, share, 800)]
        assert sum(holds) >= 0.935 * 800


def test_random_flips_of_a_byte_are_refused_or_change_a_value() -> None:
    draw, known, refused = numpy.random.default_rng(97), blind_of(TEXT, where="blind.jsonl"), set[str]()
    for _ in range(300):
        at, bit = int(draw.integers(0, len(TEXT))), 1 << int(draw.integers(0, 8))
        flipped = TEXT[:at] + bytes([TEXT[at] ^ bit]) + TEXT[at + 1 :]
        try:
            found = blind_of(flipped, where="blind.jsonl")
        except Refused as error:
            refused.add(error.code)
        else:
            assert found != known or json.loads(flipped.splitlines()[0]) == json.loads(TEXT.splitlines()[0])
    assert refused == {"file-damaged"}


@pytest.mark.parametrize("number", [1, 4, 10])
def test_the_first_bad_line_is_named(number: int) -> None:
    lines = TEXT.splitlines(keepends=True)
    lines[number - 1] = lines[number - 1].replace(b'"truth":', b'"truth":"null","truth":', 1)
    with refuses("file-damaged") as caught:
        blind_of(b"".join(lines), where="blind.jsonl")
    assert f"line {number}" in caught.value.where


@pytest.mark.parametrize("order", range(4))
def test_kept_slots_are_named_by_their_place_in_the_file_whatever_lies_between(order: int) -> None:
    draw = numpy.random.default_rng(order)
    kinds = [slot(), slot(verdict=Verdict.KEEP), slot(Truth.SLOW), slot(Truth.SLOW, Verdict.KEEP)]
    kinds += [replace(each, target="gpu") for each in kinds] + [replace(each, ground=ELSEWHERE) for each in kinds]
    slots = [kinds[index] for index in draw.integers(0, len(kinds), 60)]
    for rates in blind_rates(slots, {"cpu": HERE, "gpu": HERE}):
        mine = [(number, each) for number, each in enumerate(slots, start=1) if each.target == rates.target]
        current = [(number, each) for number, each in mine if each.ground == HERE]
        kept = tuple(number for number, each in current if each.verdict is Verdict.KEEP)
        assert rates.false_keeps == kept
        assert (rates.earlier, rates.nulls + rates.slow) == (len(mine) - len(current), len(current))
        assert (false_keep_text(rates) != "") is bool(kept)
        assert f"{rates.slow - rates.slow_kept} of {rates.slow} slow-downs not kept" in rates_text(rates)
