"""Read a git repository by calling git: enough for `status`, without loading GitPython, which takes about 60 ms."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from expctl.adapters.git.command import Answer, run_git
from expctl.adapters.git.failures import unreadable_part
from expctl.adapters.git.known_objects import FOLDER, Entry, KnownObjects
from expctl.adapters.git.object_server import ObjectServer
from expctl.adapters.git.objects import GitObjects
from expctl.adapters.git.patch_ids import patch_ids
from expctl.domain.errors import Refused
from expctl.files.own_file import BYTES_MAX
from expctl.files.permission import permission_mend


class Place(Struct, frozen=True, kw_only=True):
    """The folders of a repository: root of its work tree, git directory of this work tree, expctl's state folder.

    `foreign` says that another user owns it (and safe.directory allows its use). `head` is the commit of HEAD when the
    repository was located, "" if there was none. `experiments` is the git tree id of the folder experiments/ in that commit: ""
    if it has none, None if it isn't known.
    """

    root: Path
    git_dir: Path
    state: Path
    foreign: bool = False
    head: str = ""
    experiments: str | None = None

    @property
    def trying(self) -> Path:
        """Return the state folder of `expctl try`, which works beside a run."""
        return self.state.with_name(f"{self.state.name}-try")


WHERE = ("--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--revs-only")
HEAD = "HEAD^{commit}"
HEADS = "refs/heads/"
OBJECT = re.compile("[0-9a-f]{40,}")
EXPERIMENTS = "experiments"


def locate(start: Path) -> Place:
    """Find the repository around `start`. Raises Refused if there is none, if it has no work tree there, or if its path has a
    line break.
    """
    # HEAD is resolved twice, to notice when it moves while its folder is looked up.
    asked = ["rev-parse", *WHERE, HEAD, f"HEAD:{EXPERIMENTS}", HEAD]
    answer, foreign = run_git(start, asked, accepted=(0, 128)), False
    if answer.returncode and b"dubious ownership" in answer.stderr:
        answer, foreign = run_git(start, asked, accepted=(0, 128), user_config=True), True
    lines = answer.stdout.decode(errors="surrogateescape").removesuffix("\n").split("\n")
    where, revisions = lines[:3], lines[3:]
    if not all(OBJECT.fullmatch(each) for each in revisions):
        raise _line_end(start)
    if answer.returncode or len(where) != 3:
        raise _no_repository(start, answer.stderr.decode(errors="replace").strip())
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
        "the path of this repository contains a line break",
        code="path-has-line-end",
        expected="a path of one line, because git prints one path per line",
        found=repr(str(start)),
        hint="rename that folder, or clone the repository elsewhere",
    )


def _no_repository(start: Path, stderr: str) -> Refused:
    if "dubious ownership" in stderr:
        return Refused(
            "git does not trust this repository, because somebody else owns it",
            code="repository-not-trusted",
            expected="a repository of your own, or one named in safe.directory",
            found=stderr.splitlines()[0],
            where=str(start),
            hint="git config --global --add safe.directory FOLDER, if you trust its owner",
        )
    if (hidden := unreadable_part(start)) is not None:
        return Refused(
            "git can't read this repository",
            code="git-cannot-read",
            expected="a git folder that you may read",
            found=f"{hidden}: permission is denied",
            where=str(start),
            hint=permission_mend(hidden, "rx"),
        )
    return Refused(
        "this is not a git repository with a work tree",
        code="not-a-repository",
        expected="a folder inside a git repository",
        found=stderr.splitlines()[0] if stderr else "a bare repository",
        where=str(start),
        hint="cd into the repository of the kernel, or `git init` one",
    )


class GitReader(GitObjects):
    """Reads files, trees and refs from the commits of one repository."""

    def __init__(self, place: Place, known: KnownObjects | None = None, server: ObjectServer | None = None) -> None:
        super().__init__(place.root, foreign=place.foreign, known=known, server=server)
        self.place = place
        self._listings: dict[tuple[tuple[str, ...], tuple[Entry | None, ...]], bytes] = {}
        self._trees: dict[tuple[str, str], str] = {}

    def found_head(self) -> str:
        """Return the commit that HEAD named when the repository was located. Raises Refused if there was none."""
        return self.place.head or self.head()

    def head(self) -> str:
        """Return the commit that HEAD names now. Raises Refused if there is no commit yet."""
        if self.place.head and self.is_at(self.place.head):
            return self.place.head
        found = self.resolve(HEAD)
        if not found:
            raise Refused(
                "this repository has no commit yet",
                code="no-commit-yet",
                expected="a baseline to measure against",
                found="no commits",
                where=str(self.place.root),
                hint="git add . && git commit -m 'first baseline'",
            )
        return found

    def branch(self) -> str:
        """Return the name of the branch that is checked out, without `refs/heads/`; empty if HEAD is detached."""
        if name := self._named_by_head():
            return name
        # `symbolic-ref --short` would add `heads/` if a tag has the same name.
        full = self._ask(["symbolic-ref", "-q", "HEAD"], accepted=(0, 1)).stdout.decode().strip()
        return full.removeprefix(HEADS) if full.startswith(HEADS) else ""

    def is_at(self, commit: str) -> bool:
        """Is the branch that is checked out at `commit`, as git's files say? False where they can't tell (it is packed)."""
        name = self._named_by_head()
        try:
            return bool(name) and (self.place.state.parent / HEADS / name).read_text().strip() == commit
        except (OSError, ValueError):
            return False

    def _named_by_head(self) -> str:
        """Return the branch that the file HEAD names; "" where git has to be asked: detached, or refs are in a table."""
        try:
            text = (self.place.git_dir / "HEAD").read_text()
        except (OSError, ValueError):
            return ""
        name = text.strip().removeprefix(f"ref: {HEADS}")
        return "" if name == text.strip() or name == ".invalid" else name

    def lacks(self, branch: str) -> bool:
        """Has `branch` commits that HEAD lacks? False if there is no such branch."""
        if not self.resolve(f"{HEADS}{branch}"):
            return False
        asked = ["rev-list", "-n1", f"{HEADS}{branch}", "^HEAD", "--"]
        return bool(self._ask(asked, accepted=(0, 128)).stdout)

    def blob_on_disk(self, path: str) -> str:
        """Return the blob id that a file of the work tree would get from `git add`; empty if it is no plain file."""
        file = self.place.root / path
        if file.is_symlink() or not file.is_file():
            return ""
        return self._ask(["hash-object", f"--path={path}", "--", str(file)], user_config=True).stdout.decode().strip()

    def is_edited(self, commit: str, path: str) -> bool:
        """Return whether a file of the work tree differs from the one in `commit`, as `git add` would store it."""
        committed, file = self.read_file(commit, path), self.place.root / path
        if committed is None or not file.is_file():
            return committed is not None or file.is_file()
        if file.stat().st_size > BYTES_MAX:
            return True
        return file.read_bytes() != committed and self.blob_on_disk(path) != self.blob_of(committed)

    def edits(self) -> str:
        """Return 12 hex digits that hash how tracked files differ from HEAD; "" where none does."""
        found = self._ask(["diff", "--binary", "--no-ext-diff", "--no-textconv", "HEAD"], user_config=True).stdout
        return hashlib.sha256(found).hexdigest()[:12] if found else ""

    def blob_of(self, contents: bytes, path: str = "") -> str:
        """Return the blob id of `contents`; with `path`, after the filters that git applies to a file of that path."""
        words = [f"--path={path}"] if path else []
        return self._ask(["hash-object", "--stdin", *words], stdin=contents, user_config=bool(path)).stdout.decode().strip()

    def list_files(self, commit: str, folder: str) -> dict[str, str]:
        """Return path -> blob id of every file below `folder` in `commit`."""
        if folder.endswith("/") and self.known.id_of(f"{commit}:{folder}") == "":
            return {}
        entries = (line.split("\t", 1) for line in self.listing(commit, (folder,)).decode(errors="surrogateescape").split("\0"))
        return {path: head.split()[2] for head, path in (entry for entry in entries if len(entry) == 2)}

    def folders_of(self, tree: str) -> dict[str, str]:
        """Return name -> tree id of the folders directly in a tree."""
        answer = self._ask(["ls-tree", "-z", tree])
        entries = (line.split("\t", 1) for line in answer.stdout.decode(errors="surrogateescape").split("\0") if line)
        return {name: head[12:] for head, name in entries if head.startswith("040000 tree ")}

    def changed_folders(self, old: str, new: str) -> dict[str, str] | None:
        """Return name -> tree id in `new` of the folders directly in tree `old` or `new` that differ; "" for one gone in `new`.
        None if git has lost one of the two trees.
        """
        before, after = self.known.entries(old), self.known.entries(new)
        if before is not None and after is not None:
            names = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
            pairs = [(name, before.get(name), after.get(name)) for name in names]
            return {
                name.decode(errors="surrogateescape"): now.id.hex() if now and now.mode == FOLDER else ""
                for name, was, now in pairs
                if FOLDER in (was and was.mode, now and now.mode)
            }
        answer = self._ask(["diff-tree", "-z", "--raw", "--no-renames", "--no-abbrev", old, new], accepted=(0, 1, 128))
        if answer.returncode:
            return None
        words = answer.stdout.decode(errors="surrogateescape").split("\0")
        entries = [(head.split(), name) for head, name in zip(words[::2], words[1::2], strict=False)]
        return {name: head[3] if head[1] == "040000" else "" for head, name in entries if "040000" in (head[0][1:], head[1])}

    def tree_of(self, commit: str, folder: str) -> str:
        """Return the tree id of a folder of a commit; empty if there is no such folder."""
        if (commit, folder) == (self.place.head, EXPERIMENTS) and self.place.experiments is not None:
            return self.place.experiments
        key = (commit, folder)
        if key not in self._trees:
            found = self.known.id_of(f"{commit}:{folder}") or self.resolve(f"{commit}:{folder}")
            if not found:  # git knows the id of a tree that it has lost
                answer = self._ask(["rev-parse", "--verify", "-q", f"{commit}:{folder}"], accepted=(0, 1))
                found = answer.stdout.decode().strip()
            if not OBJECT.fullmatch(commit):
                return found
            self._trees[key] = found
        return self._trees[key]

    def files_identity(self, commit: str, paths: Sequence[str]) -> str:
        """Return one SHA-256 of the names, modes and contents of all files at or below `paths` in `commit`."""
        import hashlib

        return hashlib.sha256(self.listing(commit, paths).strip()).hexdigest()

    def listing(self, commit: str, paths: Sequence[str]) -> bytes:
        """Return the output of `git ls-tree -r -z` for `paths` in `commit`. Kept by what a full id has at these paths."""
        entries = self.entries_at(commit, paths) if OBJECT.fullmatch(commit) else None
        key = (tuple(paths), tuple(entries or ()))
        if entries is not None and key in self._listings:
            return self._listings[key]
        found = self.files_at(zip(paths, entries, strict=True)) if entries else None
        if found is None:
            found = self._ask(["ls-tree", "-r", "-z", commit, "--", *paths]).stdout
        if entries is not None:
            self._listings[key] = found
        return found

    def names_commit(self, name: str) -> bool:
        """Does a full ref name resolve to a commit that this repository has?"""
        return bool(self.resolve(f"{name}^{{commit}}"))

    def history(self, commit: str) -> frozenset[str]:
        """Return the ids of a commit and its ancestors, as far as this clone has them."""
        return frozenset(self._ask(["rev-list", commit]).stdout.decode().split())

    def last_with(self, commit: str, path: str) -> str:
        """Return the newest ancestor of `commit` that had the file `path`, if a later commit deleted it. "" if `commit` itself
        has the file, or if no ancestor is known to have had it.
        """
        asked = ["log", "-1", "--no-renames", "--diff-filter=D", "--format=%P", commit, "--", path]
        parents = self._ask(asked, accepted=(0, 128)).stdout.decode().split()
        return parents[0] if parents and not self.list_files(commit, path) else ""

    def patch_identity(self, patch: bytes) -> str:
        """Return git's stable patch id, which ignores line numbers and white space; empty for a patch without a change."""
        return patch_ids([patch], self._patch_ids)[0]

    def read_patch_identities(self, patches: Sequence[bytes]) -> None:
        """Read what `patch_identity` returns of several patches, by one process of git."""
        patch_ids(patches, self._patch_ids)

    def _patch_ids(self, text: bytes) -> bytes:
        return self._ask(["patch-id", "--stable"], stdin=text).stdout

    def _ask(
        self, arguments: Sequence[str], stdin: bytes = b"", *, accepted: Sequence[int] = (0,), user_config: bool = False
    ) -> Answer:
        return run_git(self.place.root, arguments, stdin, accepted=accepted, user_config=user_config or self.place.foreign)
