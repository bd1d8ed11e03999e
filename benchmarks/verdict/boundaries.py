"""Derives the critical values of expctl/domain/protocol/boundaries.py: `python -m benchmarks.verdict.boundaries`.

Group-sequential tests on a mean of n rounds with unknown variance. Error alpha is spent over the looks as
alpha(n) = alpha (n / 36)^1.5, so alpha (46 / 36)^1.5 in all: a power family (Kim and DeMets, Biometrika 74, 1987, 149-154).
The law of the t statistics at successive looks has no closed form, so it is simulated: paths of standard normal rounds,
T_n = mean sqrt(n) / sd at each look; the value of a look is the quantile at which the paths that no earlier look stopped
exceed it with what may be spent there. Both tails are used (a path and its negation), which halves the variance. The first
look has an exact answer, the t quantile with n - 1 degrees of freedom, printed beside it.
"""

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

LOOKS = (5, 6, 8, 10, 13, 17, 22, 28, 36, 46)
SPENT_AT = 36  # alpha is what has been spent by then
POWER = 1.5
SEED = 20261120
ALPHA = {"keep": 0.005, "futility": 0.05, "regression": 0.0025, "rescuer 2": 0.005 / 2, "rescuer 3": 0.005 / 3}


def t_paths(paths: int, seed: int) -> Iterator[np.ndarray]:
    """T_n of every path, one array (2 paths,) for each look."""
    draw = np.random.default_rng(seed)
    total, squares, n = np.zeros(paths), np.zeros(paths), 0
    for look in LOOKS:
        for _ in range(look - n):
            x = draw.standard_normal(paths)
            total += x
            squares += x * x
        n = look
        mean = total / n
        t = mean * math.sqrt(n) / np.sqrt((squares - n * mean * mean) / (n - 1))
        yield np.concatenate([t, -t])


def derive(paths: int, seed: int = SEED, alphas: Mapping[str, float] = ALPHA) -> dict[str, tuple[float, ...]]:
    """The values of every table, from the same paths."""
    alive = {name: np.ones(2 * paths, dtype=bool) for name in alphas}
    found: dict[str, list[float]] = {name: [] for name in alphas}
    for look, t in zip(LOOKS, t_paths(paths, seed), strict=True):
        for name, alpha in alphas.items():
            still = t[alive[name]]
            allowed = alpha * (look / SPENT_AT) ** POWER * 2 * paths - (2 * paths - len(still))
            place = len(still) - max(1, round(allowed))
            value = float(np.partition(still, place)[place])
            found[name].append(value)
            alive[name] &= t < value
    return {name: tuple(values) for name, values in found.items()}


def overall(values: Sequence[float], paths: int, seed: int) -> float:
    """Share of fresh paths that some look stops."""
    stopped = np.zeros(2 * paths, dtype=bool)
    for value, t in zip(values, t_paths(paths, seed), strict=True):
        stopped |= t > value
    return float(stopped.mean())


def exact_first(alpha: float) -> float:
    """The t quantile with 4 degrees of freedom: its upper tail is 1/2 - (3/4) y (1 - y^2/3), y = sin(atan(t/2))
    (Abramowitz and Stegun 26.7.4).
    """
    spent, low, high = alpha * (LOOKS[0] / SPENT_AT) ** POWER, 0.0, 1000.0
    for _ in range(200):
        t = (low + high) / 2
        y = t / math.sqrt(4 + t * t)
        low, high = (t, high) if 0.5 - 0.75 * y * (1 - y * y / 3) > spent else (low, t)
    return low


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--paths", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=SEED)
    asked = options.parse_args()
    print(f"{'n':<12}" + "".join(f"{look:>8}" for look in LOOKS) + f"{'alpha':>9}{'overall':>9}{'exact first':>13}")
    for name, values in derive(asked.paths, asked.seed).items():
        share = overall(values, asked.paths, asked.seed + 1)
        print(
            f"{name:<12}" + "".join(f"{v:>8.2f}" for v in values) + f"{ALPHA[name]:>9.5f}{share:>9.5f}"
            f"{exact_first(ALPHA[name]):>13.2f}"
        )


if __name__ == "__main__":
    main()
