"""A file that every user of the machine may open, in a folder that strangers share: the carrier of the machine's lock.

It is linked into place complete, with mode 0666, and opened without O_CREAT: in sticky folders the kernel refuses O_CREAT on
another user's file. What somebody else put in its place is refused and left as it is.
"""

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from expctl.domain.errors import Refused

FOLDER = "EXPCTL_LOCK_DIR"
SHARED_FOLDERS = (Path("/run/lock"), Path("/tmp"))  # noqa: S108  the rules of this page are those for such a folder
EVERYBODY = 0o666
TRIES = 3


def shared_folder() -> Path:
    """What the environment says (tests), else the first folder that all users of the machine share.

    It must not depend on who asks, so TMPDIR has no say.
    """
    named = os.environ.get(FOLDER)
    if named:
        return Path(named)
    return next((folder for folder in SHARED_FOLDERS if _is_shared(folder)), SHARED_FOLDERS[-1])


class SharedFile:
    """The file at `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def open(self) -> int:
        """A descriptor, never of a link, a pipe or a file with a stranger's contents. Raises Refused."""
        for _ in range(TRIES):
            try:
                self._make()
                kind = os.lstat(self.path).st_mode
                if not stat.S_ISREG(kind):
                    raise self.refused(_kind(kind))
                descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            except FileNotFoundError as error:
                missing = error
                continue  # removed in between
            except OSError as error:
                raise self.refused(error.strerror or str(error)) from error
            if stat.S_ISREG(os.fstat(descriptor).st_mode) and os.pread(descriptor, 2, 0) in (b"", b'{"'):
                return descriptor
            os.close(descriptor)
            raise self.refused("a file with something else in it")
        raise self.refused(missing.strerror or str(missing)) from missing

    def is_at(self, descriptor: int) -> bool:
        """Is `descriptor` still the file that others open? Somebody may have cleaned the folder."""
        ours = os.fstat(descriptor)
        try:
            theirs = os.lstat(self.path)
        except OSError:
            return False
        return (ours.st_dev, ours.st_ino) == (theirs.st_dev, theirs.st_ino)

    def refused(self, found: str) -> Refused:
        """Why there is no lock, and what to do."""
        return Refused(
            "the machine's lock cannot be opened",
            expected="a plain file of ours that everybody may open, in a folder that exists",
            found=found,
            where=str(self.path),
            hint=f"remove it if it is not expctl's own, or set {FOLDER} to a folder that all users share",
        )

    def _make(self) -> None:
        """Linked into place complete: nobody ever sees it with other rights."""
        if os.path.lexists(self.path):
            return
        descriptor, temporary = tempfile.mkstemp(prefix=".expctl", dir=self.path.parent)
        try:
            os.fchmod(descriptor, EVERYBODY)
            with contextlib.suppress(FileExistsError):
                os.link(temporary, self.path)
        finally:
            os.close(descriptor)
            os.unlink(temporary)


def _is_shared(folder: Path) -> bool:
    try:
        mode = os.lstat(folder).st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) and mode & 0o1777 == 0o1777


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISLNK, "a symbolic link"), (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"))
    return next((name for is_kind, name in kinds if is_kind(mode)), "no plain file")
