"""Each table of the simulation misses its bars when what it looks at goes wrong."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.verdict import price, simulate, traces
from benchmarks.verdict.coverage import coverage
from benchmarks.verdict.hard import Periodic
from benchmarks.verdict.machines import QUIET, round_effects
from benchmarks.verdict.misleading import misled
from benchmarks.verdict.procedure import Tally
from expctl.domain.experiment.proposal import Mode, Verdict
from expctl.domain.experiment.record import OBJECTIVE, Procedure
from expctl.domain.verdict.cost_to_decide import Offer
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect
from expctl.domain.verdict.sequential_test import Decision
from expctl.domain.verdict.statistics import t_interval


def eager(rounds: Sequence[RoundEffect], plan: Plan) -> Decision:
    """Sixteen rounds and a t interval of their robust effects."""
    found = t_interval([each.objective(plan.weights) for each in rounds[:16]])
    procedure = Procedure(boundaries="0", mode=Mode.GAIN, looks=(16,), search_rounds=16)
    verdict = Verdict.KEEP if found.low > 0 else Verdict.REJECT
    return Decision(verdict=verdict, reasons=("eager",), intervals={OBJECTIVE: found}, procedure=procedure)


def kept(trials: int, covering: int, rejected: int = 0) -> Tally:
    """KEEPs of which some intervals hold the truth, and REJECTs of which none does."""
    none = dict.fromkeys(Verdict, 0)
    return Tally(
        found=none | {Verdict.KEEP: trials, Verdict.REJECT: rejected},
        covers=none | {Verdict.KEEP: covering},
        search=5,
        rounds=9,
    )


@pytest.mark.parametrize(
    ("effect", "found", "missed"),
    [
        (0.01, kept(400, 400), 0),
        (0.01, kept(400, 200), 2),  # over all and within KEEP
        (-0.01, kept(400, 200), 1),  # a KEEP is wrong there
        (0.01, kept(99, 50, rejected=1), 1),  # too few KEEPs to judge them
        (0.01, kept(20_000, 20_000, rejected=1_000), 0),  # a REJECT is wrong there
        (0.004, kept(20_000, 20_000, rejected=1_000), 1),  # to rule out a worthwhile gain is right there
    ],
)
def test_coverage_is_judged_over_all_and_within_right_verdicts(effect: float, found: Tally, missed: int) -> None:
    assert coverage({effect: found}, simulate.PLAN) == missed


def test_a_rule_that_looks_at_medians_alone_is_misled() -> None:
    assert misled(np.random.default_rng(1), simulate.PLAN, 60, eager) >= 5


def test_a_rule_that_always_takes_sixteen_rounds_is_too_slow() -> None:
    assert simulate.quick(np.random.default_rng(1), 20, eager) == 2


@pytest.mark.parametrize(("rounds", "missed"), [(2, 1), (400, 0)])
def test_too_low_a_price_is_found(rounds: int, missed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(price, "best_offer", lambda *_: Offer(rounds=rounds, chance=0.9))
    assert price.price(np.random.default_rng(1), simulate.PLAN, 60) == missed


def test_a_kept_recording_without_a_gain_is_found() -> None:
    recorded = traces.recorded()
    assert [simulate.replayed(target, found) for target, found in recorded.items()] == [0] * len(recorded)
    gain = next(trace for trace in recorded["cpu"] if trace.replayed() is Verdict.KEEP)
    assert simulate.replayed("cpu", [replace(gain, truth="A/A"), replace(gain, truth="slow"), gain]) == 2


def test_a_periodic_disturbance_is_beyond_the_noise_of_its_machine() -> None:
    quiet = round_effects(np.random.default_rng(1), QUIET, 50, 20).std()
    assert Periodic(period=4)(np.random.default_rng(1), 50, 20).std() > 4 * quiet
