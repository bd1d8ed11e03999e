"""Busy time and gaps against a count of every nanosecond."""

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.profiles.raw.dispatch_stats import LAUNCH_GAP_MOST_NS, DispatchTimes, Intervals, median, repeat_deviation

INTERVALS = st.lists(st.tuples(st.integers(1, 60), st.integers(0, 12)), min_size=1, max_size=12)


@given(INTERVALS)
def test_the_union_of_any_intervals(pairs: list[tuple[int, int]]) -> None:
    timing = DispatchTimes()
    timing.add("gpu", [("k", start, start + length) for start, length in pairs])
    timing.finish()
    span, gaps = timing.intervals["gpu"].span_and_gaps()
    first, last = min(start for start, _ in pairs), max(start + length for start, length in pairs)
    busy = {at for start, length in pairs for at in range(start, start + length)}
    idle = [at for at in range(first, last) if at not in busy]
    assert (span, gaps.total_ns) == (last - first, len(idle))


@given(INTERVALS | st.just([(0, 5), (5, 2), (200_000, 3), (200_010, 9)]), st.integers(0, 12), st.booleans())
def test_parts_looked_at_apart_measure_as_the_whole(pairs: list[tuple[int, int]], cut: int, ordered: bool) -> None:
    if ordered:  # one after the other, mostly
        pairs = [(start + 40 * n, length) for n, (start, length) in enumerate(pairs)]
    parts = []
    for half in (pairs[:cut], pairs[cut:]):
        starts, ends = (array("q", (at + most * past for at, most in half)) for past in (0, 1))
        parts.append(Intervals(starts, ends))
        parts[-1].find_serial()
    whole = Intervals(parts[0].starts + parts[1].starts, parts[0].ends + parts[1].ends)
    assert parts[0].join(parts[1]).span_and_gaps() == whole.span_and_gaps()


@given(st.lists(st.integers(-5, 50), min_size=1, max_size=9))
def test_what_ends_before_it_begins_is_left_out(lengths: list[int]) -> None:
    timing = DispatchTimes()
    timing.add("gpu", [("k", 100 * n, 100 * n + length) for n, length in enumerate(lengths, start=1)])
    timing.finish()
    kept = [length for length in lengths if length >= 0]
    assert timing.durations["k"] == sorted(kept)
    assert (timing.impossible, len(timing.intervals["gpu"].starts)) == (len(lengths) - len(kept), len(kept))


def test_a_long_gap_is_the_hosts() -> None:
    timing = DispatchTimes()
    timing.add("gpu", [("k", 0, 10), ("k", 10 + LAUNCH_GAP_MOST_NS, 200_000), ("k", 300_001, 300_002)])
    _, gaps = timing.intervals["gpu"].span_and_gaps()
    assert (gaps.number, gaps.short, gaps.short_ns, gaps.longest_ns) == (2, 1, LAUNCH_GAP_MOST_NS, 100_001)


@given(st.lists(st.integers(0, 10**15), min_size=1))
def test_the_median(values: list[int]) -> None:
    import statistics

    assert median(sorted(values)) == statistics.median(values)


@given(st.lists(st.lists(st.integers(0, 10**6), max_size=6), max_size=4))
def test_the_pooled_deviation(groups: list[list[int]]) -> None:
    import statistics

    repeated = [values for values in groups if len(values) > 1]
    found = repeat_deviation(groups)
    assert (found is None) == (not repeated)
    if found is not None:
        freedom = sum(len(values) - 1 for values in repeated)
        assert found**2 == pytest.approx(
            sum(statistics.variance(v) * (len(v) - 1) for v in repeated) / freedom, rel=1e-9, abs=1e-6
        )
