"""Derives the critical values of expctl/domain/protocol/boundaries.py: `python -m benchmarks.verdict.boundaries`.

Group-sequential tests on a mean of n values with unknown variance. The error of a table is spent over its looks: as
a (n / planned)^rho up to the last planned look, a power family (Kim and DeMets, Biometrika 74, 1987, 149-154), then in equal
parts up to the last look of an extension. The law of the t statistics at successive looks has no closed form, so it is
simulated: paths of standard normal values, T_n = mean sqrt(n) / sd at each look; the value of a look is the quantile at which
the paths that no earlier look stopped exceed it with what may be spent there. Both tails are used (a path and its negation),
which halves the variance. The first look has an exact answer, the t quantile with n - 1 degrees of freedom, and takes it.
"""

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

SEED = 20261122


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """The error that a table may have spent after n values: `planned` by the planned looks, `extended` by the last one."""

    planned: float
    extended: float
    power: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The looks of a session, the last of them that is planned, and the error of each table."""

    looks: tuple[int, ...]
    planned: int
    tables: Mapping[str, Spending]

    def spent(self, table: str, n: int) -> float:
        """The error that `table` may have spent after n values."""
        error = self.tables[table]
        if n <= self.planned:
            return error.planned * float((n / self.planned) ** error.power)
        return error.planned + (error.extended - error.planned) * (n - self.planned) / (self.looks[-1] - self.planned)


REGRESSION = Spending(planned=0.0036, extended=0.004, power=1.5)
LOW = Spending(planned=0.006, extended=0.007, power=1.5)
SESSIONS = {
    "search": Session(
        looks=(3, 4, 5, 6, 8, 10, 13, 17, 22, 28, 36, 46, 60, 80, 105, 140, 200),
        planned=46,
        tables={
            "low": LOW,
            "high": Spending(planned=0.04, extended=0.043, power=0.8),
            "regression": REGRESSION,
            "rescue 2": Spending(planned=LOW.planned / 2, extended=LOW.extended / 2, power=LOW.power),
            "rescue 3": Spending(planned=LOW.planned / 3, extended=LOW.extended / 3, power=LOW.power),
        },
    ),
    "confirm": Session(
        looks=(3, 4, 5, 7, 9, 12, 16, 21, 27, 35, 45, 57, 70, 85, 100),
        planned=35,
        tables={
            "low": Spending(planned=0.035, extended=0.04),
            "high": Spending(planned=0.008, extended=0.01),
            "regression": REGRESSION,
        },
    ),
}


def t_paths(looks: Sequence[int], paths: int, seed: int) -> Iterator[np.ndarray]:
    """T_n of every path, one array (2 paths,) for each look."""
    draw = np.random.default_rng(seed)
    total, squares, n = np.zeros(paths), np.zeros(paths), 0
    for look in looks:
        for _ in range(look - n):
            x = draw.standard_normal(paths)
            total += x
            squares += x * x
        n = look
        mean = total / n
        t = mean * math.sqrt(n) / np.sqrt((squares - n * mean * mean) / (n - 1))
        yield np.concatenate([t, -t])


def derive(session: Session, paths: int, seed: int = SEED) -> dict[str, tuple[float, ...]]:
    """The values of every table, from the same paths."""
    alive = {name: np.ones(2 * paths, dtype=bool) for name in session.tables}
    found: dict[str, list[float]] = {name: [] for name in session.tables}
    for look, t in zip(session.looks, t_paths(session.looks, paths, seed), strict=True):
        for name in session.tables:
            still = t[alive[name]]
            allowed = session.spent(name, look) * 2 * paths - (2 * paths - len(still))
            place = len(still) - max(1, round(allowed))
            value = float(np.partition(still, place)[place])
            found[name].append(value if found[name] else exact_first(session, name))
            alive[name] &= t < value
    return {name: tuple(values) for name, values in found.items()}


def overall(session: Session, values: Sequence[float], paths: int, seed: int) -> float:
    """Share of fresh paths that some look stops."""
    stopped = np.zeros(2 * paths, dtype=bool)
    for value, t in zip(values, t_paths(session.looks, paths, seed), strict=True):
        stopped |= t > value
    return float(stopped.mean())


def exact_first(session: Session, table: str) -> float:
    """The t quantile with 2 degrees of freedom of what the first look (of 3 values) may spend:
    t = (1 - 2a) sqrt(2 / (1 - (1 - 2a)^2)), by inverting the distribution function 1/2 + t / (2 sqrt(2 + t^2)).
    """
    inside = 1 - 2 * session.spent(table, session.looks[0])
    return inside * math.sqrt(2 / (1 - inside * inside))


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--paths", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=SEED)
    asked = options.parse_args()
    for name, session in SESSIONS.items():
        print(
            f"{name:<12}" + "".join(f"{look:>8}" for look in session.looks) + f"{'error':>9}{'overall':>9}{'exact first':>13}"
        )
        for table, values in derive(session, asked.paths, asked.seed).items():
            share = overall(session, values, asked.paths, asked.seed + 1)
            figures = f"{session.tables[table].extended:>9.5f}{share:>9.5f}{exact_first(session, table):>13.2f}"
            print(f"{table:<12}" + "".join(f"{v:>8.2f}" for v in values) + figures)


if __name__ == "__main__":
    main()
