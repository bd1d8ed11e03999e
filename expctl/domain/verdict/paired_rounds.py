"""Averages the rounds that one pair of worker processes measured, because the processes share their memory layout."""

import math
from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from expctl.domain.verdict.samples import RoundEffect


class Pairs(Struct, frozen=True, kw_only=True):
    """`effects` has one averaged effect per pair of worker processes; `rounds` maps a pair's first round to all its rounds."""

    effects: tuple[RoundEffect, ...]
    rounds: dict[int, tuple[int, ...]]


def by_pairs(rounds: Sequence[RoundEffect], respawn: int) -> Pairs:
    """Average the effects of the `respawn` rounds that each pair of worker processes measured. The last pair of a session is
    left out until it has all its rounds, so that looking early changes nothing.
    """
    if respawn == 1:
        return Pairs(effects=tuple(rounds), rounds={each.round: (each.round,) for each in rounds})
    groups = [list(group) for _, group in groupby(rounds, key=lambda each: (each.session, each.pair))]
    last = {group[0].session: i for i, group in enumerate(groups)}
    done = [group for i, group in enumerate(groups) if i != last[group[0].session] or len(group) >= respawn]
    return Pairs(
        effects=tuple(_mean(group) for group in done),
        rounds={group[0].round: tuple(each.round for each in group) for group in done},
    )


def _mean(group: Sequence[RoundEffect]) -> RoundEffect:
    first = group[0]
    return RoundEffect(
        round=first.round,
        effect={size: math.fsum(each.effect[size] for each in group) / len(group) for size in first.effect},
        mean_effect={size: math.fsum(each.mean_effect[size] for each in group) / len(group) for size in first.mean_effect},
        session=first.session,
        duration_s=math.fsum(each.duration_s for each in group),
        pair=first.pair,
        layout=first.layout,
    )
