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
    """Cut a C++ name before its parameters and drop template arguments; parentheses inside `{...}` (a lambda) stay."""
    found: list[str] = []
    angles = braces = 0
    for letter in text:
        if letter == "<":
            angles += 1
        elif letter == ">" and angles:
            angles -= 1
        elif angles:
            continue
        elif letter == "(" and not braces and found:
            break
        else:
            braces += (letter == "{") - (letter == "}")
            found.append(letter)
    return "".join(found)
