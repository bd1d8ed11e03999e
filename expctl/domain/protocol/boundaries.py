"""Critical values of t in the sequential test, at each planned interim analysis (look).

t_n = (mean - limit) sqrt(n) / sd of n rounds. A one-sided error alpha is spent over the looks as alpha (n / 36)^1.5, up to 46
rounds: the last look turns undecided searches into decisions at a price that the confirmation can bear. The values come from
simulated t paths; benchmarks/verdict/boundaries.py derives them again, and test_boundaries.py compares the two. Verdicts depend
on every digit: another table needs another VERSION, which every record names.
"""

VERSION = "1"

CONFIRM_LEAST = 18  # rounds of a confirmation (verdict/sequential_test.py)

LOOKS = (5, 6, 8, 10, 13, 17, 22, 28, 36, 46)

# alpha .005, .05 and .0025 by 36 rounds (.0072, .072 and .0036 by 46):
# an effect above Plan.floor; an effect below Plan.ceiling; a size that is slower (verdict/plan.py).
KEEP = (10.39, 8.89, 6.15, 5.17, 4.40, 3.84, 3.52, 3.24, 3.00, 2.82)
FUTILITY = (5.52, 5.21, 4.01, 3.50, 3.02, 2.67, 2.39, 2.17, 1.93, 1.71)
REGRESSION = (12.15, 10.37, 6.88, 5.71, 4.83, 4.19, 3.84, 3.52, 3.29, 3.10)

# alpha .005 divided by the number of sizes that may rescue a patch (Bonferroni); .005 / 2 is the alpha of REGRESSION.
RESCUE = {
    1: KEEP,
    2: REGRESSION,
    3: (13.47, 11.47, 7.51, 6.12, 5.11, 4.40, 3.99, 3.70, 3.44, 3.24),
}


def looks_until(rounds: int) -> tuple[int, ...]:
    """Return the numbers of rounds at which a search of at most `rounds` rounds is evaluated."""
    return tuple(look for look in LOOKS if look <= rounds)


def at(table: tuple[float, ...], n: int) -> float:
    """Return the critical value of `table` after n rounds; between planned looks that of the look before, which is stricter."""
    return table[max(index for index, look in enumerate(LOOKS) if look <= n)]
