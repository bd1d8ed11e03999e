"""Names in open folders: what is there, and how it is exchanged for something else without a moment of nothing or of both."""

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
"""What a C library or a file system says that can't exchange files."""
NO_LINK = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK)
"""What is said where there are no hard links, or none of a folder."""
LONGEST = 240  # bytes of a name, with room for what is added
LINK, EXECUTABLE, PLAIN, NO_FILE = "120000", "100755", "100644", "?"
"""Modes as git has them, and one for what it can't hold."""
TAKEN = ".taken"
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Found(NamedTuple):
    """What lies in a folder under a name. A mode of NO_FILE: something that git can't hold, or that can't be read."""

    mode: str
    contents: bytes


class DirEntry(NamedTuple):
    """A name in an open folder."""

    folder: int
    name: str


def taken(spot: DirEntry) -> DirEntry:
    """Where the second way of `swap` puts what it replaces."""
    return DirEntry(spot.folder, f"{spot.name}{TAKEN}")


def swap(new: DirEntry | None, file: DirEntry, out: DirEntry, *, exists: bool) -> None:
    """Put `new` where `file` is, and what was there (`exists`) where `out` is. `new` and `out` may be the same."""
    if new is None:
        os.rename(file.name, out.name, src_dir_fd=file.folder, dst_dir_fd=out.folder)
        return
    if not exists:
        rename_to_free(new, file)
        return
    try:
        renameat2(new, file, RENAME_EXCHANGE)
    except OSError as error:
        if error.errno not in NO_EXCHANGE:
            raise
        os.rename(file.name, taken(out).name, src_dir_fd=file.folder, dst_dir_fd=out.folder)
        rename_to_free(new, file)


def rename_to_free(one: DirEntry, two: DirEntry) -> None:
    """Raises FileExistsError where something is at `two`."""
    try:
        renameat2(one, two, RENAME_NOREPLACE)
    except OSError as error:
        if error.errno not in NO_EXCHANGE:
            raise
    else:
        return
    try:  # the same in two steps; a kill between them leaves both names, of one file
        os.link(one.name, two.name, src_dir_fd=one.folder, dst_dir_fd=two.folder, follow_symlinks=False)
        os.unlink(one.name, dir_fd=one.folder)
    except OSError as error:
        if error.errno not in NO_LINK:
            raise
        if look(two) is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), two.name) from None
        os.rename(one.name, two.name, src_dir_fd=one.folder, dst_dir_fd=two.folder)


def to_free_name(spot: DirEntry, folder: int, name: str) -> None:
    """To `name`, or the first of NAME.edit1, NAME.edit2, ... that is free."""
    short = os.fsdecode(os.fsencode(name)[:LONGEST])
    for each in itertools.chain((name,), (f"{short}.edit{n}" for n in itertools.count(1))):
        try:
            rename_to_free(spot, DirEntry(folder, each))
        except FileExistsError:
            continue
        os.fsync(folder)
        return


def copy(one: DirEntry, two: DirEntry) -> None:
    """Contents and rights of a file, or a link, flushed. `two` has it whole or not at all; a kill leaves `part(two)`."""
    found, half = look(one), part(two)
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


def part(spot: DirEntry) -> DirEntry:
    """Where a copy is written."""
    return DirEntry(spot.folder, f"{spot.name}.part")


def remove(spot: DirEntry) -> None:
    """What is gone is fine."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(spot.name, dir_fd=spot.folder)


def look(spot: DirEntry) -> Found | None:
    """What is there; None: nothing."""
    try:
        with open(os.open(spot.name, READ, dir_fd=spot.folder), "rb") as file:
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
        return Found(LINK, os.fsencode(os.readlink(spot.name, dir_fd=spot.folder)))
    except OSError:  # no link: what can't be read, or a socket
        return Found(NO_FILE, b"")


def has_a_writer(spot: DirEntry) -> bool:
    """Does somebody have it open to write? The kernel gives no read lease then; where it gives none at all, we don't know."""
    try:
        with _opened(spot.name, READ, spot.folder) as file:
            if not _lease_is_refused(file):
                return False
        # Some network file systems refuse every lease in these words: would they refuse one of a file of ours, too?
        with _opened(".", os.O_TMPFILE | os.O_WRONLY, spot.folder) as probe:
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
        os.close(descriptor)  # and with it the lease


def _lease_is_refused(descriptor: int) -> bool:
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)  # for whoever opens it right now: nobody heeds it
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    return False


def remove_empty_folders(spot: DirEntry) -> None:
    """The folder there with all below it, as far as that holds nothing else."""
    with contextlib.suppress(OSError):
        for _, folders, _, here in os.fwalk(spot.name, topdown=False, follow_symlinks=False, dir_fd=spot.folder):
            for name in folders:
                with contextlib.suppress(OSError):
                    os.rmdir(name, dir_fd=here)
        os.rmdir(spot.name, dir_fd=spot.folder)


@contextlib.contextmanager
def unless(numbers: Collection[int]) -> Iterator[None]:
    """Errors with these numbers end the block and are no errors."""
    try:
        yield
    except OSError as error:
        if error.errno not in numbers:
            raise
