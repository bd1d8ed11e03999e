"""Promises of the stack: how they add up, and when what is measured falls short of them."""

import math

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import Estimate, Origin, Record, Replication
from expctl.domain.history.epochs import epochs_of
from expctl.domain.history.kept_changes import (
    KeptChange,
    Promise,
    beyond_promise,
    combined_promises,
    falls_short,
    kept_changes_of,
)
from expctl.domain.protocol.model import Style
from expctl.domain.verdict.samples import Sample, Side

TEN = Estimate(size="objective", effect_percent=10, low_percent=9, high_percent=11, sd_percent=1, rounds=18)


def kept(id: str, compiler: str = "1", target: str = "cpu") -> Record:
    return Record(
        id=id,
        title=f"title of {id}",
        kind=Kind.PERF,
        origin=Origin.MEASURED,
        target=target,
        verdict=Verdict.KEEP,
        reasons=("r",),
        base=f"base of {id}",
        candidate=f"c{id}",
        date=f"2026-01-0{id[1:]}",
        environment={"cc": compiler},
        estimates=(TEN,),
    )


def test_layers_are_kept_experiments_and_commits_by_hand_in_the_order_of_the_branch() -> None:
    records = [kept("P1"), kept("P2"), replace(kept("P3"), verdict=Verdict.REJECT)]
    layers = kept_changes_of(["cP1", "1234567890", "cP2"], records, epochs_of(records).all[0])
    assert [layer.name for layer in layers] == ["P1", "1234567 by hand", "P2"]
    total = combined_promises(layers)["objective"]
    assert total.effect == pytest.approx(2 * math.log(1.1))
    assert total.effect - total.low == pytest.approx(math.sqrt(2) * (math.log(1.1) - math.log(1.09)))
    assert total.high - total.effect == pytest.approx(math.sqrt(2) * (math.log(1.11) - math.log(1.1)))


def test_nothing_of_another_epoch_or_target_is_a_promise() -> None:
    records = [kept("P1"), kept("P2", compiler="2"), kept("P3", target="gpu")]
    again = Replication(
        target="cpu", date="2026-01-05", verdict=Verdict.KEEP, reasons=("r",), estimates=(TEN,), environment={"cc": "1"}
    )
    records.append(replace(kept("P4", target="gpu"), replications=(again,)))
    epoch = next(each for each in epochs_of(records).all if each.name == "cpu 1")
    layers = kept_changes_of(["cP1", "cP2", "cP3", "cP4"], records, epoch)
    assert [bool(layer.promises) for layer in layers] == [True, False, False, True]
    assert combined_promises([KeptChange(commit="x")]) == {}


@pytest.mark.parametrize(("promised", "short"), [(10.0, False), (10.4, False), (12.0, True), (8.0, False)])
def test_a_stack_falls_short_beyond_both_intervals(promised: float, short: bool) -> None:
    effect = math.log1p(promised / 100)
    assert falls_short(TEN, Promise(effect=effect, low=effect - 0.002, high=effect + 0.9), 0.5) is short


def test_only_the_tails_towards_each_other_excuse_a_stack() -> None:
    promise = Promise(effect=math.log(1.12), low=math.log(1.12) - 0.001, high=math.log(1.12) + 0.9)
    assert falls_short(replace(TEN, low_percent=-50.0), promise, 0.5)
    assert not falls_short(replace(TEN, high_percent=12.5), promise, 0.5)
    assert not falls_short(TEN, replace(promise, low=0.0), 0.5)


def test_a_shortfall_must_be_worth_a_search() -> None:
    exact = replace(TEN, low_percent=10.0, high_percent=10.0)
    less, more = (Promise(effect=each, low=each, high=each) for each in (math.log(1.10) + 0.004, math.log(1.10) + 0.006))
    assert not falls_short(exact, less, 0.5)
    assert falls_short(exact, more, 0.5)


def test_a_candidate_that_keeps_its_sure_promise_shows_no_effect() -> None:
    def sample(side: Side, ns: int) -> Sample:
        return Sample(round=0, launch=0, side=side, size="n", style=Style.LAUNCH, visit=1, ns=(ns,), order="AB")

    promise = {"n": Promise(effect=math.log(1.25), low=math.log(1.2)), "objective": Promise(effect=9.0, low=9.0)}
    before, after = beyond_promise((sample(Side.BASELINE, 1_200_000), sample(Side.CANDIDATE, 1_000_000)), promise)
    assert (before.ns, after.ns) == ((1_200_000,), (1_200_000,))
