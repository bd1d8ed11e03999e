"""Exchange files atomically, by name in a folder that is open: at every moment the name exists, and no content is lost."""

import contextlib
import errno
import fcntl
import itertools
import os
import signal
import stat
from collections.abc import Collection, Iterator
from typing import NamedTuple

from expctl.launcher.kernel import RENAME_EXCHANGE, RENAME_NOREPLACE, renameat2

NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL)
"""Error numbers of renameat2 where the C library or the file system can't exchange files."""
NO_LINK = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK)
"""Error numbers of link where the file system has no hard links, or the source is a folder."""
LONGEST = 240  # bytes of a name, with room for what is added
LINK, EXECUTABLE, PLAIN, NO_FILE = "120000", "100755", "100644", "?"
"""Modes as git writes them in trees, and NO_FILE for what a tree can't hold."""
TAKEN = ".taken"
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Found(NamedTuple):
    """The mode (as git writes it) and the contents of a file or link. `mode` is NO_FILE for an entry that git can't store, such
    as a socket, or that can't be read.
    """

    mode: str
    contents: bytes


class DirEntry(NamedTuple):
    """Names the file `name` in a folder that is open; `folder` is its descriptor."""

    folder: int
    name: str


def backup_of(entry: DirEntry) -> DirEntry:
    """Return the entry to which `exchange(..., out=entry)` moves the old file on a file system without renameat2."""
    return DirEntry(entry.folder, f"{entry.name}{TAKEN}")


def exchange(new: DirEntry | None, file: DirEntry, out: DirEntry, *, exists: bool) -> None:
    """Move `new` to the name `file`; if `file` `exists`, its old content moves to `out`, which may be the same entry as `new`.

    If `new` is None, `file` is only moved to `out`. Where renameat2 is missing, the old content goes to `backup_of(out)`.
    Raises OSError, e.g. FileExistsError if `file` has appeared although `exists` is False.
    """
    if new is None:
        os.rename(file.name, out.name, src_dir_fd=file.folder, dst_dir_fd=out.folder)
        return
    if not exists:
        rename_no_replace(new, file)
        return
    try:
        renameat2(new, file, RENAME_EXCHANGE)
    except OSError as error:
        if error.errno not in NO_EXCHANGE:
            raise
        os.rename(file.name, backup_of(out).name, src_dir_fd=file.folder, dst_dir_fd=out.folder)
        rename_no_replace(new, file)


def rename_no_replace(one: DirEntry, two: DirEntry) -> None:
    """Rename `one` to `two`. Raises FileExistsError if `two` exists. On a file system without renameat2 it makes a hard link
    and removes `one`: a kill in between leaves both names.
    """
    try:
        renameat2(one, two, RENAME_NOREPLACE)
    except OSError as error:
        if error.errno not in NO_EXCHANGE:
            raise
    else:
        return
    try:
        os.link(one.name, two.name, src_dir_fd=one.folder, dst_dir_fd=two.folder, follow_symlinks=False)
        os.unlink(one.name, dir_fd=one.folder)
    except OSError as error:
        if error.errno not in NO_LINK:
            raise
        if read_entry(two) is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), two.name) from None
        os.rename(one.name, two.name, src_dir_fd=one.folder, dst_dir_fd=two.folder)


def rename_to_free_name(entry: DirEntry, folder: int, name: str) -> None:
    """Move the file `entry` to `name` in `folder` or, if that exists, to the first free one of NAME.edit1, NAME.edit2, ...
    Flushes `folder` to disk.
    """
    short = os.fsdecode(os.fsencode(name)[:LONGEST])
    for each in itertools.chain((name,), (f"{short}.edit{n}" for n in itertools.count(1))):
        try:
            rename_no_replace(entry, DirEntry(folder, each))
        except FileExistsError:
            continue
        os.fsync(folder)
        return


def copy(one: DirEntry, two: DirEntry) -> None:
    """Copy the file or link `one`, with its permissions, to `two` and flush it to disk. It is written to `part(two)` first and
    renamed, so a kill never leaves a half-written `two`.
    """
    found, half = read_entry(one), part(two)
    remove(half)
    if found is None or found.mode == LINK:
        os.symlink(found.contents if found else b"", os.fsencode(half.name), dir_fd=half.folder)
    else:
        rights = stat.S_IMODE(os.stat(one.name, dir_fd=one.folder).st_mode)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with open(os.open(half.name, flags, 0o600, dir_fd=half.folder), "wb") as file:
            file.write(found.contents)
            file.flush()
            os.fchmod(file.fileno(), rights)
            os.fsync(file.fileno())
    os.rename(half.name, two.name, src_dir_fd=half.folder, dst_dir_fd=two.folder)


def part(entry: DirEntry) -> DirEntry:
    """Return the temporary entry to which `copy` writes before it renames it to `entry`."""
    return DirEntry(entry.folder, f"{entry.name}.part")


def remove(entry: DirEntry) -> None:
    """Remove a file; do nothing if it doesn't exist."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(entry.name, dir_fd=entry.folder)


def read_entry(entry: DirEntry) -> Found | None:
    """Read a file or link without following it; None if nothing has that name."""
    try:
        with open(os.open(entry.name, READ, dir_fd=entry.folder), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            return (
                Found(EXECUTABLE if mode & stat.S_IXUSR else PLAIN, file.read()) if stat.S_ISREG(mode) else Found(NO_FILE, b"")
            )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError:
        return Found(NO_FILE, b"")
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.EACCES, errno.EPERM, errno.ENXIO):
            raise
    try:
        return Found(LINK, os.fsencode(os.readlink(entry.name, dir_fd=entry.folder)))
    except OSError:  # not a link, but an unreadable file or a socket
        return Found(NO_FILE, b"")


def is_open_for_writing(entry: DirEntry) -> bool:
    """Return whether a process has the file open for writing; the kernel then refuses a read lease (fcntl F_SETLEASE). False on
    a file system that refuses every lease.
    """
    try:
        with _opened(entry.name, READ, entry.folder) as file:
            if not _lease_is_refused(file):
                return False
        # Some network file systems refuse every lease with EAGAIN: do they refuse one for a new file of ours, too?
        with _opened(".", os.O_TMPFILE | os.O_WRONLY, entry.folder) as probe:
            reader = os.open(f"/proc/self/fd/{probe}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _lease_is_refused(reader)
    finally:
        os.close(reader)


@contextlib.contextmanager
def _opened(name: str, flags: int, folder: int) -> Iterator[int]:
    descriptor = os.open(name, flags | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)  # ends the lease too


def _lease_is_refused(descriptor: int) -> bool:
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)  # sent if somebody opens the file now; ignored by default
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    return False


def remove_empty_folders(entry: DirEntry) -> None:
    """Remove a folder and all folders below it, except those that hold a file, directly or further below."""
    with contextlib.suppress(OSError):
        for _, folders, _, here in os.fwalk(entry.name, topdown=False, follow_symlinks=False, dir_fd=entry.folder):
            for name in folders:
                with contextlib.suppress(OSError):
                    os.rmdir(name, dir_fd=here)
        os.rmdir(entry.name, dir_fd=entry.folder)


@contextlib.contextmanager
def ignoring_errors(numbers: Collection[int]) -> Iterator[None]:
    """Run the block; suppress an OSError whose errno is in `numbers`."""
    try:
        yield
    except OSError as error:
        if error.errno not in numbers:
            raise
