"""Limits on what a test reports."""

import math

import pytest

from expctl.domain.protocol.step import MetricLimits

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
