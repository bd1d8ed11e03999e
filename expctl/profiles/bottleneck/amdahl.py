"""Compute what a faster part gives to the whole, and whether a claimed gain is possible (Amdahl, AFIPS 1967).

A part that takes the share s of the time and becomes g times as fast saves s (1 - 1/g) of the whole. A gain here is the share
of the whole time that is saved, in percent.
"""

from dataclasses import dataclass
from enum import StrEnum


class ClaimVerdict(StrEnum):
    """Whether a claimed gain can be true: possible as far as the profile tells, or INVALID."""

    POSSIBLE = "possible"
    INVALID = "INVALID"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claimed end-to-end gain by one faster part, and the most that it can be; shares and gains are percentages of time."""

    share_percent: float
    kernel_gain: float
    claimed_percent: float
    most_percent: float
    verdict: ClaimVerdict
    sentence: str


def most_saved(share_percent: float, kernel_gain: float) -> float:
    """Return the percentage of the whole time that is saved where a part with `share_percent` becomes `kernel_gain` times as
    fast; negative for a slower part (below 1). `kernel_gain` must be positive.
    """
    return share_percent * (1 - 1 / kernel_gain)


def check_claim(share_percent: float, kernel_gain: float, claimed_percent: float) -> Claim:
    """Return whether saving `claimed_percent` of the whole time is possible by a part that became `kernel_gain` times as fast.
    `share_percent` is the part's share before the change, of the kernels' time: with idle time counted it would be less.
    """
    most = most_saved(share_percent, kernel_gain)
    verdict = ClaimVerdict.INVALID if claimed_percent > most else ClaimVerdict.POSSIBLE
    bound = f"{share_percent:.2f} % of the time, {kernel_gain:.4g} times as fast: at most {most:.2f} % end to end"
    words = "is beyond that" if verdict is ClaimVerdict.INVALID else "is within that"
    return Claim(
        share_percent=share_percent,
        kernel_gain=kernel_gain,
        claimed_percent=claimed_percent,
        most_percent=most,
        verdict=verdict,
        sentence=f"{bound}; the claimed {claimed_percent:.2f} % {words}",
    )
