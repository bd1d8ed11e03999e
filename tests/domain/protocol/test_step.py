"""Limits on what a test reports."""

import math

import pytest

from expctl.domain.protocol.step import LimitedStep, MetricLimits, Tolerance, metric_faults

LIMITS = MetricLimits(most={"breaks": 0}, least={"accuracy": 0.9})


@pytest.mark.parametrize(
    ("seen", "broken"),
    [
        ({"breaks": [0, 0], "accuracy": [0.9, 1.0]}, []),
        ({"breaks": [0, 2, 1], "accuracy": [0.95]}, ["breaks 2, at most 0 is allowed"]),
        ({"breaks": [0], "accuracy": [1.0, 0.5]}, ["accuracy 0.5, at least 0.9 is allowed"]),
        ({"accuracy": [1.0]}, ["breaks was not reported, at most 0 is allowed"]),
        ({"breaks": [math.nan], "accuracy": [1.0]}, ["breaks nan, at most 0 is allowed"]),
        ({}, ["breaks was not reported, at most 0 is allowed", "accuracy was not reported, at least 0.9 is allowed"]),
    ],
)
def test_a_figure_out_of_its_limits_or_missing_is_named(seen: dict[str, list[float]], broken: list[str]) -> None:
    assert list(LIMITS.broken(seen)) == broken


AGAINST = MetricLimits(
    may_rise={"memory": Tolerance(percent=2), "breaks": Tolerance()}, may_fall={"accuracy": Tolerance(by=0.01)}
)
BASE = {"memory": [100.0, 200.0], "breaks": [1.0], "accuracy": [0.9, 0.5]}


@pytest.mark.parametrize(
    ("changed", "worse"),
    [
        ({}, []),
        ({"memory": [1.0, 2.0], "breaks": [0.0], "accuracy": [1.0, 1.0]}, []),
        ({"memory": [102.0, 204.0], "accuracy": [0.9, 0.49]}, []),
        ({"memory": [103.0, 204.0]}, ["memory 103, at most 2 above the baseline's 100 is allowed"]),
        ({"memory": [103.0, 300.0]}, ["memory 300, at most 4 above the baseline's 200 is allowed"]),
        ({"breaks": [2.0]}, ["breaks 2, at most 0 above the baseline's 1 is allowed"]),
        ({"accuracy": [0.9, 0.48]}, ["accuracy 0.48, at most 0.01 below the baseline's 0.5 is allowed"]),
        ({"memory": [100.0]}, ["memory was reported in 1 cases, by the baseline in 2"]),
        ({"memory": []}, ["memory was not reported, which is held against the baseline's"]),
        ({"accuracy": [0.9, math.nan]}, ["accuracy nan, which is held against the baseline's"]),
        ({"memory": [-math.inf, 1.0]}, ["memory -inf, which is held against the baseline's"]),
    ],
)
def test_a_figure_that_is_worse_than_the_baselines_is_named(changed: dict[str, list[float]], worse: list[str]) -> None:
    assert list(AGAINST.worse(BASE, {**BASE, **changed})) == worse


def test_the_tolerance_is_of_the_size_of_the_baselines_figure_whatever_its_sign() -> None:
    limits = MetricLimits(may_rise={"loss": Tolerance(by=1, percent=10)})
    assert list(limits.worse({"loss": [-100.0]}, {"loss": [-89.0]})) == []
    assert list(limits.worse({"loss": [-100.0]}, {"loss": [-88.0]})) != []


def test_absolute_limits_and_those_against_the_baseline_are_apart() -> None:
    both = MetricLimits(most={"breaks": 0}, may_rise={"memory": Tolerance()})
    assert list(both.broken({"breaks": [0]})) == []
    assert list(both.absent({"breaks": [0]})) == ["memory was not reported"]
    assert both.relative == MetricLimits(may_rise={"memory": Tolerance()})
    assert LIMITS.relative is None
    assert list(LIMITS.absent({})) == []


@pytest.mark.parametrize(
    ("limits", "faults"),
    [
        (AGAINST, []),
        (LIMITS, []),
        (MetricLimits(may_rise={"x": Tolerance(by=-1)}), ["metrics.may_rise.x.by: expected 0 or more, found -1"]),
        (
            MetricLimits(may_fall={"x": Tolerance(percent=math.nan)}),
            ["metrics.may_fall.x.percent: expected 0 or more, found nan"],
        ),
        (MetricLimits(most={"x": math.inf}), ["metrics.most.x: expected a number, found inf"]),
    ],
)
def test_limits_out_of_range(limits: MetricLimits, faults: list[str]) -> None:
    assert list(metric_faults(LimitedStep(argv=("x",), timeout_s=1, metrics=limits))) == faults
    assert list(metric_faults(None)) == []
