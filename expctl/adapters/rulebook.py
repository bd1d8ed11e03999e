"""The rules of a commit, found by the words that the index of records has of them, so that one question reads a handful."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING

from expctl.adapters import shelf
from expctl.adapters.circumstances import AskTool, RepositoryCircumstances, TryProbe
from expctl.adapters.record_codec import record_of
from expctl.adapters.reduction import EXPERIMENTS
from expctl.domain.change_identity import ChangeIdentity, identify
from expctl.domain.experiment import id_order
from expctl.domain.rules import Candidate, forbidden, keys_for
from expctl.domain.unified_diff import parse_diff, texts_of

if TYPE_CHECKING:
    from expctl.adapters.git_reader import GitReader
    from expctl.adapters.record_index import RecordIndex
    from expctl.domain.record import Record


class GitRulebook:
    """Rules as they stand in commits of one repository. `assumed` are circumstances to suppose (circumstances.py)."""

    def __init__(
        self, reader: GitReader, index: RecordIndex, *, tool: AskTool, probe: TryProbe, assumed: Mapping[str, str] | None = None
    ) -> None:
        self._git = reader
        self._index = index
        self._tool = tool
        self._probe = probe
        self._assumed = assumed

    def identity(self, commit: str, patch: bytes) -> ChangeIdentity:
        """What the patch is on `commit`; nothing for an empty one."""
        files = parse_diff(patch)
        names = {f"{commit}:{file.old}": file.old for file in files if file.old}
        blobs = self._git.read_blobs(names)
        contents = {names[name]: text.decode(errors="replace") for name, text in blobs.items()}
        return identify(texts_of(files, contents), patch_id=self._git.patch_identity(patch) if files else "")

    def candidates(self, commit: str, candidate: Candidate) -> tuple[Record, ...]:
        """The records whose rules share a word with the candidate, or have a pattern that one of its added lines matches."""
        keys, added = keys_for(candidate), candidate.identity.added

        def search(index: sqlite3.Connection) -> set[str]:
            found = {name for key in keys for name in shelf.named(index, key)}
            matching = [pattern for pattern in shelf.patterns(index) if forbidden(pattern, added)]
            return found | {name for pattern in matching for name in shelf.forbidding(index, pattern)}

        return self._read(commit, self._index.ask(commit, search))

    def ruled(self, commit: str) -> tuple[Record, ...]:
        """Every record with a rule, or with a waiver of one, in order of id."""
        return self._read(commit, set(self._index.ask(commit, shelf.ruled)))

    def circumstances(self, commit: str, architectures: frozenset[str] | None = None) -> RepositoryCircumstances:
        """What is true now, of the commit and of this machine."""
        return RepositoryCircumstances(
            self._git, commit, tool=self._tool, probe=self._probe, judges=architectures, assumed=self._assumed
        )

    def _read(self, commit: str, ids: set[str]) -> tuple[Record, ...]:
        names = {f"{commit}:{EXPERIMENTS}/{name}/record.json": name for name in sorted(ids, key=id_order)}
        return tuple(
            record_of(text, where=f"{EXPERIMENTS}/{names[path]}/record.json")
            for path, text in self._git.read_blobs(names).items()
        )
