"""Reading a git repository by plain subprocesses: what `status` needs, without loading GitPython (about 60 ms)."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from expctl.adapters.git.command import Answer, run_git
from expctl.adapters.git.patch_header import with_headers
from expctl.domain.errors import Refused
from expctl.domain.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a repository lives: its work tree, the git directory of this work tree, and expctl's own state. `foreign`: somebody
    else owns it, and git looks into it because the user's configuration says so.

    `head` is the commit that HEAD named when it was located, empty where there was none, and `experiments` the tree of that
    folder in it, where it is known: enough for a command that only looks.
    """

    root: Path
    git_dir: Path
    state: Path
    foreign: bool = False
    head: str = ""
    experiments: str | None = None


WHERE = ("--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--revs-only")
HEAD = "HEAD^{commit}"
HEADS = "refs/heads/"
OBJECT = re.compile("[0-9a-f]{40,}")
EXPERIMENTS = "experiments"


def locate(start: Path) -> Place:
    """Find the repository around `start`. Raises Refused when there is none, or no work tree."""
    # HEAD is asked for twice, lest it moves on while its folder is looked up.
    asked = ["rev-parse", *WHERE, HEAD, f"HEAD:{EXPERIMENTS}", HEAD]
    answer, foreign = run_git(start, asked, ends=(0, 128)), False
    if answer.returncode and b"dubious ownership" in answer.stderr:
        answer, foreign = run_git(start, asked, ends=(0, 128), users=True), True
    lines = answer.stdout.decode(errors="surrogateescape").removesuffix("\n").split("\n")
    where, revisions = lines[:3], lines[3:]
    if not all(OBJECT.fullmatch(each) for each in revisions):
        raise _line_end(start)
    if answer.returncode or len(where) != 3:
        raise _nowhere(start, answer.stderr.decode(errors="replace").strip())
    still = len(revisions) == 3 and revisions[0] == revisions[2]
    return Place(
        root=Path(where[0]),
        git_dir=Path(where[1]),
        state=(start / where[2]).resolve() / "expctl",
        foreign=foreign,
        head=revisions[-1] if revisions else "",
        experiments=revisions[1] if still else None,
    )


def _line_end(start: Path) -> Refused:
    return Refused(
        "the path of this repository has a line end in it",
        code="path-has-line-end",
        expected="a path of one line: git tells paths by lines",
        found=repr(str(start)),
        hint="rename that folder, or clone the repository elsewhere",
    )


def _nowhere(start: Path, said: str) -> Refused:
    if "dubious ownership" in said:
        return Refused(
            "git does not trust this repository, because somebody else owns it",
            code="repository-not-trusted",
            expected="a repository of your own, or one named in safe.directory",
            found=said.splitlines()[0],
            where=str(start),
            hint="git config --global --add safe.directory FOLDER, if you trust its owner",
        )
    return Refused(
        "this is not a git repository with a work tree",
        code="not-a-repository",
        expected="a folder inside a git repository",
        found=said.splitlines()[0] if said else "a bare repository",
        where=str(start),
        hint="cd into the repository of the kernel, or `git init` one",
    )


class GitReader:
    """Files and names as they stand in commits of one repository."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._ahead: dict[str, bytes] = {}

    def found_head(self) -> str:
        """As `head`, when the repository was located."""
        return self.place.head or self.head()

    def head(self) -> str:
        """The commit that HEAD names. Raises Refused when there is none yet."""
        answer = self._ask(["rev-parse", "--verify", "-q", "HEAD^{commit}"], ends=(0, 1, 128))
        if answer.returncode:
            raise Refused(
                "this repository has no commit yet",
                code="no-commit-yet",
                expected="a baseline to measure against",
                found="no commits",
                where=str(self.place.root),
                hint="git add . && git commit -m 'first baseline'",
            )
        return answer.stdout.decode().strip()

    def branch(self) -> str:
        """The name of the branch that is checked out, without `refs/heads/`; empty when HEAD is detached.

        git's own short form is another where a tag has the same name.
        """
        full = self._ask(["symbolic-ref", "-q", "HEAD"], ends=(0, 1)).stdout.decode().strip()
        return full.removeprefix(HEADS) if full.startswith(HEADS) else ""

    def blob_on_disk(self, path: str) -> str:
        """The blob id that a file of the work tree would have if it were added now, after git's own filters."""
        file = self.place.root / path
        if file.is_symlink() or not file.is_file():
            return ""
        return self._ask(["hash-object", f"--path={path}", "--", str(file)], users=True).stdout.decode().strip()

    def blob_of(self, contents: bytes, path: str = "") -> str:
        """The blob id of `contents` as they are; or after git's own filters, as if they lay at `path`."""
        words = [f"--path={path}"] if path else []
        return self._ask(["hash-object", "--stdin", *words], stdin=contents, users=bool(path)).stdout.decode().strip()

    def list_files(self, commit: str, folder: str) -> dict[str, str]:
        """Path -> blob id of every file below `folder` in `commit`."""
        answer = self._ask(["ls-tree", "-r", "-z", commit, "--", folder])
        entries = (line.split("\t", 1) for line in answer.stdout.decode(errors="surrogateescape").split("\0") if line)
        return {path: head.split()[2] for head, path in entries}

    def folders_of(self, tree: str) -> dict[str, str]:
        """Name -> tree id of every folder right below a tree."""
        answer = self._ask(["ls-tree", "-z", tree])
        entries = (line.split("\t", 1) for line in answer.stdout.decode(errors="surrogateescape").split("\0") if line)
        return {name: head[12:] for head, name in entries if head.startswith("040000 tree ")}

    def changed_folders(self, old: str, new: str) -> dict[str, str] | None:
        """Name -> tree id in `new` (empty: no folder there) of every folder right below that differs between two trees; None
        where git no longer has one of them.
        """
        answer = self._ask(["diff-tree", "-z", "--raw", "--no-renames", "--no-abbrev", old, new], ends=(0, 1, 128))
        if answer.returncode:
            return None
        words = answer.stdout.decode(errors="surrogateescape").split("\0")
        entries = [(head.split(), name) for head, name in zip(words[::2], words[1::2], strict=False)]
        return {name: head[3] if head[1] == "040000" else "" for head, name in entries if "040000" in (head[0][1:], head[1])}

    def read_blobs(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """The contents of many blobs (or `commit:path` names) by one process; absent ones are left out."""
        wanted = dict.fromkeys(blobs)
        known = {name: self._ahead[name] for name in wanted if name in self._ahead}
        names = [name for name in wanted if name not in known]
        return known | (self._read(names) if names else {})

    def read_ahead(self, blobs: Iterable[str]) -> None:
        """Read these by one process now: whoever asks for them later gets them from here. Only for what begins with the id of
        a commit or of a tree, which always means the same.
        """
        self._ahead |= self.read_blobs(blobs)

    def _read(self, names: Sequence[str]) -> dict[str, bytes]:
        with open(os.memfd_create("names"), "w+b") as wanted:
            wanted.write("".join(f"{name}\n" for name in names).encode())
            wanted.seek(0)
            answer = run_git(self.place.root, ["cat-file", "--batch", "--buffer"], wanted, users=self.place.foreign)
        return dict(_batch(answer.stdout, names))

    def read_file(self, commit: str, path: str) -> bytes | None:
        """One file of a commit, or None when it isn't there."""
        return self.read_blobs([f"{commit}:{path}"]).get(f"{commit}:{path}")

    def tree_of(self, commit: str, folder: str) -> str:
        """The tree id of a folder of a commit; empty when there is none."""
        if (commit, folder) == (self.place.head, EXPERIMENTS) and self.place.experiments is not None:
            return self.place.experiments
        answer = self._ask(["rev-parse", "--verify", "-q", f"{commit}:{folder}"], ends=(0, 1))
        return answer.stdout.decode().strip()

    def protocol_identity(self, commit: str, paths: Sequence[str]) -> str:
        """A hash of everything that judges: the tree entries of `paths` in `commit`."""
        import hashlib

        listing = self._ask(["ls-tree", "-r", "-z", commit, "--", *paths]).stdout
        return hashlib.sha256(listing.strip()).hexdigest()

    def names_commit(self, name: str) -> bool:
        """Does a full ref name lead to a commit that is there?"""
        return self._ask(["rev-parse", "--verify", "-q", f"{name}^{{commit}}"], ends=(0, 1, 128)).returncode == 0

    def history(self, commit: str) -> frozenset[str]:
        """It and every commit before it, as far as this clone has them."""
        return frozenset(self._ask(["rev-list", commit]).stdout.decode().split())

    def last_with(self, commit: str, path: str) -> str:
        """The last commit before `commit` that had a file which `commit` has no more; empty where none is known."""
        asked = ["log", "-1", "--no-renames", "--diff-filter=D", "--format=%P", commit, "--", path]
        parents = self._ask(asked, ends=(0, 128)).stdout.decode().split()
        return parents[0] if parents and not self.list_files(commit, path) else ""

    def patch_identity(self, patch: bytes) -> str:
        """git's stable patch id: the same for the same change, whatever its line numbers and white space."""
        words = self._ask(["patch-id", "--stable"], stdin=with_headers(patch)).stdout.decode().split()
        return words[0] if words else ""

    def _ask(self, arguments: Sequence[str], stdin: bytes = b"", *, ends: Sequence[int] = (0,), users: bool = False) -> Answer:
        return run_git(self.place.root, arguments, stdin, ends=ends, users=users or self.place.foreign)


def _batch(output: bytes, names: Sequence[str]) -> Iterable[tuple[str, bytes]]:
    """Walk `git cat-file --batch` output: `oid type size LF contents LF`, or `name missing LF`."""
    position = 0
    for name in names:
        end = output.index(b"\n", position)
        words = output[position:end].rsplit(b" ", 2)
        position = end + 1
        if words[-1] in (b"missing", b"ambiguous"):
            continue
        size = int(words[-1])
        if words[-2] == b"blob":
            yield name, output[position : position + size]
        position += size + 1
