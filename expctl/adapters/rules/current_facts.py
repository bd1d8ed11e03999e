"""Read from a commit and this machine the current facts that decide whether a do-not-repeat rule holds, each on first use.

What reads records is imported inside functions, because `rules check` mostly finds no rule and needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from expctl.domain.patch.code_lines import added_lines, code_lines
from expctl.domain.patch.identity import item_keys, shape_hash
from expctl.domain.patch.source_items import items_of
from expctl.domain.patch.unified_diff import parse_diff, texts_of
from expctl.domain.rules.current_facts import ARCHITECTURE, EPOCH

if TYPE_CHECKING:
    from expctl.adapters.git.reader import GitReader
    from expctl.adapters.records.repository_contents import GitLibrary
    from expctl.domain.experiment.proposal import Probe
    from expctl.domain.experiment.record import ChangedCondition
    from expctl.domain.history.comparability import Comparability
    from expctl.domain.protocol.model import Protocol
    from expctl.domain.rules.current_facts import ProbeAnswer

AskTool = Callable[[str], str]
AbsentTargets = Callable[["Protocol"], Collection[str]]
TryProbe = Callable[["Probe"], "ProbeAnswer"]


class RepositoryFacts:
    """The facts of one commit and this machine that decide whether do-not-repeat rules hold. `assumed` (name -> value, from the
    option --assume) replaces some of them. What of this machine would begin an epoch doesn't count for targets that are
    `absent` here: they are measured elsewhere.
    """

    def __init__(
        self,
        reader: GitReader,
        commit: str,
        *,
        library: Callable[[], GitLibrary],
        machine: Callable[[], Mapping[str, str]],
        tool: AskTool,
        probe: TryProbe,
        absent: AbsentTargets,
        judges: frozenset[str] | None = None,
        assumed: Mapping[str, str] | None = None,
    ) -> None:
        self._git = reader
        self._commit = commit
        self._read_library = library
        self._machine = machine
        self._tool = tool
        self._probe = probe
        self._absent = absent
        self.judges = judges
        self._assumed = assumed or {}
        self._texts: dict[str, str] = {}
        self._versions: dict[str, str] = {}
        self._keys: dict[str, frozenset[str]] = {}
        self._answers: dict[Probe, ProbeAnswer] = {}
        self._comparable: dict[str, Comparability] = {}

    def architectures(self) -> frozenset[str]:
        """Return the GPU architectures to consider: the assumed one, else `judges` (those to measure on), else all targets'."""
        return self._architectures

    @cached_property
    def _architectures(self) -> frozenset[str]:
        if ARCHITECTURE in self._assumed:
            return frozenset({self._assumed[ARCHITECTURE]})
        from expctl.domain.protocol.architectures import architectures

        return self.judges if self.judges is not None else architectures(self._protocol, tuple(self._protocol.targets))

    def version(self, tool: str) -> str:
        """Return the version of the compiler `tool` on this machine; empty if it isn't installed."""
        if tool not in self._versions:
            self._versions[tool] = self._assumed.get(tool) or self._tool(tool)
        return self._versions[tool]

    def epoch_changes(self, experiment: str) -> tuple[ChangedCondition, ...]:
        """Return the changes since `experiment` was measured (of harness, machine, tools, ...) that make figures incomparable.
        () if there are none, or if it was never measured.
        """
        from expctl.domain.experiment.record import ChangedCondition

        epoch = self._library.epoch_of(self._commit, experiment)
        if epoch is None:
            return ()
        if EPOCH in self._assumed:
            return (ChangedCondition(condition=EPOCH, was=epoch.name, now=self._assumed[EPOCH]),)
        return tuple(
            ChangedCondition(condition=EPOCH, was=f"{each.what} {each.short(each.before)}", now=each.short(each.after))
            for each in epoch.changes_to(self._comparability(epoch.target))
        )

    def item_keys(self, path: str) -> frozenset[str]:
        """Return a hash for each function or other top-level item of the file `path`; none if the commit lacks the file."""
        if path not in self._keys:
            self._keys[path] = item_keys(path, self._text(path))
        return self._keys[path]

    def shape(self, path: str) -> str:
        """Return a hash of the code in the file `path`, the same whatever its numeric constants are; empty without a file."""
        text = self._text(path)
        return shape_hash(items_of(path, text)) if text else ""

    def probe(self, probe: Probe) -> ProbeAnswer:
        """Return the result of a rule's probe (does its snippet compile here?), which is run at the first call only."""
        if probe not in self._answers:
            self._answers[probe] = self._probe(probe)
        return self._answers[probe]

    def standing_lines(self) -> tuple[str, ...]:
        """Return the lines of code, without comments, of all files that a patch may touch (the protocol's scope)."""
        return self._standing

    def own_lines(self, experiment: str) -> tuple[str, ...] | None:
        """Return the lines that an experiment's patch adds: all without comments, then all as written. None without a patch."""
        patch = self._git.read_file(self._commit, f"experiments/{experiment}/change.patch")
        texts = texts_of(parse_diff(patch), {}) if patch is not None else ()
        plain = (line for file in texts for line in added_lines(file.path, file.after, file.added))
        whole = (line for file in texts for at, line in enumerate(file.after.split("\n")) if at in file.added)
        return None if patch is None else (*plain, *whole)

    @cached_property
    def _standing(self) -> tuple[str, ...]:
        files = {
            path: blob for folder in self._protocol.scope for path, blob in self._git.list_files(self._commit, folder).items()
        }
        texts = self._git.read_blobs(files.values())
        return tuple(
            line
            for path, blob in sorted(files.items())
            for line in code_lines(path, texts.get(blob, b"").decode(errors="replace"))
        )

    @cached_property
    def _library(self) -> GitLibrary:
        return self._read_library()

    @cached_property
    def _protocol(self) -> Protocol:
        return self._library.protocol(self._commit)

    def _comparability(self, target: str) -> Comparability:
        if target not in self._comparable:
            from expctl.domain.history.comparability import Comparability

            known = target in self._protocol.targets
            machine = {} if target in self._absent(self._protocol) else self._machine()
            found = self._library.comparability(self._commit, self._protocol, target, machine) if known else None
            self._comparable[target] = found or Comparability()
        return self._comparable[target]

    def _text(self, path: str) -> str:
        if path not in self._texts:
            self._texts[path] = (self._git.read_file(self._commit, path) or b"").decode(errors="replace")
        return self._texts[path]
