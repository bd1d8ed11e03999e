"""Digests of every record of a commit, kept by blob id in the state folder, so that only new records are read.

The file is a cache: it may be deleted at any time, and one that is damaged or of another version is made again.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from expctl.adapters import durable
from expctl.adapters.digest_rows import VERSION, Rows
from expctl.adapters.git_reader import GitReader
from expctl.adapters.library import EXPERIMENTS, GitLibrary
from expctl.adapters.record_codec import record_of
from expctl.domain.digest import Digest, digest_of
from expctl.domain.experiment import ID_PATTERN, Proposal, Verdict, id_order


class CachedDigests:
    """Reads commits of one repository; `file` holds what was reduced before."""

    def __init__(self, reader: GitReader, file: Path) -> None:
        self._git = reader
        self._file = file
        self._listings: dict[str, Mapping[str, Mapping[str, str]]] = {}
        self._found: dict[str, tuple[Digest, ...]] = {}

    def all(self, commit: str) -> tuple[Digest, ...]:
        """One digest per record of `commit`, in the order of ids. Raises Refused on a record that is damaged."""
        if commit not in self._found:
            blobs = {files["record.json"]: name for name, files in self._folders(commit).items() if "record.json" in files}
            rows = self._stored()
            known = {blob: rows.digest(blob) for blob in blobs if blob in rows}
            missing = [blob for blob in blobs if blob not in known]
            for blob, text in self._git.read_blobs(missing).items():
                known[blob] = digest_of(record_of(text, where=f"{EXPERIMENTS}/{blobs[blob]}/record.json"))
            if missing:
                self._store(known)
            self._found[commit] = tuple(sorted(known.values(), key=lambda digest: id_order(digest.id)))
        return self._found[commit]

    def waiting(self, commit: str) -> tuple[str, ...]:
        """Ids of proposals without a verdict about the idea, in their order."""
        done = {each.id for each in self.all(commit) if each.verdict is not Verdict.INVALID}
        found = (name for name, files in self._folders(commit).items() if "experiment.yaml" in files and name not in done)
        return tuple(sorted(found, key=id_order))

    def proposals(self, commit: str, ids: Sequence[str]) -> tuple[Proposal, ...]:
        """The proposals of these ids."""
        return GitLibrary(self._git).some_proposals(commit, ids)

    def _folders(self, commit: str) -> Mapping[str, Mapping[str, str]]:
        """Experiment -> file name -> blob."""
        if commit not in self._listings:
            found: dict[str, dict[str, str]] = {}
            for path, blob in self._git.list_files(commit, f"{EXPERIMENTS}/").items():
                parts = path.split("/")
                if len(parts) == 3:
                    found.setdefault(parts[1], {})[parts[2]] = blob
            self._listings[commit] = {name: files for name, files in found.items() if ID_PATTERN.fullmatch(name)}
        return self._listings[commit]

    def _stored(self) -> Rows:
        try:
            plain = json.loads(self._file.read_bytes())
            return Rows(plain["rows"], plain["grounds"]) if plain["version"] == VERSION else Rows({}, [])
        except (OSError, ValueError, KeyError, TypeError):
            return Rows({}, [])

    def _store(self, digests: Mapping[str, Digest]) -> None:
        rows, grounds = Rows.of(digests)
        text = json.dumps({"version": VERSION, "grounds": grounds, "rows": rows}, separators=(",", ":"), ensure_ascii=False)
        try:
            durable.replace(self._file, text.encode(errors="surrogatepass"))
        except OSError:
            return  # a read-only repository has no cache and is read again next time
