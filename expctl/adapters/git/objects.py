"""Read objects of a git repository, as many as are wanted by one call of `git cat-file`; what was read ahead is kept."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from expctl.adapters.git.command import run_git
from expctl.adapters.git.known_objects import KnownObjects, Tree, entries_of
from expctl.domain.errors import Refused


class GitObjects:
    """Reads blobs and trees of the repository whose work tree is `root`, but what is in `known`; `foreign` as for a Place."""

    def __init__(self, root: Path, *, foreign: bool = False, known: KnownObjects | None = None) -> None:
        self._where, self._foreign = root, foreign
        self.known = known or KnownObjects()

    def read_blobs(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """Return key -> contents for each of `blobs`, a blob id or `commit:path`; missing ones are left out. Calls git once."""
        return self._read(blobs, b"blob")

    def read_ahead(self, names: Iterable[str]) -> None:
        """Read the objects `names` (COMMIT:PATH or TREE:PATH, ids in full) now, by one git process."""
        self._objects(names, keep=True)

    def folders(self, commit: str, paths: Iterable[str]) -> dict[str, Tree]:
        """Return folder ("": the root) -> name -> entry, for those folders of `paths` that are in `commit`, a full id."""
        found = self._read((f"{commit}:{path}" for path in paths), b"tree", keep=True)
        known = {name: self.known.entries(self.known.id_of(name) or "") for name in found}
        return {name.partition(":")[2]: known[name] or entries_of(tree, commit) for name, tree in found.items()}

    def check_absent(self, trees: Sequence[str], name: str) -> None:
        """Raise Refused if one of `trees` has a file `name`: git calls a lost blob missing, as it does a file that was
        never there.
        """
        found = self._read(trees, b"tree")
        for tree in trees:
            if f" {name}\0".encode() in found.get(tree, f" {name}\0".encode()):
                raise lost_object(f"{tree}:{name}", str(self._where))

    def _read(self, names: Iterable[str], kind: bytes, *, keep: bool = False) -> dict[str, bytes]:
        return {name: contents for name, (found, contents) in self._objects(names, keep=keep).items() if found == kind}

    def _objects(self, names: Iterable[str], *, keep: bool) -> dict[str, tuple[bytes, bytes]]:
        """Return name -> kind and contents of the objects that git has; `keep` those that it had to be asked for."""
        found, asked = {}, []
        for name in dict.fromkeys(names):
            known_as = self.known.id_of(name)
            if (known := self.known.get(known_as or "")) is not None:
                found[name] = known
            elif known_as != "":
                asked.append(name)
        return found | (self._ask_for(asked, keep=keep) if asked else {})

    def _ask_for(self, names: Sequence[str], *, keep: bool) -> dict[str, tuple[bytes, bytes]]:
        with open(os.memfd_create("names"), "w+b") as wanted:
            wanted.write("".join(f"{name}\n" for name in names).encode())
            wanted.seek(0)
            answer = run_git(self._where, ["cat-file", "--batch", "--buffer"], wanted, user_config=self._foreign)
        found = {}
        for name, object_id, kind, contents in _batch(answer.stdout, names):
            if object_id:
                found[name] = (kind, contents)
                if keep:
                    self.known.keep(object_id, kind, contents)
            if object_id or self.known.id_of(name) is None:  # a blob that a tree has, and git has lost, may come back
                self.known.name(name, object_id)
        return found

    def read_file(self, commit: str, path: str) -> bytes | None:
        """Return the contents of one file of a commit; None if it doesn't exist."""
        return self.read_blobs([f"{commit}:{path}"]).get(f"{commit}:{path}")


def lost_object(name: str, where: str) -> Refused:
    """Return the error for an object that a commit names and git has lost."""
    return Refused(
        "git has lost an object of this repository",
        code="git-object-lost",
        expected="every file that HEAD names",
        found=f"{name} is missing",
        where=where,
        hint="git fsck lists what is missing; git fetch --refetch from a clone that has it brings it back",
    )


def _batch(output: bytes, names: Sequence[str]) -> Iterable[tuple[str, str, bytes, bytes]]:
    """Yield name, id, kind and contents of each object; no id for one that is missing."""
    # An entry of `git cat-file --batch` is `oid type size LF contents LF`, or `name missing LF`.
    position = 0
    for name in names:
        end = output.index(b"\n", position)
        words = output[position:end].rsplit(b" ", 2)
        position = end + 1
        if words[-1] in (b"missing", b"ambiguous"):
            yield name, "", b"", b""
            continue
        size = int(words[-1])
        yield name, words[0].decode(), words[1], output[position : position + size]
        position += size + 1
