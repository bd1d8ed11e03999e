"""What was seen beside the launches: taints, launch by launch."""

from collections.abc import Iterable

from expctl.domain.verdict.samples import Sample


def taint_notes(samples: Iterable[Sample]) -> tuple[str, ...]:
    """One sentence for each taint, with how many launches it spoiled; none when nothing was seen."""
    launches: dict[str, set[tuple[int, int]]] = {}
    for sample in samples:
        for taint in sample.taints:
            launches.setdefault(taint, set()).add((sample.round, sample.launch))
    return tuple(
        f"tainted, measured again and left out: {len(spoiled)} {'launch' if len(spoiled) == 1 else 'launches'}, {taint}"
        for taint, spoiled in sorted(launches.items())
    )


def lost_rounds(samples: Iterable[Sample]) -> int:
    """How many rounds are left without a launch that counts."""
    clean: dict[int, bool] = {}
    for sample in samples:
        clean[sample.round] = clean.get(sample.round, False) or not sample.taints
    return sum(not each for each in clean.values())
