"""How the times of single iterations spread: quantiles of each side at each size, down to its slowest iteration. Pure."""

from collections.abc import Sequence

from msgspec import Struct

from expctl.domain.verdict.machine_states import last_session
from expctl.domain.verdict.samples import Sample, Side

SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)


class Quantile(Struct, frozen=True, kw_only=True):
    """`percent` of the iterations took at most `ns` nanoseconds."""

    percent: float
    ns: int


class SideSpread(Struct, frozen=True, kw_only=True):
    """The times of `iterations` single iterations of one side at one size, as quantiles; the last one is the slowest time."""

    size: str
    side: Side
    iterations: int
    quantiles: tuple[Quantile, ...]


def spreads_of(samples: Sequence[Sample]) -> tuple[SideSpread, ...]:
    """Return the spread of each side at each size, over the launches of the last session that no foreign work disturbed.

    A quantile is the smallest time that at least this share of the iterations did not exceed (nearest rank). One beyond which
    there is not even one iteration is left out; the slowest iteration always comes last, as 100 %.
    """
    rounds = set(last_session(samples))
    times: dict[tuple[str, Side], list[int]] = {}
    for each in samples:
        if each.round in rounds and not each.taints:
            times.setdefault((each.size, each.side), []).extend(each.ns)
    return tuple(_spread(size, side, sorted(found)) for (size, side), found in sorted(times.items()) if found)


def _spread(size: str, side: Side, times: Sequence[int]) -> SideSpread:
    count = len(times)
    ranked = [(share, -int(-share * count // 1)) for share in SHARES]
    inner = [Quantile(percent=round(100 * share, 1), ns=times[rank - 1]) for share, rank in ranked if 0 < rank < count]
    return SideSpread(size=size, side=side, iterations=count, quantiles=(*inner, Quantile(percent=100.0, ns=times[-1])))
