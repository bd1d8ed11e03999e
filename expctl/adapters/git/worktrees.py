"""Make and remove the work trees below the state folder in which commits are built and measured."""

import os
from collections.abc import Sequence
from pathlib import Path

from expctl.adapters.git.command import NOT_SPARSE
from expctl.adapters.git.plumbing import GitPlumbing
from expctl.adapters.git.protected_files import ProtectedFiles
from expctl.files import atomic_write

OURS = "expctl-"  # prefix of their names
PATTERNS = Path("info", "sparse-checkout")
"""Where git's folder of a work tree has the patterns of a sparse one, copied from the user's when the tree was made."""


class CheckOuts:
    """The work trees that expctl makes of one repository. Methods raise MachineTrouble if git can't make one."""

    def __init__(self, git: GitPlumbing) -> None:
        self._git = git
        self._state = git.state
        self.protected = ProtectedFiles()

    def make(self, commit: str, name: str, *, sealed: Sequence[str] = ()) -> Path:
        """Return the folder of a clean work tree with `commit` checked out (detached, never sparse), made or reused.

        If somebody edited a file at or below `sealed` there, the folder is returned as it is, perhaps at another commit, so
        that the check of protected files reports the edit. Names of equal length give paths of equal length.
        """
        path = self._state / "checkouts" / f"{OURS}{name}"
        if self.protected.changed(path):
            return path
        if self._is_at(commit, path):
            return path
        self._remove(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._git.must(["worktree", "add", "-q", "--detach", "--force", str(path), commit], env=NOT_SPARSE)
        for admin in self._admins(path):
            (admin / PATTERNS).unlink(missing_ok=True)
        self.protected.protect(path, sealed)
        return path

    def remove_all(self) -> None:
        """Remove every work tree that expctl made, and no other."""
        folder = self._state / "checkouts"
        registered = self._registered()
        for path in {*(folder.iterdir() if folder.is_dir() else ()), *registered.values()}:
            self._remove(path)

    def _is_at(self, commit: str, path: Path) -> bool:
        """Return whether `path` is a clean work tree at `commit`. A build may have written there: git is told its own
        folder, so that it reads no configuration of a build's; nor does it enter what a build calls a submodule.
        """
        admins = self._admins(path)
        if len(admins) != 1 or not _leads_to(path / ".git", admins[0]) or (admins[0] / PATTERNS).exists():
            return False
        where = {"GIT_DIR": str(admins[0]), "GIT_WORK_TREE": str(path)}
        status, out, _ = self._git.call(["rev-parse", "HEAD"], env=where)
        if status or out.decode().strip() != commit:
            return False
        return self._git.call(["status", "--porcelain", "--ignore-submodules=dirty"], env=where)[1] == b""

    def _admins(self, path: Path) -> list[Path]:
        return [admin for admin, worktree in self._registered().items() if worktree == path]

    def _remove(self, path: Path) -> None:
        self.protected.release(path)
        admins = self._admins(path)
        atomic_write.remove_tree(path)
        for admin in admins:
            atomic_write.remove_tree(admin)
            if admin.parent.is_dir() and not any(admin.parent.iterdir()):
                admin.parent.rmdir()

    def _registered(self) -> dict[Path, Path]:
        # git's folder -> work tree. A crash may have truncated the path in git's folder; its name is that of the work tree.
        folder = self._state / "checkouts"
        found: dict[Path, Path] = {}
        for admin in (self._state.parent / "worktrees").glob("*"):
            mark, usual = admin / "gitdir", folder / admin.name
            text = os.fsdecode(mark.read_bytes()).strip("\0\n") if mark.is_file() else ""
            if Path(text).parent.parent == folder:
                found[admin] = Path(text).parent
            elif admin.name.startswith(OURS) and f"{usual}/.git".startswith(text):
                found[admin] = usual
        return found


def _leads_to(mark: Path, admin: Path) -> bool:
    """Return whether the file `mark` of a work tree says that git's folder is `admin`."""
    try:
        said = mark.read_bytes() if mark.is_file() and not mark.is_symlink() else b""
    except OSError:
        return False
    folder = os.fsdecode(said.rstrip(b"\n").removeprefix(b"gitdir: "))
    return bool(said) and os.path.normpath(mark.parent.resolve() / folder) == str(admin.resolve())
