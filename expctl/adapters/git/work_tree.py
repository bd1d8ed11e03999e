"""The files of the work tree go from one commit to another, and what a user does at that very moment is not lost.

What is new is staged and flushed in a folder of ours, then exchanged in one step for what lies in the work tree. Only what
came out tells what was replaced: the old file is dropped, anything else is somebody's edit and goes back. A kill in between
leaves it aside, where the next run finds it. No link is followed on the way: nothing outside of the work tree is touched.
"""

import contextlib
import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Collection
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from expctl.adapters.git.atomic_exchange import (
    LINK,
    NO_EXCHANGE,
    NO_FILE,
    DirEntry,
    Found,
    copy,
    has_a_writer,
    look,
    part,
    remove,
    remove_empty_folders,
    rename_to_free,
    swap,
    taken,
    to_free_name,
    unless,
)
from expctl.adapters.git.command import WHOLE
from expctl.adapters.git.open_beneath import folder_beneath, opened
from expctl.adapters.git.plumbing import GitPlumbing
from expctl.adapters.git.reader import locate
from expctl.domain.errors import Refused
from expctl.files import atomic_write
from expctl.launcher.kernel import RENAME_EXCHANGE, renameat2

STAYS = (errno.ENOENT, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EBUSY)
"""What is said of a file that was removed or made at that moment, or that is a mount point: it stays as it is."""
SUBMODULE = "160000"


class Item(NamedTuple):
    """What a tree has at a path."""

    mode: str
    blob: str


class Change(NamedTuple):
    """A path in two trees. `number` names it among all that differ."""

    number: int
    path: PurePosixPath
    old: Item | None
    new: Item | None


class _State(Enum):
    """Whose is what lies there?"""

    OLD = "as before"
    NEW = "as afterwards"
    THEIRS = "somebody's edit"


class WorkTreeFiles:
    """The user's files, as a step from one tree to another changes them."""

    def __init__(self, workspace: GitPlumbing) -> None:
        self._ws = workspace
        self._staged = workspace.state / "publication.files"
        self._aside = workspace.state / "publication.aside"
        self._step = workspace.state / "publication.step"
        self._empty = workspace.state / "publication.empty"
        self._index = workspace.state / "publication.staging"
        self._rescued = workspace.state / "edits"

    def stage(self, old: str, new: str) -> None:
        """Write and flush what `new` has otherwise than `old`. Nothing of the user's is touched: a failure costs nothing."""
        atomic_write.remove_tree(self._staged)
        for leftover in (self._index, self._index.with_name(f"{self._index.name}.lock")):
            leftover.unlink(missing_ok=True)
        env = {"GIT_INDEX_FILE": str(self._index), **WHOLE}
        paths = [str(change.path) for change in self.changes(old, new) if change.new]
        self._ws.must(["read-tree", new], env=env)
        names = "".join(f"{path}\0" for path in paths).encode(errors="surrogateescape")
        # From an empty folder, so that attributes are those of `new`, not those that lie in the work tree.
        atomic_write.remove_tree(self._empty)
        self._empty.mkdir()
        env |= {"GIT_DIR": str(self._ws.place.git_dir), "GIT_WORK_TREE": str(self._empty)}
        self._ws.must(
            ["-C", str(self._empty), "checkout-index", "-f", "-q", "-z", "--stdin", f"--prefix={self._staged}/"],
            stdin=names,
            env=env,
        )
        for path in paths:
            if not (self._staged / path).is_symlink():
                atomic_write.flush(self._staged / path)

    def check(self, old: str, new: str) -> None:
        """Raises Refused where a file can't follow, and git doesn't say so: an ignored one is in the way, a program has one
        open to write, or one is a mount point.
        """
        mounts, changes = _mount_points(), self.changes(old, new)
        goes = {change.path for change in changes if change.new is None}
        for change in changes:
            found, mend = "", ""
            with self._folder_of(change) as folder:
                if str(self._ws.root / change.path) in mounts:
                    found, mend = "a mount point", "unmount it"
                elif change.old is None and self._is_taken(change, folder, goes):
                    found, mend = "another file in its place, which git ignores", "move it aside"
                elif not _is_writable(self._ws.root, change.path):
                    found, mend = "a folder that can't be written", "chmod u+wx it"
                elif change.old and folder is not None and has_a_writer(DirEntry(folder, change.path.name)):
                    found, mend = "a program has the file open to write", "close it there"
            if found:
                raise Refused(
                    "a local change is in the way of the result",
                    code="local-change-in-the-way",
                    expected="files that can be exchanged for those of the experiment",
                    found=found,
                    where=str(self._ws.root / change.path),
                    hint=f"{mend}, then run the same command again: nothing measured is lost",
                )

    def _is_taken(self, change: Change, folder: int | None, goes: Collection[PurePosixPath]) -> bool:
        """Is something in the place of a new file that isn't the same and doesn't go itself?"""
        for above in change.path.parents[:-1]:
            place = self._ws.root / above
            if place.is_symlink() or (place.exists() and not place.is_dir()):
                return above not in goes
        place = self._ws.root / change.path
        if place.is_dir() and not place.is_symlink():
            below = (each for each in place.rglob("*") if each.is_symlink() or not each.is_dir())
            return any(PurePosixPath(each.relative_to(self._ws.root)) not in goes for each in below)
        return folder is not None and self._state(change, look(DirEntry(folder, change.path.name))) is _State.THEIRS

    def follow(self, old: str, new: str, *, only: Collection[str] | None = None) -> None:
        """Make what differs between two trees, and was staged, as in `new`, where it is as in `old`; `only` these paths, or
        all. May be done twice, each time staged.
        """
        atomic_write.replace(self._step, json.dumps([self._ws.tree_name(), str(self._ws.root), old, new]).encode())
        self._aside.mkdir(exist_ok=True)
        changes = [change for change in self.changes(old, new) if only is None or str(change.path) in only]
        with opened(self._aside) as aside:
            for change in sorted(changes, key=lambda each: each.new is not None):  # a folder may become a file
                with self._folder_of(change, make=change.old is None) as folder:
                    if folder is not None and change.old is None:
                        remove_empty_folders(DirEntry(folder, change.path.name))
                    if folder is not None and self._state(change, look(DirEntry(folder, change.path.name))) is _State.OLD:
                        self._take(change, folder, aside)
                if change.new is None:
                    self._tidy(change)

    def settle(self) -> bool:
        """After a kill: drop what lies aside, unless it is somebody's edit, which goes back. Was a step under way?"""
        try:
            name, root, old, new = json.loads(self._step.read_bytes())
        except FileNotFoundError:
            return False
        where = self._ws.tree_named(name, Path(root))
        if where is not None and where != self._ws.root:
            return WorkTreeFiles(GitPlumbing(locate(where))).settle()
        self._aside.mkdir(exist_ok=True)
        with opened(self._aside) as aside:
            try:
                changes = self.changes(old, new) if where else []
            except Refused:  # git has collected one of the trees: nothing tells what lies here
                changes = []
            for change in changes:
                self._settle_one(change, aside, died=True)
            for left in os.listdir(aside):
                self._rescue(DirEntry(aside, left), left)
        return True

    def forget(self) -> None:
        """The step is done, or was never begun."""
        for file in (self._step, self._index, self._index.with_name(f"{self._index.name}.lock")):
            file.unlink(missing_ok=True)
        for folder in (self._aside, self._staged, self._empty):
            atomic_write.remove_tree(folder)

    # ------------------------------------------------------------------ one file

    def _take(self, change: Change, folder: int, aside: int) -> None:
        """Exchange, and look at what came out."""
        file, spot = DirEntry(folder, change.path.name), DirEntry(aside, str(change.number))
        new = spot if change.new else None
        if new:
            os.rename(self._staged / change.path, new.name, dst_dir_fd=aside)
            _as_made_in(folder, new)
        with unless(STAYS):
            try:
                swap(new, file, spot, exists=change.old is not None)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                beside = _beside(folder, change)
                if new:
                    copy(new, beside)
                swap(beside if new else None, file, beside, exists=change.old is not None)
        os.fsync(folder)
        self._settle_one(change, aside)

    def _settle_one(self, change: Change, aside: int, *, died: bool = False) -> None:
        with self._folder_of(change) as folder:
            spots = [DirEntry(aside, str(change.number)), *([_beside(folder, change)] if folder is not None else [])]
            for spot in spots:
                remove(part(spot))
                for each in (spot, taken(spot)):
                    file = DirEntry(folder, change.path.name) if folder is not None else None
                    if died and each != spot and change.new and file and look(each) and look(file) is None:
                        rename_to_free(each, file)  # between the two renames of `swap`
                    else:
                        self._settle_spot(change, each, file)

    def _settle_spot(self, change: Change, spot: DirEntry, file: DirEntry | None) -> None:
        is_open = has_a_writer(spot)  # before the look: who is done by then is seen by that
        found = look(spot)
        if found is None:
            return
        if is_open or self._state(change, found) is _State.THEIRS:
            self._hand_back(change, spot, file)
        else:
            remove(spot)

    def _hand_back(self, change: Change, spot: DirEntry, file: DirEntry | None) -> None:
        """An edit goes back to its place; beside it, as NAME.edit1, where somebody has written there again meanwhile; where the
        folder is gone, to .git/expctl/edits.
        """
        if file is not None:
            with unless((*NO_EXCHANGE, *STAYS)):
                if change.new and self._state(change, look(file)) is _State.NEW:
                    renameat2(spot, file, RENAME_EXCHANGE)
                    if self._state(change, look(spot)) is _State.NEW:
                        os.fsync(file.folder)
                        remove(spot)
                        return
                    renameat2(spot, file, RENAME_EXCHANGE)
            with unless(STAYS):
                to_free_name(spot, file.folder, file.name)
        if look(spot) is not None:
            self._rescue(spot, change.path.name)

    def _rescue(self, spot: DirEntry, name: str) -> None:
        self._rescued.mkdir(exist_ok=True)
        with opened(self._rescued) as rescued:
            to_free_name(spot, rescued, name)

    def _state(self, change: Change, found: Found | None) -> _State:
        # The new first: both may be the same where git doesn't look at the executable bit.
        items = ((_State.NEW, change.new), (_State.OLD, change.old))
        if found is None:
            return next((state for state, item in items if item is None), _State.THEIRS)
        for filtered in (False, True):  # with git's own filters only where it isn't the very blob
            for state, item in items:
                if item and self._is_mode(found, item) and self._id_of(change, found, item, filtered=filtered) == item.blob:
                    return state
        return _State.THEIRS

    def _is_mode(self, found: Found, item: Item) -> bool:
        special = {NO_FILE, LINK} & {found.mode, item.mode}
        return found.mode == item.mode or (not special and not self._heeds_modes())

    def _id_of(self, change: Change, found: Found, item: Item, *, filtered: bool) -> str:
        if filtered:
            return "" if found.mode == LINK else self._ws.blob_of(found.contents, path=str(change.path))
        digest = hashlib.sha1 if len(item.blob) == 40 else hashlib.sha256
        return digest(b"blob %d\0%b" % (len(found.contents), found.contents), usedforsecurity=False).hexdigest()

    def _heeds_modes(self) -> bool:
        return self._ws.call(["config", "--type=bool", "core.fileMode"])[1].strip() != b"false"

    # ------------------------------------------------------------------ paths

    def changes(self, old: str, new: str) -> list[Change]:
        """What differs between two trees, but for submodules."""
        raw = self._ws.must(["diff-tree", "-r", "-z", "--no-renames", "--no-abbrev", "--raw", old, new]).split("\0")
        found = []
        for number, (head, path) in enumerate(zip(raw[::2], raw[1::2], strict=False)):
            old_mode, new_mode, old_blob, new_blob, _ = head.removeprefix(":").split()
            if SUBMODULE not in (old_mode, new_mode):
                found.append(Change(number, PurePosixPath(path), _item(old_mode, old_blob), _item(new_mode, new_blob)))
        return found

    def _folder_of(self, change: Change, *, make: bool = False) -> contextlib.AbstractContextManager[int | None]:
        return folder_beneath(self._ws.root, change.path.parts[:-1], make=make)

    def _tidy(self, change: Change) -> None:
        """Remove the folders that it leaves empty."""
        for end in range(len(change.path.parts) - 1, 0, -1):
            with folder_beneath(self._ws.root, change.path.parts[: end - 1]) as above:
                try:
                    os.rmdir(change.path.parts[end - 1], dir_fd=above)
                except OSError:
                    return


def _item(mode: str, blob: str) -> Item | None:
    """git writes zeros for what isn't there."""
    return Item(mode, blob) if blob.strip("0") else None


def _beside(folder: int, change: Change) -> DirEntry:
    """Aside, where our own folder is on another mount."""
    return DirEntry(folder, f".expctl-aside-{change.number}")


def _as_made_in(folder: int, spot: DirEntry) -> None:
    """The group that a file gets which is made in a folder that gives its own to all."""
    facts = os.fstat(folder)
    if facts.st_mode & stat.S_ISGID:
        with contextlib.suppress(OSError):
            os.chown(spot.name, -1, facts.st_gid, dir_fd=spot.folder, follow_symlinks=False)


def _is_writable(root: Path, path: PurePosixPath) -> bool:
    """The folder of `path`, or the nearest one above it that is there."""
    return next(os.access(root / above, os.W_OK | os.X_OK) for above in path.parents if (root / above).is_dir())


def _mount_points() -> frozenset[str]:
    lines = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    return frozenset(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), line.split()[4]) for line in lines)
