"""The short form of the simulation of undecided experiments that go on."""

import numpy as np
from msgspec.structs import replace

from benchmarks.verdict import extension, machines
from benchmarks.verdict.procedure import plan_of, settle
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.verdict.sequential_test import Decision
from tests.domain.verdict.test_tails import PLAN


def test_the_quoted_price_decides_and_nulls_stay_out() -> None:
    draw = np.random.default_rng(1)
    for effect in (0.0, 0.0025):
        found = extension.extended(draw, machines.NOISY, effect, 40)
        assert not found.missed(effect)
        assert found.left == 0


def test_a_price_that_decides_nothing_misses_its_bar() -> None:
    assert PLAN.extend().rounds == PLAN.extend().confirm == 200
    found = extension.Extended()
    procedure = settle(np.zeros((46, 2, 2)), np.zeros((140, 2, 2)), plan_of({"a": 0.5, "b": 0.5})).procedure
    assert procedure is not None
    first = Decision(verdict=Verdict.INCONCLUSIVE, reasons=("up to 10 more rounds decide",), procedure=procedure)
    late = replace(first, verdict=Verdict.REJECT, procedure=replace(procedure, search_rounds=procedure.search_rounds + 11))
    for _ in range(100):
        found.add(first, late)
    assert (found.quoted, found.decided, found.missed(0.0025)) == (100, 0, True)
    kept = extension.Extended()
    for _ in range(100):
        kept.add(first, replace(late, verdict=Verdict.KEEP))
    assert kept.missed(0.0)
