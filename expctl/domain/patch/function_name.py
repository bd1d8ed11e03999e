"""Shortens the names of kernels as compilers write them."""

import re

UNNAMED = re.compile(r"(?:<unnamed>|\(anonymous namespace\)|\{anonymous\}|`anonymous namespace')(?:::)?")
_ENDING = re.compile(r"(?: \[clone [^\]]*\]|\.kd)+$")


def function_name(name: str) -> str:
    """Return a demangled kernel name without return type, template arguments, parameters, unnamed namespaces and `.kd`.
    `std::enable_if<x, void>::type prim::scan<int>(int)` becomes `prim::scan`; a plain name stays as it is.
    """
    plain = _ENDING.sub("", UNNAMED.sub("", name)).removeprefix("void ")
    bare = _without_arguments(plain)
    if bare == plain:
        return plain
    return bare.rstrip().rpartition(" ")[2] or plain


def _without_arguments(text: str) -> str:
    """Cut a C++ name before its parameters and drop template arguments; parentheses inside `{...}` (a lambda) stay.

    In template arguments, an angle in parentheses that has no partner there compares: `<((8)>(0)), void>`.
    """
    found: list[str] = []
    outer: list[int] = []
    angles = braces = 0
    for letter in text:
        if letter == "<":
            angles += 1
        elif letter == "(" and (angles or outer):
            outer.append(angles)
            angles = 0
        elif letter == ")" and outer:
            angles = outer.pop()
        elif letter == ">" and angles:
            angles -= 1
        elif angles or outer:
            continue
        elif letter == "(" and not braces and found:
            break
        else:
            braces += (letter == "{") - (letter == "}")
            found.append(letter)
    return "".join(found)
