"""The files of the work tree follow the branch, and an edit made at that very moment is not lost.

A new file is staged and flushed in our own folder, then exchanged for the one in the work tree in one step. Only what came
out tells what was replaced: the old file is dropped, anything else is somebody's edit and goes back. A kill in between
leaves it in `publication.aside`, where the next run finds it.
"""

import errno
import itertools
import os
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from expctl.adapters import durable
from expctl.adapters.git_plumbing import GitPlumbing
from expctl.launcher.kernel import RENAME_EXCHANGE, RENAME_NOREPLACE, renameat2

NOT_HERE = (errno.ENOSYS, errno.EINVAL, errno.EXDEV)
"""What a C library, a file system, or two of them say that can't exchange files."""


class _Change(NamedTuple):
    """A path and its blob ids before and after; empty: no file."""

    path: str
    old: str
    new: str


class WorkTreeFiles:
    """The user's files, as a publication from one commit to another changes them."""

    def __init__(self, workspace: GitPlumbing) -> None:
        self._ws = workspace
        self._staged = workspace.state / "publication.files"
        self._aside = workspace.state / "publication.aside"

    def follow(self, old: str, new: str, *, index: Path, only: Collection[str] | None = None) -> None:
        """Make what differs between two trees as in `new`, where it is as in `old`; `only` these paths, or all. May be done
        twice. `index` holds `new`.
        """
        for change in self._changes(old, new):
            if only is not None and change.path not in only:
                continue
            if self._blob(change.path) == change.old != change.new:
                if change.new:
                    self._write(change, index)
                else:
                    self._remove(change)
        durable.remove_tree(self._aside)

    def give_back(self, old: str, new: str) -> None:
        """After a kill: drop what lies aside, unless it is somebody's edit."""
        if self._aside.exists():
            for change in self._changes(old, new):
                self._look_at_what_came_out(change)
            durable.remove_tree(self._aside)

    def forget_staged(self) -> None:
        """Remove what was staged and not taken. Nothing of the user's is there."""
        durable.remove_tree(self._staged)

    def _changes(self, old: str, new: str) -> list[_Change]:
        raw = self._ws.must(["diff-tree", "-r", "-z", "--no-renames", "--raw", old, new]).split("\0")
        heads = (head.split() for head in raw[::2])
        return [_Change(path, _present(head[2]), _present(head[3])) for head, path in zip(heads, raw[1::2], strict=False)]

    def _blob(self, path: str, at: Path | None = None) -> str:
        """The blob id that the file would have if it were added now; empty when there is none, `?` when it is no file."""
        return self._ws.blob_on_disk(path, at) or ("?" if os.path.lexists(at or self._ws.root / path) else "")

    def _write(self, change: _Change, index: Path) -> None:
        file, aside = self._ws.root / change.path, self._aside / change.path
        self._ws.must(
            ["checkout-index", "-f", "-q", f"--prefix={self._staged}/", "--", change.path], env={"GIT_INDEX_FILE": str(index)}
        )
        durable.move(self._staged / change.path, aside)  # whole and on the disk, whatever happens from here on
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            renameat2(aside, file, RENAME_EXCHANGE if change.old else RENAME_NOREPLACE)
        except (FileNotFoundError, FileExistsError, NotADirectoryError):  # removed or made meanwhile: that stays
            aside.unlink()
            return
        except OSError as error:
            if error.errno not in NOT_HERE:
                raise
            durable.move(aside, file)
        durable.flush_folder(file.parent)
        self._look_at_what_came_out(change)

    def _remove(self, change: _Change) -> None:
        file, aside = self._ws.root / change.path, self._aside / change.path
        aside.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(file, aside)
        except OSError as error:
            if error.errno not in NOT_HERE:
                raise
            file.unlink(missing_ok=True)
        self._look_at_what_came_out(change)
        for folder in file.relative_to(self._ws.root).parents:
            if folder == Path() or any((self._ws.root / folder).iterdir()):
                break
            (self._ws.root / folder).rmdir()

    def _look_at_what_came_out(self, change: _Change) -> None:
        file, aside = self._ws.root / change.path, self._aside / change.path
        if self._blob(change.path, aside) not in ("", change.old, change.new):
            self._hand_back(change, aside, file)
        aside.unlink(missing_ok=True)

    def _hand_back(self, change: _Change, aside: Path, file: Path) -> None:
        """An edit goes back to its place; beside it, as NAME.edit1, where somebody has written there again meanwhile."""
        if change.new and self._blob(change.path) == change.new:
            renameat2(aside, file, RENAME_EXCHANGE)
            if self._blob(change.path, aside) == change.new:
                return
            renameat2(aside, file, RENAME_EXCHANGE)
        for place in itertools.chain((file,), (file.with_name(f"{file.name}.edit{n}") for n in itertools.count(1))):
            try:
                _rename_to_free(aside, place)
            except FileExistsError:
                continue
            durable.flush_folder(place.parent)
            return


def _rename_to_free(one: Path, two: Path) -> None:
    """Raises FileExistsError where something is at `two`."""
    try:
        renameat2(one, two, RENAME_NOREPLACE)
    except OSError as error:
        if error.errno not in NOT_HERE:
            raise
        if os.path.lexists(two):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(two)) from None
        os.rename(one, two)


def _present(blob: str) -> str:
    """git writes an id of zeros (40 or 64) for a file that isn't there."""
    return blob if blob.strip("0") else ""
