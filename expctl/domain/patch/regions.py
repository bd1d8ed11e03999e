"""Where lines of a source stand: in which functions, and whether in a loop. Text alone, no compiler."""

from __future__ import annotations

import re
from collections.abc import Sequence

from expctl.domain.patch.code_lines import code_lines
from expctl.domain.patch.source_items import C_SUFFIXES

LOOP = "loop"
REGION = re.compile(r"[A-Za-z_]\w*(?: loop)?$")
_LOOPS = re.compile(r"(?:for|while|do)\b")
_FUNCTION = re.compile(r"([A-Za-z_]\w*)\s*\([^{}]*\)[^(){};=]*$")
_NO_FUNCTIONS = frozenset("if switch for while catch return sizeof alignas decltype static_assert".split())  # noqa: SIM905
_PYTHON = re.compile(r"(\s*)(?:async\s+)?(def\s+(\w+)|for\b|while\b)?")


def places_of(path: str, text: str) -> tuple[frozenset[str], ...]:
    """Return for each line the names of the functions around it, and LOOP if it is in one; a function's head is in it, too.
    Empty sets for languages that are neither C's kin nor Python.
    """
    lines = code_lines(path, text)
    if path.endswith(C_SUFFIXES):
        return tuple(map(frozenset, _of_c(lines)))
    return tuple(map(frozenset, _of_python(lines))) if path.endswith(".py") else (frozenset(),) * len(lines)


def lies_in(place: frozenset[str], region: str) -> bool:
    """Is a line of a place in a region: a function (`load`), any loop (`loop`), or a function's loops (`load loop`)?"""
    return place.issuperset(region.split())


def _of_c(lines: Sequence[str]) -> list[set[str]]:
    stack: list[str] = []
    found: list[set[str]] = []
    head, first, depth, is_directive = "", 0, 0, False
    for at, line in enumerate(lines):
        found.append({*stack} - {""})
        is_directive = is_directive or line.lstrip().startswith("#")
        if not is_directive:
            for letter in line:
                depth += (letter in "([") - (letter in ")]")
                if letter == "{":
                    stack.append(_opened(head.strip()))
                    found[at] |= {stack[-1]} - {""}
                elif letter == "}":
                    del stack[-1:]
                elif letter == ";" and depth <= 0 and _LOOPS.match(head.strip()):
                    for each in found[first:]:
                        each.add(LOOP)
                if letter in "{}" or (letter == ";" and depth <= 0):
                    head, depth = "", 0
                else:
                    first = first if head.strip() else at
                    head += letter
            head += " "
        is_directive = is_directive and line.endswith("\\")
    return found


def _opened(head: str) -> str:
    if _LOOPS.match(head):
        return LOOP
    match = _FUNCTION.search(head)
    return match[1] if match and match[1] not in _NO_FUNCTIONS else ""


def _of_python(lines: Sequence[str]) -> list[set[str]]:
    stack: list[tuple[int, str]] = []
    found = []
    for line in lines:
        match = _PYTHON.match(line)
        if match is not None and line.strip():
            while stack and stack[-1][0] >= len(match[1]):
                stack.pop()
            if match[2]:
                stack.append((len(match[1]), match[3] or LOOP))
        found.append({name for _, name in stack})
    return found
