"""The config that each side was timed with."""

import pytest

from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.protocol.model import Style
from expctl.domain.verdict.configs import changed_config, config_notes
from expctl.domain.verdict.judge import judge
from expctl.domain.verdict.samples import Sample, Side
from expctl.domain.verdict.sequential_test import Decision
from tests.domain.verdict.test_judge import UNKNOWN

TUNED, OTHER = "n=8192: 1,8,2,2,8,2; n=4096: 2,4,4,2,4,2", "2,2,2,2,4,4"


def samples(*configs: tuple[Side, str]) -> list[Sample]:
    return [
        Sample(round=1, launch=i, side=side, size="n=8192", style=Style.LAUNCH, visit=1, ns=(5,), order="ABBA", config=config)
        for i, (side, config) in enumerate(configs)
    ]


A, B = Side.BASELINE, Side.CANDIDATE


@pytest.mark.parametrize(
    ("said", "note", "changed"),
    [
        ([(A, ""), (B, "")], "", ""),
        ([(A, TUNED), (B, TUNED), (B, TUNED)], f"config {TUNED}", ""),
        ([(A, TUNED), (B, OTHER)], f"config of the baseline {TUNED}; config of the candidate {OTHER}", ""),
        ([(A, OTHER), (B, "")], f"config of the baseline {OTHER}; config of the candidate unknown", ""),
        (
            [(A, OTHER), (B, OTHER), (B, "9")],
            f"config of the baseline {OTHER}; config of the candidate {OTHER}, then 9",
            "candidate",
        ),
    ],
)
def test_it_is_noted_and_may_not_change(said: list[tuple[Side, str]], note: str, changed: str) -> None:
    found = samples(*said)
    assert config_notes(found) == ((note,) if note else ())
    assert (f"the {changed} with config" in changed_config(found)) if changed else changed_config(found) == ""


def test_a_config_that_changed_is_no_verdict() -> None:
    decision = judge(samples((A, TUNED), (B, TUNED), (B, TUNED), (A, OTHER)), UNKNOWN, Kind.PERF)
    assert isinstance(decision, Decision)
    assert (decision.verdict, decision.reasons) == (Verdict.INVALID, (changed_config(samples((A, TUNED), (A, OTHER))),))
