"""Rates of blind slots: what is counted, how sure they are, and how they are said."""

from typing import Any

import pytest

from expctl.domain.experiment.proposal import Mode, Verdict
from expctl.domain.experiment.record import Procedure
from expctl.domain.history.blind import BlindSlot, Truth, blind_rates, false_keep_text, rates_text
from expctl.domain.history.comparability import Comparability
from expctl.domain.protocol.boundaries import VERSION
from expctl.domain.verdict.exact_tests import most_share

HERE = Comparability(protocol="a", parts={"harness": "h", "harness code": "c", "KPI": "k", "build": "b", "machine": "m"})
ELSEWHERE = Comparability(protocol="a", parts={**HERE.parts, "machine": "another"})


def slot(truth: Truth = Truth.NULL, verdict: Verdict = Verdict.REJECT, **changes: Any) -> BlindSlot:
    plain = {
        "date": "2026-11-23",
        "target": "cpu",
        "truth": truth,
        "verdict": verdict,
        "reasons": ("why",),
        "estimates": (),
        "procedure": Procedure(boundaries=VERSION, mode=Mode.GAIN, looks=(3,), search_rounds=3),
        "head": "4f2c91a",
        "ground": HERE,
        "artifacts": ("1", "1"),
        "samples_sha256": "0" * 64,
    }
    return BlindSlot(**{**plain, **changes})


def said(*slots: BlindSlot) -> str:
    (rates,) = blind_rates(slots, {"cpu": HERE})
    return rates_text(rates)


def test_the_rates_of_an_honest_machine() -> None:
    slots = (*[slot()] * 33, slot(verdict=Verdict.INCONCLUSIVE), *[slot(Truth.SLOW)] * 12)
    assert said(*slots) == "0 of 34 nulls kept (at most 8.4 %), 12 of 12 slow-downs not kept (at least 77.9 %)"


def test_false_keeps_are_counted_and_named() -> None:
    slots = (slot(), slot(verdict=Verdict.KEEP), slot(Truth.SLOW), slot(Truth.SLOW, Verdict.KEEP))
    assert said(*slots) == "1 of 2 nulls kept (at most 97.5 %), 1 of 2 slow-downs not kept (at least 2.5 %)"
    (rates,) = blind_rates(slots, {"cpu": HERE})
    assert rates.false_keeps == (2, 4)
    assert false_keep_text(rates).startswith("blind slots 2, 4 were kept on cpu without a gain")
    assert "slot 2 was kept" in false_keep_text(blind_rates(slots[:2], {"cpu": HERE})[0])
    assert false_keep_text(blind_rates(slots[:1], {"cpu": HERE})[0]) == ""


def test_only_one_kind_is_said_where_there_is_no_other() -> None:
    assert said(slot()) == "0 of 1 nulls kept (at most 95.0 %)"
    assert said(slot(Truth.SLOW)) == "1 of 1 slow-downs not kept (at least 5.0 %)"


def test_another_machine_or_rule_is_another_epoch() -> None:
    other = slot(verdict=Verdict.KEEP, ground=ELSEWHERE)
    older = slot(procedure=Procedure(boundaries="0", mode=Mode.GAIN, looks=(3,), search_rounds=3))
    assert said(slot(), other, older) == "0 of 1 nulls kept (at most 95.0 %); 2 in other epochs, 1 kept"
    assert said(older) == "none in this epoch; 1 in other epochs"
    (rates,) = blind_rates((slot(), other), {"cpu": HERE})
    assert false_keep_text(rates) == ""


def test_targets_stand_apart_and_one_without_slots_is_left_out() -> None:
    rates = blind_rates((slot(), slot(target="gpu", verdict=Verdict.KEEP)), {"gpu": HERE, "cpu": HERE, "none": HERE})
    assert [(each.target, each.nulls, each.nulls_kept, each.false_keeps) for each in rates] == [
        ("gpu", 1, 1, (2,)),
        ("cpu", 1, 0, ()),
    ]


@pytest.mark.parametrize(
    ("hits", "trials", "most"),
    [(0, 1, 0.95), (0, 10, 0.2589), (1, 10, 0.3942), (2, 20, 0.2826), (5, 100, 0.1023), (10, 10, 1.0), (0, 0, 1.0)],
)
def test_the_upper_bound_is_that_of_the_tables(hits: int, trials: int, most: float) -> None:
    """One-sided 95 % bounds by Clopper and Pearson, quantiles of a beta distribution."""
    assert most_share(hits, trials) == pytest.approx(most, abs=1e-4)
