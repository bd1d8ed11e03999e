"""Repetitions: which rows count, what they come to, and what is said of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.screening.repetitions import Timing, timing_of

TIMES = st.floats(1.0, 1000.0)
ROWS = st.lists(TIMES, min_size=1, max_size=7)
# Close to each other, so that the rule's corners are met and not only "unstable".
CLOSE_ROWS = st.lists(st.floats(100.0, 112.0), min_size=1, max_size=7)


def timing(*times: float) -> Timing:
    found = timing_of(times)
    assert found is not None
    return found


def test_no_rows_are_no_timing() -> None:
    assert timing_of(()) is None


@pytest.mark.parametrize(
    ("times", "time_us"),
    [
        ((7.0,), 7.0),
        ((100.0, 105.0), 102.5),
        ((100.0, 105.1), None),
        ((4.0, 4.2), 4.1),  # 5 % apart in decimals, a bit more in binary
        ((100.0, 102.0, 105.0), 307 / 3),
        ((105.0, 102.0, 100.0), 307 / 3),
        ((100.0, 105.1, 120.0), None),
        ((100.0, 104.0, 120.0), 102.0),
        ((120.0, 104.0, 100.0), 102.0),
        ((100.0, 102.0, 104.0, 500.0), 102.0),
        ((100.0, 150.0, 200.0, 150.0), 150.0),
        ((100.0, 110.0, 121.0, 134.0, 148.0), None),
        ((100.0, 110.0, 121.0, 134.0, 148.0, 148.0), None),
        ((100.0, 200.0, 300.0, 200.0, 100.0), 100.0),
        ((100.0, 150.0, 101.0, 200.0, 200.5), 200.25),
    ],
)
def test_the_time_of(times: tuple[float, ...], time_us: float | None) -> None:
    assert timing(*times).time_us == pytest.approx(time_us)


def test_what_is_said() -> None:
    assert timing(100.0).remarks == ()
    assert timing(100.0, 101.0, 102.0).remarks == ()
    assert timing(100.0, 101.0, 120.0).remarks == ("closest pair of 3 rows", "sd 10.5 % of the mean")
    assert timing(100.0, 101.0, 110.0).remarks == ("closest pair of 3 rows",)
    assert timing(100.0, 110.0).remarks == ("2 rows, the closest two are 10.0 % apart",)
    assert timing(*[100.0] * 6).remarks == ("6 rows, only the first 5 count",)


def test_the_deviation_is_of_the_rows_that_count() -> None:
    assert timing(100.0).sd_us is None
    assert timing(99.0, 100.0, 101.0).sd_us == pytest.approx(1.0)
    assert timing(99.0, 100.0, 101.0, 100.0, 100.0, 999.0).sd_us == pytest.approx(0.5**0.5)


@given(ROWS | CLOSE_ROWS)
def test_the_time_lies_among_the_rows_that_count(times: list[float]) -> None:
    found = timing(*times)
    assert found.rows == len(times)
    if found.time_us is not None:
        assert min(times[:5]) * (1 - 1e-12) <= found.time_us <= max(times[:5]) * (1 + 1e-12)
    else:
        assert found.longest_us == max(times[:5])


@given(CLOSE_ROWS, st.integers(-3, 3))
def test_another_scale_is_the_same_decision(times: list[float], power: int) -> None:
    one, other = timing(*times), timing(*(time * 2.0**power for time in times))
    assert other.time_us == (None if one.time_us is None else one.time_us * 2.0**power)
    assert other.remarks == one.remarks


@given(CLOSE_ROWS, TIMES)
def test_rows_after_the_fifth_never_count(times: list[float], late: float) -> None:
    five = (times * 5)[:5]
    assert timing(*five, late).time_us == timing(*five).time_us


@given(st.lists(st.floats(100.0, 112.0), min_size=1, max_size=3), st.randoms())
def test_the_order_of_up_to_three_rows_does_not_matter(times: list[float], draw: "object") -> None:
    shuffled = list(times)
    draw.shuffle(shuffled)  # type: ignore[attr-defined]
    assert timing(*shuffled) == timing(*times)


@given(st.lists(st.floats(100.0, 112.0), min_size=4, max_size=5), st.randoms())
def test_the_order_of_five_rows_matters_only_where_three_may_be_close(times: list[float], draw: "object") -> None:
    shuffled = list(times)
    draw.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = timing(*times), timing(*shuffled)
    assert (one.time_us is None) == (other.time_us is None)
    by_pair = [any(text.startswith("closest pair") for text in each.remarks) for each in (one, other)]
    if all(by_pair):
        assert one == other
