"""Blind slots by docs/QUEUE.md: exact bounds, words, epochs, and what a damaged file does."""

import json
import math
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from expctl.adapters.codec.record_codec import blind_bytes, blind_of
from expctl.domain.experiment.proposal import Mode, Verdict
from expctl.domain.experiment.record import Procedure
from expctl.domain.history.blind import BlindSlot, Truth, blind_rates, false_keep_text, rates_text
from expctl.domain.history.comparability import Comparability
from expctl.domain.protocol.boundaries import VERSION
from expctl.domain.verdict.exact_tests import most_share
from tests.domain.history.test_blind import HERE, slot
from tests.refusals import refuses

NOT_KEPT = (Verdict.REJECT, Verdict.INCONCLUSIVE)


def mixed(nulls: int, nulls_kept: int, slow: int, slow_kept: int) -> tuple[BlindSlot, ...]:
    kinds = ((Truth.NULL, nulls, nulls_kept), (Truth.SLOW, slow, slow_kept))
    return tuple(
        slot(truth, Verdict.KEEP if number < kept else NOT_KEPT[number % 2])
        for truth, count, kept in kinds
        for number in range(count)
    )


def at_most(hits: int, trials: int) -> float:
    """The share at which so few hits have a chance of 5 %: bisection on the exact sum."""
    if hits >= trials:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        share = (low + high) / 2
        tail = math.fsum(math.comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(hits + 1))
        low, high = (share, high) if tail > 0.05 else (low, share)
    return low


# ------------------------------------------------------------------ bounds

PUBLISHED = {1: "95", 5: "45", 10: "26", 20: "14", 35: "8.2", 100: "3.0", 300: "1.0", 598: "0.50", 2995: "0.10"}


@pytest.mark.parametrize(("nulls", "percent"), PUBLISHED.items())
def test_with_none_kept_the_bound_is_that_of_the_table(nulls: int, percent: str) -> None:
    bound = most_share(0, nulls)
    assert bound == pytest.approx(1 - 0.05 ** (1 / nulls), rel=1e-9)
    assert f"{100 * bound:.{len(percent.partition('.')[2])}f}" == percent


@pytest.mark.parametrize("trials", [1, 2, 3, 7, 12, 34, 80, 250])
def test_every_bound_is_that_of_clopper_and_pearson(trials: int) -> None:
    for hits in sorted({0, 1, 2, trials // 3, trials - 1, trials} & set(range(trials + 1))):
        assert most_share(hits, trials) == pytest.approx(at_most(hits, trials), abs=1e-9)


def test_more_hits_mean_a_higher_bound_and_more_trials_a_lower_one() -> None:
    assert all(most_share(hits, 40) < most_share(hits + 1, 40) for hits in range(40))
    assert all(most_share(3, trials) > most_share(3, trials + 1) for trials in range(3, 60))
    assert most_share(39, 40) == pytest.approx(0.95 ** (1 / 40), abs=1e-9)


# ------------------------------------------------------------------ words

COUNTS = (
    (34, 0, 12, 0),
    (35, 0, 12, 0),
    (1, 0, 1, 0),
    (20, 1, 20, 3),
    (7, 7, 5, 5),
    (100, 2, 0, 0),
    (0, 0, 9, 1),
    (598, 0, 300, 0),
)


@pytest.mark.parametrize("counts", COUNTS)
def test_rates_in_words(counts: tuple[int, int, int, int]) -> None:
    nulls, nulls_kept, slow, slow_kept = counts
    parts = []
    if nulls:
        parts.append(f"{nulls_kept} of {nulls} nulls kept (at most {100 * at_most(nulls_kept, nulls):.1f} %)")
    if slow:
        least = 100 * (1 - at_most(slow_kept, slow))
        parts.append(f"{slow - slow_kept} of {slow} slow-downs not kept (at least {least:.1f} %)")
    (rates,) = blind_rates(mixed(*counts), {"cpu": HERE})
    assert rates_text(rates) == ", ".join(parts)
    assert (rates.nulls, rates.nulls_kept, rates.slow, rates.slow_kept) == counts
    assert len(rates.false_keeps) == nulls_kept + slow_kept


def test_the_order_of_slots_changes_the_numbers_of_the_kept_ones_alone() -> None:
    slots = mixed(9, 2, 6, 1)
    (rates,), (turned,) = (blind_rates(each, {"cpu": HERE}) for each in (slots, slots[::-1]))
    assert (rates.false_keeps, turned.false_keeps) == ((1, 2, 10), (6, 14, 15))
    assert rates_text(rates) == rates_text(turned)


def test_no_slots_no_rates() -> None:
    assert blind_rates((), {"cpu": HERE}) == ()
    assert blind_rates((slot(target="gone"),), {"cpu": HERE}) == ()


# ------------------------------------------------------------------ epochs


def ground(**parts: str) -> Comparability:
    return Comparability(protocol="b", parts={**HERE.parts, **{key.replace("_", " "): text for key, text in parts.items()}})


def lacking(*parts: str) -> Comparability:
    return Comparability(protocol="a", parts={key: text for key, text in HERE.parts.items() if key not in parts})


def decided_by(boundaries: str) -> Procedure:
    return Procedure(boundaries=boundaries, mode=Mode.GAIN, looks=(3,), search_rounds=3)


EPOCHS: dict[str, tuple[BlindSlot, bool]] = {
    "the same": (slot(), True),
    "comments of the harness": (slot(ground=ground(harness="other")), True),
    "code of the harness": (slot(ground=ground(harness="other", harness_code="other")), False),
    "another KPI": (slot(ground=ground(KPI="other")), False),
    "another build": (slot(ground=ground(build="other")), False),
    "another machine": (slot(ground=ground(machine="other")), False),
    "a condition that nobody noted then": (slot(ground=lacking("machine")), True),
    "an older rule of decision": (slot(procedure=decided_by("1")), False),
    "the rule of today": (slot(procedure=decided_by(VERSION)), True),
    "another share of the slow-down": (slot(Truth.SLOW, slower_percent=4.0), True),
    "another head": (slot(head="0" * 40), True),
}


@pytest.mark.parametrize("name", EPOCHS)
def test_what_counts_into_the_current_epoch(name: str) -> None:
    other, current = EPOCHS[name]
    kept = replace(other, verdict=Verdict.KEEP)
    (rates,) = blind_rates((slot(), kept), {"cpu": HERE})
    assert (rates.earlier, rates.earlier_kept) == ((0, 0) if current else (1, 1))
    assert rates.false_keeps == ((2,) if current else ())
    assert (false_keep_text(rates) != "") is current
    assert rates_text(rates).endswith("; 1 in other epochs, 1 kept") is not current


# ------------------------------------------------------------------ the file

FILE = b"".join(blind_bytes(each) for each in (slot(date="2026-11-21"), slot(Truth.SLOW, slower_percent=5.0), slot()))
FIRST, SECOND, THIRD = FILE.splitlines(keepends=True)


def test_what_is_written_is_read_again() -> None:
    assert b"".join(map(blind_bytes, blind_of(FILE, where="blind.jsonl"))) == FILE
    assert blind_of(b"", where="blind.jsonl") == ()


def test_a_file_that_was_cut_anywhere_is_refused_unless_it_ends_with_a_line() -> None:
    ends = {0: 0, len(FIRST): 1, len(FIRST + SECOND): 2, len(FILE): 3}
    for length in range(0, len(FILE) + 1, 1):
        if length in ends:
            assert len(blind_of(FILE[:length], where="blind.jsonl")) == ends[length]
        else:
            with refuses("file-damaged"):
                blind_of(FILE[:length], where="blind.jsonl")


def changed(**fields: object) -> bytes:
    return json.dumps({**json.loads(SECOND), **fields}).encode() + b"\n"


def without(key: str) -> bytes:
    return json.dumps({name: value for name, value in json.loads(SECOND).items() if name != key}).encode() + b"\n"


DAMAGES: dict[str, Callable[[], bytes]] = {
    "an empty line": lambda: b"\n",
    "blanks": lambda: b"  \n",
    "half a line": lambda: SECOND[: len(SECOND) // 2] + b"\n",
    "two in a line": lambda: SECOND[:-1] + SECOND,
    "a comma behind": lambda: SECOND[:-1] + b",\n",
    "a list": lambda: b"[" + SECOND[:-1] + b"]\n",
    "a number": lambda: b"7\n",
    "null": lambda: b"null\n",
    "a marker of a merge": lambda: b"=======\n",
    "zeros after a power cut": lambda: bytes(200) + b"\n",
    "a byte that is no UTF-8": lambda: SECOND.replace(b"cpu", b"\xffpu", 1),
    "no truth": lambda: without("truth"),
    "no verdict": lambda: without("verdict"),
    "no ground": lambda: without("ground"),
    "no samples": lambda: without("samples_sha256"),
    "another truth": lambda: changed(truth="fast"),
    "a verdict in small letters": lambda: changed(verdict="reject"),
    "a verdict that is none": lambda: changed(verdict=0),
    "a share in words": lambda: changed(slower_percent="5"),
    "a share that is no number": lambda: SECOND.replace(b'"slower_percent":5.0', b'"slower_percent":NaN'),
    "one artifact": lambda: changed(artifacts=["1"]),
    "a key twice": lambda: b'{"verdict":"KEEP",' + SECOND[1:],
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_line_is_refused_by_its_number(name: str) -> None:
    damaged = DAMAGES[name]()
    assert damaged != SECOND
    with refuses("file-damaged") as caught:
        blind_of(FIRST + damaged + THIRD, where="blind.jsonl")
    assert "blind.jsonl" in caught.value.where
    assert "line 2" in caught.value.where


def test_what_precedes_the_first_line_is_refused() -> None:
    with refuses("file-damaged"):
        blind_of(b"\xef\xbb\xbf" + FILE, where="blind.jsonl")
