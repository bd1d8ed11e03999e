"""Digests of every record of a commit, kept by the tree of its folder in the state folder, so that only new records are read.

The file is a cache: it may be deleted at any time, and one that is damaged or was made by other code is made again.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from expctl import adapters, domain
from expctl.adapters import durable
from expctl.adapters.digest_rows import Rows
from expctl.adapters.git_reader import GitReader
from expctl.adapters.library import EXPERIMENTS, GitLibrary
from expctl.adapters.record_codec import record_of
from expctl.domain.digest import Digest, digest_of
from expctl.domain.experiment import ID_PATTERN, Proposal, Verdict, id_order

# Most of a record's bytes, and nothing of them in its digest; but a rule may know a repeat by the artifacts' machine code.
NOT_NEEDED = frozenset(("profile", "notes", "test", "guard_tests", "procedure"))


def code() -> str:
    """Stands for what reads and reduces records (modules by name, size and time): other code may reduce otherwise."""
    modules = [each for room in (adapters, domain) for folder in room.__path__ for each in os.scandir(folder)]
    told = sorted((each.name, each.stat().st_size, each.stat().st_mtime_ns) for each in modules if each.name.endswith(".py"))
    return hashlib.sha256(repr(told).encode()).hexdigest()


class CachedDigests:
    """Reads commits of one repository; `file` holds what was reduced before."""

    def __init__(self, reader: GitReader, file: Path) -> None:
        self._git = reader
        self._file = file
        self._found: dict[str, tuple[Digest, ...]] = {}
        self._waiting: tuple[str, ...] = ()

    def all(self, commit: str) -> tuple[Digest, ...]:
        """One digest per record of `commit`, in the order of ids. Raises Refused on a record that is damaged."""
        if commit not in self._found:
            folders = self._folders(commit)
            rows = self._stored()
            known = {name: rows.digest(tree) for name, tree in folders.items() if tree in rows}
            missing = {name: f"{tree}:record.json" for name, tree in folders.items() if tree not in rows}
            texts = self._git.read_blobs(missing.values())
            for name, blob in missing.items():
                known[name] = self._digest(name, texts[blob]) if blob in texts else None
            if missing:
                self._store({folders[name]: digest for name, digest in known.items()})
            self._waiting = tuple(name for name, digest in known.items() if digest is None)
            self._found[commit] = tuple(
                sorted((each for each in known.values() if each is not None), key=lambda each: id_order(each.id))
            )
        return self._found[commit]

    def waiting(self, commit: str) -> tuple[str, ...]:
        """Ids of folders without a verdict about the idea, in their order."""
        found = {each.id for each in self.all(commit) if each.verdict is Verdict.INVALID}
        return tuple(sorted((*self._waiting, *found), key=id_order))

    def proposals(self, commit: str, ids: Sequence[str]) -> tuple[Proposal, ...]:
        """The proposals of these ids, but for folders that hold none."""
        return GitLibrary(self._git).some_proposals(commit, ids)

    def _folders(self, commit: str) -> Mapping[str, str]:
        """Experiment -> tree of its folder. A record changes with its folder, and there are four times as many files."""
        found = self._git.list_folders(commit, f"{EXPERIMENTS}/")
        return {name: tree for name, tree in found.items() if ID_PATTERN.fullmatch(name)}

    @staticmethod
    def _digest(name: str, text: bytes) -> Digest:
        without = NOT_NEEDED if b'\n "rule": {' in text else NOT_NEEDED | {"artifacts"}
        return digest_of(record_of(text, where=f"{EXPERIMENTS}/{name}/record.json", without=without))

    def _stored(self) -> Rows:
        try:
            plain = json.loads(self._file.read_bytes())
            return Rows(plain["rows"], plain["grounds"]) if plain["code"] == code() else Rows({}, [])
        except (OSError, ValueError, KeyError, TypeError):
            return Rows({}, [])

    def _store(self, digests: Mapping[str, Digest | None]) -> None:
        rows, grounds = Rows.of(digests)
        text = json.dumps({"code": code(), "grounds": grounds, "rows": rows}, separators=(",", ":"), ensure_ascii=False)
        try:
            durable.replace(self._file, text.encode(errors="surrogatepass"))
        except OSError:
            return  # a read-only repository has no cache and is read again next time
