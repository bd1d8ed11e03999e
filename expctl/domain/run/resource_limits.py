"""Checks the limits on registers, LDS and other resources of a candidate's build, before anything is timed."""

from collections.abc import Mapping

from expctl.domain.experiment.record import Artifact
from expctl.domain.protocol.model import ResourceLimits


def exceeded(limits: ResourceLimits, baseline: Artifact | None, candidate: Artifact) -> tuple[str, ...]:
    """Return one phrase for each broken limit, with the figures. A figure that has a limit but isn't in the build breaks it."""
    before, after = _values(baseline), _values(candidate)
    found: list[str] = []
    for name, most in limits.most.items():
        allowed = max(most, before.get(name, most))
        if name not in after:
            found.append(f"{name} is not known of this build, at most {allowed:.12g} is allowed")
        elif after[name] > allowed:
            found.append(f"{name} {after[name]:.12g}, at most {allowed:.12g} is allowed{_baseline(before, name)}")
    for name, fall in limits.may_fall.items():
        if name in before and after.get(name, before[name]) < before[name] - fall:
            found.append(f"{name} {after[name]:.12g}, at least {before[name] - fall:.12g} is needed{_baseline(before, name)}")
    return tuple(found)


def _values(artifact: Artifact | None) -> dict[str, float]:
    return {fact.name: fact.value for fact in artifact.facts} if artifact else {}


def _baseline(before: Mapping[str, float], name: str) -> str:
    return f" (baseline {before[name]:.12g})" if name in before else ""
