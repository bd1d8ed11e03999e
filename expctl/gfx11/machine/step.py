"""A decoded instruction: a function that executes it on a wave, and what may be run on several waves at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from expctl.gfx11.machine.wave import Wave

Run = Callable[[Wave], None]


class Guarded:
    """An instruction that is executed by `plain` in the common case, else by `careful`: if one of the registers with the keys
    `touched` is in Wave.dirty, that is, undefined or awaited. `by_lane` says that `plain` takes a Team too: it treats every
    lane alike.
    """

    __slots__ = ("_careful", "by_lane", "plain", "touched")

    def __init__(self, touched: frozenset[int], plain: Callable[[Any], None], careful: Run, *, by_lane: bool = False) -> None:
        self.touched, self.plain, self._careful, self.by_lane = touched, plain, careful, by_lane

    def __call__(self, wave: Wave) -> None:
        """Execute the instruction on one wave."""
        if wave.dirty.isdisjoint(self.touched):
            self.plain(wave)
        else:
            self._careful(wave)
