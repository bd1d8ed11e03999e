"""Make and remove the work trees below the state folder in which commits are built and measured."""

from collections.abc import Sequence
from pathlib import Path

from expctl.adapters.git.command import NOT_SPARSE
from expctl.adapters.git.plumbing import GitPlumbing
from expctl.adapters.git.protected_files import ProtectedFiles
from expctl.files import atomic_write

OURS = "expctl-"  # prefix of their names


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
        if path.exists() and (path / ".git").exists() and not _patterns(path).exists():
            status, out, _ = self._git.call(["-C", str(path), "rev-parse", "HEAD"])
            clean = self._git.call(["-C", str(path), "status", "--porcelain"])[1] == b""
            if status == 0 and out.decode().strip() == commit and clean:
                return path
        self._remove(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._git.must(["worktree", "add", "-q", "--detach", "--force", str(path), commit], env=NOT_SPARSE)
        _patterns(path).unlink(missing_ok=True)
        self.protected.protect(path, sealed)
        return path

    def remove_all(self) -> None:
        """Remove every work tree that expctl made, and no other."""
        folder = self._state / "checkouts"
        registered = self._registered()
        for path in {*(folder.iterdir() if folder.is_dir() else ()), *registered.values()}:
            self._remove(path)

    def _remove(self, path: Path) -> None:
        self.protected.release(path)
        admins = [admin for admin, worktree in self._registered().items() if worktree == path]
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
            text = mark.read_text(errors="replace").strip("\0\n") if mark.is_file() else ""
            if Path(text).parent.parent == folder:
                found[admin] = Path(text).parent
            elif admin.name.startswith(OURS) and f"{usual}/.git".startswith(text):
                found[admin] = usual
        return found


def _patterns(path: Path) -> Path:
    # Of a sparse work tree: copied from the user's when the tree was made.
    admin = (path / ".git").read_text(errors="replace").removeprefix("gitdir: ").strip("\0\n")
    return Path(admin or path) / "info" / "sparse-checkout"
