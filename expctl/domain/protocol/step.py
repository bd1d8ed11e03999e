"""A test, benchmark or profile script in protocol.yaml."""

import operator
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field


class MetricLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits on figures that a test reports with its cases (graph breaks, peak memory, accuracy): in each case at `most`, and
    at `least`. A figure that no case reports breaks its limit, and so does one that is no number (NaN).
    """

    most: Mapping[str, float] = field(default_factory=dict)
    least: Mapping[str, float] = field(default_factory=dict)

    def broken(self, seen: Mapping[str, Sequence[float]]) -> Iterator[str]:
        """Yield one phrase for each broken limit; `seen` has the values of each figure, in the order of the cases."""
        for limits, words, holds in ((self.most, "at most", operator.le), (self.least, "at least", operator.ge)):
            for name, limit in limits.items():
                breaking = [value for value in seen.get(name, ()) if not holds(value, limit)]
                if breaking or name not in seen:
                    said = f"{breaking[0]:.12g}" if breaking else "was not reported"
                    yield f"{name} {said}, {words} {limit:.12g} is allowed"


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The command of a test or profile (docs/HARNESS.md).

    `careful` are added to its arguments if a patch removes a barrier or wait. `counters` are for a profile command that starts
    rocprofv3 or ncu, which may run in several passes; `timeout_s` limits each one.
    """

    argv: tuple[str, ...]
    timeout_s: float
    careful: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()


class LimitedStep(Step, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The command of a test, with limits on the figures that it reports."""

    metrics: MetricLimits | None = None
