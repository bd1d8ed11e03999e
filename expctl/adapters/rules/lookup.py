"""Look up do-not-repeat rules by their hashes in the index of records, so that only the records that may match are read.

Most modules are imported inside functions, because `rules check` has to be quick where an answer is kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from expctl.adapters.index.stamp import code_stamp
from expctl.domain.errors import Refused
from expctl.domain.rules.current_facts import COMPILERS

if TYPE_CHECKING:
    import sqlite3

    from expctl.adapters.git.reader import GitReader
    from expctl.adapters.index.record_index import RecordIndex
    from expctl.adapters.records.repository_contents import GitLibrary
    from expctl.adapters.rules.current_facts import AbsentTargets, AskTool, RepositoryFacts, TryProbe
    from expctl.adapters.rules.kept_answers import KeptAnswers
    from expctl.domain.experiment.record import Record
    from expctl.domain.patch.identity import ChangeIdentity
    from expctl.domain.patch.unified_diff import FileDiff, FileTexts
    from expctl.domain.protocol.model import Protocol
    from expctl.domain.rules.current_facts import CurrentFacts
    from expctl.domain.rules.matching import Candidate
    from expctl.domain.rules.open_conditions import RuleConditions
    from expctl.domain.rules.told import Answer, Told
    from expctl.ports.rules import Meanings

PROTOCOL = "protocol.yaml"
FAULTS_MAX = 10
RULED = "select name from live where ruled"
NAMED = "select name from live join words using (key) where word = ?"
PATTERNS = "select distinct pattern from live join patterns using (key)"
HELD = "select name, text from live join holds using (key) order by number, name"
FORBIDDING = "select name from live join patterns using (key) where pattern = ?"


class RuleLookup:
    """Looks up do-not-repeat rules in commits of one repository. `machine` returns the facts of this machine that a record
    stores, `absent` which targets of a protocol it can't measure, `compilers` what compiles for the targets of a protocol,
    `answers` keep what they told and all that is told of a patch, for as long as `installed` says the same of each compiler,
    and `code` of expctl; `assumed` (name -> value) replaces current facts.
    """

    def __init__(
        self,
        reader: GitReader,
        index: RecordIndex,
        *,
        tool: AskTool,
        probe: TryProbe,
        compilers: Callable[[Protocol], Meanings] | None = None,
        machine: Callable[[], Mapping[str, str]] = dict,
        absent: AbsentTargets = lambda _: (),
        assumed: Mapping[str, str] | None = None,
        answers: KeptAnswers | None = None,
        installed: AskTool | None = None,
        code: Callable[[], str] = code_stamp,
    ) -> None:
        self._git = reader
        self._index = index
        self._tool = tool
        self._probe = probe
        self._compilers = compilers
        self._machine = machine
        self._absent = absent
        self._assumed = assumed
        self._answers = answers
        self._installed = cache(installed or tool)
        self._code = code
        self._meanings: dict[str, Meanings] = {}
        self._last: tuple[str, bytes, tuple[FileTexts, ...]] | None = None

    def identity(self, commit: str, patch: bytes) -> ChangeIdentity:
        """Return the hashes and added lines by which rules recognise `patch` on `commit`; all empty for an empty patch."""
        from expctl.domain.patch.identity import identify

        texts = self._texts(commit, patch)
        return identify(texts, patch_id=self._git.patch_identity(patch) if texts else "")

    def misfits(self, commit: str, patch: bytes) -> tuple[str, ...] | None:
        """Return the files of `commit` that `patch` doesn't apply to; None if the patch changes no line. Raises Refused if the
        patch is malformed.
        """
        texts = self._texts(commit, patch)
        changes = any(text.before != text.after for text in texts)
        return tuple(text.path for text in texts if not text.whole) if changes else None

    def _texts(self, commit: str, patch: bytes) -> tuple[FileTexts, ...]:
        if self._last is None or self._last[:2] != (commit, patch):
            from expctl.domain.patch.unified_diff import parse_diff, texts_of

            files = parse_diff(patch)
            _check_whole(files)
            names = {f"{commit}:{file.old}": file.old for file in files if file.old}
            self._git.read_ahead((*names, f"{commit}:{PROTOCOL}"))  # a matching rule needs the protocol next
            blobs = self._git.read_blobs(names)
            contents = {names[name]: text.decode(errors="replace") for name, text in blobs.items()}
            self._last = (commit, patch, texts_of(files, contents))
        return self._last[2]

    def reaches_compilers(self, commit: str, patch: bytes) -> bool:
        """Does `patch` change a file that a target of `commit` may be compiled from? If not, no compiler has to be asked."""
        from expctl.adapters.rules.version_files import changes_below, source_folders

        return changes_below(source_folders(self._library().protocol(commit)), patch)

    def told(
        self, commit: str, patch: bytes, now: CurrentFacts, ask: Callable[[], tuple[Told, ...]], *, own_id: str
    ) -> tuple[Told, ...]:
        """Return what compilers tell of `patch` on `commit`; `ask` them unless that is kept, by the same code and compilers, on
        the same machine.
        """
        if self._answers is None:
            return ask()
        judges = None if now.judges is None else sorted(now.judges)  # None: those of the commit
        return self._answers.told(self._question(commit, patch, judges, own_id), ask)

    def kept(self, commit: str, patch: bytes) -> Answer | None:
        """Return all that was told of `patch` on `commit`, if it is kept: by the same code, compilers and machine."""
        return self._answers.whole(self._whole(commit, patch)) if self._answers is not None else None

    def keep(self, commit: str, patch: bytes, answer: Answer) -> None:
        """Keep all that is told of `patch` on `commit`, without a precondition, if it lasts."""
        if self._answers is not None and answer.lasts:
            self._answers.keep_whole(self._whole(commit, patch), answer)

    def _whole(self, commit: str, patch: bytes) -> tuple[object, ...]:
        return ("the whole answer", *self._question(commit, patch, None, ""))

    def _question(self, commit: str, patch: bytes, judges: Sequence[str] | None, own_id: str) -> tuple[object, ...]:
        compilers = {name: self._installed(name) for name in COMPILERS}
        asked = (self._code(), commit, hashlib.sha256(patch).hexdigest(), own_id, judges, compilers, self._assumed)
        return (*asked, dict(self._machine()))

    def candidates(self, commit: str, candidate: Candidate) -> tuple[Record, ...]:
        """Return the records whose rule may match `candidate`: by an equal hash, or an added line that matches a pattern."""
        from expctl.domain.patch.patterns import forbidden
        from expctl.domain.rules.matching import keys_for

        keys, added = keys_for(candidate), candidate.identity.added

        def search(index: sqlite3.Connection) -> set[str]:
            found = {name for key in keys for (name,) in index.execute(NAMED, (key,))}
            matching = [pattern for (pattern,) in index.execute(PATTERNS) if forbidden(pattern, added)]
            return found | {name for pattern in matching for (name,) in index.execute(FORBIDDING, (pattern,))}

        return self._read(commit, self._index.ask(commit, search))

    def ruled(self, commit: str) -> tuple[Record, ...]:
        """Return every record that has a do-not-repeat rule or waives one, in order of id."""
        return self._read(commit, self._index.ask(commit, lambda index: [name for (name,) in index.execute(RULED)]))

    def rejected_patch(self, commit: str, experiment: str) -> bytes | None:
        """Return the patch of an experiment; None if it has none."""
        return self._git.read_file(commit, f"experiments/{experiment}/change.patch")

    def carried(self, commit: str, base: str, patch: bytes) -> bytes | None:
        """Return the patch that changes `commit` as `patch` changes `base`, by a three-way merge; None where there is none."""
        from expctl.adapters.rules.carried import carried

        return carried(self._git, commit, base, patch)

    def meanings(self, commit: str) -> Meanings | None:
        """Return what compiles versions of the sources by the protocol of `commit`; None if nothing does."""
        if commit not in self._meanings and self._compilers is not None:
            self._meanings = {commit: self._compilers(self._library().protocol(commit))}  # of one commit: each keeps a folder
        return self._meanings.get(commit)

    def holds(self, commit: str) -> Mapping[str, RuleConditions]:
        """Return experiment -> the conditions that would reopen its rule, for all experiments with a rule, in order of id."""
        from expctl.domain.rules.open_conditions import RuleConditions

        rows = self._index.ask(commit, lambda index: index.execute(HELD).fetchall())
        return {name: msgspec.json.decode(text, type=RuleConditions) for name, text in rows}

    def circumstances(self, commit: str, architectures: frozenset[str] | None = None) -> RepositoryFacts:
        """Return the facts of `commit` and this machine that decide whether rules hold, for `architectures` (None: all)."""
        from expctl.adapters.rules.current_facts import RepositoryFacts

        return RepositoryFacts(
            self._git,
            commit,
            library=self._library,
            machine=self._machine,
            tool=self._tool,
            probe=self._probe,
            absent=self._absent,
            judges=architectures,
            assumed=self._assumed,
        )

    def _read(self, commit: str, ids: Iterable[str]) -> tuple[Record, ...]:
        if not ids:
            return ()
        from expctl.domain.experiment.ids import id_order

        found = self._library().some_records(commit, ids)
        return tuple(found[name] for name in sorted(found, key=id_order))

    def _library(self) -> GitLibrary:
        from expctl.adapters.records.repository_contents import GitLibrary

        return GitLibrary(self._git, self._index)


def _check_whole(files: tuple[FileDiff, ...]) -> None:
    from expctl.domain.patch.unified_diff import diff_faults
    from expctl.domain.text import one_line

    faults = diff_faults(files)
    if faults:
        raise Refused(
            "git can't apply this patch to any commit",
            code="patch-not-whole",
            expected="a complete unified diff of files inside the repository",
            found="\n".join(one_line(fault) for fault in faults[:FAULTS_MAX]),
            where="the patch",
            hint="git diff > my.patch, in the root of the repository, makes one",
        )
