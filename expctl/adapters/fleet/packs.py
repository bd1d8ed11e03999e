"""Carry commits between repositories as packs of git's objects, named by what is in them."""

import hashlib
from pathlib import Path

from expctl.adapters.git.command import run_git

KEPT = 4
LARGE_BYTES = 1 << 20


class GitPacks:
    """Packs of the repository at `root`. The newest are kept, because many devices need the same one."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._made: dict[tuple[str, str], bytes] = {}

    def bytes(self, commit: str, known: str) -> bytes:
        """Return a pack with `commit` and its history, without what the commit `known` ("": none) and its history have."""
        if (commit, known) not in self._made:
            while len(self._made) >= KEPT:
                self._made.pop(next(iter(self._made)))
            wanted = f"{commit}\n" + (f"^{known}\n" if known else "")
            answer = run_git(self._root, ["pack-objects", "--revs", "--stdout", "-q"], wanted.encode())
            self._made[commit, known] = answer.stdout
        return self._made[commit, known]

    def name(self, commit: str, known: str) -> str:
        """Return the hash of that pack."""
        return hashlib.sha256(self.bytes(commit, known)).hexdigest()


def unpack(root: Path, pack: Path, *, commit: str, branch: str) -> None:
    """Make `root` a repository that has `commit` checked out as `branch`, with the objects of `pack` besides those it has.
    Nothing of another commit stays, but what git ignores. Raises Refused if git can't.
    """
    if not (root / ".git").is_dir():
        root.mkdir(parents=True, exist_ok=True)
        run_git(root, ["init", "-q", "-b", branch])
    if pack.stat().st_size:
        with open(pack, "rb") as file:
            large = pack.stat().st_size > LARGE_BYTES  # a file for each object of a whole history would be slow
            run_git(root, ["index-pack", "--stdin"] if large else ["unpack-objects", "-q"], file)
    run_git(root, ["symbolic-ref", "HEAD", f"refs/heads/{branch}"])
    run_git(root, ["update-ref", f"refs/heads/{branch}", commit])
    run_git(root, ["reset", "-q", "--hard", commit])
    run_git(root, ["clean", "-q", "-ffd"])
