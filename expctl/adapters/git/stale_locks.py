"""Lock files that git leaves when it is killed, and which of them are ours to remove.

Ours is a lock that our dead git made: on refs below refs/expctl/ always; on a branch or HEAD where the intent of a dead
publication names them and the lock is empty or holds the very commit that was to be published. Anybody else's stays.
"""

import os
from pathlib import Path


def remove_own(git: Path, common: Path, branch: str, new: str) -> None:
    """Remove what a dead publication of `new` on `branch` left of ref locks. `git` is the worktree's git folder, `common` that
    of the repository.
    """
    for lock in (common / "refs" / "heads" / f"{branch}.lock", git / "HEAD.lock"):
        if _text(lock) in ("", new) and not _is_open(lock):
            lock.unlink(missing_ok=True)
    remove_below(common / "refs" / "expctl")


def remove_below(folder: Path) -> None:
    """Remove every lock in a folder of refs that nobody but us writes."""
    for lock in folder.rglob("*.lock"):
        if not _is_open(lock):
            lock.unlink(missing_ok=True)


def _text(lock: Path) -> str | None:
    try:
        return lock.read_text(errors="replace").strip("\0\n")
    except OSError:
        return None


def _is_open(lock: Path) -> bool:
    """Does a process of ours hold it open? A git that lives keeps its lock open until it has written it."""
    for descriptor in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(descriptor) == str(lock):
                return True
        except OSError:
            continue
    return False
