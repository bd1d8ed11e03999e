"""Read objects of a git repository: few by the process that stays, many by a call of its own; what was read ahead is kept."""

import os
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path, PurePosixPath

from expctl.adapters.git.command import run_git
from expctl.adapters.git.known_objects import FOLDER, ID, SUBMODULE, Entry, KnownObjects, Tree, entries_of, line
from expctl.adapters.git.object_server import Answer, ObjectServer, read_answer
from expctl.domain.errors import Refused

LISTED_MAX = 200  # entries that are listed here; git lists many more quickly
ATTRIBUTES = ".gitattributes"


class GitObjects:
    """Reads blobs and trees of the repository whose work tree is `root`, but what is in `known`; `foreign` as for a Place."""

    def __init__(
        self, root: Path, *, foreign: bool = False, known: KnownObjects | None = None, server: ObjectServer | None = None
    ) -> None:
        self.where, self._foreign = root, foreign
        self.known = known or KnownObjects()
        self.server = server or ObjectServer(root, foreign=foreign)

    def read_blobs(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """Return key -> contents for each of `blobs`, a blob id or `commit:path`; those that aren't there are left out. Raises
        Refused if the commit has the path, and git has lost the blob or can't read it.
        """
        names = tuple(blobs)
        found = self._objects(names, keep=False)
        self._check_absent([name for name in names if name not in found])
        return {name: contents for name, (kind, contents) in found.items() if kind == b"blob"}

    def read_ahead(self, names: Iterable[str]) -> None:
        """Read the objects `names` (COMMIT:PATH or TREE:PATH, ids in full) now, by one git process."""
        self._objects(names, keep=True)

    def tree(self, name: str) -> Tree | None:
        """Return name -> entry of the tree to which `name` leads: an id in full, or COMMIT:PATH. None if git has none there."""
        found = self._read([name], b"tree", keep=True).get(name)
        if found is None:
            return None
        known = self.known.id_of(name) or ""
        return self.known.entries(known) or entries_of(found, name.partition(":")[0])

    def folders(self, commit: str, paths: Iterable[str]) -> dict[str, Tree]:
        """Return folder ("": the root) -> name -> entry, for those folders of `paths` that are in `commit`, a full id."""
        found = self._read((f"{commit}:{path}" for path in paths), b"tree", keep=True)
        known = {name: self.known.entries(self.known.id_of(name) or "") for name in found}
        return {name.partition(":")[2]: known[name] or entries_of(tree, commit) for name, tree in found.items()}

    def entries_at(self, commit: str, paths: Iterable[str]) -> list[Entry | None] | None:
        """Return what `commit`, a full id, has at each of `paths`: None for nothing. Returns None if it isn't sure: git has
        lost the commit or a folder, or a path isn't written as git writes it.
        """
        wanted = [PurePosixPath(path).parts for path in paths]
        if any(not parts or parts[0] == "/" or {".", ".."} & {*parts} for parts in wanted):
            return None
        above = {"/".join(parts[:end]) for parts in wanted for end in range(len(parts))}
        trees = self.folders(commit, sorted(above))
        found: list[Entry | None] = []
        for parts in wanted:
            entry: Entry | None = Entry(FOLDER, b"")
            for end, part in enumerate(parts):
                if entry is None or entry.mode != FOLDER:
                    entry = None
                    break
                folder = trees.get("/".join(parts[:end]))
                if folder is None:
                    return None
                entry = folder.get(os.fsencode(part))
            found.append(entry)
        return found

    def attributes_above(self, commit: str, paths: Iterable[str]) -> dict[str, Entry] | None:
        """Return path -> entry of each .gitattributes of `commit`, a full id, that may say something of files at `paths`. None
        as for `entries_at`.
        """
        named = sorted({str(folder / ATTRIBUTES) for path in paths for folder in PurePosixPath(path).parents})
        found = self.entries_at(commit, named)
        if found is None:
            return None
        return {path: each for path, each in zip(named, found, strict=True) if each and each.mode.startswith(b"100")}

    def files_at(self, places: Iterable[tuple[str, Entry | None]]) -> bytes | None:
        """Return what `git ls-tree -r -z` prints for these paths of a commit, given with their entries. None if git has to be
        asked: it has lost a folder, there are many, or a path isn't written as git writes it.
        """
        found: dict[bytes, Entry] = {}
        left: list[tuple[bytes, Entry]] = []
        for path, entry in places:
            plain = str(PurePosixPath(path))
            if plain not in (path, path.removesuffix("/")) or (plain != path and entry is not None and entry.mode != FOLDER):
                return None
            left += [(os.fsencode(plain), entry)] if entry is not None else []
        while left:
            file, entry = left.pop()
            if len(left) > LISTED_MAX:
                return None
            if entry.mode != FOLDER:
                found[file] = entry
            elif (tree := self.tree(entry.id.hex())) is not None:
                left += [(b"%b/%b" % (file, name), each) for name, each in tree.items()]
            else:
                return None
        return b"".join(b"%b\0" % line(file, found[file]) for file in sorted(found))

    def _check_absent(self, names: Iterable[str]) -> None:
        """Raise Refused if one of `names`, COMMIT:PATH or TREE:PATH with a full id, is there: git calls a blob that it has
        lost, or can't read, missing, as it does a file that was never there.
        """
        asked: dict[str, list[str]] = {}
        for base, colon, path in (name.partition(":") for name in names):
            if colon and ID.fullmatch(base) and PurePosixPath(path).parts and not {"/", ".."} & {*PurePosixPath(path).parts}:
                asked.setdefault(base, []).append(path)
        for base, paths in asked.items():
            entries = self.entries_at(base, paths)
            if entries is None and self._objects([base], keep=False):
                raise lost_object(f"a folder of {base}", str(self.where))
            for path, entry in zip(paths, entries or (), strict=False):
                if entry is not None and entry.mode not in (FOLDER, SUBMODULE):
                    raise lost_object(f"{base}:{path}", str(self.where))

    def _read(self, names: Iterable[str], kind: bytes, *, keep: bool = False) -> dict[str, bytes]:
        return {name: contents for name, (found, contents) in self._objects(names, keep=keep).items() if found == kind}

    def _objects(self, names: Iterable[str], *, keep: bool) -> dict[str, tuple[bytes, bytes]]:
        """Return name -> kind and contents of the objects that git has; `keep` those that it had to be asked for."""
        found, asked = {}, dict[str, str]()
        for name in dict.fromkeys(names):
            known_as = self.known.id_of(name)
            if (known := self.known.get(known_as or "")) is not None:
                found[name] = known
            elif known_as != "":
                # By an id git goes through no folder. What is known of COMMIT: may be the commit.
                asked[name] = name if name.endswith(":") else known_as or name
        return found | (self._ask_for(asked, keep=keep) if asked else {})

    def _ask_for(self, asked: Mapping[str, str], *, keep: bool) -> dict[str, tuple[bytes, bytes]]:
        found = {}
        for name, answer in zip(asked, self._answers([*asked.values()]), strict=True):
            if answer.id:
                found[name] = (answer.kind, answer.contents)
                if keep:
                    self.known.keep(answer.id, answer.kind, answer.contents)
                self.known.name(name, answer.id)  # one that git has lost may come back
        return found

    def _answers(self, names: Sequence[str]) -> list[Answer]:
        if self.server.takes(names) and (answers := self.server.ask(names)) is not None:
            return answers
        with open(os.memfd_create("names"), "w+b") as wanted:
            wanted.write("".join(f"{name}\n" for name in names).encode(errors="surrogateescape"))
            wanted.seek(0)
            answer = run_git(self.where, ["cat-file", "--batch", "--buffer"], wanted, user_config=self._foreign)
        output = BytesIO(answer.stdout)
        return [read_answer(output) for _ in names]

    def contents(self, name: str) -> bytes:
        """Return the contents of the object to which `name` leads, of any kind; nothing if there is none."""
        return self._objects([name], keep=False).get(name, (b"", b""))[1]

    def resolve(self, name: str) -> str:
        """Return the id of the object to which `name` leads now, as git rev-parse reads it; "" if there is none."""
        return self._answers([name])[0].id

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
