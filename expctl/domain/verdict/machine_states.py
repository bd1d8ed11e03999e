"""States of the machine: does it run both sides at two or more different speeds, and what is the effect in each? Pure.

They are looked for among quads (style `fine`) or launches, because such a machine changes its state within a round.
docs/METHODOLOGY.md, "States of the machine".
"""

import math
import statistics
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from msgspec import Struct

from expctl.domain.experiment.machine_times import MachineState, SideTime, TimesOfSize
from expctl.domain.verdict.exact_tests import binomial_tail
from expctl.domain.verdict.interference import counted
from expctl.domain.verdict.natural_breaks import group_of, natural_breaks, separation
from expctl.domain.verdict.samples import Sample, Session, Side, log_times
from expctl.domain.verdict.statistics import percent, t_interval

STATES_MOST = 3
APART = math.log(1.05)  # distance of two states at least
SEPARATION = 4.5  # least D; tests/domain/verdict/test_machine_states.py measures how often noise passes for states
FEW = 40.0  # over the number of rounds, or of changes of state if these are more: what D must exceed SEPARATION by
SHARE = 0.1  # of the times: belong to a state at least
TAIL = 0.05  # of the times, the slowest: tails, left out where states are looked for
ENDS = 0.05  # chance that a median lies outside its interval
DIGITS = 4

Launches = tuple[tuple[float, ...], ...]
"""ln t of each launch of one side in one round: of each quad in style `fine`, one alone in style `launch`."""


class _Round(Struct, frozen=True, kw_only=True):
    """ln t of both sides in one round at one size."""

    launches: dict[Side, Launches]

    def values(self, side: Side) -> list[float]:
        return [value for launch in self.launches[side] for value in launch]

    @property
    def moments(self) -> list[tuple[tuple[float, ...], tuple[float, ...]]]:
        """What is compared with each other, baseline and candidate: two values of a quad, or all launches of a round."""
        baseline, candidate = (zip(*self.launches[side], strict=True) for side in Side)
        return list(zip(baseline, candidate, strict=True))


def times_by_state(samples: Sequence[Sample], rounds: Sequence[int]) -> tuple[TimesOfSize, ...]:
    """Return the times of both sides at each size in these rounds, by state of the machine; mostly there is one state.

    There are more where the times of *each* side fall into two or three groups (natural breaks) that lie 5 % apart at least,
    hold a tenth of its times each and are clearly separated (Ashman's D). One side's own groups are an effect and no state.
    """
    chosen = set(rounds)
    used = [sample for sample in counted(samples) if sample.round in chosen and not sample.taints]
    sizes = sorted({sample.size for sample in used}, key=[sample.size for sample in used].index)
    return tuple(_times_of_size(size, found) for size in sizes if (found := _rounds(used, size)))


def last_session(samples: Sequence[Sample]) -> tuple[int, ...]:
    """Return the numbers of the rounds of the last session: the confirmation's, or without one the search's."""
    confirmed = {sample.round for sample in samples if sample.session is Session.CONFIRM}
    return tuple(sorted(confirmed or {sample.round for sample in samples}))


def _rounds(samples: Sequence[Sample], size: str) -> list[_Round]:
    mine = sorted((sample for sample in samples if sample.size == size), key=lambda each: each.round)
    found = []
    for _, group in groupby(mine, key=lambda each: each.round):
        launches = list(group)
        by_side = {side: tuple(tuple(log_times(each)) for each in launches if each.side is side) for side in Side}
        shapes = [[len(launch) for launch in by_side[side]] for side in Side]
        if shapes[0] and shapes[0] == shapes[1]:  # else what one side did was disturbed as a whole
            found.append(_Round(launches=by_side))
    return found


def _times_of_size(size: str, rounds: Sequence[_Round]) -> TimesOfSize:
    limits = _limits(rounds)
    count = 1 + len(limits[Side.BASELINE])
    effects = [[_effect(each, limits, state) for each in rounds] for state in range(count)]
    wholly = [sum(effect is not None for effect in of_round) == 1 for of_round in zip(*effects, strict=True)]
    return TimesOfSize(
        size=size,
        states=tuple(_state(rounds, limits, state, effects[state]) for state in range(count)),
        mixed_rounds=wholly.count(False),
    )


def _limits(rounds: Sequence[_Round]) -> dict[Side, tuple[float, ...]]:
    """Return the limits, in ln t, between the states of each side: none where they don't show on both sides."""
    values = {side: [each.values(side) for each in rounds] for side in Side}
    for count in range(STATES_MOST, 1, -1):
        found = {side: _groups(of_side, count) for side, of_side in values.items()}
        if all(found.values()):
            return found
    return dict.fromkeys(Side, ())


def _groups(rounds: Sequence[Sequence[float]], count: int) -> tuple[float, ...]:
    """Return the limits between `count` clearly separated groups of one side's values; () where there are none."""
    values = [value for each in rounds for value in each]
    body = sorted(values)[: len(values) - int(TAIL * len(values))]
    if len(body) < 2 * count or body[-1] - body[0] < (count - 1) * APART:
        return ()  # the second to save time: so many groups can't be apart
    limits = natural_breaks(body, count)
    groups = [[value for value in body if group_of(value, limits) == number] for number in range(count)]
    changes = sum(group_of(one, limits) != group_of(other, limits) for one, other in pairwise(values))
    least = SEPARATION + FEW / max(len(rounds), changes)
    often = all(
        _share(values, limits, number) >= SHARE and sum(_share(each, limits, number) >= SHARE for each in rounds) >= 2
        for number in range(count)
    )
    clear = all(_are_apart(lower, upper, least) for lower, upper in pairwise(groups))
    return limits if often and clear else ()


def _are_apart(lower: Sequence[float], upper: Sequence[float], least: float) -> bool:
    if min(len(lower), len(upper)) < 2:
        return False
    return separation(lower, upper) >= least and statistics.median(upper) - statistics.median(lower) >= APART


def _share(values: Sequence[float], limits: Sequence[float], state: int) -> float:
    return sum(group_of(value, limits) == state for value in values) / len(values)


def _effect(round: _Round, limits: dict[Side, tuple[float, ...]], state: int) -> float | None:
    """Return the effect of a round in one state, from the moments in which both sides were in it; None where they are few."""
    effects = []
    for moment in round.moments:
        inside = [
            [value for value in values if group_of(value, limits[side]) == state]
            for side, values in zip(Side, moment, strict=True)
        ]
        if all(inside):
            effects.append(statistics.fmean(inside[0]) - statistics.fmean(inside[1]))
    return statistics.median(effects) if effects and len(effects) >= SHARE * len(round.moments) else None


def _state(
    rounds: Sequence[_Round], limits: dict[Side, tuple[float, ...]], state: int, effects: Sequence[float | None]
) -> MachineState:
    seen = [effect for effect in effects if effect is not None]
    shown = t_interval(seen) if len(seen) > 1 else None
    baseline, candidate = (_side_time(list(_launch_times(rounds, side, limits[side], state))) for side in Side)
    return MachineState(
        baseline=baseline,
        candidate=candidate,
        rounds=len(seen),
        effect_percent=round(percent(statistics.fmean(seen)), DIGITS) if seen else None,
        low_percent=round(percent(shown.low), DIGITS) if shown else None,
        high_percent=round(percent(shown.high), DIGITS) if shown else None,
    )


def _launch_times(rounds: Sequence[_Round], side: Side, limits: Sequence[float], state: int) -> Iterator[float]:
    """Yield the median ln t of each launch of `side` in a state in which it spent a tenth of its times at least."""
    for each in rounds:
        for launch in each.launches[side]:
            if _share(launch, limits, state) >= SHARE:
                yield statistics.median(value for value in launch if group_of(value, limits) == state)


def _side_time(logs: Sequence[float]) -> SideTime:
    """Return the median and its 95 % interval from order statistics (sign test); of fewer than six launches their range."""
    ordered = sorted(logs)
    n = len(ordered)
    inner = max((k for k in range(1, n // 2 + 1) if 2 * binomial_tail(n - k + 1, n) <= ENDS), default=1)
    ns, low, high = (round(math.exp(value), 1) for value in (statistics.median(ordered), ordered[inner - 1], ordered[-inner]))
    return SideTime(ns=ns, low_ns=low, high_ns=high)
