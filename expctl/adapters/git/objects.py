"""Read objects of a git repository, as many as are wanted by one call of `git cat-file`; what was read ahead is kept."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from expctl.adapters.git.command import run_git
from expctl.domain.errors import Refused


class GitObjects:
    """Reads blobs and trees of the repository whose work tree is `root`; `foreign` as for a Place."""

    def __init__(self, root: Path, *, foreign: bool = False) -> None:
        self._where, self._foreign = root, foreign
        self._ahead: dict[str, bytes | None] = {}
        self._folders: dict[str, bytes] = {}
        """COMMIT:FOLDER or the id of a tree -> its bytes, of those that were read."""

    def read_blobs(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """Return key -> contents for each of `blobs`, a blob id or `commit:path`; missing ones are left out. Calls git once."""
        wanted = dict.fromkeys(blobs)
        known = {name: text for name in wanted if (text := self._ahead.get(name)) is not None}
        names = [name for name in wanted if name not in self._ahead]
        return known | (self._read(names, b"blob") if names else {})

    def read_ahead(self, blobs: Iterable[str], folders: Sequence[str] = ()) -> None:
        """Read `blobs` (COMMIT:PATH or TREE:PATH, ids in full) and the git trees of `folders` (COMMIT:PATH) by one git process,
        so that later `read_blobs` and `trees` need none.
        """
        wanted = [name for name in dict.fromkeys(blobs) if name not in self._ahead]
        asked = [name for name in folders if name not in self._folders]
        found = self._objects([*wanted, *asked]) if wanted or asked else {}
        texts = _of_kind(found, b"blob")
        self._ahead |= {name: texts.get(name) for name in wanted}  # an absent one isn't asked for again
        self._folders |= {name: tree for name, tree in _of_kind(found, b"tree").items() if name in asked}

    def trees(self, commit: str, folders: Iterable[str]) -> dict[str, bytes]:
        """Return folder ("": the root) -> the bytes of its git tree, for those of `folders` that are in `commit`, a full id.
        Calls git at most once.
        """
        names = {folder: f"{commit}:{folder}" for folder in folders}
        asked = [name for folder, name in names.items() if name not in self._folders and not self._is_absent(commit, folder)]
        self._folders |= self._read(asked, b"tree") if asked else {}
        return {folder: self._folders[name] for folder, name in names.items() if name in self._folders}

    def _is_absent(self, commit: str, folder: str) -> bool:
        """Is it known, from a tree that was read, that `commit` has no such folder?"""
        above, _, name = folder.strip("/").rpartition("/")
        tree = self._folders.get(f"{commit}:{above}")
        if tree is None or not folder:
            return bool(above) and self._is_absent(commit, above)
        return f"40000 {name}\0".encode(errors="surrogateescape") not in tree

    def check_absent(self, trees: Sequence[str], name: str) -> None:
        """Raise Refused if one of `trees` has a file `name`: git calls a lost blob missing, as it does a file that was
        never there.
        """
        asked = [tree for tree in trees if tree not in self._folders]
        found = self._folders | (self._read(asked, b"tree") if asked else {})
        for tree in trees:
            if f" {name}\0".encode() in found.get(tree, f" {name}\0".encode()):
                raise lost_object(f"{tree}:{name}", str(self._where))

    def _read(self, names: Sequence[str], kind: bytes) -> dict[str, bytes]:
        return _of_kind(self._objects(names), kind)

    def _objects(self, names: Sequence[str]) -> dict[str, tuple[bytes, bytes]]:
        """Return name -> kind and contents of the objects that git has."""
        with open(os.memfd_create("names"), "w+b") as wanted:
            wanted.write("".join(f"{name}\n" for name in names).encode())
            wanted.seek(0)
            answer = run_git(self._where, ["cat-file", "--batch", "--buffer"], wanted, user_config=self._foreign)
        return dict(_batch(answer.stdout, names))

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


def _of_kind(objects: Mapping[str, tuple[bytes, bytes]], kind: bytes) -> dict[str, bytes]:
    return {name: contents for name, (found, contents) in objects.items() if found == kind}


def _batch(output: bytes, names: Sequence[str]) -> Iterable[tuple[str, tuple[bytes, bytes]]]:
    # An entry of `git cat-file --batch` is `oid type size LF contents LF`, or `name missing LF`.
    position = 0
    for name in names:
        end = output.index(b"\n", position)
        words = output[position:end].rsplit(b" ", 2)
        position = end + 1
        if words[-1] in (b"missing", b"ambiguous"):
            continue
        size = int(words[-1])
        yield name, (words[-2], output[position : position + size])
        position += size + 1
