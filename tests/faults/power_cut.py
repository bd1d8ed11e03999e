"""What a power cut leaves: the shim's log of changes played back onto the stage, without some of what was never flushed.

The model is a file system that journals names (ext4, xfs, btrfs): a flush of anything makes all earlier names durable, later
ones survive up to some moment. Contents are durable once their own file was flushed; until then they may be missing, torn,
or there in part and in any order. docs/FAULTS.md says what this leaves out.
"""

import os
import shutil
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random

ENTRY = struct.Struct("<IIIIQQ")  # shim.c, struct entry
DATA = {"w", "t"}


class Loss(StrEnum):
    """What becomes of changes that were never flushed."""

    DROPPED = "dropped"
    TORN = "torn"
    REORDERED = "reordered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of a file or of a name. `inode` is of the file, `offset` the place (of a truncation: the length)."""

    kind: str
    inode: int
    offset: int
    mode: int
    one: bytes
    two: bytes

    @staticmethod
    def flush(inode: int) -> bytes:
        """An entry of the log that says that a file was flushed."""
        return ENTRY.pack(ord("f"), 0, 0, 0, inode, 0)


@dataclass(slots=True)
class File:
    """Contents that one or more names share."""

    contents: bytearray
    mode: int


@dataclass(slots=True)
class Disk:
    """Names and contents below `root`, as the cut leaves them."""

    root: Path
    names: dict[str, File] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    inodes: dict[int, File] = field(default_factory=dict)

    @staticmethod
    def of(root: Path) -> "Disk":
        """What lies there now."""
        disk, by_inode = Disk(root), dict[int, File]()
        for folder, _, names in os.walk(root):
            disk.folders.add(folder)
            for name in names:
                path = os.path.join(folder, name)
                facts = os.lstat(path)
                if facts.st_ino not in by_inode:
                    by_inode[facts.st_ino] = File(bytearray(Path(path).read_bytes()), facts.st_mode & 0o777)
                disk.names[path] = by_inode[facts.st_ino]
        return disk

    def rename(self, one: str, two: str) -> None:
        """A name, or a folder with all below it."""
        if os.path.dirname(two) not in self.folders:
            return
        if one in self.names:
            self.names[two] = self.names.pop(one)
        elif one in self.folders:
            for folder in [each for each in self.folders if each == one or each.startswith(f"{one}/")]:
                self.folders.discard(folder)
                self.folders.add(two + folder[len(one) :])
            for name in [each for each in self.names if each.startswith(f"{one}/")]:
                self.names[two + name[len(one) :]] = self.names.pop(name)

    def apply_name(self, change: Change) -> None:
        """One change of a name, if what it is about is there."""
        one, two = os.fsdecode(change.one), os.fsdecode(change.two)
        match change.kind:
            case "c":
                if os.path.dirname(two) in self.folders:
                    self.names[two] = self.inodes[change.inode]
            case "r":
                self.rename(one, two)
            case "x":
                if one in self.names and two in self.names:
                    self.names[one], self.names[two] = self.names[two], self.names[one]
            case "l":
                if one in self.names and os.path.dirname(two) in self.folders:
                    self.names[two] = self.names[one]
            case "u":
                self.names.pop(one, None)
            case "m":
                if os.path.dirname(one) in self.folders:
                    self.folders.add(one)
            case "d":
                if not any(each.startswith(f"{one}/") for each in (*self.names, *self.folders)):
                    self.folders.discard(one)

    def write_out(self) -> None:
        """Make the folder hold this and nothing else."""
        shutil.rmtree(self.root)
        for folder in sorted(self.folders):
            os.makedirs(folder, exist_ok=True)
        first: dict[int, str] = {}
        for name, file in self.names.items():
            if id(file) in first:
                os.link(first[id(file)], name)
                continue
            first[id(file)] = name
            Path(name).write_bytes(file.contents)
            os.chmod(name, file.mode or 0o600)


def read_log(log: Path) -> Iterator[Change]:
    """The changes that the shim noted, in order."""
    raw, at = log.read_bytes() if log.exists() else b"", 0
    while at < len(raw):
        kind, first, second, mode, inode, offset = ENTRY.unpack_from(raw, at)
        at += ENTRY.size
        one, two = raw[at : at + first], raw[at + first : at + first + second]
        at += first + second
        yield Change(kind=chr(kind), inode=inode, offset=offset, mode=mode & 0o777, one=one, two=two)


def cut(root: Path, log: Path, loss: Loss, draw: Random) -> int:
    """Turn the stage at `root` into what the cut leaves. Returns how many changes were at risk."""
    changes = list(read_log(log))
    disk = Disk.of(root)
    flushed_at = {change.inode: number for number, change in enumerate(changes) if change.kind == "f"}
    last = max(flushed_at.values(), default=-1)
    kept_until = _names_kept(changes, last, loss, draw)
    at_risk, torn = 0, set[int]()
    for number, change in enumerate(changes):
        if change.kind == "f":
            continue
        if change.kind not in DATA:
            if change.kind == "c":
                disk.inodes[change.inode] = File(bytearray(), change.mode)
            at_risk += number > last
            if number <= kept_until.get(_folder(change), len(changes)):
                disk.apply_name(change)
            continue
        durable = number < flushed_at.get(change.inode, -1)
        at_risk += not durable
        size = len(change.one) if durable else _survives(change, loss, draw, torn)
        if size is not None:
            _write(disk, change, size)
    disk.write_out()
    return at_risk


def _names_kept(changes: list[Change], last: int, loss: Loss, draw: Random) -> dict[str, int]:
    """Folder -> the last change of its names that survives."""
    ends = {_folder(change) for change in changes}
    if loss is Loss.DROPPED:
        return dict.fromkeys(ends, last)
    if loss is Loss.TORN:
        return dict.fromkeys(ends, draw.randint(last, len(changes)))
    return {each: draw.randint(last, len(changes)) for each in sorted(ends)}


def _folder(change: Change) -> str:
    return os.path.dirname(os.fsdecode(change.two or change.one))


def _survives(change: Change, loss: Loss, draw: Random, torn: set[int]) -> int | None:
    """How many bytes of a write that was never flushed are there; None: it never happened."""
    if loss is Loss.DROPPED:
        return None
    if loss is Loss.REORDERED:
        return len(change.one) if draw.random() < 0.5 else None
    if change.inode in torn or (len(change.one) > 1 and draw.random() < 0.5):
        first = change.inode not in torn
        torn.add(change.inode)
        return draw.randrange(len(change.one)) if first and change.one else None
    return len(change.one)


def _write(disk: Disk, change: Change, size: int) -> None:
    file = disk.inodes.get(change.inode) or disk.names.get(os.fsdecode(change.two))
    if file is None:
        return
    disk.inodes.setdefault(change.inode, file)
    if change.kind == "t":
        del file.contents[change.offset :]
        file.contents.extend(bytes(change.offset - len(file.contents)))
        return
    file.contents.extend(bytes(max(0, change.offset - len(file.contents))))
    file.contents[change.offset : change.offset + size] = change.one[:size]
