"""Measure, while a child process runs, how many bytes it writes: to its folders, its log and files already unlinked."""

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from expctl.launcher.process import folder_of

LOOK_EVERY_S = 0.1
SHARE_OF_TIME = 0.1
"""Largest share of the time that measuring may take: a large tree is measured less often."""
ENTRIES_MAX = 200_000
BLOCK_BYTES = 512


class DiskWatch:
    """Watches how many bytes one child process adds to `folders` (at most `cap`) and to `log` (at most `log_cap`). It complains
    at half of these limits, because the child goes on writing until it is killed.
    """

    def __init__(self, folders: Sequence[Path], log: Path, *, cap: int, log_cap: int) -> None:
        self._folders = tuple(folders)
        self._log, self._log_at_most = log, log_cap // 2
        self._at_most = cap // 2
        self._next_s = 0.0
        self._is_deep = self._is_closed = False
        self._before = self._used()
        self._free_before = self._free()

    def complaint(self, pids: Callable[[], Iterable[int]]) -> str:
        """Return in words which limit the child process exceeds; "" if none, or if the last measurement was too recent. `pids`
        returns the pids of the child's processes: unlinked files that they hold open are counted too.
        """
        began = time.monotonic()
        if began < self._next_s:
            return ""
        used = self._used() - self._before
        taken = self._free_before - self._free()
        if taken > self._at_most // 4:  # only then can unlinked files matter
            used += sum(_unlinked(pid) for pid in pids())
        if self._is_closed:
            used = max(used, taken)
        ended = time.monotonic()
        self._next_s = ended + max(LOOK_EVERY_S, (ended - began) / SHARE_OF_TIME)
        if self._is_deep:
            return "nested folders too deep to be looked at"
        if used > self._at_most:
            return f"wrote more than {self._at_most >> 20} MiB to the disk"
        if _length(self._log) > self._log_at_most:
            return f"said more than {self._log_at_most >> 20} MiB"
        return ""

    def _used(self) -> int:
        """Return the bytes on disk of the folders and the log; more than the limit if there are over ENTRIES_MAX files."""
        total, entries, left = 0, 0, [str(folder) for folder in self._folders]
        while left:
            try:
                with os.scandir(left.pop()) as found:
                    for entry in found:
                        entries += 1
                        facts = entry.stat(follow_symlinks=False)
                        total += facts.st_blocks * BLOCK_BYTES
                        if stat.S_ISDIR(facts.st_mode):
                            left.append(entry.path)
            except OSError as error:
                self._is_deep |= error.errno == errno.ENAMETOOLONG
                self._is_closed |= error.errno == errno.EACCES  # then what the disk has lost tells what is in there
                continue  # any other error: the folder was removed meanwhile
            if entries > ENTRIES_MAX:
                return total + self._at_most + 1
        return total + _size(self._log)

    def _free(self) -> int:
        for folder in self._folders[:1]:
            facts = os.statvfs(folder)
            return facts.f_bfree * facts.f_frsize
        return 0


def _unlinked(pid: int) -> int:
    total = 0
    try:
        folder = folder_of(pid)
        descriptors = os.listdir(f"{folder}/fd")
    except OSError:
        return 0
    for each in descriptors:
        try:
            facts = os.stat(f"{folder}/fd/{each}")
        except OSError:
            continue
        total += facts.st_blocks * BLOCK_BYTES if stat.S_ISREG(facts.st_mode) and not facts.st_nlink else 0
    return total


def _length(file: Path) -> int:
    """Return the bytes that a reader of `file` has to read, holes among them."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _size(file: Path) -> int:
    try:
        return file.stat().st_blocks * BLOCK_BYTES
    except OSError:
        return 0
