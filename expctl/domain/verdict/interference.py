"""Finds launches and rounds that something disturbed (taints), which side they belong to, and which of them count.

A tainted launch is measured again and left out. A build that throttles its own machine would then be judged by its better
launches alone; this module corrects that. See docs/METHODOLOGY.md, "Interference has a side".
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from expctl.domain.machine.interference import may_be_own_doing
from expctl.domain.protocol.model import Style
from expctl.domain.verdict.exact_tests import binomial_tail
from expctl.domain.verdict.samples import Sample, Side

CHANCE = 0.05  # of the exact test


class OwnDoing(Struct, frozen=True, kw_only=True):
    """The launches that were disturbed by nothing but clock, temperature or power, by side. A launch is given as (number of the
    round, number of the launch in it).
    """

    baseline: frozenset[tuple[int, int]]
    candidate: frozenset[tuple[int, int]]

    @property
    def counts(self) -> bool:
        """Was the candidate disturbed in this way more often than the baseline (one-sided exact binomial test, 5 %)? Both sides
        have equally many undisturbed launches, so by chance a disturbed one belongs to either side with probability 1/2.
        """
        mine, all_launches = len(self.candidate), len(self.candidate) + len(self.baseline)
        return binomial_tail(mine, all_launches) <= CHANCE


def own_doing(samples: Iterable[Sample]) -> OwnDoing:
    """Find the launches of style `launch` that may have been disturbed by the build under test itself."""
    found: dict[Side, set[tuple[int, int]]] = {side: set() for side in Side}
    for sample in samples:
        if _is_own(sample):
            found[sample.side].add((sample.round, sample.launch))
    return OwnDoing(baseline=frozenset(found[Side.BASELINE]), candidate=frozenset(found[Side.CANDIDATE]))


def counted(samples: Sequence[Sample]) -> Sequence[Sample]:
    """Return the samples from which the verdict is computed.

    If the candidate's own work disturbs its launches more often than the baseline's, the first launch so disturbed is used as
    if it were undisturbed, in place of its repetition. If no repetition was undisturbed, these launches stay tainted.
    """
    own = own_doing(samples)
    if not own.counts:
        return samples
    seen: list[Sample] = []
    for _, round in groupby(sorted(samples, key=lambda each: each.round), key=lambda each: each.round):
        launches = [list(group) for _, group in groupby(round, key=lambda each: each.launch)]
        for place in _places(launches):
            first = next((launch for launch in place if _counts(launch[0], own)), None) if _is_complete(place) else None
            seen += [replace(each, taints=()) for each in first] if first else [each for launch in place for each in launch]
    return seen


def taint_notes(samples: Sequence[Sample]) -> tuple[str, ...]:
    """Return one sentence for each kind of disturbance, with the number of launches of each side that it hit. Launches of the
    candidate that are used although they were disturbed have sentences of their own.
    """
    own = own_doing(samples)
    left_out: dict[str, set[tuple[int, int, Side]]] = {}
    counting: dict[str, set[tuple[int, int, Side]]] = {}
    for sample in samples:
        for taint in sample.taints:
            found = counting if own.counts and _counts(sample, own) else left_out
            found.setdefault(taint, set()).add((sample.round, sample.launch, sample.side))
    usual = len(own.baseline)
    why = f"its own doing, for the baseline had {usual or 'none'} of this kind"
    return (
        *(f"tainted, measured again and left out: {_launches(hit)}, {taint}" for taint, hit in sorted(left_out.items())),
        *(f"tainted, and counted all the same: {_launches(hit)}, {taint}: {why}" for taint, hit in sorted(counting.items())),
    )


def lost_rounds(samples: Iterable[Sample]) -> int:
    """Return the number of rounds in which every launch was disturbed by foreign load."""
    clean: dict[int, bool] = {}
    for sample in samples:
        clean[sample.round] = clean.get(sample.round, False) or not sample.taints
    return sum(not each for each in clean.values())


def _is_own(sample: Sample) -> bool:
    """Is this a sample of style `launch` that only clock, temperature or power disturbed, maybe because of its build?"""
    return sample.style is Style.LAUNCH and bool(sample.taints) and all(map(may_be_own_doing, sample.taints))


def _counts(sample: Sample, own: OwnDoing) -> bool:
    return (sample.round, sample.launch) in own.candidate


def _places(launches: Sequence[list[Sample]]) -> Iterator[list[list[Sample]]]:
    """Group the launches of one round, in order: disturbed launches go with the undisturbed repetition that replaces them.
    Disturbed launches without such a repetition become groups of one.
    """
    place: list[list[Sample]] = []
    for launch in launches:
        place.append(launch)
        if not launch[0].taints:
            yield place
            place = []
    yield from ([launch] for launch in place)  # never measured again: each stays as it is


def _is_complete(place: Sequence[list[Sample]]) -> bool:
    return not place[-1][0].taints and len({launch[0].side for launch in place}) == 1


def _launches(hit: set[tuple[int, int, Side]]) -> str:
    by_side = {side: sum(side is each for _, _, each in hit) for side in Side}
    told = " and ".join(f"{count} of the {side}" for side, count in by_side.items() if count)
    return f"{'1 launch' if len(hit) == 1 else f'{len(hit)} launches'} ({told})"
