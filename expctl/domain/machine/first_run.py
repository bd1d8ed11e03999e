"""What the first run of a build costs where a compiler works while it is loaded: never part of a sample."""

from msgspec import Struct


class FirstRun(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Seconds from the start of a worker of `side` until it was ready: with a cold cache (`cold_s`), and later with the cache
    that this had filled.
    """

    side: str
    cold_s: float
    warm_s: float

    def __str__(self) -> str:
        return (
            f"{self.side}: ready after {self.cold_s:.1f} s with a cold cache, {self.warm_s:.1f} s with a warm one; timed warm"
        )
