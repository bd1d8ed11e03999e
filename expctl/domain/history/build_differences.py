"""Describes how the builds of baseline and candidate differ. This explains a verdict and never decides it."""

from collections.abc import Mapping, Sequence

from expctl.domain.experiment.record import Artifact, Fact
from expctl.domain.verdict.side import Side


def fact_changes(baseline: Sequence[Fact], candidate: Sequence[Fact]) -> tuple[str, ...]:
    """Return one phrase per fact that both builds have, e.g. `vgpr 155 -> 160 (+3.2 %)`, or `vgpr = 155` if unchanged."""
    after = {fact.name: fact for fact in candidate}
    return tuple(_phrase(fact, after[fact.name]) for fact in baseline if fact.name in after)


def build_changes(artifacts: Mapping[str, Mapping[str, Artifact]]) -> tuple[str, ...]:
    """Return one line per target that was built for both sides: the figures that changed, or `machine code unchanged`.
    `artifacts` maps side -> target -> build.
    """
    baseline, candidate = artifacts.get(Side.BASELINE, {}), artifacts.get(Side.CANDIDATE, {})
    lines = []
    for target in baseline:
        if target in candidate and baseline[target].facts:
            same = baseline[target].code == candidate[target].code
            changes = (
                "machine code unchanged" if same else ", ".join(fact_changes(baseline[target].facts, candidate[target].facts))
            )
            lines.append(f"{target}: {changes}")
    return tuple(lines)


def _phrase(before: Fact, after: Fact) -> str:
    unit = f" {before.unit}" if before.unit else ""
    if before.value == after.value:
        return f"{before.name} = {before.value:.12g}{unit}"
    change = f" ({100 * (after.value / before.value - 1):+.1f} %)" if before.value else ""
    return f"{before.name} {before.value:.12g} -> {after.value:.12g}{unit}{change}"
