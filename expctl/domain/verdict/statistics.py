"""Statistics in plain Python floats, so that the results are identical on every machine."""

import math
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

# Student's t, 97.5 % quantile (two-sided 95 % interval) for 1 to 40 degrees of freedom: the usual printed
# table to four digits. tests/domain/verdict/test_statistics.py integrates the density and agrees to 1e-4.
T_975 = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
    2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
    2.0395, 2.0369, 2.0345, 2.0322, 2.0301, 2.0281, 2.0262, 2.0244, 2.0227, 2.0211,
)  # fmt: skip

# Student's t, 95 % quantile (one-sided 95 % bound), for 1 to 40 degrees of freedom.
T_95 = (
    6.3138, 2.9200, 2.3534, 2.1318, 2.0150, 1.9432, 1.8946, 1.8595, 1.8331, 1.8125,
    1.7959, 1.7823, 1.7709, 1.7613, 1.7531, 1.7459, 1.7396, 1.7341, 1.7291, 1.7247,
    1.7207, 1.7171, 1.7139, 1.7109, 1.7081, 1.7056, 1.7033, 1.7011, 1.6991, 1.6973,
    1.6955, 1.6939, 1.6924, 1.6909, 1.6896, 1.6883, 1.6871, 1.6860, 1.6849, 1.6839,
)  # fmt: skip

# Student's t, 99.5 % quantile (one-sided), for 1 to 40 degrees of freedom.
T_995 = (
    63.6567, 9.9248, 5.8409, 4.6041, 4.0321, 3.7074, 3.4995, 3.3554, 3.2498, 3.1693,
    3.1058, 3.0545, 3.0123, 2.9768, 2.9467, 2.9208, 2.8982, 2.8784, 2.8609, 2.8453,
    2.8314, 2.8188, 2.8073, 2.7969, 2.7874, 2.7787, 2.7707, 2.7633, 2.7564, 2.7500,
    2.7440, 2.7385, 2.7333, 2.7284, 2.7238, 2.7195, 2.7154, 2.7116, 2.7079, 2.7045,
)  # fmt: skip

# Student's t, 99.95 % quantile (two-sided 99.9 %): a warning that one of a thousand healthy calibrations gives.
T_9995 = (
    636.6192, 31.5991, 12.9240, 8.6103, 6.8688, 5.9588, 5.4079, 5.0413, 4.7809, 4.5869,
    4.4370, 4.3178, 4.2208, 4.1405, 4.0728, 4.0150, 3.9651, 3.9216, 3.8834, 3.8495,
    3.8193, 3.7921, 3.7676, 3.7454, 3.7251, 3.7066, 3.6896, 3.6739, 3.6594, 3.6460,
    3.6335, 3.6218, 3.6109, 3.6007, 3.5911, 3.5821, 3.5737, 3.5657, 3.5581, 3.5510,
)  # fmt: skip


class Interval(Struct, frozen=True, kw_only=True):
    """Mean of `n` effects with an interval of nominally 95 %, and the standard deviation of one effect (log units). Each effect
    is the mean of `merged` successive rounds.
    """

    n: int
    mean: float
    low: float
    high: float
    sd: float
    merged: int = 1

    @property
    def rounds(self) -> int:
        """Number of rounds from which the interval was computed."""
        return self.n * self.merged

    @property
    def round_sd(self) -> float:
        """Standard deviation of the effect of one round, on the assumption that rounds are independent."""
        return self.sd * math.sqrt(self.merged)


def interval(rounds: Sequence[float], low: float, high: float, merged: int = 1) -> Interval:
    """Return the interval [mean - low sd / sqrt(n), mean + high sd / sqrt(n)] of n effects. Each effect is the mean of `merged`
    successive rounds; left-over rounds are dropped. Raises ValueError for fewer than two effects.
    """
    effects = [math.fsum(rounds[i : i + merged]) / merged for i in range(0, len(rounds) - merged + 1, merged)]
    n = len(effects)
    if n < 2:
        raise ValueError(f"an interval needs at least two rounds, found {n} of {merged}")
    mean = math.fsum(effects) / n
    sd = math.sqrt(math.fsum((effect - mean) ** 2 for effect in effects) / (n - 1))
    error = sd / math.sqrt(n)
    return Interval(n=n, mean=mean, low=mean - low * error, high=mean + high * error, sd=sd, merged=merged)


def t_interval(rounds: Sequence[float], merged: int = 1) -> Interval:
    """Return the two-sided 95 % t interval of the mean of effects, each the mean of `merged` successive `rounds`. It is valid
    for a single evaluation, not for repeated looks. Raises ValueError for fewer than two effects.
    """
    # Beyond the table the last entry is a little too wide, never too narrow.
    critical = T_975[max(0, min(len(rounds) // merged - 1, len(T_975)) - 1)]
    return interval(rounds, critical, critical, merged)


def lower_bound(interval: Interval, critical: float) -> float:
    """Return the one-sided lower confidence bound, mean - critical * sd / sqrt(n), for a critical value of t."""
    return interval.mean - critical * interval.sd / math.sqrt(interval.n)


def upper_bound(interval: Interval, critical: float) -> float:
    """Return the one-sided upper confidence bound, mean + critical * sd / sqrt(n), for a critical value of t."""
    return interval.mean + critical * interval.sd / math.sqrt(interval.n)


def t95(n: int) -> float:
    """Return Student's t for a one-sided 95 % bound from `n` values (n - 1 degrees of freedom)."""
    return T_95[min(n - 1, len(T_95)) - 1]


def t995(n: int) -> float:
    """Return Student's t for a one-sided 99.5 % bound from `n` values (n - 1 degrees of freedom)."""
    return T_995[min(n - 1, len(T_995)) - 1]


def t999(n: int) -> float:
    """Return Student's t for a two-sided 99.9 % bound from `n` values (n - 1 degrees of freedom)."""
    return T_9995[min(n - 1, len(T_9995)) - 1]


def autocorrelation(values: Sequence[float]) -> float:
    """Return the lag-1 autocorrelation: sum (x_i - m)(x_i+1 - m) / sum (x_i - m)^2; 0 for equal values."""
    mean = math.fsum(values) / len(values)
    off = [value - mean for value in values]
    square = math.fsum(each * each for each in off)
    return math.fsum(one * other for one, other in pairwise(off)) / square if square else 0.0


def percent(log_effect: float) -> float:
    """Convert an effect ln(t_baseline / t_candidate) to the change of throughput in percent: ln 1.02 is +2 %."""
    return 100.0 * math.expm1(log_effect)
