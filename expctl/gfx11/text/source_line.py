"""Find the line of the kernel's source that an instruction came from, in assembly compiled with -gline-tables-only."""

import re

_LOC = re.compile(r"^\s*\.loc\s+\d+\s+(?P<line>\d+).*?;\s*(?P<frames>\S.*)$")
_FRAME = re.compile(r"(?:.*/)?(?P<file>[^/:]+):(?P<line>\d+):\d+")
_FUNCTION = re.compile(r"^[A-Za-z_$][\w$.]*:")
MOST_FRAMES = 3


def source_line(assembly: str, line: int) -> str:
    """Return the source file and line that line `line` of the assembly was compiled from, e.g. `put.h:41 in ring.h:103`.

    At most 3 places are named, from the inlined function outwards. Empty if the text has no line table, or if the compiler
    invented the instruction (line 0).
    """
    for text in reversed(assembly.splitlines()[:line]):
        found = _LOC.match(text)
        if found is not None:
            places = [(frame["file"], frame["line"]) for frame in _FRAME.finditer(found["frames"].replace("@[", "\n"))]
            return " in ".join(f"{file}:{number}" for file, number in places[:MOST_FRAMES] if number != "0")
        if _FUNCTION.match(text):
            return ""
    return ""
