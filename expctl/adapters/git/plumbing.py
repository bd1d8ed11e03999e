"""Running git's plumbing through GitPython. The only module that imports it; loading it costs more than all of `status`."""

import contextlib
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import git

from expctl.adapters.git.command import hermetic_arguments, hermetic_environment, without_gits_own
from expctl.adapters.git.failures import USAGE, gave_up, git_trouble
from expctl.adapters.git.reader import GitReader, Place, locate
from expctl.domain.errors import Refused

LOST = re.compile("not a valid object|bad object|unable to read|invalid object|missing blob|not a valid .* name")


class GitPlumbing(GitReader):
    """A reader that can also run commands which change things."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.root = place.root
        self.state = place.state
        self._git = git.Git(str(place.root))
        place.state.mkdir(parents=True, exist_ok=True)

    def call(
        self, arguments: Sequence[str], *, stdin: bytes | None = None, env: Mapping[str, str] | None = None
    ) -> tuple[int, bytes, str]:
        """Run one git command; return its status, output and messages. Raises Refused when it could not do its work."""
        source = None
        if stdin is not None:
            source = tempfile.TemporaryFile()  # noqa: SIM115  closed below; a pipe could block on large patches
            source.write(stdin)
            source.seek(0)
        words, environment = [*hermetic_arguments(), *arguments], hermetic_environment(env)
        try:
            with without_gits_own():
                status, out, err = self._git.execute(
                    words,
                    istream=source,
                    env=environment,
                    with_extended_output=True,
                    with_exceptions=False,
                    stdout_as_string=False,
                    strip_newline_in_stdout=False,
                )
        finally:
            if source is not None:
                source.close()
        said = (err.decode(errors="replace") if isinstance(err, bytes) else str(err)).strip()
        trouble = git_trouble(arguments[0], int(status), said)
        if trouble is not None:
            raise trouble
        return int(status), out if isinstance(out, bytes) else str(out).encode(), said

    def must(self, arguments: Sequence[str], *, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> str:
        """As `call`, for what cannot fail in a sound repository. Raises RuntimeError when git does not know a word of ours."""
        status, out, said = self.call(arguments, stdin=stdin, env=env)
        if status and LOST.search(said):
            raise misses_an_object(said, str(self.root))
        if status and status != USAGE:
            raise gave_up(arguments[0], said, str(self.root))
        if status:
            raise RuntimeError(f"git {' '.join(arguments[:3])} failed with {status}: {said}")
        return out.decode(errors="surrogateescape").strip()

    def ref(self, name: str) -> str:
        """The commit of a full ref name, or an empty string."""
        return self.call(["rev-parse", "--verify", "-q", f"{name}^{{commit}}"])[1].decode().strip()

    def tree_name(self) -> str:
        """What git calls this work tree: `.` is the main one, and a linked one `worktrees/NAME`, wherever it is moved."""
        return os.path.relpath(self.place.git_dir.resolve(), self.place.state.parent)

    def tree_named(self, name: str, last_seen: Path) -> Path | None:
        """The root of a work tree of this repository; None when it is gone."""
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


def misses_an_object(said: str, where: str) -> Refused:
    """Of a command on objects that were there."""
    return Refused(
        "git misses an object that was there",
        code="git-object-missing",
        expected="the objects that this command has just made",
        found=said.splitlines()[0] if said else "no message",
        where=where,
        hint="if a `git gc --prune=now` ran meanwhile, run the same command again; otherwise git fsck",
    )
