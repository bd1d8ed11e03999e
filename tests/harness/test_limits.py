"""What a result that is not the expected one is told."""

import numpy as np

from expctl.harness.limits import Limits, judge


def test_a_wrong_integer_is_shown_with_every_digit() -> None:
    got, expected = np.array([2**60 + 1]), np.array([2**60])
    failure = judge(got, expected, Limits(rel_l2=0.0, max_abs=0.0)).failure
    assert failure is not None
    assert failure.startswith("result[0] is 1152921504606846977, expected 1152921504606846976; ")
