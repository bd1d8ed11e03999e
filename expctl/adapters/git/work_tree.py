"""Change the files of the work tree from one commit to another, without losing an edit that a user makes meanwhile.

New files are staged and flushed in a folder of expctl's, then exchanged atomically for those of the work tree. The file that
was there before is then inspected: if it is the old commit's version it is deleted, otherwise it is a user's edit and is put
back. After a kill the next run finds such a file in the folder `aside` and does the same. No symbolic link is followed, so no
file outside is touched.
"""

import contextlib
import errno
import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterable, Mapping
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import TypedDict

from expctl.adapters.git.atomic_exchange import (
    LINK,
    NO_EXCHANGE,
    NO_FILE,
    DirEntry,
    Found,
    backup_of,
    copy,
    exchange,
    ignoring_errors,
    is_open_for_writing,
    part,
    read_entry,
    remove,
    remove_empty_folders,
    rename_no_replace,
    rename_to_free_name,
)
from expctl.adapters.git.command import NOT_SPARSE
from expctl.adapters.git.commit_objects import item_of
from expctl.adapters.git.index_bytes import index_of
from expctl.adapters.git.open_beneath import folder_beneath, opened
from expctl.adapters.git.plumbing import GitPlumbing
from expctl.adapters.git.publication_intent import Intent, read_intent, write_intent
from expctl.adapters.git.reader import OBJECT, locate
from expctl.adapters.git.tree_changes import Change, Item, changes_in
from expctl.domain.errors import Refused
from expctl.files import atomic_write, checked_json
from expctl.launcher.kernel import RENAME_EXCHANGE, renameat2

STAYS = (errno.ENOENT, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EBUSY)
"""Error numbers for a file that was created or removed meanwhile, or that is a mount point: it is left as it is."""


class _Call(TypedDict):
    """The arguments of GitPlumbing.call."""

    arguments: list[str]
    stdin: bytes
    env: dict[str, str]


class _State(Enum):
    OLD = "as before"
    NEW = "as afterwards"
    THEIRS = "somebody's edit"


class WorkTreeFiles:
    """Changes the user's files from one git tree to another; temporary files are publication.* in expctl's state folder."""

    def __init__(self, workspace: GitPlumbing, known: Mapping[tuple[str, str], list[Change]] | None = None) -> None:
        self._ws = workspace
        self._changes = dict(known or {})  # between commits or trees, by their ids
        self._staged = workspace.state / "publication.files"
        self._aside = workspace.state / "publication.aside"
        self._step = workspace.state / "publication.step"
        self._empty = workspace.state / "publication.empty"
        self._index = workspace.state / "publication.staging"
        self._rescued = workspace.state / "edits"

    def stage(self, old: str, new: str) -> None:
        """Write the files of tree `new` that differ from tree `old` to the staging folder. The work tree is not touched."""
        paths = [change.path for change in self.changes(old, new) if change.new]
        for leftover in (self._index, self._index.with_name(f"{self._index.name}.lock")):
            leftover.unlink(missing_ok=True)
        few = self._few(old, new)
        if few is not None:
            self._index.write_bytes(few)
        if few is None or self._ws.call(**self._staging(paths))[0]:
            self._index.unlink(missing_ok=True)
            self._ws.must(["read-tree", new], env={"GIT_INDEX_FILE": str(self._index), **NOT_SPARSE})
            self._ws.must(**self._staging(paths))
        files = [self._staged / path for path in paths if not (self._staged / path).is_symlink()]
        atomic_write.flush_all([*files, self._ws.place.git_dir])  # in that is the lock of the index, which is new too

    def _few(self, old: str, new: str) -> bytes | None:
        """Return an index of the files of `new` that differ from `old`, and of the .gitattributes by which git writes them.
        None if git has to be asked for the entries.
        """
        wanted = {str(change.path): change.new for change in self.changes(old, new) if change.new}
        found = self._ws.attributes_above(new, wanted) if wanted and OBJECT.fullmatch(new) else None
        return None if found is None else index_of(wanted | {path: item_of(each) for path, each in found.items()})

    def _staging(self, paths: Collection[PurePosixPath]) -> _Call:
        """Empty the staging folder, and return the call of git that writes `paths` there as they are in the index."""
        atomic_write.remove_tree(self._staged)
        # From an empty folder, so that attributes are those of the index, not those that lie in the work tree.
        atomic_write.remove_tree(self._empty)
        self._empty.mkdir()
        where = {"GIT_DIR": str(self._ws.place.git_dir), "GIT_WORK_TREE": str(self._empty)}
        return {
            "arguments": ["-C", str(self._empty), "checkout-index", "-f", "-q", "-z", "--stdin", f"--prefix={self._staged}/"],
            "stdin": "".join(f"{path}\0" for path in paths).encode(errors="surrogateescape"),
            "env": {"GIT_INDEX_FILE": str(self._index), **NOT_SPARSE, **where},
        }

    def check(self, old: str, new: str) -> None:
        """Raise Refused if a file can't be replaced: a file that git ignores is in the way, a program has it open for writing,
        it is a mount point, or its folder is read-only.
        """
        mounts, changes = _mount_points(), self.changes(old, new)
        goes = {change.path for change in changes if change.new is None}
        for change in changes:
            found, mend = "", ""
            with self._folder_of(change) as folder:
                if str(self._ws.root / change.path) in mounts:
                    found, mend = "a mount point", "unmount it"
                elif change.old is None and self._is_occupied(change, folder, goes):
                    found, mend = "another file in its place", "move it aside"
                elif not _is_writable(self._ws.root, change.path):
                    found, mend = "a folder that you may not write", "chmod u+wx the folder"
                elif change.old and folder is not None and is_open_for_writing(DirEntry(folder, change.path.name)):
                    found, mend = "a program has the file open for writing", "close the file in that program"
            if found:
                raise Refused(
                    "a local change is in the way of the result",
                    code="local-change-in-the-way",
                    expected="files that can be exchanged for those of the experiment",
                    found=found,
                    where=str(self._ws.root / change.path),
                    hint=f"{mend}, then run the same command again: nothing measured is lost",
                )

    def _is_occupied(self, change: Change, folder: int | None, goes: Collection[PurePosixPath]) -> bool:
        for above in change.path.parents[:-1]:
            place = self._ws.root / above
            if place.is_symlink() or (place.exists() and not place.is_dir()):
                return above not in goes
        place = self._ws.root / change.path
        if place.is_dir() and not place.is_symlink():
            below = (each for each in place.rglob("*") if each.is_symlink() or not each.is_dir())
            return any(PurePosixPath(each.relative_to(self._ws.root)) not in goes for each in below)
        return folder is not None and self._state(change, read_entry(DirEntry(folder, change.path.name))) is _State.THEIRS

    def update(self, old: str, new: str, *, only: Collection[str] | None = None) -> None:
        """Replace the files that differ between trees `old` and `new` by the staged ones of `new`; only those in `only`, if
        given. A file that is not as in `old`, because the user edited it, is kept. Call `stage` before; both may be repeated.
        """
        write_intent(self._step, Intent(self._ws.tree_name(), str(self._ws.root), "", old, new))
        self._aside.mkdir(exist_ok=True)
        changes = [change for change in self.changes(old, new) if only is None or str(change.path) in only]
        with opened(self._aside) as aside:
            gone = [change for change in changes if change.new is None]
            self._exchange(gone, aside)
            for change in gone:  # first, because a folder may become a file
                self._remove_empty_parents(change)
            self._exchange([change for change in changes if change.new is not None], aside)

    def facts(self, wanted: Iterable[tuple[Change, Item]]) -> dict[str, tuple[Item, os.stat_result]] | None:
        """Return for each path of the changes what the system says of the file there; None if one of them is not, to the byte
        and in its mode, what is wanted.
        """
        found: dict[str, tuple[Item, os.stat_result]] = {}
        for change, item in wanted:
            with self._folder_of(change) as folder:
                if folder is None:
                    return None
                file = DirEntry(folder, change.path.name)
                before, now, after = _stat(file), read_entry(file), _stat(file)
            if now is None or before is None or _last_change(before) != _last_change(after):
                return None
            if (now.mode, self._id_of(change, now, item, filtered=False)) != item:
                return None
            found[str(change.path)] = (item, before)
        return found

    def recover(self) -> bool:
        """Clean up after an `update` that was killed: delete the old versions it set aside, put the user's edits back. Returns
        whether there was such an `update`.
        """
        try:
            name, root, _, old, new, _ = read_intent(self._step)
        except FileNotFoundError:
            return False
        except checked_json.Damaged:  # what is set aside is then kept as an edit: nobody can tell
            name, root, old, new = self._ws.tree_name(), str(self._ws.root), "HEAD", "HEAD"
        where = self._ws.tree_named(name, Path(root))
        if where is not None and where != self._ws.root:
            return WorkTreeFiles(GitPlumbing(locate(where))).recover()
        self._aside.mkdir(exist_ok=True)
        with opened(self._aside) as aside:
            try:
                changes = self.changes(old, new) if where else []
            except Refused:  # git has garbage-collected one of the trees, so versions can't be told apart
                changes = []
            for change in changes:
                self._finish_change(change, aside, died=True)
            for left in os.listdir(aside):
                self._save_edit(DirEntry(aside, left), left)
        return True

    def remove_temporary(self) -> None:
        """Remove all temporary files of an `update` that is complete, or was prepared (`stage`) and never begun."""
        for file in (self._step, self._index, self._index.with_name(f"{self._index.name}.lock")):
            file.unlink(missing_ok=True)
        for folder in (self._aside, self._staged, self._empty):
            atomic_write.remove_tree(folder)

    # ------------------------------------------------------------------ one file

    def _exchange(self, changes: Collection[Change], aside: int) -> None:
        """Put the new files of `changes` into place; once that is durable, delete what they replace, or put an edit back."""
        replaced = []
        for change in changes:
            with self._folder_of(change, make=change.old is None) as folder:
                if folder is not None and change.old is None:
                    remove_empty_folders(DirEntry(folder, change.path.name))
                if folder is not None and self._state(change, read_entry(DirEntry(folder, change.path.name))) is _State.OLD:
                    self._replace(change, folder, aside)
                    replaced.append(change)
        for change in {change.path.parent: change for change in replaced}.values():
            with self._folder_of(change) as folder:
                if folder is not None:
                    os.fsync(folder)
        for change in replaced:
            self._finish_change(change, aside)

    def _replace(self, change: Change, folder: int, aside: int) -> None:
        file, entry = DirEntry(folder, change.path.name), DirEntry(aside, str(change.number))
        new = entry if change.new else None
        if new:
            os.rename(self._staged / change.path, new.name, dst_dir_fd=aside)
            _inherit_group(folder, new)
        with ignoring_errors(STAYS):
            try:
                exchange(new, file, entry, exists=change.old is not None)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                beside = _beside(folder, change)
                if new:
                    copy(new, beside)
                exchange(beside if new else None, file, beside, exists=change.old is not None)

    def _finish_change(self, change: Change, aside: int, *, died: bool = False) -> None:
        with self._folder_of(change) as folder:
            entries = [DirEntry(aside, str(change.number)), *([_beside(folder, change)] if folder is not None else [])]
            for entry in entries:
                remove(part(entry))
                for each in (entry, backup_of(entry)):
                    file = DirEntry(folder, change.path.name) if folder is not None else None
                    if died and each != entry and change.new and file and read_entry(each) and read_entry(file) is None:
                        rename_no_replace(each, file)  # the kill came between the two renames of `exchange`
                    else:
                        self._finish_entry(change, each, file)

    def _finish_entry(self, change: Change, entry: DirEntry, file: DirEntry | None) -> None:
        is_open = is_open_for_writing(entry)  # asked first: what a writer wrote before it closed the file is then read
        found = read_entry(entry)
        if found is None:
            return
        if is_open or self._state(change, found) is _State.THEIRS:
            self._put_back(change, entry, file)
        else:
            remove(entry)

    def _put_back(self, change: Change, entry: DirEntry, file: DirEntry | None) -> None:
        # To its path; to NAME.edit1 beside it if the path was written again; to .git/expctl/edits if the folder is gone.
        if file is not None:
            with ignoring_errors((*NO_EXCHANGE, *STAYS)):
                if change.new and self._state(change, read_entry(file)) is _State.NEW:
                    renameat2(entry, file, RENAME_EXCHANGE)
                    if self._state(change, read_entry(entry)) is _State.NEW:
                        os.fsync(file.folder)
                        remove(entry)
                        return
                    renameat2(entry, file, RENAME_EXCHANGE)
            with ignoring_errors(STAYS):
                rename_to_free_name(entry, file.folder, file.name)
        if read_entry(entry) is not None:
            self._save_edit(entry, change.path.name)

    def _save_edit(self, entry: DirEntry, name: str) -> None:
        self._rescued.mkdir(exist_ok=True)
        with opened(self._rescued) as rescued:
            rename_to_free_name(entry, rescued, name)

    def _state(self, change: Change, found: Found | None) -> _State:
        # NEW is tested first: both versions may be equal if git ignores the executable bit.
        items = ((_State.NEW, change.new), (_State.OLD, change.old))
        if found is None:
            return next((state for state, item in items if item is None), _State.THEIRS)
        for filtered in (False, True):  # git's filters, which cost a process, are only tried if the raw bytes don't match
            for state, item in items:
                if item and self._is_mode(found, item) and self._id_of(change, found, item, filtered=filtered) == item.blob:
                    return state
        return _State.THEIRS

    def _is_mode(self, found: Found, item: Item) -> bool:
        special = {NO_FILE, LINK} & {found.mode, item.mode}
        return found.mode == item.mode or (not special and not self._tracks_modes())

    def _id_of(self, change: Change, found: Found, item: Item, *, filtered: bool) -> str:
        if filtered:
            return "" if found.mode == LINK else self._ws.blob_of(found.contents, path=str(change.path))
        digest = hashlib.sha1 if len(item.blob) == 40 else hashlib.sha256
        return digest(b"blob %d\0%b" % (len(found.contents), found.contents), usedforsecurity=False).hexdigest()

    def _tracks_modes(self) -> bool:
        return self._ws.call(["config", "--type=bool", "core.fileMode"])[1].strip() != b"false"

    # ------------------------------------------------------------------ paths

    def changes(self, old: str, new: str) -> list[Change]:
        """Return the paths that differ between two trees, without submodules."""
        if (old, new) in self._changes:
            return self._changes[old, new]
        found = changes_in(self._ws.must(["diff-tree", "-r", "-z", "--no-renames", "--no-abbrev", "--raw", old, new]))
        self._changes[old, new] = found
        return found

    def _folder_of(self, change: Change, *, make: bool = False) -> contextlib.AbstractContextManager[int | None]:
        return folder_beneath(self._ws.root, change.path.parts[:-1], make=make)

    def _remove_empty_parents(self, change: Change) -> None:
        for end in range(len(change.path.parts) - 1, 0, -1):
            with folder_beneath(self._ws.root, change.path.parts[: end - 1]) as above:
                try:
                    os.rmdir(change.path.parts[end - 1], dir_fd=above)
                except OSError:
                    return


def _last_change(facts: os.stat_result | None) -> tuple[int, ...]:
    return (facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns) if facts is not None else ()


def _stat(file: DirEntry) -> os.stat_result | None:
    with contextlib.suppress(OSError):
        return os.stat(file.name, dir_fd=file.folder, follow_symlinks=False)
    return None


def _beside(folder: int, change: Change) -> DirEntry:
    # Where a replaced file goes if the folder `aside` is on another mount.
    return DirEntry(folder, f".expctl-aside-{change.number}")


def _inherit_group(folder: int, entry: DirEntry) -> None:
    # As if the file had been created in `folder`.
    facts = os.fstat(folder)
    if facts.st_mode & stat.S_ISGID:
        with contextlib.suppress(OSError):
            os.chown(entry.name, -1, facts.st_gid, dir_fd=entry.folder, follow_symlinks=False)


def _is_writable(root: Path, path: PurePosixPath) -> bool:
    return next(os.access(root / above, os.W_OK | os.X_OK) for above in path.parents if (root / above).is_dir())


def _mount_points() -> frozenset[str]:
    lines = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    return frozenset(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), line.split()[4]) for line in lines)
