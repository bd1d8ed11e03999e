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
from collections.abc import Collection
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from expctl.adapters import durable
from expctl.adapters.beneath import folder_beneath, opened
from expctl.adapters.git_call import WHOLE
from expctl.adapters.git_plumbing import GitPlumbing
from expctl.adapters.git_reader import locate
from expctl.adapters.spots import (
    LINK,
    NO_EXCHANGE,
    NO_FILE,
    TAKEN,
    Found,
    Spot,
    copy,
    has_a_writer,
    look,
    part,
    remove,
    rename_to_free,
    swap,
    taken,
    to_free_name,
    unless,
)
from expctl.domain.errors import Refused
from expctl.launcher.kernel import RENAME_EXCHANGE, renameat2

STAYS = (errno.ENOENT, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EBUSY)
"""What is said of a file that was removed or made at that moment, or that is a mount point: it stays as it is."""
SUBMODULE = "160000"


class _Item(NamedTuple):
    """What a tree has at a path."""

    mode: str
    blob: str


class _Change(NamedTuple):
    """A path in two trees. `number` names it among all that differ."""

    number: int
    path: PurePosixPath
    old: _Item | None
    new: _Item | None


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
        self._rescued = workspace.state / "edits"

    def stage(self, old: str, new: str) -> None:
        """Write and flush what `new` has otherwise than `old`. Nothing of the user's is touched: a failure costs nothing."""
        durable.remove_tree(self._staged)
        index = self._ws.state / "publication.staging"
        for leftover in (index, index.with_name(f"{index.name}.lock")):
            leftover.unlink(missing_ok=True)
        env = {"GIT_INDEX_FILE": str(index), **WHOLE}
        paths = [str(change.path) for change in self._changes(old, new) if change.new]
        self._ws.must(["read-tree", new], env=env)
        names = "".join(f"{path}\0" for path in paths).encode(errors="surrogateescape")
        self._ws.must(["checkout-index", "-f", "-q", "-z", "--stdin", f"--prefix={self._staged}/"], stdin=names, env=env)
        index.unlink()
        for path in paths:
            if not (self._staged / path).is_symlink():
                durable.flush(self._staged / path)

    def follow(self, old: str, new: str, *, only: Collection[str] | None = None) -> None:
        """Make what differs between two trees, and was staged, as in `new`, where it is as in `old`; `only` these paths, or
        all. May be done twice, each time staged.
        """
        durable.replace(self._step, json.dumps([str(self._ws.root), old, new]).encode())
        self._aside.mkdir(exist_ok=True)
        changes = [change for change in self._changes(old, new) if only is None or str(change.path) in only]
        with opened(self._aside) as aside:
            for change in sorted(changes, key=lambda each: each.new is not None):  # a folder may become a file
                with self._folder_of(change, make=change.old is None) as folder:
                    if folder is not None and self._state(change, look(Spot(folder, change.path.name))) is _State.OLD:
                        self._take(change, folder, aside)
                if change.new is None:
                    self._tidy(change)

    def settle(self) -> bool:
        """After a kill: drop what lies aside, unless it is somebody's edit, which goes back. Was a step under way?"""
        try:
            root, old, new = json.loads(self._step.read_bytes())
        except FileNotFoundError:
            return False
        if root != str(self._ws.root) and Path(root, ".git").exists():  # another work tree of this repository
            return WorkTreeFiles(GitPlumbing(locate(Path(root)))).settle()
        self._aside.mkdir(exist_ok=True)
        with opened(self._aside) as aside:
            try:
                changes = self._changes(old, new) if root == str(self._ws.root) else []
            except Refused:  # git has collected one of the trees: nothing tells what lies here
                changes = []
            for change in changes:
                self._settle_one(change, aside)
            for name in os.listdir(aside):
                self._rescue(Spot(aside, name), name)
        return True

    def forget(self) -> None:
        """The step is done, or was never begun."""
        self._step.unlink(missing_ok=True)
        for folder in (self._aside, self._staged):
            durable.remove_tree(folder)

    # ------------------------------------------------------------------ one file

    def _take(self, change: _Change, folder: int, aside: int) -> None:
        """Exchange, and look at what came out."""
        file, spot = Spot(folder, change.path.name), Spot(aside, str(change.number))
        new = spot if change.new else None
        if new:
            os.rename(self._staged / change.path, new.name, dst_dir_fd=aside)
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

    def _settle_one(self, change: _Change, aside: int) -> None:
        with self._folder_of(change) as folder:
            spots = [Spot(aside, str(change.number)), *([_beside(folder, change)] if folder is not None else [])]
            for spot in spots:
                remove(part(spot))
                for each in (spot, taken(spot)):
                    self._settle_spot(change, each, folder)

    def _settle_spot(self, change: _Change, spot: Spot, folder: int | None) -> None:
        found = look(spot)
        if found is None:
            return
        if folder is not None and spot.name.endswith(TAKEN) and change.new and look(Spot(folder, change.path.name)) is None:
            rename_to_free(spot, Spot(folder, change.path.name))  # died between the two renames of `swap`
            return
        if self._state(change, found) is _State.THEIRS or has_a_writer(spot):
            self._hand_back(change, spot, folder)
        remove(spot)

    def _hand_back(self, change: _Change, spot: Spot, folder: int | None) -> None:
        """An edit goes back to its place; beside it, as NAME.edit1, where somebody has written there again meanwhile; where the
        folder is gone, to .git/expctl/edits.
        """
        name = change.path.name
        if folder is None:
            self._rescue(spot, name)
            return
        file = Spot(folder, name)
        if change.new and self._state(change, look(file)) is _State.NEW:
            with unless(NO_EXCHANGE):
                renameat2(spot, file, RENAME_EXCHANGE)
                if self._state(change, look(spot)) is _State.NEW:
                    os.fsync(folder)
                    return
                renameat2(spot, file, RENAME_EXCHANGE)
        to_free_name(spot, folder, name)

    def _rescue(self, spot: Spot, name: str) -> None:
        self._rescued.mkdir(exist_ok=True)
        with opened(self._rescued) as rescued:
            to_free_name(spot, rescued, name)

    def _state(self, change: _Change, found: Found | None) -> _State:
        # The new first: both may be the same where git doesn't look at the executable bit.
        items = ((_State.NEW, change.new), (_State.OLD, change.old))
        if found is None:
            return next((state for state, item in items if item is None), _State.THEIRS)
        for filtered in (False, True):  # with git's own filters only where it isn't the very blob
            for state, item in items:
                if item and self._is_mode(found, item) and self._id_of(change, found, item, filtered=filtered) == item.blob:
                    return state
        return _State.THEIRS

    def _is_mode(self, found: Found, item: _Item) -> bool:
        special = {NO_FILE, LINK} & {found.mode, item.mode}
        return found.mode == item.mode or (not special and not self._heeds_modes())

    def _id_of(self, change: _Change, found: Found, item: _Item, *, filtered: bool) -> str:
        if filtered:
            return "" if found.mode == LINK else self._ws.blob_of(found.contents, path=str(change.path))
        digest = hashlib.sha1 if len(item.blob) == 40 else hashlib.sha256
        return digest(b"blob %d\0%b" % (len(found.contents), found.contents), usedforsecurity=False).hexdigest()

    def _heeds_modes(self) -> bool:
        return self._ws.call(["config", "--type=bool", "core.fileMode"])[1].strip() != b"false"

    # ------------------------------------------------------------------ paths

    def _changes(self, old: str, new: str) -> list[_Change]:
        raw = self._ws.must(["diff-tree", "-r", "-z", "--no-renames", "--no-abbrev", "--raw", old, new]).split("\0")
        found = []
        for number, (head, path) in enumerate(zip(raw[::2], raw[1::2], strict=False)):
            old_mode, new_mode, old_blob, new_blob, _ = head.removeprefix(":").split()
            if SUBMODULE not in (old_mode, new_mode):
                found.append(_Change(number, PurePosixPath(path), _item(old_mode, old_blob), _item(new_mode, new_blob)))
        return found

    def _folder_of(self, change: _Change, *, make: bool = False) -> contextlib.AbstractContextManager[int | None]:
        return folder_beneath(self._ws.root, change.path.parts[:-1], make=make)

    def _tidy(self, change: _Change) -> None:
        """Remove the folders that it leaves empty."""
        for end in range(len(change.path.parts) - 1, 0, -1):
            with folder_beneath(self._ws.root, change.path.parts[: end - 1]) as above:
                try:
                    os.rmdir(change.path.parts[end - 1], dir_fd=above)
                except OSError:
                    return


def _item(mode: str, blob: str) -> _Item | None:
    """git writes zeros for what isn't there."""
    return _Item(mode, blob) if blob.strip("0") else None


def _beside(folder: int, change: _Change) -> Spot:
    """Aside, where our own folder is on another mount."""
    return Spot(folder, f".expctl-{change.number}")
