"""Planned looks of a search and of its confirmation, and the critical values of t at each.

After n values with mean m and standard deviation sd, the printed interval is [m - low sd / sqrt(n), m + high sd / sqrt(n)].
Wherever a session is stopped, the true effect lies below its interval with a probability of at most the error of `low`, and
above it with at most that of `high`: .7 % + 4.3 % for a search, 4 % + 1 % for a confirmation, so 5 % in all. A value is the
effect of one round in a search, and the mean of two rounds in a confirmation. The critical values come from simulated t paths;
benchmarks/verdict/boundaries.py derives them again, and test_boundaries.py compares the two. Verdicts depend on every digit:
another table needs another VERSION, which every record names.
"""

from bisect import bisect_right

from msgspec import Struct

VERSION = "2"

CONFIRM_MERGES = 2  # neighbouring rounds, so that rounds that remember each other do not pass for independent ones
RESCUERS_MOST = 3


class Boundaries(Struct, frozen=True, kw_only=True):
    """Critical values of t, one for each look in every table. `looks` are the numbers of values after which a session may end.

    The interval of an effect is [m - low sd / sqrt(n), m + high sd / sqrt(n)]. A size is slower if m + regression sd / sqrt(n)
    < 0. `rescue[k]` replaces `low` if any one of k sizes may keep the patch: the error of `low` is divided by k (Bonferroni).
    """

    looks: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    regression: tuple[float, ...]
    rescue: dict[int, tuple[float, ...]]

    def until(self, n: int) -> tuple[int, ...]:
        """Return the looks after at most `n` values. Using fewer looks than planned only lowers the chance of an error."""
        return tuple(look for look in self.looks if look <= n)

    def at(self, table: tuple[float, ...], n: int) -> float:
        """Return the critical value after `n` values from `table`, which is one of the fields, e.g. `low`. Between two looks it
        is the earlier look's, which is stricter. Raises ValueError before the first look.
        """
        passed = bisect_right(self.looks, n)
        if not passed:
            raise ValueError(f"expected at least {self.looks[0]} effects, found {n}")
        return table[passed - 1]


# Errors by 46 rounds, and in brackets by the 200 of an extension: low .006 (.007), high .04 (.043), regression .0036 (.004).
_LOW = (70.72, 25.60, 13.99, 10.14, 6.48, 5.36, 4.53, 3.94, 3.58, 3.32, 3.08, 2.89, 3.50, 3.55, 3.52, 3.41, 3.30)
SEARCH = Boundaries(
    looks=(3, 4, 5, 6, 8, 10, 13, 17, 22, 28, 36, 46, 60, 80, 105, 140, 200),
    low=_LOW,
    high=(10.47, 8.05, 6.12, 5.09, 3.92, 3.52, 3.12, 2.83, 2.65, 2.50, 2.35, 2.23, 2.91, 3.03, 3.04, 2.99, 2.87),
    regression=(91.31, 29.68, 15.89, 11.27, 7.09, 5.74, 4.83, 4.18, 3.81, 3.53, 3.29, 3.09, 3.77, 3.83, 3.81, 3.70, 3.57),
    rescue={
        1: _LOW,
        2: (100.03, 31.31, 16.93, 11.57, 7.27, 5.89, 4.94, 4.27, 3.90, 3.61, 3.36, 3.16, 3.76, 3.79, 3.76, 3.64, 3.51),
        3: (122.51, 35.69, 18.21, 12.69, 7.79, 6.29, 5.21, 4.48, 4.08, 3.78, 3.52, 3.32, 3.97, 3.94, 3.91, 3.77, 3.63),
    },
)
LOOKS = SEARCH.until(46)  # without an extension

# Errors by 35 pairs of rounds (by 100): low .035 (.04), high .008 (.01), regression .0036 (.004).
_CONFIRM_LOW = (12.85, 8.86, 6.43, 4.30, 3.70, 3.18, 2.83, 2.60, 2.42, 2.24, 2.72, 2.80, 2.80, 2.76, 2.73)
CONFIRM = Boundaries(
    looks=(3, 4, 5, 7, 9, 12, 16, 21, 27, 35, 45, 57, 70, 85, 100),
    low=_CONFIRM_LOW,
    high=(26.98, 15.35, 9.85, 5.89, 4.86, 4.11, 3.63, 3.32, 3.12, 2.93, 3.28, 3.28, 3.25, 3.19, 3.14),
    regression=(74.38, 26.21, 14.28, 7.50, 5.89, 4.74, 4.08, 3.68, 3.39, 3.15, 3.72, 3.77, 3.76, 3.71, 3.67),
    rescue=dict.fromkeys(range(1, RESCUERS_MOST + 1), _CONFIRM_LOW),
)
CONFIRM_ROUNDS = 70  # of a confirmation, at most, without an extension ...
CONFIRM_LAUNCHES_ROUNDS = 140  # ... or where a gain that shows waits for the launches that rule out a rare slow mode
EXTENDED_ROUNDS = 200  # of a search or a confirmation that `expctl run ID --extend` goes on with


def is_older(version: str) -> bool:
    """Return whether `version`, as a record names it, is that of an older table than today's."""
    return version.isdecimal() and int(version) < int(VERSION)
