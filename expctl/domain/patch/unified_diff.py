"""Parses git's unified diffs: the files that a patch touches, and their texts after the patch."""

import re
from collections.abc import Mapping
from itertools import accumulate

from msgspec import Struct

PATCH_BYTES_MAX = 16_000_000
HEADER = re.compile(rb"^(?:diff --git |--- )", re.MULTILINE)
HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
NOTHING = "/dev/null"
STRIPPED = ("a/", "b/", "./", "/")  # git removes the first part, whatever it is
# `diff --git i/kernel.h w/kernel.h`, by git's setting diff.mnemonicPrefix
MNEMONIC = re.compile(r"diff --git ([ciow12]/)(\S+) (?!\1)([ciow12]/)\2")
UNFIT = ("", ".", "..")  # parts of a path that git takes in no patch


class Hunk(Struct, frozen=True, kw_only=True):
    """One hunk of a diff: its lines `before` and `after` the patch, with context.

    `start` is the number of its first line before the patch, from 1 (0 in an empty file); `added` are the indices in `after` of
    new lines, from 0; `missing` is the number of lines that its header announces and that are not there.
    """

    start: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    added: tuple[int, ...] = ()
    missing: int = 0


class FileDiff(Struct, frozen=True, kw_only=True):
    """The changes of one file. `old` is its path before (empty for a new file), `new` after (empty for a deleted one)."""

    old: str
    new: str
    hunks: tuple[Hunk, ...]

    @property
    def path(self) -> str:
        """The path after the patch, or before it if the file is deleted."""
        return self.new or self.old


class FileTexts(Struct, frozen=True, kw_only=True):
    """The text of one file before and after a patch. `added` are the indices of the new lines in `after`, from 0. `whole` is
    False if the texts are only the lines that the patch shows, because the rest of the file is unknown.
    """

    path: str
    before: str
    after: str
    added: tuple[int, ...]
    whole: bool


def parse_diff(patch: bytes) -> tuple[FileDiff, ...]:
    """Parse a unified diff into its files, in order. Binary parts and mode changes are left out."""
    files: list[FileDiff] = []
    lines = patch.decode(errors="replace").split("\n")
    old, at = "", 0
    named = [found for line in lines if (found := MNEMONIC.fullmatch(line))]
    stripped = (*STRIPPED, *{prefix for found in named for prefix in (found[1], found[3])})
    while at < len(lines):
        line = lines[at]
        if line.startswith("--- ") and at + 2 < len(lines) and lines[at + 1].startswith("+++ "):
            old, new = _path(line, stripped), _path(lines[at + 1], stripped)
            hunks, at = _hunks(lines, at + 2)
            files.append(FileDiff(old=old, new=new, hunks=tuple(hunks)))
        else:
            at += 1
    return tuple(files)


def no_diff(patch: bytes | None) -> str:
    """Return why the contents of a file can't be a diff (None: the file is missing); "" if they can."""
    if patch is None:
        return "no such file"
    if not patch.strip():
        return "it is empty"
    return "" if HEADER.search(patch) else f"it is no diff but {len(patch)} other bytes (is it a symbolic link?)"


def diff_faults(files: tuple[FileDiff, ...]) -> tuple[str, ...]:
    """Return why git would refuse a patch, one sentence each: paths outside of the repository, hunks with missing lines."""
    paths = dict.fromkeys(path for file in files for path in (file.old, file.new) if path)
    away = [path for path in paths if any(part in UNFIT or part.casefold() == ".git" for part in path.split("/"))]
    cut = [(file.path, hunk) for file in files for hunk in file.hunks if hunk.missing]
    return (
        *(f"the path {path!r} leads out of the repository or into .git, or has an empty part, `.` or `..`" for path in away),
        *(
            f"{path}: the hunk at line {hunk.start} lacks {hunk.missing} of the lines that its @@ line announces"
            for path, hunk in cut
        ),
    )


def texts_of(files: tuple[FileDiff, ...], contents: Mapping[str, str]) -> tuple[FileTexts, ...]:
    """Return the text of each file before and after a patch. `contents` maps old paths to the old text. For a file that is not
    in `contents`, or whose text the patch doesn't fit, only the lines of its hunks are returned.
    """
    return tuple(_texts(file, contents.get(file.old, "")) for file in files)


def _texts(file: FileDiff, before: str) -> FileTexts:
    found = _applied(before.split("\n"), file.hunks)
    if found is not None and (before or not file.old):
        return FileTexts(path=file.path, before=before, after="\n".join(found[0]), added=tuple(found[1]), whole=True)
    old = "\n".join(line for hunk in file.hunks for line in hunk.before)
    new = "\n".join(line for hunk in file.hunks for line in hunk.after)
    starts = accumulate((len(hunk.after) for hunk in file.hunks), initial=0)
    added = tuple(start + at for start, hunk in zip(starts, file.hunks, strict=False) for at in hunk.added)
    return FileTexts(path=file.path, before=old, after=new, added=added, whole=False)


def _applied(lines: list[str], hunks: tuple[Hunk, ...]) -> tuple[list[str], list[int]] | None:
    """Apply `hunks` to `lines`, each where it fits nearest to its line number. None if one fits nowhere. Returns the lines
    after the patch, and the indices of new ones.
    """
    shift, done = 0, 0
    out: list[str] = []
    added: list[int] = []
    for hunk in hunks:
        place = _place(lines, hunk, max(hunk.start - 1, 0) + shift, done)
        if place is None:
            return None
        shift = place - max(hunk.start - 1, 0)
        out += lines[done:place]
        added += [len(out) + at for at in hunk.added]
        out += hunk.after
        done = place + len(hunk.before)
    return out + lines[done:], added


def _place(lines: list[str], hunk: Hunk, wanted: int, least: int) -> int | None:
    size = len(hunk.before)
    if not size:  # a hunk without context follows the line that it names
        return min(wanted + (1 if hunk.start else 0), len(lines))
    if wanted >= least and tuple(lines[wanted : wanted + size]) == hunk.before:
        return wanted
    first = hunk.before[0]
    found = (
        at for at in range(least, len(lines) - size + 1) if lines[at] == first and tuple(lines[at : at + size]) == hunk.before
    )
    return min(found, key=lambda at: abs(at - wanted), default=None)


def _path(line: str, stripped: tuple[str, ...]) -> str:
    name = line[4:].split("\t")[0].rstrip("\r")
    if name.startswith('"') and name.endswith('"'):
        name = name[1:-1]
    return "" if name == NOTHING else name.partition("/")[2] if name.startswith(stripped) else name


def _hunks(lines: list[str], at: int) -> tuple[list[Hunk], int]:
    hunks = []
    end = len(lines) - (not lines[-1])  # what follows the last line end is no line
    while at < end and (head := HUNK.match(lines[at])):
        left = [int(head[2] or 1), int(head[4] or 1)]
        before: list[str] = []
        after: list[str] = []
        added: list[int] = []
        at += 1
        while at < end and (left[0] > 0 or left[1] > 0 or lines[at].startswith("\\")):  # \ No newline at end of file
            sign, text = lines[at][:1] or " ", lines[at][1:]
            if sign not in "+- \\":
                break
            added += [len(after)] if sign == "+" else []
            for wanted, side, index in (("- ", before, 0), ("+ ", after, 1)):
                if sign in wanted:
                    side.append(text)
                    left[index] -= 1
            at += 1
        hunk = Hunk(
            start=int(head[1]),
            before=tuple(before),
            after=tuple(after),
            added=tuple(added),
            missing=max(abs(left[0]), abs(left[1])),
        )
        hunks.append(hunk)
    return hunks, at
