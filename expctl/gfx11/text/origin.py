"""Which line of the kernel's source an instruction came from, where the assembly was compiled with -gline-tables-only."""

import re

_LOC = re.compile(r"^\s*\.loc\s+\d+\s+(?P<line>\d+).*?;\s*(?P<frames>\S.*)$")
_FRAME = re.compile(r"(?:.*/)?(?P<file>[^/:]+):(?P<line>\d+):\d+")
_FUNCTION = re.compile(r"^[A-Za-z_$][\w$.]*:")
MOST_FRAMES = 3


def origin(assembly: str, line: int) -> str:
    """`put.h:41 in ring.h:103`: the statement behind a line (from 1) of the assembly, then where it was inlined, at most three
    places. Empty where the text has no line table or the compiler made the instruction up (line 0)."""
    for text in reversed(assembly.splitlines()[:line]):
        found = _LOC.match(text)
        if found is not None:
            places = [(frame["file"], frame["line"]) for frame in _FRAME.finditer(found["frames"].replace("@[", "\n"))]
            return " in ".join(f"{file}:{number}" for file, number in places[:MOST_FRAMES] if number != "0")
        if _FUNCTION.match(text):
            return ""
    return ""
