"""The noise of the machine as a run stores it in its record."""

from collections.abc import Mapping

from msgspec import Struct


class Noise(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Noise at one problem size or of the weighted objective, in percent (log units * 100).

    `sd_percent` is the standard deviation of one round's effect, `spread_percent` the median standard deviation of the times of
    one build within a round (0 for the objective).
    """

    sd_percent: float
    spread_percent: float = 0.0


class Calibrated(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The part of a calibration that verdicts use: `noise` of each size, and of their weighted mean (`objective`)."""

    date: str
    rounds: int
    noise: Mapping[str, Noise]

    def sd(self, name: str) -> float:
        """Return the standard deviation of one round's effect, in log units, at a size or for `objective`; 0 if unknown."""
        return self.noise[name].sd_percent / 100 if name in self.noise else 0.0

    def spread(self, size: str) -> float:
        """Return the standard deviation of ln(time) of one build within a round, the median over rounds; 0 if unknown."""
        return self.noise[size].spread_percent / 100 if size in self.noise else 0.0
