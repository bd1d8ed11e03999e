"""The conditions of a do-not-repeat rule, as a named tuple that is quick to create and check for thousands of rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from expctl.domain.experiment.proposal import Probe, Until
from expctl.domain.experiment.record import ChangedCondition
from expctl.domain.rules.current_facts import ARCHITECTURE

if TYPE_CHECKING:
    from expctl.domain.rules.current_facts import CurrentFacts

REGION, SCHEMA, PROBE = "baseline code in the touched region", "config schema", "probe"

Named = tuple[tuple[str, str], ...]


class RuleConditions(NamedTuple):
    """Recorded conditions of a do-not-repeat rule on the commit `base`; a field is empty if the rule has no such condition.

    `lapsed` are permanent changes as (condition, old value, new value, evidence), `versions` pairs (compiler, version). `epoch`
    is the id of the experiment: its figures must still be comparable with new ones. `region` has, by file, hashes of the
    functions that the patch touched; `shapes` the hash of each file whose constants it changed, without their values; `probe`
    is (source, architecture, `compiles` or `interprets`: what ends the rule).
    """

    lapsed: tuple[tuple[str, str, str, str], ...] = ()
    architecture: str = ""
    versions: Named = ()
    epoch: str = ""
    base: str = ""
    region: tuple[tuple[str, tuple[str, ...]], ...] = ()
    shapes: Named = ()
    probe: tuple[str, ...] = ()

    def changed(self, now: CurrentFacts) -> Iterator[ChangedCondition]:
        """Yield the conditions whose values have changed; those that are quick to look up come first."""
        for condition, was, then, evidence in self.lapsed:
            yield ChangedCondition(condition=condition, was=was, now=then, evidence=evidence)
        if self.architecture and self.architecture not in now.architectures():
            yield ChangedCondition(condition=ARCHITECTURE, was=self.architecture, now=", ".join(sorted(now.architectures())))
        for name, was in self.versions:
            found = now.version(name)
            if found and found != was:
                yield ChangedCondition(condition=name, was=was, now=found)
        yield from now.epoch_changes(self.epoch) if self.epoch else ()
        yield from self._region(now)
        for path, shape in self.shapes:
            if shape != now.shape(path):
                yield ChangedCondition(condition=SCHEMA, was=f"{path} {shape[:7]}", now=now.shape(path)[:7] or "no such file")
        if self.probe:
            yield from self._probe(now)

    def as_probe(self) -> Probe | None:
        """Return the rule's probe, a code snippet whose success reopens the rule; None if it has none."""
        source, arch, until = self.probe or ("", "", Until.COMPILES)
        return Probe(source=source, arch=arch, until=Until(until)) if self.probe else None

    def _region(self, now: CurrentFacts) -> Iterator[ChangedCondition]:
        for path, keys in self.region:
            gone = set(keys) - now.item_keys(path)
            if gone:
                yield ChangedCondition(
                    condition=REGION, was=f"{path} as of {self.base}", now=f"{len(gone)} of {len(keys)} parts changed"
                )

    def _probe(self, now: CurrentFacts) -> Iterator[ChangedCondition]:
        probe = self.as_probe()
        answer = now.probe(probe) if probe is not None else None
        if probe is not None and answer is not None and answer.passes:
            yield ChangedCondition(
                condition=PROBE, was=f"failed for {probe.arch}", now=f"it {probe.until}", evidence=answer.said
            )
