"""Rules of a repository in memory, and the facts that they are held against."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from expctl.domain.experiment.proposal import Probe
from expctl.domain.experiment.record import ChangedCondition, Record
from expctl.domain.patch.identity import ChangeIdentity
from expctl.domain.rules.conditions import conditions_of
from expctl.domain.rules.current_facts import CurrentFacts, ProbeAnswer
from expctl.domain.rules.matching import Candidate, changed_codes, keys_for, keys_of
from expctl.domain.rules.open_conditions import RuleConditions
from expctl.domain.rules.told import Told
from tests.fakes.library import FakeLibrary


@dataclass
class FakeCircumstances:
    """Nothing has changed, but for what is said here. A file that isn't named has every item."""

    versions: dict[str, str] = field(default_factory=dict)
    judges: frozenset[str] = frozenset({"cpu"})
    other_epochs: dict[str, tuple[ChangedCondition, ...]] = field(default_factory=dict)
    keys: dict[str, frozenset[str]] = field(default_factory=dict)
    shapes: dict[str, str] = field(default_factory=dict)
    passing: dict[Probe, str] = field(default_factory=dict)
    probed: list[Probe] = field(default_factory=list)
    standing: tuple[str, ...] = ()
    own: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def architectures(self) -> frozenset[str]:
        return self.judges

    def version(self, tool: str) -> str:
        return self.versions.get(tool, "")

    def epoch_changes(self, experiment: str) -> tuple[ChangedCondition, ...]:
        return self.other_epochs.get(experiment, ())

    def item_keys(self, path: str) -> frozenset[str]:
        return self.keys.get(path, frozenset())

    def shape(self, path: str) -> str:
        return self.shapes.get(path, "")

    def probe(self, probe: Probe) -> ProbeAnswer:
        self.probed.append(probe)
        return ProbeAnswer(passes=probe in self.passing, said=self.passing.get(probe, "fails"))

    def standing_lines(self) -> tuple[str, ...]:
        return self.standing

    def own_lines(self, experiment: str) -> tuple[str, ...] | None:
        return self.own.get(experiment)


@dataclass
class FakeRulebook:
    """Rules of the records in the fake repository. A change is known by its text, without a comment after #."""

    library: FakeLibrary
    now: FakeCircumstances = field(default_factory=FakeCircumstances)

    def identity(self, commit: str, patch: bytes) -> ChangeIdentity:
        assert commit in self.library.workspace.commits
        if not patch:
            return ChangeIdentity()
        changes = {path: text.split("#")[0].strip() for path, text in json.loads(patch).items() if text is not None}
        return ChangeIdentity(
            patch_id=self.library.workspace.patch_identity(patch),
            change=hashlib.sha256(json.dumps(changes).encode()).hexdigest(),
            added=tuple(changes.values()),
        )

    def misfits(self, commit: str, patch: bytes) -> tuple[str, ...] | None:  # noqa: ARG002  the port's signature
        return () if patch else None

    def rejected_patch(self, commit: str, experiment: str) -> bytes | None:  # noqa: ARG002
        return None

    def carried(self, commit: str, base: str, patch: bytes) -> bytes | None:  # noqa: ARG002
        return None

    def meanings(self, commit: str) -> None:  # noqa: ARG002
        return None

    def reaches_compilers(self, commit: str, patch: bytes) -> bool:  # noqa: ARG002
        """Each patch may."""
        return True

    def told(
        self,
        commit: str,  # noqa: ARG002
        patch: bytes,  # noqa: ARG002
        now: CurrentFacts,  # noqa: ARG002
        ask: Callable[[], tuple[Told, ...]],
        *,
        own_id: str,  # noqa: ARG002
    ) -> tuple[Told, ...]:
        return ask()

    def candidates(self, commit: str, candidate: Candidate) -> tuple[Record, ...]:
        wanted = {*keys_for(candidate)}
        ruled = [(record, record.rule) for record in self.ruled(commit) if record.rule is not None]
        return tuple(r for r, rule in ruled if rule.forbids or wanted & {*keys_of(rule, changed_codes(r).values())})

    def ruled(self, commit: str) -> tuple[Record, ...]:
        return tuple(record for record in self.library.records(commit) if record.rule or record.waivers)

    def holds(self, commit: str) -> dict[str, RuleConditions]:
        return {each.id: conditions_of(each) for each in self.ruled(commit) if each.rule is not None}

    def circumstances(self, commit: str, architectures: frozenset[str] | None = None) -> FakeCircumstances:
        assert commit in self.library.workspace.commits
        return self.now if architectures is None else dataclasses.replace(self.now, judges=architectures)
