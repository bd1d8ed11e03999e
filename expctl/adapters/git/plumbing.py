"""Run git commands through GitPython. No other module imports GitPython, because loading it is slower than all of `status`."""

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from expctl.adapters.git.command import author_of, hermetic_environment, without_git_variables
from expctl.adapters.git.failures import USAGE, gave_up, git_trouble
from expctl.adapters.git.known_objects import KnownObjects
from expctl.adapters.git.object_server import ObjectServer
from expctl.adapters.git.reader import GitReader, Place, locate
from expctl.adapters.machine.signals import uninterrupted
from expctl.domain.errors import Refused

with uninterrupted():  # GitPython calls whatever is raised while it starts a failed import
    # It asks git for its version, and fails where that git is killed. It shall find none: the command itself will say what is
    # wrong with git.
    os.environ |= {"GIT_PYTHON_REFRESH": "quiet", "GIT_PYTHON_GIT_EXECUTABLE": "/nonexistent/git"}
    import git

    del os.environ["GIT_PYTHON_REFRESH"], os.environ["GIT_PYTHON_GIT_EXECUTABLE"]

NO_INDEX = "all,-index"
"""What git shall make durable where the index is a temporary one: it is made again after a loss of power, or copied durably."""

COMMITTED = re.compile(rb"^committer .*> (\d+) [+-]\d{4}$", re.MULTILINE)
PARENT = re.compile(rb"tree [0-9a-f]+\nparent ([0-9a-f]+)\n")
LOST = re.compile("not a valid object|bad object|unable to read|invalid object|missing blob|not a valid .* name")


class GitPlumbing(GitReader):
    """A GitReader that can also run commands which change the repository. Creating one makes expctl's state folder."""

    def __init__(self, place: Place, known: KnownObjects | None = None, server: ObjectServer | None = None) -> None:
        super().__init__(place, known, server)
        self.root = place.root
        self.state = place.state
        self._git = git.Git(str(place.root))
        place.state.mkdir(parents=True, exist_ok=True)

    def call(
        self, arguments: Sequence[str], *, stdin: bytes | None = None, env: Mapping[str, str] | None = None
    ) -> tuple[int, bytes, str]:
        """Run git, its environment extended by `env`. Return (exit status, standard output, messages). Raises MachineTrouble if
        the machine (e.g. a full disk), a signal or another git's lock ended it.
        """
        if env and "GIT_INDEX_FILE" in env:
            env = {**env, "core.fsync": NO_INDEX}
        source = None
        if stdin is not None:
            source = in_memory(stdin)  # a pipe could block on large patches
        try:
            with without_git_variables():
                status, out, err = self._git.execute(
                    ["git", *arguments],
                    istream=source,
                    env=hermetic_environment(env),
                    with_extended_output=True,
                    with_exceptions=False,
                    stdout_as_string=False,
                    strip_newline_in_stdout=False,
                )
        finally:
            if source is not None:
                source.close()
        stderr = (err.decode(errors="replace") if isinstance(err, bytes) else str(err)).strip()
        trouble = git_trouble(arguments[0], int(status), stderr)
        if trouble is not None:
            raise trouble
        return int(status), out if isinstance(out, bytes) else str(out).encode(), stderr

    def must(self, arguments: Sequence[str], *, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> str:
        """Run a git command that can't fail in a sound repository; return its output, stripped. Raises Refused for a missing
        object, MachineTrouble for another failure, RuntimeError for arguments git doesn't know.
        """
        status, out, stderr = self.call(arguments, stdin=stdin, env=env)
        if status and LOST.search(stderr):
            raise misses_an_object(stderr, str(self.root))
        if status and status != USAGE:
            raise gave_up(arguments[0], stderr, str(self.root))
        if status:
            raise RuntimeError(f"git {' '.join(arguments[:3])} failed with {status}: {stderr}")
        return out.decode(errors="surrogateescape").strip()

    def ref(self, name: str) -> str:
        """Return the commit id of a full ref name; empty if there is no such ref or commit."""
        return self.resolve(f"{name}^{{commit}}")

    def is_commit(self, name: str) -> bool:
        """Is `name`, a full or abbreviated commit id, that of exactly one commit?"""
        return bool(self.ref(name))

    def parent(self, commit: str) -> str:
        """Return the first parent of a commit. Raises MachineTrouble for a root commit."""
        made = PARENT.match((self.known.get(commit) or (b"", b""))[1])  # by this process; git may not have it yet
        if made:
            return made[1].decode()
        return self.resolve(f"{commit}^") or self.must(["rev-parse", f"{commit}^"])

    def committed_at(self, commit: str) -> int:
        """Return when `commit` was made, in seconds since 1970. Raises MachineTrouble if git can't tell."""
        head = self.contents(commit).partition(b"\n\n")[0]
        when = COMMITTED.search(head)
        return int(when[1]) if when else int(self.must(["show", "-s", "--format=%ct", commit]))

    def branch_head(self, branch: str) -> str:
        """Return the commit of a branch, whether it is checked out or not. Raises Refused if the branch is gone."""
        commit = self.ref(f"refs/heads/{branch}")
        if not commit:
            raise Refused(
                f"the branch {branch} is gone",
                code="branch-gone",
                expected="the branch on which the run began",
                found="no such branch",
                where=str(self.root),
                hint=f"git branch {branch} COMMIT, with its last commit from git reflog, makes it again; then run again",
            )
        return commit

    def merge_base(self, one: str, other: str) -> str:
        """Return the newest common ancestor of two commits; "" if there is none."""
        return self.call(["merge-base", one, other])[1].decode().strip()

    def start_branch(self, branch: str, commit: str) -> None:
        """Make a branch at `commit`, unless there is one of that name. Raises Refused if git can't."""
        status, _, stderr = self.call(["check-ref-format", "--branch", branch])
        if not status and not self.ref(name := f"refs/heads/{branch}"):
            status, _, stderr = self.call(["update-ref", "-m", "expctl: campaign", name, commit, "0" * len(commit)])
        if status:
            raise Refused(
                f"git can't make the branch {branch}",
                code="branch-cannot-start",
                expected="the name of a new branch, or of one that there is",
                found=stderr.splitlines()[0] if stderr else f"exit status {status}",
                where=str(self.root),
                hint="expctl run --all --branch NAME takes another name",
            )

    def tree_name(self) -> str:
        """Return git's name for this work tree: `.` for the main one, `worktrees/NAME` for a linked one, even if it moved."""
        return os.path.relpath(self.place.git_dir.resolve(), self.place.state.parent)

    def tree_named(self, name: str, last_seen: Path) -> Path | None:
        """Return the root folder of the work tree that git calls `name` (see `tree_name`), looking at `last_seen` first. None
        if that work tree is gone.
        """
        if name == self.tree_name():
            return self.root
        listing = self.must(["worktree", "list", "--porcelain", "-z"]).split("\0")
        listed = [Path(line.removeprefix("worktree ")) for line in listing if line.startswith("worktree ")]
        for root in (last_seen, *listed):
            with contextlib.suppress(Refused, OSError):
                place = locate(root)
                if place.state == self.state and GitPlumbing(place).tree_name() == name:
                    return place.root
        return None

    def author(self) -> str:
        """Return whom git takes for the author of a commit made here now, as `Name <e-mail>`; "" if it knows nobody."""
        return author_of(self.root)

    def who_added(self, commit: str, path: str) -> str:
        """Return the author of the commit that added `path`, the newest up to `commit`, as `Name <e-mail>`; "" for none."""
        return self.must(["log", "-1", "--diff-filter=A", "--format=%an <%ae>", commit, "--", path])


def in_memory(contents: bytes) -> BinaryIO:
    """Return an open file of the memory with `contents`, to be read from its begin."""
    file = open(os.memfd_create("input"), "w+b")  # noqa: SIM115  the caller closes it
    file.write(contents)
    file.seek(0)
    return file


def misses_an_object(stderr: str, where: str) -> Refused:
    """Return the error for `stderr`, git's message that an object is missing (commit, tree, file) in repository `where`."""
    return Refused(
        "git can't find an object of this repository",
        code="git-object-missing",
        expected="all commits, trees and files that this command made or read before",
        found=stderr.splitlines()[0] if stderr else "no message",
        where=where,
        hint="if git gc --prune=now ran meanwhile, run the same command again; otherwise git fsck shows what is damaged",
    )
