"""What a run knows of its machine's noise before the first sample: fixed when it begins, kept in its record."""

from collections.abc import Mapping

from msgspec import Struct

ROUNDS = 24  # of a calibration: sigma to about 15 %, an autocorrelation to about 0.2
ROUNDS_LEAST = 5


class Noise(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of one size, or of the objective: sd of one round's effect, and the median spread within a side (the objective has none).

    In percent, which here are log units * 100.
    """

    sd_percent: float
    spread_percent: float = 0.0


class Calibrated(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The part of a calibration that a verdict may rest on. `noise` is by size, with `objective` among them."""

    date: str
    rounds: int
    noise: Mapping[str, Noise]

    def sd(self, name: str) -> float:
        """sd of one round of a size or of the objective, in log units; 0 where it is not known."""
        return self.noise[name].sd_percent / 100 if name in self.noise else 0.0

    def spread(self, size: str) -> float:
        """Median spread within a side, in log units; 0 where it is not known."""
        return self.noise[size].spread_percent / 100 if size in self.noise else 0.0
