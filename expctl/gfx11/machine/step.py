"""A decoded instruction: a function that executes it on a wave, and how it runs on all waves of a team at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from expctl.gfx11.machine.wave import SCALAR_KEY, Wave

if TYPE_CHECKING:
    from collections.abc import Iterable

    from expctl.gfx11.machine.team import Team

Run = Callable[[Wave], None]


class Scalars(NamedTuple):
    """Indices of the scalar registers that an instruction reads and writes. One that it may leave as it is, is read too."""

    reads: frozenset[int]
    writes: frozenset[int]

    @staticmethod
    def of(reads: Iterable[int], writes: Iterable[int]) -> Scalars:
        """Return those with the given keys."""
        return Scalars(*(frozenset(key - SCALAR_KEY for key in keys) for keys in (reads, writes)))


class First(NamedTuple):
    """How an instruction runs whose results alone are undefined before: `reads` are the keys of the registers that it reads,
    and `define` marks its results as defined, before it is run. `whole` are the keys of its results, if these are whole vector
    registers.
    """

    reads: frozenset[int]
    define: Run
    whole: frozenset[int] | None = None


class Guarded:
    """An instruction that is executed by `plain` in the common case, else by `careful`: if one of the registers with the keys
    `touched` is in Wave.dirty, that is, undefined or awaited. `plain` takes a Team too if `by_lane`, because it treats every
    lane alike, or if it uses no other registers than `scalars` and these have the same values in all waves.
    """

    __slots__ = ("_by_lane", "_careful", "_first", "_scalars", "_touched", "plain")

    def __init__(
        self,
        touched: frozenset[int],
        plain: Callable[[Any], None],
        careful: Run,
        *,
        by_lane: bool = False,
        scalars: Scalars | None = None,
        first: First | None = None,
    ) -> None:
        self._touched, self.plain, self._careful = touched, plain, careful
        self._by_lane, self._scalars, self._first = by_lane, scalars, first

    def __call__(self, wave: Wave) -> None:
        """Execute the instruction on one wave."""
        if wave.dirty.isdisjoint(self._touched):
            self.plain(wave)
        else:
            self._careful(wave)

    def together(self, team: Team) -> None:
        """Execute the instruction on all waves."""
        if not team.is_one() or not team.pending.keys().isdisjoint(self._touched):
            team.each(self)
        elif not team.undefined.isdisjoint(self._touched) and not self._may_define(team):
            team.each_of(self, self._touched)
        elif self._by_lane:
            self.plain(team)
        elif self._scalars is not None and team.varying.isdisjoint(self._scalars.reads):
            self.plain(team)
            team.wrote(self._scalars.writes)
        else:
            team.each_of(self, self._touched)

    def _may_define(self, team: Team) -> bool:
        """Mark the results as defined and return True, if all that the instruction reads is defined and the same in all waves
        or by lane.
        """
        first = self._first
        if first is None or not team.undefined.isdisjoint(first.reads):
            return False
        if not self._by_lane and (self._scalars is None or not team.varying.isdisjoint(self._scalars.reads)):
            return False
        team.define(first.define, first.whole, self._touched)
        return True


class AtOnce:
    """An instruction that `run` executes on one wave, and `at_once` on a team, unless it changes nothing and returns False."""

    __slots__ = ("_at_once", "run")

    def __init__(self, run: Run, at_once: Callable[[Team], bool]) -> None:
        self.run, self._at_once = run, at_once

    def __call__(self, wave: Wave) -> None:
        """Execute the instruction on one wave."""
        self.run(wave)

    def together(self, team: Team) -> None:
        """Execute the instruction on all waves."""
        if not team.is_one() or not self._at_once(team):
            team.each(self.run)


def alone(step: Run) -> Run:
    """Return the function that executes a step on one wave, as directly as possible."""
    return step.run if isinstance(step, AtOnce) else step


def together(step: Run) -> Callable[[Team], None]:
    """Return the function that executes a step on a team."""
    if isinstance(step, Guarded | AtOnce):
        return step.together
    return partial(_each, step)


def _each(step: Run, team: Team) -> None:
    team.each(step)
