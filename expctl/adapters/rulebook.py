"""The rules of a commit behind an index, so that one question reads a handful of records and not ten thousand.

The index is a SQLite file below the git directory that may be deleted at any time: for each record its blob, and the words
under which its rule is found. It belongs to one tree of `experiments/`; for another one only the records that differ are read.
"""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path, PurePosixPath

from expctl.adapters.circumstances import AskTool, RepositoryCircumstances, TryProbe
from expctl.adapters.git_reader import GitReader
from expctl.adapters.library import EXPERIMENTS
from expctl.adapters.record_codec import record_of, ruled_of
from expctl.domain.change_identity import ChangeIdentity, identify
from expctl.domain.errors import Refused
from expctl.domain.experiment import ID_PATTERN, id_order
from expctl.domain.record import Record
from expctl.domain.rules import Candidate, forbidden, keys_for, keys_of
from expctl.domain.unified_diff import FileTexts, parse_diff, texts_of

VERSION = 2
SCHEMA = """
create table tree (name text);
create table records (blob text primary key, id text, ruled integer);
create table keys (word text, blob text);
create index words on keys (word);
create table patterns (pattern text, blob text);
"""


class GitRulebook:
    """Rules as they stand in commits of one repository. `assumed` are circumstances to suppose (circumstances.py)."""

    def __init__(
        self, reader: GitReader, state: Path, *, tool: AskTool, probe: TryProbe, assumed: Mapping[str, str] | None = None
    ) -> None:
        self._git = reader
        self._file = state / f"rules-{VERSION}.sqlite"
        self._tool = tool
        self._probe = probe
        self._assumed = assumed
        self._last: tuple[str, bytes, tuple[FileTexts, ...]] | None = None

    def identity(self, commit: str, patch: bytes) -> ChangeIdentity:
        """What the patch is on `commit`; nothing for an empty one."""
        texts = self._texts(commit, patch)
        return identify(texts, patch_id=self._git.patch_identity(patch) if texts else "")

    def misfits(self, commit: str, patch: bytes) -> tuple[str, ...] | None:
        """The files that `patch` doesn't fit as they are in `commit`; None when it changes no line of any file."""
        texts = self._texts(commit, patch)
        changes = any(text.before != text.after for text in texts)
        return tuple(text.path for text in texts if not text.whole) if changes else None

    def _texts(self, commit: str, patch: bytes) -> tuple[FileTexts, ...]:
        if self._last is None or self._last[:2] != (commit, patch):
            files = parse_diff(patch)
            names = {f"{commit}:{file.old}": file.old for file in files if file.old}
            blobs = self._git.read_blobs(names)
            contents = {names[name]: text.decode(errors="replace") for name, text in blobs.items()}
            self._last = (commit, patch, texts_of(files, contents))
        return self._last[2]

    def candidates(self, commit: str, candidate: Candidate) -> tuple[Record, ...]:
        """The records whose rules share a word with the candidate, or have a pattern that one of its added lines matches."""
        keys, added = keys_for(candidate), candidate.identity.added

        def search(index: sqlite3.Connection) -> set[str]:
            marks = ",".join("?" * len(keys))
            found = {row[0] for row in index.execute(f"select blob from keys where word in ({marks})", keys)}  # noqa: S608
            for (pattern,) in index.execute("select distinct pattern from patterns").fetchall():
                if forbidden(pattern, added):
                    found |= {row[0] for row in index.execute("select blob from patterns where pattern = ?", (pattern,))}
            return found

        return self._read(self._ask(commit, search))

    def ruled(self, commit: str) -> tuple[Record, ...]:
        """Every record with a rule, or with a waiver of one, in order of id."""
        return self._read(
            self._ask(commit, lambda index: {row[0] for row in index.execute("select blob from records where ruled")})
        )

    def circumstances(self, commit: str, architectures: frozenset[str] | None = None) -> RepositoryCircumstances:
        """What is true now, of the commit and of this machine."""
        return RepositoryCircumstances(
            self._git, commit, tool=self._tool, probe=self._probe, judges=architectures, assumed=self._assumed
        )

    def _read(self, blobs: set[str]) -> tuple[Record, ...]:
        texts = self._git.read_blobs(sorted(blobs))
        records = [self._record(blob, text) for blob, text in texts.items()]
        return tuple(sorted(records, key=lambda record: id_order(record.id)))

    def _record(self, blob: str, text: bytes) -> Record:
        """Raises Refused naming the file in the tree that was asked last."""
        try:
            return record_of(text, where=EXPERIMENTS)
        except Refused:
            with closing(sqlite3.connect(self._file)) as index:
                (name,) = index.execute("select id from records where blob = ?", (blob,)).fetchone()
            return record_of(text, where=f"{EXPERIMENTS}/{name}/record.json")

    def _ask(self, commit: str, question: Callable[[sqlite3.Connection], set[str]]) -> set[str]:
        """Blobs from the index, brought to the tree of `commit`. A file that is none, or half of one, is made anew."""
        tree = self._git.tree_of(commit, EXPERIMENTS)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with closing(self._current(tree, commit)) as index:
                return question(index)
        except sqlite3.DatabaseError:
            self._file.unlink(missing_ok=True)
        with closing(self._current(tree, commit)) as index:
            return question(index)

    def _current(self, tree: str, commit: str) -> sqlite3.Connection:
        index = sqlite3.connect(self._file, isolation_level=None)
        try:
            if not index.execute("select 1 from sqlite_master where name = 'tree'").fetchone():
                index.executescript(SCHEMA)
            if index.execute("select name from tree").fetchall() != [(tree,)]:
                self._update(index, tree, commit)
        except BaseException:
            index.close()
            raise
        return index

    def _update(self, index: sqlite3.Connection, tree: str, commit: str) -> None:
        listing = self._git.list_files(commit, f"{EXPERIMENTS}/") if tree else {}
        wanted = {blob: name for path, blob in listing.items() if (name := _id_of(path))}
        known = {row[0] for row in index.execute("select blob from records")}
        texts = self._git.read_blobs(blob for blob in wanted if blob not in known)
        index.execute("begin immediate")
        for blob in known - wanted.keys():
            index.execute("delete from records where blob = ?", (blob,))
            index.execute("delete from keys where blob = ?", (blob,))
            index.execute("delete from patterns where blob = ?", (blob,))
        for blob, text in texts.items():
            name = wanted[blob]
            words, patterns, ruled = _entries(text, where=f"{EXPERIMENTS}/{name}/record.json")
            index.execute("insert or replace into records values (?, ?, ?)", (blob, name, ruled))
            index.executemany("insert into keys values (?, ?)", [(word, blob) for word in words])
            index.executemany("insert into patterns values (?, ?)", [(pattern, blob) for pattern in patterns])
        index.execute("delete from tree")
        index.execute("insert into tree values (?)", (tree,))
        index.execute("commit")


def _entries(text: bytes, *, where: str) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """The index words and patterns of a record, and whether it has a rule or a waiver; of the rest of it nothing is decoded."""
    if b'\n "rule": {' not in text and b'\n "waivers": [' not in text:
        return (), (), False
    part = ruled_of(text, where=where)
    if part.rule is None:
        return (), (), True
    return tuple(keys_of(part.rule, part.codes)), part.rule.forbids, True


def _id_of(path: str) -> str:
    parts = PurePosixPath(path).parts
    return parts[1] if len(parts) == 3 and parts[2] == "record.json" and ID_PATTERN.fullmatch(parts[1]) else ""
