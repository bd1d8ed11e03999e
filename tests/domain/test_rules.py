"""Do-not-repeat rules."""

from dataclasses import replace

import pytest

from expctl.domain.experiment import Kind, Prediction, Proposal, Verdict
from expctl.domain.record import Origin, Record, Rule
from expctl.domain.rules import forbidding, rule_of

PROPOSAL = Proposal(id="P1", title="unroll", kind=Kind.PERF, hypothesis="faster", prediction=Prediction(verdict=Verdict.KEEP))
REJECTED = Record(
    id="P1",
    title="unroll",
    kind=Kind.PERF,
    origin=Origin.MEASURED,
    target="cpu",
    verdict=Verdict.REJECT,
    reasons=("slower",),
    rule=Rule(text="unroll: slower", patch_id="abc"),
)


def test_a_reject_leaves_a_rule_with_its_conditions() -> None:
    rule = rule_of(PROPOSAL, Verdict.REJECT, "slower", patch_id="abc", code="def", conditions={"target": "cpu"})
    assert rule == Rule(text="unroll: slower", patch_id="abc", code="def", conditions={"target": "cpu"})


@pytest.mark.parametrize("verdict", [verdict for verdict in Verdict if verdict is not Verdict.REJECT])
def test_no_other_verdict_leaves_a_rule(verdict: Verdict) -> None:
    assert rule_of(PROPOSAL, verdict, "why", patch_id="abc", code="def", conditions={}) is None


def test_the_same_change_under_another_id_is_forbidden() -> None:
    assert forbidding([REJECTED], patch_id="abc", own_id="P2") is REJECTED


def test_nothing_else_is_forbidden() -> None:
    assert forbidding([REJECTED], patch_id="other", own_id="P2") is None
    assert forbidding([REJECTED], patch_id="abc", own_id="P1") is None
    assert forbidding([replace(REJECTED, rule=None)], patch_id="abc", own_id="P2") is None


def test_a_rule_without_a_patch_forbids_no_empty_patch() -> None:
    imported = replace(REJECTED, rule=Rule(text="words only"))
    assert forbidding([imported], patch_id="", own_id="P2") is None
