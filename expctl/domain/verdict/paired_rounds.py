"""Rounds of one long-lived pair of workers are one observation: where the pair got its memory is in all of them."""

import math
from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from expctl.domain.verdict.samples import RoundEffect


class Pairs(Struct, frozen=True, kw_only=True):
    """`effects` has one entry per pair that is done, `rounds[i]` the rounds that entry i is the mean of."""

    effects: tuple[RoundEffect, ...]
    rounds: dict[int, tuple[int, ...]]


def by_pairs(rounds: Sequence[RoundEffect], respawn: int) -> Pairs:
    """Means over the rounds of each pair. The last pair of a session counts once it has all its `respawn` rounds, so that
    how long it has lived when somebody looks changes nothing.
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
        session=first.session,
        duration_s=math.fsum(each.duration_s for each in group),
        pair=first.pair,
    )
