"""Counts the launches and rounds during which other work disturbed the machine (taints)."""

from collections.abc import Iterable

from expctl.domain.verdict.samples import Sample


def taint_notes(samples: Iterable[Sample]) -> tuple[str, ...]:
    """Return one sentence for each kind of foreign load that was seen, with the number of launches that it disturbed."""
    launches: dict[str, set[tuple[int, int]]] = {}
    for sample in samples:
        for taint in sample.taints:
            launches.setdefault(taint, set()).add((sample.round, sample.launch))
    return tuple(
        f"tainted, measured again and left out: {len(spoiled)} {'launch' if len(spoiled) == 1 else 'launches'}, {taint}"
        for taint, spoiled in sorted(launches.items())
    )


def lost_rounds(samples: Iterable[Sample]) -> int:
    """Return the number of rounds in which every launch was disturbed by foreign load."""
    clean: dict[int, bool] = {}
    for sample in samples:
        clean[sample.round] = clean.get(sample.round, False) or not sample.taints
    return sum(not each for each in clean.values())
