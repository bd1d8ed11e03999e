"""The screening rule: joins, limits, what is ignored, and the order of the rows."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from expctl.screening.screen import Case, Environments, Row, Status, compare, counts, environments_of, fails

TIMES = st.floats(0.5, 10_000.0)
CASES = st.builds(Case, kernel=st.sampled_from("kl"), shape=st.sampled_from("stu"))
NEAR = st.lists(st.floats(3.0, 9.0), min_size=1, max_size=6)
FILES = st.dictionaries(CASES, NEAR, max_size=6)


def screened(golden: list[float], tot: list[float]) -> Row:
    case = Case("k", "s")
    (row,) = compare({case: golden} if golden else {}, {case: tot} if tot else {})
    return row


def status(golden_us: float, tot_us: float) -> Status:
    return screened([golden_us], [tot_us]).status


@pytest.mark.parametrize(
    ("golden_us", "tot_us", "expected"),
    [
        (100.0, 101.0, Status.SAME),  # exactly the limit, one bit above it in binary
        (100.0, 101.001, Status.REGRESSION),
        (101.0, 100.0, Status.SAME),
        (101.001, 100.0, Status.IMPROVED),
        (4.0, 4.52, Status.SAME),
        (4.0, 4.521, Status.REGRESSION),
        (3.999, 400.0, Status.IGNORED),
        (3.999, 0.1, Status.IGNORED),
        (400.0, 0.1, Status.IMPROVED),
        (1e6, 1e6 * 1.005 + 0.5, Status.SAME),
        (1e6, 1e6 * 1.005 + 0.6, Status.REGRESSION),
    ],
)
def test_the_status_of(golden_us: float, tot_us: float, expected: Status) -> None:
    assert status(golden_us, tot_us) is expected


def test_the_mean_of_three_rows_is_held_against_four_microseconds() -> None:
    assert screened([3.9, 4.0, 4.1], [5.0]).status is Status.REGRESSION
    assert screened([3.9, 4.0, 4.0], [5.0]).status is Status.IGNORED


def test_an_unstable_side() -> None:
    assert screened([100.0, 120.0], [100.0]).status is Status.UNSTABLE
    row = screened([100.0], [100.0, 120.0])
    assert (row.status, row.golden_us, row.tot_us, row.ratio, row.delta_us) == (Status.UNSTABLE, 100.0, None, None, None)
    assert row.remarks == ("tot: 2 rows, the closest two are 20.0 % apart", "tot: sd 12.9 % of the mean")


def test_an_unstable_golden_is_ignored_only_when_all_its_rows_are_short() -> None:
    assert screened([2.0, 3.0], [100.0]).status is Status.IGNORED
    assert screened([3.0, 5.0], [100.0]).status is Status.UNSTABLE
    assert screened([2.0], [100.0, 200.0]).status is Status.IGNORED


def test_a_case_of_one_side() -> None:
    golden, tot = screened([2.0], []), screened([], [10.0, 20.0])
    assert (golden.status, golden.golden_us, golden.tot_us, golden.remarks) == (
        Status.MISSING,
        2.0,
        None,
        ("only golden has it",),
    )
    assert (tot.status, tot.tot_us, tot.tot_rows, tot.golden_rows) == (Status.MISSING, None, 2, 0)
    assert tot.remarks[0] == "only tot has it"


def test_kernel_and_shape_both_join() -> None:
    rows = compare({Case("a", "1"): [10.0], Case("b", "1"): [10.0]}, {Case("a", "2"): [10.0], Case("b", "1"): [10.0]})
    assert [(row.kernel, row.shape, row.status) for row in rows] == [
        ("b", "1", Status.SAME),
        ("a", "1", Status.MISSING),
        ("a", "2", Status.MISSING),
    ]


def test_regressions_come_first_and_the_worst_ratio_first_among_them() -> None:
    golden = {Case(name, "s"): [100.0] for name in "abcdefg"} | {Case("h", "s"): [1.0]}
    tot = {Case(name, "s"): [time] for name, time in zip("abcde", (110.0, 50.0, 300.0, 100.5, 110.0), strict=True)}
    tot |= {Case("f", "s"): [100.0, 200.0], Case("h", "s"): [99.0]}
    assert [row.kernel for row in compare(golden, tot)] == list("caedbfgh")


@given(TIMES, TIMES)
def test_swapped_sides_turn_a_regression_into_an_improvement(one: float, other: float) -> None:
    assume(min(one, other) >= 4)
    swapped = {Status.REGRESSION: Status.IMPROVED, Status.IMPROVED: Status.REGRESSION, Status.SAME: Status.SAME}
    assert status(other, one) is swapped[status(one, other)]


@given(NEAR, NEAR)
def test_swapped_sides_swap_every_figure(one: list[float], other: list[float]) -> None:
    here, there = screened(one, other), screened(other, one)
    assert (here.golden_us, here.tot_us, here.golden_rows, here.golden_sd_us) == (
        there.tot_us,
        there.golden_us,
        there.tot_rows,
        there.tot_sd_us,
    )
    assert (here.ratio is None) == (there.ratio is None)
    if here.ratio is not None and there.ratio is not None:
        assert here.ratio * there.ratio == pytest.approx(1.0)


@given(TIMES, TIMES)
def test_a_regression_is_slower_by_more_than_half_a_microsecond_and_half_a_percent(golden_us: float, tot_us: float) -> None:
    row = screened([golden_us], [tot_us])
    if row.status is Status.REGRESSION:
        assert row.delta_us is not None
        assert row.ratio is not None
        assert row.delta_us > 0.5
        assert row.ratio > 1.005
    elif row.status is Status.SAME:
        assert abs(tot_us - golden_us) <= (0.5 + 0.005 * min(golden_us, tot_us)) * (1 + 1e-9)


@given(st.floats(4.0, 1000.0), TIMES, st.floats(1.0, 100.0))
def test_what_regresses_or_gains_does_so_on_a_larger_scale_too(golden_us: float, tot_us: float, scale: float) -> None:
    before = status(golden_us, tot_us)
    assume(before in (Status.REGRESSION, Status.IMPROVED))
    assert status(golden_us * scale * (1 + 1e-9), tot_us * scale * (1 + 1e-9)) is before


@given(st.floats(4.0, 1000.0), TIMES, st.floats(0.0, 100.0))
def test_more_time_never_heals_a_regression(golden_us: float, tot_us: float, more: float) -> None:
    assume(status(golden_us, tot_us) is Status.REGRESSION)
    assert status(golden_us, tot_us + more) is Status.REGRESSION


@given(FILES, FILES, st.randoms())
def test_the_order_of_the_cases_does_not_matter(
    golden: dict[Case, list[float]], tot: dict[Case, list[float]], draw: "object"
) -> None:
    shuffled = list(golden.items())
    draw.shuffle(shuffled)  # type: ignore[attr-defined]
    assert compare(dict(shuffled), tot) == compare(golden, tot)


@given(FILES, FILES)
def test_every_case_has_one_row_and_is_counted_once(golden: dict[Case, list[float]], tot: dict[Case, list[float]]) -> None:
    rows = compare(golden, tot)
    assert {(row.kernel, row.shape) for row in rows} == {tuple(case) for case in {**golden, **tot}}
    assert len(rows) == len({**golden, **tot}) == sum(counts(rows).values())
    assert list(counts(rows)) == list(Status)
    for row in rows:
        assert (row.status is Status.MISSING) == (0 in (row.golden_rows, row.tot_rows))
        assert row.ratio is None or math.isfinite(row.ratio)
        assert (row.ratio is None) == (row.golden_us is None or row.tot_us is None)


@pytest.mark.parametrize(
    ("golden", "tot", "stops"),
    [
        ([100.0], [120.0], True),
        ([100.0], [100.0], False),
        ([100.0], [50.0], False),
        ([1.0], [9.0], False),
        ([100.0], [100.0, 200.0], True),
        ([100.0], [], True),
    ],
)
def test_a_gate_stops_for(golden: list[float], tot: list[float], stops: bool) -> None:
    assert fails([screened(golden, tot)]) is stops


def test_one_missing_row_beside_a_good_one_does_not_stop_a_gate() -> None:
    assert not fails([screened([100.0], []), screened([100.0], [100.0])])


def test_environments_beside_each_other() -> None:
    assert environments_of(None, None) is None
    assert environments_of({"a": "1"}, None) == Environments(golden={"a": "1"}, tot=None, differing=())
    golden, tot = {"a": "1", "b": "2", "c": "3"}, {"b": "2", "a": "9", "d": "4"}
    assert environments_of(golden, tot) == Environments(golden=golden, tot=tot, differing=("a", "c", "d"))
