"""Quantiles of single iterations, against sorting by hand."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from expctl.domain.protocol.model import Style
from expctl.domain.verdict.samples import Sample, Session, Side
from expctl.domain.verdict.spread import spreads_of


def sample(
    ns: Sequence[int], *, side: Side = Side.BASELINE, round: int = 0, taints: tuple[str, ...] = (), confirms: bool = False
) -> Sample:
    session = Session.CONFIRM if confirms else Session.SEARCH
    return Sample(
        round=round,
        launch=0,
        side=side,
        size="n",
        style=Style.LAUNCH,
        visit=0,
        ns=tuple(ns),
        order="AB",
        taints=taints,
        session=session,
    )


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=1200))
def test_a_quantile_is_not_exceeded_by_its_share(times: list[int]) -> None:
    (spread,) = spreads_of([sample(times)])
    assert spread.iterations == len(times)
    for each in spread.quantiles:
        assert sum(ns <= each.ns for ns in times) >= each.percent / 100 * len(times) - 1e-9
        assert sum(ns < each.ns for ns in times) < each.percent / 100 * len(times)
    assert (spread.quantiles[-1].percent, spread.quantiles[-1].ns) == (100.0, max(times))
    assert [each.ns for each in spread.quantiles] == sorted(each.ns for each in spread.quantiles)


def test_a_tail_that_no_iteration_reaches_is_left_out() -> None:
    (few,) = spreads_of([sample(range(1, 11))])
    assert [each.percent for each in few.quantiles] == [1, 5, 10, 25, 50, 75, 90, 100]
    (many,) = spreads_of([sample(range(1, 2001))])
    assert [(each.percent, each.ns) for each in many.quantiles[-2:]] == [(99.9, 1998), (100, 2000)]


def test_only_the_last_session_and_undisturbed_launches_count() -> None:
    search, confirm = sample([1, 2, 3]), sample([10, 20], round=1, confirms=True)
    disturbed = sample([99], round=1, confirms=True, taints=("cpu",))
    other = sample([7], side=Side.CANDIDATE, round=1, confirms=True)
    found = spreads_of([search, confirm, disturbed, other])
    assert [(each.side, each.iterations, each.quantiles[-1].ns) for each in found] == [
        (Side.BASELINE, 2, 20),
        (Side.CANDIDATE, 1, 7),
    ]
    assert spreads_of([search])[0].iterations == 3
