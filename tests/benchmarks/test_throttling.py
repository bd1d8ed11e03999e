"""The short form of the simulation of candidates that throttle their own machine."""

from collections.abc import Iterable, Sequence

import numpy as np
import pytest

from benchmarks.verdict import throttling
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.verdict import judge as judging
from expctl.domain.verdict.samples import Sample


@pytest.mark.parametrize("name", throttling.THROTTLING)
def test_the_short_form_holds_every_bar(name: str) -> None:
    case = throttling.THROTTLING[name]
    share = throttling.shares(np.random.default_rng(1), case, throttling.SHORT)[Verdict.KEEP]
    assert not throttling.misses(case, share, throttling.SHORT)


def test_without_sides_most_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_alike(samples: Iterable[Sample]) -> Sequence[Sample]:
        return list(samples)

    monkeypatch.setattr(judging, "counted", all_alike)
    case = throttling.THROTTLING["the same on the quiet machine"]
    share = throttling.shares(np.random.default_rng(1), case, throttling.SHORT)[Verdict.KEEP]
    assert throttling.misses(case, share, throttling.SHORT)
