"""A test, benchmark or profile script in protocol.yaml."""

import math
import operator
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

ROUNDING = 1e-9
"""Share of two figures by which their difference may be off: 0.5 - 0.49 is a little more than 0.01."""


class Tolerance(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """By how much a figure may be worse than the baseline's: `by`, in its unit, and `percent` of the baseline's, together."""

    by: float = 0.0
    percent: float = 0.0

    def of(self, baseline: float) -> float:
        """Return the allowed difference, in the figure's unit."""
        return self.by + abs(baseline) * self.percent / 100


class MetricLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits on figures that a test reports with its cases (graph breaks, peak memory, accuracy): in each case at `most`, and
    at `least`; and by how much it `may_rise` or `may_fall` against the same case of the baseline, tested in the same run. A
    figure that no case reports breaks its limit, and so does one that is no number (NaN).
    """

    most: Mapping[str, float] = field(default_factory=dict)
    least: Mapping[str, float] = field(default_factory=dict)
    may_rise: Mapping[str, Tolerance] = field(default_factory=dict)
    may_fall: Mapping[str, Tolerance] = field(default_factory=dict)

    @property
    def relative(self) -> "MetricLimits | None":
        """The limits against the baseline alone; None if there are none."""
        relative = self.may_rise or self.may_fall
        return MetricLimits(may_rise=self.may_rise, may_fall=self.may_fall) if relative else None

    def broken(self, seen: Mapping[str, Sequence[float]]) -> Iterator[str]:
        """Yield one phrase for each absolute limit that is broken; `seen` has the values of each figure, case by case."""
        for limits, words, holds in ((self.most, "at most", operator.le), (self.least, "at least", operator.ge)):
            for name, limit in limits.items():
                breaking = [value for value in seen.get(name, ()) if not holds(value, limit)]
                if breaking or name not in seen:
                    said = f"{breaking[0]:.12g}" if breaking else "was not reported"
                    yield f"{name} {said}, {words} {limit:.12g} is allowed"

    def absent(self, seen: Mapping[str, Sequence[float]]) -> Iterator[str]:
        """Yield one phrase for each figure with a limit against the baseline that is missing in `seen`, or no number."""
        for name in dict.fromkeys((*self.may_rise, *self.may_fall)):
            odd = [value for value in seen.get(name, ()) if not math.isfinite(value)]
            if odd or not seen.get(name):
                yield f"{name} {odd[0] if odd else 'was not reported'}"

    def worse(self, before: Mapping[str, Sequence[float]], after: Mapping[str, Sequence[float]]) -> Iterator[str]:
        """Yield one phrase for each figure of the candidate (`after`) that is worse than the baseline's by more than allowed,
        with the case that is the furthest beyond, or that is missing, no number, or reported in another number of cases. All of
        the baseline's are there, and numbers.
        """
        missing = list(self.absent(after))
        yield from (f"{phrase}, which is held against the baseline's" for phrase in missing)
        if missing:
            return
        for limits, words, sign in ((self.may_rise, "above", 1), (self.may_fall, "below", -1)):
            for name, tolerance in limits.items():
                pairs = list(zip(before[name], after[name], strict=False))
                if len(before[name]) != len(after[name]):
                    yield f"{name} was reported in {len(after[name])} cases, by the baseline in {len(before[name])}"
                    continue
                old, new = max(pairs, key=lambda pair: sign * (pair[1] - pair[0]) - tolerance.of(pair[0]))
                if sign * (new - old) - tolerance.of(old) > ROUNDING * max(abs(old), abs(new)):
                    yield f"{name} {new:.12g}, at most {tolerance.of(old):.4g} {words} the baseline's {old:.12g} is allowed"


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


def metric_faults(step: LimitedStep | None) -> Iterator[str]:
    """Yield one sentence for each limit on a figure that is out of range."""
    limits = step.metrics if step is not None and step.metrics is not None else MetricLimits()
    for key, tolerances in (("may_rise", limits.may_rise), ("may_fall", limits.may_fall)):
        for name, tolerance in tolerances.items():
            for part, value in (("by", tolerance.by), ("percent", tolerance.percent)):
                if not 0 <= value < math.inf:
                    yield f"metrics.{key}.{name}.{part}: expected 0 or more, found {value:g}"
    for key, most in (("most", limits.most), ("least", limits.least)):
        for name, value in most.items():
            if not math.isfinite(value):
                yield f"metrics.{key}.{name}: expected a number, found {value:g}"
