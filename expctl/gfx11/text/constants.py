"""Read the constants that a function refers to: what clang writes for `__constant__` arrays, tables and strings."""

from __future__ import annotations

import re

from expctl.gfx11.text.errors import Unsupported
from expctl.gfx11.text.program import SYMBOL, Program, lines_of

_SIZES = {".byte": 1, ".short": 2, ".long": 4, ".quad": 8}
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def constants_of(assembly: str, program: Program) -> dict[str, bytes]:
    """Return the bytes of each symbol that the program's instructions refer to. Raises Unsupported for one that the text
    doesn't define, or defines otherwise than by plain numbers.
    """
    names = {name: each.line for each in program.instructions for name in SYMBOL.findall(each.rest)}
    return {name: _data(assembly, name, line) for name, line in names.items() if name not in program.labels}


def _data(assembly: str, name: str, used: int) -> bytes:
    lines = lines_of(assembly)
    begin = next((i for i, line in enumerate(lines) if line.startswith(f"{name}:")), None)
    if begin is None:
        raise Unsupported("a symbol that the text doesn't define", line=used, text=name)
    found = b""
    for number, line in enumerate(lines[begin + 1 :], begin + 2):
        directive, _, rest = line.split(";", 1)[0].strip().partition("\t")
        if directive in _SIZES:
            found += b"".join(_number(word, _SIZES[directive], number, line) for word in rest.split(","))
        elif directive in (".zero", ".skip"):
            count, _, value = rest.partition(",")
            found += _number(value or "0", 1, number, line) * int(count, 0)
        elif directive in (".asciz", ".ascii") and (text := _STRING.search(line)):
            raw = text[1].encode().decode("unicode_escape").encode("latin-1")
            found += raw + b"\0" * (directive == ".asciz")
        elif directive:
            break
    if not found:
        raise Unsupported("a symbol that isn't plain data", line=used, text=name)
    return found


def _number(word: str, size: int, line: int, text: str) -> bytes:
    try:
        return (int(word.strip(), 0) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    except ValueError as error:
        raise Unsupported("a constant that isn't a number", line=line, text=text.strip()) from error
