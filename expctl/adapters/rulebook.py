"""The rules of a commit behind an index, so that one question reads a handful of records and not ten thousand.

The index is a SQLite file below the git directory that may be deleted at any time: for each record its blob, and the words
under which its rule is found. It belongs to one tree of `experiments/`; for another one only the records that differ are read.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path, PurePosixPath

from expctl.adapters.circumstances import AskTool, RepositoryCircumstances, TryProbe
from expctl.adapters.git_reader import GitReader
from expctl.adapters.library import EXPERIMENTS
from expctl.adapters.record_codec import record_of
from expctl.domain.change_identity import ChangeIdentity, identify
from expctl.domain.experiment import ID_PATTERN, id_order
from expctl.domain.record import Record
from expctl.domain.rules import FORBIDS, keys_of
from expctl.domain.unified_diff import parse_diff, texts_of

VERSION = 1
SCHEMA = """
create table tree (name text);
create table records (blob text primary key, id text, ruled integer);
create table keys (word text, blob text);
create index words on keys (word);
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

    def identity(self, commit: str, patch: bytes) -> ChangeIdentity:
        """What the patch is on `commit`; nothing for an empty one."""
        files = parse_diff(patch)
        names = {f"{commit}:{file.old}": file.old for file in files if file.old}
        blobs = self._git.read_blobs(names)
        contents = {names[name]: text.decode(errors="replace") for name, text in blobs.items()}
        return identify(texts_of(files, contents), patch_id=self._git.patch_identity(patch) if files else "")

    def candidates(self, commit: str, keys: Sequence[str]) -> tuple[Record, ...]:
        """The records whose rules have one of `keys` or a pattern: all that can match."""
        with closing(self._open(commit)) as index:
            marks = ",".join("?" * len(keys))
            found = {row[0] for row in index.execute(f"select blob from keys where word in ({marks})", list(keys))}  # noqa: S608
            found |= {
                row[0] for row in index.execute("select blob from keys where word >= ? and word < ?", (FORBIDS, "forbids;"))
            }
        return self._read(found)

    def ruled(self, commit: str) -> tuple[Record, ...]:
        """Every record with a rule, or with a waiver of one, in order of id."""
        with closing(self._open(commit)) as index:
            found = {row[0] for row in index.execute("select blob from records where ruled")}
        return self._read(found)

    def circumstances(self, commit: str, architectures: frozenset[str] | None = None) -> RepositoryCircumstances:
        """What is true now, of the commit and of this machine."""
        return RepositoryCircumstances(
            self._git, commit, tool=self._tool, probe=self._probe, judges=architectures, assumed=self._assumed
        )

    def _read(self, blobs: set[str]) -> tuple[Record, ...]:
        texts = self._git.read_blobs(sorted(blobs))
        records = [record_of(text, where=f"{EXPERIMENTS}, blob {blob[:12]}") for blob, text in texts.items()]
        return tuple(sorted(records, key=lambda record: id_order(record.id)))

    def _open(self, commit: str) -> sqlite3.Connection:
        """The index, brought to the tree of `commit`. A file that is none is thrown away."""
        tree = self._git.tree_of(commit, EXPERIMENTS)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        try:
            return self._current(tree, commit)
        except sqlite3.DatabaseError:
            self._file.unlink(missing_ok=True)
            return self._current(tree, commit)

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
        for blob, text in texts.items():
            words, ruled = _words(text, wanted[blob])
            index.execute("insert or replace into records values (?, ?, ?)", (blob, wanted[blob], ruled))
            index.executemany("insert into keys values (?, ?)", [(word, blob) for word in words])
        index.execute("delete from tree")
        index.execute("insert into tree values (?)", (tree,))
        index.execute("commit")


def _words(text: bytes, name: str) -> tuple[list[str], bool]:
    """The index words of a record, and whether it has a rule or a waiver. Most have neither and are not decoded."""
    if b'\n "rule": {' not in text and b'\n "waivers": [' not in text:
        return [], False
    record = record_of(text, where=f"{EXPERIMENTS}/{name}/record.json")
    return list(keys_of(record)), True


def _id_of(path: str) -> str:
    parts = PurePosixPath(path).parts
    return parts[1] if len(parts) == 3 and parts[2] == "record.json" and ID_PATTERN.fullmatch(parts[1]) else ""
