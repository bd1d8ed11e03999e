"""The screen of a tuning: a few launches in which all configs of a shape take turns, to find those worth a full verdict.

In each launch every config is timed, and the current one too: the control that all share, so that what happened to the launch
cancels. A score is the mean over the launches of ln(t of the control / t of the config). It ranks; it is never reported as a
gain.
"""

import math
import statistics
from collections.abc import Mapping, Sequence

from msgspec import Struct

CONTROL = "current"
LAUNCHES = 4  # of a screen: four tell 1 % on a usual machine
FINALISTS = 3  # of one bucket, at most
NEAR = 0.005  # ln: what is nearer to the best than this is no worse for our purpose
SURE = 2.0  # standard errors

Launch = Mapping[str, float]
"""ln t of each config in one launch, the control's under CONTROL."""


class Score(Struct, frozen=True, kw_only=True):
    """The mean gain of a config over the control, ln, in a screen, and its standard error."""

    config: str
    gain: float
    error: float


def scores(launches: Sequence[Launch]) -> list[Score]:
    """Return the score of each config that all launches have, the best first; equal ones in the order of their names."""
    configs = [name for name in launches[0] if name != CONTROL and all(name in each for each in launches)]
    gains = {config: [each[CONTROL] - each[config] for each in launches] for config in configs}
    error = _pooled_sd(list(gains.values())) / math.sqrt(len(launches))
    found = [Score(config=config, gain=statistics.fmean(each), error=error) for config, each in gains.items()]
    return sorted(found, key=lambda each: (-each.gain, each.config))


def finalists(launches: Sequence[Launch], most: int = FINALISTS) -> list[str]:
    """Return the configs that a full verdict should compare with the current one, the best first; [] if none may be better.

    These are at most `most` that are as good as the best of the screen, as far as it can tell, and may be faster than the
    control by NEAR: what gains less, a verdict would reject. They are so near that the first that is kept is taken.
    """
    ranked = scores(launches)
    near = [each for each in ranked if each.gain >= ranked[0].gain - _margin(each)]
    return [each.config for each in near if each.gain > NEAR - SURE * each.error][:most]


def _margin(score: Score) -> float:
    return max(NEAR, SURE * score.error)


def _pooled_sd(groups: Sequence[Sequence[float]]) -> float:
    """Return the standard deviation within groups of equal size, by the median of their variances: one odd launch of one config
    doesn't move it. 0 for groups of one value.
    """
    variances = [statistics.variance(each) for each in groups if len(each) > 1]
    return math.sqrt(statistics.median(variances)) if variances else 0.0
