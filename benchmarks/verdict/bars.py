"""Bars of the simulation, and what a few trials are allowed beyond them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

LONG = 20_000  # trials from which on bars are judged as they are
FEW = 100  # trials with a verdict below which its coverage is not judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A figure of a table, and whether it misses its bar."""

    value: float
    missed: bool = False

    @property
    def words(self) -> str:
        """In percent, with a mark where it misses its bar."""
        return f"{100 * self.value:>13.3f}{'!' if self.missed else ' '}"


def allowance(bar: float, trials: int, *, long: bool = False) -> float:
    """Four standard errors at the bar, and three trials at least; nothing where the trials are those of the long form."""
    return 0.0 if long or trials >= LONG else max(4 * math.sqrt(bar * (1 - bar) / trials), 3 / trials)


def at_most(bar: float, value: float, trials: int, *, long: bool = False) -> Judged:
    """Judge a share of `trials` that should be `bar` at most; `long` says that they are part of those of the long form."""
    return Judged(value=value, missed=value > bar + allowance(bar, trials, long=long))


def at_least(bar: float, value: float, trials: int, *, long: bool = False) -> Judged:
    """Judge a share of `trials` that should be `bar` at least."""
    return Judged(value=value, missed=value < bar - allowance(1 - bar, trials, long=long))


def line(name: str, found: Sequence[Judged], bar: str = "") -> tuple[str, int]:
    """Return a line of a table, and how many of its figures miss their bars."""
    text = f"  {name:<32}" + "".join(each.words for each in found) + (f"{bar:>13} " if bar else "")
    return text.rstrip(), sum(each.missed for each in found)
