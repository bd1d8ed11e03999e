"""Publish a commit: the only operation that moves the user's branch, index and files. A kill at any point loses nothing.

    1  a copy of the index is made git's index.lock by a hard link, so that the lock of a killed run is known by its inode
    2  the merged index is written beside it (git refuses if a local change would be lost); the new files are staged
    3  the branch moves to the commit by compare-and-swap
    4  the files that changed are exchanged for the staged ones, unless somebody edited them meanwhile (work_tree.py)
    5  the merged index is renamed into place

After a kill before step 3 the next run undoes what was done; after step 3 it completes the rest. Without the lock, a kill
between steps 3 and 5 would make the user's next commit revert the experiment.
"""

import contextlib
import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from expctl.adapters.git import stale_locks
from expctl.adapters.git.failures import gave_up, unfit_index
from expctl.adapters.git.index_bytes import is_as_before, with_facts
from expctl.adapters.git.plumbing import GitPlumbing, misses_an_object
from expctl.adapters.git.publication_intent import PUBLISHED, Intent, logged_intent, read_intent, write_intent
from expctl.adapters.git.reader import locate
from expctl.adapters.git.tree_changes import Change, Item
from expctl.adapters.git.work_tree import WorkTreeFiles
from expctl.adapters.machine.signals import uninterrupted
from expctl.domain.errors import Busy, Refused
from expctl.files import atomic_write, checked_json

LOCK_WAIT_S = 10.0
REFRESHED_MAX = 200  # paths that one call of git is given
NO_COMMIT = re.compile("Not a valid (commit|object) name")
"""git's message for a commit that was garbage-collected or a HEAD without one: then HEAD certainly doesn't contain it."""


class Publication:
    """Moves a branch, the index and the files of the work tree to a commit. What is intended is written to disk first, so that
    after a kill the next run completes or undoes it.
    """

    def __init__(
        self,
        workspace: GitPlumbing,
        *,
        lock_wait_s: float = LOCK_WAIT_S,
        known: Mapping[tuple[str, str], list[Change]] | None = None,
    ) -> None:
        """Make one for the work tree of `workspace`. `known` has what differs between two commits, so that git isn't asked."""
        self._ws = workspace
        self._lock_wait_s = lock_wait_s
        self._index = workspace.place.git_dir / "index"
        self._lock = workspace.place.git_dir / "index.lock"
        self._own_index = workspace.state / "publication.index"
        self._merged = workspace.state / "publication.merged"
        self._intent = workspace.state / "publication.json"
        self._files = WorkTreeFiles(workspace, known)

    def publish(self, *, branch: str, old: str, new: str) -> bool:
        """Move `branch` from commit `old` to `new`. Return False, with nothing changed, if the branch is no longer at `old`.
        Raises Refused if a local change would be overwritten, Busy if another process holds git's index lock.
        """
        with uninterrupted():
            self._write_intent(branch, old, new)
            try:
                return self._publish(branch, old, new)
            except (Refused, OSError, RuntimeError):
                # What failed may have done its work first: only the branch itself says whether it has moved.
                with contextlib.suppress(Refused, OSError, RuntimeError):
                    self.recover_intended()
                raise

    def _publish(self, branch: str, old: str, new: str) -> bool:
        self._take_lock()  # also where the branch isn't checked out: nobody can check it out meanwhile
        is_here = self._ws.branch() == branch
        if is_here:
            self._files.check(old, new)
            self._merge(old, new)
            self._files.stage(old, new)
        else:
            self._refuse_elsewhere(branch)
        moved = self._move_branch(branch, old, new)
        if moved and is_here and self._head_contains(new):
            self._complete(branch, old, new)
            return True
        if moved and not is_here:
            self._undo_if_elsewhere(branch, old, new)
        self._release()
        return moved

    def _write_intent(self, branch: str, old: str, new: str, *, last_step: bool = False) -> None:
        intent = Intent(self._ws.tree_name(), str(self._ws.root), branch, old, new, last_step)
        write_intent(self._intent, intent)

    def _undo_if_elsewhere(self, branch: str, old: str, new: str) -> None:
        try:
            self._refuse_elsewhere(branch)
        except Refused:
            self._move_branch(branch, new, old)
            raise

    def recover_intended(self) -> None:
        """Complete or undo the publication that a killed run began, if there is one, in the work tree where it was begun. A
        file on disk (the file of intent) says which branch, commits and work tree it concerns. Where that is damaged, git's log
        of the branch does. Raises Refused if neither can tell.
        """
        try:
            name, root, branch, old, new, last_step = read_intent(self._intent)
        except FileNotFoundError:
            return
        except checked_json.Damaged:
            name, root, branch, old, new, last_step = logged_intent(self._ws, self._intent)
        where = self._ws.tree_named(name, Path(root))
        if where is not None and where != self._ws.root:
            Publication(GitPlumbing(locate(where))).recover_intended()
            return
        if where is None:  # the work tree is gone, so there are no files to change
            lock = self._ws.state.parent / name / "index.lock"
            if self._own_index.exists() and lock.exists() and self._own_index.samefile(lock):
                lock.unlink()
            self._remove_copies()
        else:
            stale_locks.remove_own(self._ws.place.git_dir, self._ws.state.parent, branch, new)
            self.recover(branch=branch, old=old, new=new, last_step=last_step)
        self._intent.unlink(missing_ok=True)

    def recover(self, *, branch: str, old: str, new: str, last_step: bool = False) -> None:
        """Complete the killed publication of `new` on `branch` if HEAD contains `new`; otherwise undo it, back to `old`.
        `last_step` is True if the killed run had done everything but to put the new index into place.
        """
        files_moved = self._files.recover()
        ours = self._lock_is_ours()
        is_published = self._head_contains(new)
        if not is_published and files_moved and (ours or not last_step):
            self._undo_files(old, new)
        if is_published and (ours or (not last_step and self._retake_lock())):
            self._rebuild_index(old, new)
            self._files.stage(old, new)
            self._complete(branch, old, new)
            return
        self._release()

    def _refuse_elsewhere(self, branch: str) -> None:
        # The next commit in a work tree that has the branch checked out, or rebases it, would undo the move.
        listing = self._ws.must(["worktree", "list", "--porcelain", "-z"]).split("\0")
        folders = [line.removeprefix("worktree ") for line in listing if line.startswith("worktree ")]
        branches = [line.removeprefix("branch ") for line in listing if line.startswith(("branch ", "detached", "bare"))]
        where = dict(zip(branches, folders, strict=False)).get(f"refs/heads/{branch}")
        if where is not None:
            raise Refused(
                f"{branch} is checked out in another worktree",
                code="branch-in-another-worktree",
                expected="to be run in the worktree that has the branch",
                found=where,
                hint=f"cd {where} and run the same command again" if Path(where).exists() else "git worktree prune",
            )
        common = self._ws.state.parent
        for admin in (common, *common.glob("worktrees/*")):
            for name in ("rebase-merge", "rebase-apply"):
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    if (admin / name / "head-name").read_text().strip() == f"refs/heads/{branch}":
                        raise Refused(
                            f"a rebase of {branch} is under way",
                            code="rebase-under-way",
                            expected="a branch that nothing else moves",
                            found=str(admin / name),
                            hint="git rebase --continue or --abort, then run the same command again: nothing measured is lost",
                        )

    def _move_branch(self, branch: str, old: str, new: str) -> bool:
        name = f"refs/heads/{branch}"
        status, _, stderr = self._ws.call(["update-ref", "-m", PUBLISHED, name, new, old])
        if status and self._ws.ref(name) == old and self._ws.ref(new):
            raise Refused(
                f"git can't move the branch {branch}",
                code="branch-cannot-move",
                expected="a branch that can be written",
                found=stderr.splitlines()[0] if stderr else f"exit status {status}",
                where=str(self._ws.root),
                hint="correct that (expctl doctor shows locks), then run the same command again: nothing measured is lost",
            )
        return status == 0

    def _take_lock(self) -> None:
        # A leftover may be a second name of the live index: never write into it.
        self._own_index.unlink(missing_ok=True)
        shutil.copy2(self._existing_index(), self._own_index)
        deadline = time.monotonic() + self._lock_wait_s
        while True:
            try:
                os.link(self._own_index, self._lock)  # `stage` makes it durable, before the branch moves
            except FileExistsError:
                if time.monotonic() > deadline:
                    raise Busy(
                        "another git command holds the index",
                        code="index-locked",
                        expected="no index.lock",
                        found=f"{self._lock} for more than {self._lock_wait_s:g} s",
                        hint="let it finish; if no git runs, remove that file; then run the same command again",
                    ) from None
                time.sleep(0.05)
            else:
                return

    def _merge(self, old: str, new: str) -> None:
        self._copy_to_merge()
        env = {"GIT_INDEX_FILE": str(self._merged)}
        if self._ws.ref(new) and self._put(self._files.changes(old, new), env):  # nothing names it yet: it may be collected
            return
        # Refused are files that differ from their entry in the index; those without one were looked at by `check`.
        merge = ["read-tree", "-m", old, new]
        status, _, stderr = self._ws.call(merge, env=env)
        if status:  # perhaps for files that were written anew and are as before
            self._ws.call(["update-index", "-q", "--refresh"], env=env)
            status, _, stderr = self._ws.call(merge, env=env)
        if status and not self._ws.ref(new):
            raise misses_an_object(stderr, str(self._ws.root))
        if status:
            raise Refused(
                "a local change is in the way of the result",
                code="local-change-in-the-way",
                expected="the files of the experiment as they are in the baseline",
                found=stderr.splitlines()[0] if stderr else "git read-tree refused",
                where=str(self._ws.root),
                hint="git stash sets it aside, expctl new --from-diff queues it; "
                "then run the same command again: nothing measured is lost",
            )

    def _put(self, changes: Sequence[Change], env: Mapping[str, str]) -> bool:
        # As `read-tree` merges, without a look at every file, where few change and index and work tree have them as before.
        before = [(change, change.old) for change in changes if change.old]
        few = 0 < len(changes) <= REFRESHED_MAX
        if not few or not is_as_before(self._merged.read_bytes(), changes) or self._files.facts(before) is None:
            return False
        words = ["update-index", "--add"]
        for change in changes:
            words += ["--cacheinfo", f"{change.new.mode},{change.new.blob},{change.path}"] if change.new else []
        gone = [str(change.path) for change in changes if change.new is None]
        return not self._ws.call([*words, *(["--force-remove", "--", *gone] if gone else [])], env=env)[0]

    def _rebuild_index(self, old: str, new: str) -> None:
        # Entries still equal to `old` become those of `new` if HEAD has these. Any other was staged by the user and is kept.
        self._copy_to_merge()
        env = {"GIT_INDEX_FILE": str(self._merged)}
        changes = self._files.changes(old, new)
        paths = [str(change.path) for change in changes]
        staged = self._entries(["ls-files", "-s", "-z"], env)
        at_head = self._entries(["ls-tree", "-r", "-z", "HEAD"])
        skipped = {line[2:] for line in self._ws.must(["ls-files", "-t", "-z"], env=env).split("\0") if line.startswith("S ")}
        lines = []
        for change, path in zip(changes, paths, strict=True):
            if staged.get(path) == change.old and at_head.get(path) == change.new:
                mode, blob = change.new or ("0", "0" * len(new))
                lines.append(f"{mode} {blob}\t{path}\0")
        self._ws.must(["update-index", "-z", "--index-info"], stdin="".join(lines).encode(errors="surrogateescape"), env=env)
        still = "".join(f"{change.path}\0" for change in changes if change.new and str(change.path) in skipped)
        words = ["update-index", "-z", "--skip-worktree", "--stdin"]
        self._ws.must(words, stdin=still.encode(errors="surrogateescape"), env=env)

    def _entries(self, words: list[str], env: Mapping[str, str] | None = None) -> dict[str, Item]:
        # `ls-files -s` prints mode, blob, stage; `ls-tree` mode, type, blob.
        listing = self._ws.must(words, env=env).split("\0")
        found = (line.split("\t", 1) for line in listing if line)
        return {path: Item(head.split()[0], max(head.split()[1:3], key=len)) for head, path in found}

    def _complete(self, branch: str, old: str, new: str) -> None:
        # Every step may be repeated.
        self._files.update(old, new)
        if not self._head_contains(new):  # a `git switch -c` was under way when the branch moved
            self._undo_files(old, new)
            self._release()
            return
        self._refresh([change for change in self._files.changes(old, new) if change.new])
        self._copy_durably(self._merged, self._own_index)
        if not self._lock_is_ours():
            raise Busy(
                "another program removed the git lock of this run",
                code="index-lock-removed",
                expected=f"{self._lock} to stay until the files in the work tree are those of the new commit",
                found="the lock of another program" if self._lock.exists() else "no such file",
                hint="run the same command again: it goes on from there, and nothing measured is lost",
            )
        # It tells a later index of the user from ours.
        self._write_intent(branch, old, new, last_step=True)
        os.rename(self._lock, self._index)
        atomic_write.flush(self._index.parent)
        self._remove_copies()
        self._intent.unlink(missing_ok=True)

    def _refresh(self, changes: Sequence[Change]) -> None:
        # Only what has changed is looked at: `update-index` would look at every file, which takes long where they are many.
        facts = self._files.facts((change, change.new) for change in changes if change.new)
        noted = with_facts(self._merged.read_bytes(), facts) if facts else None
        if noted is not None:
            self._merged.write_bytes(noted)
            return
        paths = [str(change.path) for change in changes]
        env = {"GIT_INDEX_FILE": str(self._merged)}
        few = 0 < len(paths) <= REFRESHED_MAX
        if not few or self._ws.call(["add", "--refresh", "--", *paths], env=env)[0]:
            self._ws.call(["update-index", "-q", "--refresh"], env=env)

    def _undo_files(self, old: str, new: str) -> None:
        self._files.stage(new, old)
        self._files.update(new, old)

    def _head_contains(self, new: str) -> bool:
        # If not, the branch has not moved, or the user switched away just before it did.
        if self._ws.is_at(new):
            return True
        asked = ["merge-base", "--is-ancestor", new, "HEAD"]
        status, _, stderr = self._ws.call(asked)
        if status not in (0, 1):  # a disk may fail once
            status, _, stderr = self._ws.call(asked)
        if status not in (0, 1) and not NO_COMMIT.search(stderr):
            raise gave_up("merge-base", stderr, str(self._ws.root))
        return status == 0

    def _lock_is_ours(self) -> bool:
        try:
            return self._own_index.samefile(self._lock)
        except FileNotFoundError:
            return False

    def _retake_lock(self) -> bool:
        if not self._own_index.exists() or self._own_index.samefile(self._existing_index()):
            return False  # the index was replaced already
        self._take_lock()
        return True

    def _existing_index(self) -> Path:
        if not self._index.exists():
            first = f"rm {self._lock} && " if self._lock_is_ours() else ""
            raise unfit_index(self._index, self._ws.root, first=first)
        return self._index

    def _release(self) -> None:
        if self._lock_is_ours():
            self._lock.unlink(missing_ok=True)
        self._remove_copies()
        self._intent.unlink(missing_ok=True)

    def _copy_to_merge(self) -> None:
        self._merged.with_name(f"{self._merged.name}.lock").unlink(missing_ok=True)
        # The time is copied too: git rehashes files that are as new as the index.
        shutil.copyfile(self._existing_index(), self._merged)
        shutil.copystat(self._index, self._merged)

    def _remove_copies(self) -> None:
        for copy in (self._own_index, self._merged, self._merged.with_name(f"{self._merged.name}.lock")):
            copy.unlink(missing_ok=True)
        self._files.remove_temporary()

    @staticmethod
    def _copy_durably(source: Path, target: Path) -> None:
        with open(source, "rb") as src, open(target, "r+b" if target.exists() else "w+b") as dst:
            dst.seek(0)
            shutil.copyfileobj(src, dst)
            dst.truncate()
            dst.flush()
            facts = os.fstat(src.fileno())
            os.utime(dst.fileno(), ns=(facts.st_atime_ns, facts.st_mtime_ns))
            os.fsync(dst.fileno())
