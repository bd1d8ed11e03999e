"""Worktrees of ours in which commits are built and measured, below the state folder."""

from collections.abc import Sequence
from pathlib import Path

from expctl.adapters.git.command import WHOLE
from expctl.adapters.git.plumbing import GitPlumbing
from expctl.adapters.git.protected_files import ProtectedFiles
from expctl.files import atomic_write

OURS = "expctl-"  # how their names begin


class CheckOuts:
    """The worktrees of one repository. Raises MachineTrouble when git can't make one."""

    def __init__(self, git: GitPlumbing) -> None:
        self._git = git
        self._state = git.state
        self.seals = ProtectedFiles()

    def make(self, commit: str, name: str, *, sealed: Sequence[str] = ()) -> Path:
        """A detached worktree of `commit` below the state folder. Names of equal length give paths of equal length.

        It is whole, even where the user's own tree is sparse.
        What lies at or below `sealed` is to stay as it is; where it didn't, the worktree is kept as evidence (`broken`).
        git names its own folder for it after the last part of the path: ours is known even when what it says is lost.
        """
        path = self._state / "checkouts" / f"{OURS}{name}"
        if self.seals.broken(path):
            return path
        if path.exists() and (path / ".git").exists() and not _patterns(path).exists():
            status, out, _ = self._git.call(["-C", str(path), "rev-parse", "HEAD"])
            clean = self._git.call(["-C", str(path), "status", "--porcelain"])[1] == b""
            if status == 0 and out.decode().strip() == commit and clean:
                return path
        self._remove(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._git.must(["worktree", "add", "-q", "--detach", "--force", str(path), commit], env=WHOLE)
        _patterns(path).unlink(missing_ok=True)
        self.seals.seal(path, sealed)
        return path

    def remove_all(self) -> None:
        """Remove every worktree of ours, and only ours."""
        folder = self._state / "checkouts"
        registered = self._registered()
        for path in {*(folder.iterdir() if folder.is_dir() else ()), *registered.values()}:
            self._remove(path)

    def _remove(self, path: Path) -> None:
        self.seals.lift(path)
        admins = [admin for admin, worktree in self._registered().items() if worktree == path]
        atomic_write.remove_tree(path)
        for admin in admins:
            atomic_write.remove_tree(admin)
            if admin.parent.is_dir() and not any(admin.parent.iterdir()):
                admin.parent.rmdir()

    def _registered(self) -> dict[Path, Path]:
        """git's own folder -> its worktree, of those below our state folder. A crash may have left a part of that path, or
        nothing: then the name tells.
        """
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
    """Where git keeps, or has copied, what a sparse worktree is to hold."""
    admin = (path / ".git").read_text(errors="replace").removeprefix("gitdir: ").strip("\0\n")
    return Path(admin or path) / "info" / "sparse-checkout"
