"""Remove lock files that a killed git process of expctl left. A lock that another git process may hold stays.

A lock below refs/expctl/ is always expctl's. A lock on a branch or on HEAD is expctl's if a killed publication was to move that
branch, and the lock is empty or holds the commit that was to be published.
"""

import os
from pathlib import Path


def remove_own(git: Path, common: Path, branch: str, new: str) -> None:
    """Remove the lock files that a killed publication of commit `new` left on `branch` and HEAD. `git` is the git folder of the
    work tree, `common` that of the repository.
    """
    for lock in (common / "refs" / "heads" / f"{branch}.lock", git / "HEAD.lock"):
        if _text(lock) in ("", new) and not _is_open(lock):
            lock.unlink(missing_ok=True)


def remove_below(folder: Path) -> None:
    """Remove every *.lock below `folder`, a folder of refs that only expctl writes, unless a running process has it open."""
    for lock in folder.rglob("*.lock"):
        if not _is_open(lock):
            lock.unlink(missing_ok=True)


def _text(lock: Path) -> str | None:
    try:
        return lock.read_text(errors="replace").strip("\0\n")
    except OSError:
        return None


def _is_open(lock: Path) -> bool:
    # A live git keeps its lock open until it has written it.
    for descriptor in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(descriptor) == str(lock):
                return True
        except OSError:
            continue
    return False
