"""Find the place in the user's source that an instruction came from, by the line table in the assembly text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from expctl.domain.text import plain_text

_LOC = re.compile(r"^\s*\.loc\s+\d+\s+\d+.*?;\s*(?P<frames>\S.*)$")
_FRAME = re.compile(r"(?P<file>[^\s:\[\]][^:\[\]]*):(?P<line>\d+):(?P<column>\d+)")
_FUNCTION = re.compile(r"^[A-Za-z_$][\w$.]*:")
_NOT_THE_USERS = ("/hip_stubs/", "/ziglang/lib/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A line of a file, from 1, and the column, 0 if it is not known. `text` is that line, "" where it can't be read."""

    file: str
    line: int
    column: int = 0
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}{f':{self.column}' if self.column else ''}"


class Places:
    """The places of one assembly text, which was read from `file` or compiled from it."""

    def __init__(self, assembly: str, file: Path) -> None:
        self._lines = assembly.splitlines()
        self._file = file
        self._read: dict[str, list[str]] = {}

    @cached_property
    def has_lines(self) -> bool:
        """Return whether the text has a line table."""
        return any(_LOC.match(line) for line in self._lines)

    def of(self, line: int) -> Place | None:
        """Return the place that line `line` of the assembly was compiled from; the line itself if the text is the user's own.

        Of inlined functions it is the innermost in a file of the user. None for line 0.
        """
        if not line:
            return None
        if not self.has_lines:
            return Place(file=plain_text(str(self._file)), line=line, text=" ".join(self._lines[line - 1].split()))
        return next((place for frames in self._before(line) if (place := self._innermost(frames))), None)

    def of_function(self, symbol: str, name: str) -> Place | None:
        """Return the place of a function: where its source declares `name`, else its first statement; None if there is none."""
        first = next((i for i, line in enumerate(self._lines, 1) if line.startswith(f"{symbol}:")), 0)
        if not first or not self.has_lines:
            return self.of(first)
        after = (match["frames"] for line in self._lines[first:] if (match := _LOC.match(line)))
        begin = next((place for frames in after if (place := self._innermost(frames))), None)
        return self._declaration(begin, name) if begin else None

    def _declaration(self, begin: Place, name: str) -> Place:
        """Return the last place before `begin` where `name` stands before a parenthesis; `begin` itself if there is none."""
        declares = re.compile(rf"\b{re.escape(name)}\s*\(")
        before = list(enumerate(self._text(begin.file)[: begin.line], 1))
        found = next(((line, match) for line, text in reversed(before) if (match := declares.search(text))), None)
        if found is None:
            return begin
        line, match = found
        return replace(begin, line=line, column=match.start() + 1, text=match.string)

    def instruction(self, line: int) -> str:
        """Return the instruction in line `line` of the assembly, without its comment; "" for line 0."""
        return " ".join(self._lines[line - 1].split(";")[0].split()) if line else ""

    def _before(self, line: int) -> Iterator[str]:
        for text in reversed(self._lines[:line]):
            if match := _LOC.match(text):
                yield match["frames"]
            elif _FUNCTION.match(text):
                return

    def _innermost(self, frames: str) -> Place | None:
        """Return the first place of `frames` that has a line and is not in a header of ours or of the compiler."""
        for frame in _FRAME.finditer(frames):
            file, line = frame["file"].strip(), int(frame["line"])
            if line and not any(folder in f"/{file}" for folder in _NOT_THE_USERS):
                return Place(file=plain_text(file), line=line, column=int(frame["column"]), text=self._source(file, line))
        return None

    def _source(self, file: str, line: int) -> str:
        lines = self._text(file)
        return lines[line - 1] if line <= len(lines) else ""

    def _text(self, file: str) -> list[str]:
        if file not in self._read:
            try:
                self._read[file] = Path(file).read_text(errors="replace").splitlines()
            except (OSError, ValueError):
                self._read[file] = []
        return self._read[file]
