"""How much a child has written, looked at while it runs: in folders that it may fill, in its log, in unlinked files."""

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

LOOK_EVERY_S = 0.1
SHARE_OF_TIME = 0.1
"""A look may take a tenth of the time at most: a large tree is looked at less often."""
ENTRIES_MAX = 200_000
BLOCK_BYTES = 512


class DiskWatch:
    """Of one child, whose additions to `folders` and `log` together stay under `cap`: it is to be ended at half of it, for it
    writes on until it is.
    """

    def __init__(self, folders: Sequence[Path], log: Path, *, cap: int, log_cap: int) -> None:
        self._folders = tuple(folders)
        self._log, self._log_at_most = log, log_cap // 2
        self._at_most = cap // 2
        self._next_s = 0.0
        self._is_deep = False
        self._before = self._used()
        self._free_before = self._free()

    def complaint(self, pids: Callable[[], Iterable[int]]) -> str:
        """What is too much, in words; empty when nothing is, or when it is too soon for another look."""
        began = time.monotonic()
        if began < self._next_s:
            return ""
        used = self._used() - self._before
        if self._free_before - self._free() > self._at_most // 4:  # only then can unlinked files matter
            used += sum(_unlinked(pid) for pid in pids())
        ended = time.monotonic()
        self._next_s = ended + max(LOOK_EVERY_S, (ended - began) / SHARE_OF_TIME)
        if self._is_deep:
            return "nested folders too deep to be looked at"
        if used > self._at_most:
            return f"wrote more than {self._at_most >> 20} MiB to the disk"
        if _size(self._log) > self._log_at_most:
            return f"said more than {self._log_at_most >> 20} MiB"
        return ""

    def _used(self) -> int:
        """Bytes on the disk. More entries than anybody needs count as too much."""
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
                continue  # else gone meanwhile
            if entries > ENTRIES_MAX:
                return total + self._at_most + 1
        return total + _size(self._log)

    def _free(self) -> int:
        for folder in self._folders[:1]:
            facts = os.statvfs(folder)
            return facts.f_bfree * facts.f_frsize
        return 0


def _unlinked(pid: int) -> int:
    """Bytes of files without a name that a process holds open."""
    total = 0
    try:
        descriptors = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return 0
    for each in descriptors:
        try:
            facts = os.stat(f"/proc/{pid}/fd/{each}")
        except OSError:
            continue
        total += facts.st_blocks * BLOCK_BYTES if stat.S_ISREG(facts.st_mode) and not facts.st_nlink else 0
    return total


def _size(file: Path) -> int:
    try:
        return file.stat().st_blocks * BLOCK_BYTES
    except OSError:
        return 0
