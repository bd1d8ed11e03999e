"""Read from git alone what `expctl verify` looks at: every commit with its tree, what brought a record, and signatures."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from expctl.adapters.git.command import Answer, run_git
from expctl.adapters.git.reader import Place
from expctl.domain.errors import Refused
from expctl.domain.history.evidence import Commit

GOOD = "G"


class RecordChange(NamedTuple):
    """What a commit did to a file of evidence: `how` is git's letter (A, M, D), for a merge one for each parent. `by_expctl`:
    its message says that a command of expctl made it.
    """

    commit: str
    path: str
    how: str
    by_expctl: bool


class GitEvidence:
    """What the repository at `place` has of its own history. Raises Refused where git would show less than all of it."""

    def __init__(self, place: Place) -> None:
        self._root, self._foreign = place.root, place.foreign
        is_shallow = self._said("rev-parse", "--is-shallow-repository") == ["true"]
        grafts = self._root / self._said("rev-parse", "--git-path", "info/grafts")[0]
        if is_shallow or grafts.exists():
            raise Refused(
                "this clone doesn't have the whole history",
                code="history-incomplete",
                expected="every commit, as it was made",
                found="a shallow clone" if is_shallow else str(grafts),
                where=str(self._root),
                hint="git fetch --unshallow" if is_shallow else f"rm {grafts}",
            )

    def damage(self) -> str:
        """Return the first thing that `git fsck` finds wrong after it has hashed every object again; "" if there is nothing."""
        answer = self._ask(["fsck", "--full", "--no-dangling", "--no-progress"], accepted=range(256))
        lines = (answer.stdout + answer.stderr).decode(errors="replace").splitlines()
        return (lines or [f"exit status {answer.returncode}"])[0] if answer.returncode else ""

    def commits(self, head: str, scope: Sequence[str]) -> dict[str, Commit]:
        """Return `head` and all its ancestors, in git's order, with what each has at the paths of the `scope`."""
        lines = [line.split() for line in self._said("log", "--topo-order", "--format=%H %T %P", head)]
        asked = "".join(f"{words[0]}:{path.rstrip('/')}\n" for words in lines for path in scope)
        answer = self._ask(["cat-file", "--batch-check=%(objectname)"], asked.encode(errors="surrogateescape"))
        ids = [b"" if line.endswith(b" missing") else line for line in answer.stdout.splitlines()]
        found, width = {}, len(scope)
        for at, (name, tree, *parents) in enumerate(lines):
            here = tuple(each.decode() for each in ids[at * width : (at + 1) * width])
            found[name] = Commit(parents=tuple(parents), tree=tree, scope=here)
        return found

    def brought_by(self, head: str, path: str, onto: str) -> str:
        """Return the commit that put the file `path` on top of the commit `onto`; "" if none did. Another one may have put
        another file there before: an INVALID record gives way to that of the next attempt.
        """
        lines = (line.split() for line in self._said("log", "--no-renames", "--format=%H %P", head, "--", path))
        return next((commit for commit, *parents in lines if parents[:1] == [onto]), "")

    def changed(self, commit: str) -> tuple[str, ...]:
        """Return the paths that `commit` changes against its first parent."""
        raw = self._ask(["diff-tree", "-r", "-z", "--no-renames", "--name-only", f"{commit}^1", commit]).stdout
        return tuple(each.decode(errors="surrogateescape") for each in raw.split(b"\0") if each)

    def record_changes(self, head: str) -> tuple[RecordChange, ...]:
        """Return what every commit, merges that made it up themselves among them, did to a record or its samples."""
        # git takes no patterns here: GIT_LITERAL_PATHSPECS is set.
        form = "--format=:%H %(trailers:only,unfold,separator=%x20)"
        lines = self._said("log", "-c", "--no-renames", "--name-status", form, head, "--", "experiments")
        found: list[RecordChange] = []
        commit, trailers = "", ""
        for line in lines:
            if line.startswith(":"):
                commit, _, trailers = line[1:].partition(" ")
            elif line.endswith(("/record.json", ".jsonl")) and line.count("/") == 2:
                how, _, path = line.partition("\t")
                found.append(RecordChange(commit, path, how, by_expctl="Expctl-" in trailers))
        return tuple(found)

    def signatures(self, commits: Iterable[str], signers: Path | None) -> dict[str, str]:
        """Return git's letter for the signature of each commit: G for a good one of somebody in the file `signers` (git's
        gpg.ssh.allowedSignersFile), N for none; see `%G?` of git log for the others.
        """
        names = tuple(commits)
        options = ["-c", f"gpg.ssh.allowedSignersFile={signers.absolute()}"] if signers is not None else []
        asked = [*options, "log", "--no-walk=unsorted", "--stdin", "--format=%H %G?"]
        answer = self._ask(asked, "".join(f"{each}\n" for each in names).encode(), accepted=range(256))
        return dict(line.split() for line in answer.stdout.decode().splitlines()) if names else {}

    def _said(self, *words: str) -> list[str]:
        return self._ask(words).stdout.decode(errors="surrogateescape").splitlines()

    def _ask(self, words: Sequence[str], stdin: bytes = b"", *, accepted: Sequence[int] = (0,)) -> Answer:
        return run_git(self._root, words, stdin, accepted=accepted, user_config=self._foreign)
