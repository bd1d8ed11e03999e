"""Shortens the names of kernels as compilers write them."""

import re

_UNNAMED = re.compile(r"(?:<?\bunnamed>|\(anonymous namespace\)|\{anonymous\}|`anonymous namespace')(?:::)?")
_LOST_SCOPE = re.compile(r"(?<=\w)<unnamed>::")
"""In an argument, an unnamed namespace whose outer ones were cut away, and a bracket with them: `Foo<at::<unnamed>::Bar>`."""
_ENDING = re.compile(r"(?: \[clone [^\]]*\]|\.kd)+$")


def without_unnamed(name: str) -> str:
    """Return `name` without unnamed namespaces; `a::<unnamed>::b<c>` becomes `a::b<c>`."""
    return _UNNAMED.sub("", _LOST_SCOPE.sub("<", name))


def function_name(name: str) -> str:
    """Return a demangled kernel name without return type, template arguments, parameters, unnamed namespaces and `.kd`.
    `std::enable_if<x, void>::type prim::scan<int>(int)` becomes `prim::scan`; a plain name stays as it is.
    """
    plain = _ENDING.sub("", without_unnamed(name)).removeprefix("void ")
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
