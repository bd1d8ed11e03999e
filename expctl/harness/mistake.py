"""A mistake in the author's file, and where to mend it: `bench.py:14, in reference: expected float64, found float16`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Any, NamedTuple

from expctl.harness.report import Fault

LIBRARY = os.path.dirname(__file__)


class Place(NamedTuple):
    """A line of a file, and the function or attribute that it belongs to."""

    file: str
    line: int
    name: str = ""

    def __str__(self) -> str:
        beside = os.path.relpath(self.file)
        shown = os.path.basename(self.file) if beside.startswith("..") else beside
        return f"{shown}:{self.line}" + (f", in {self.name}" if self.name else "")


class Mistake(Fault):
    """The author's file is wrong. `place` is filled in where the mistake is caught, if it isn't known where it is seen."""

    def __init__(self, expected: str, found: str, place: Place | None = None) -> None:
        super().__init__(expected, found)
        self.expected, self.found, self.place = expected, found, place

    def __str__(self) -> str:
        return f"{f'{self.place}: ' if self.place else ''}expected {self.expected}, found {self.found}"


def frames(trace: TracebackType | None) -> Iterator[Place]:
    """Yield the places of a traceback, innermost first, without those of this library."""
    places = []
    while trace is not None:
        code = trace.tb_frame.f_code
        name = "" if code.co_name == "<module>" else code.co_name
        places.append(Place(os.path.abspath(code.co_filename), trace.tb_lineno, name))
        trace = trace.tb_next
    return (place for place in reversed(places) if os.path.dirname(place.file) != LIBRARY)


def file_of(kernel: type[Any]) -> str:
    """Return the path of the file that defines the class `kernel`."""
    return os.path.abspath(getattr(sys.modules.get(kernel.__module__), "__file__", None) or sys.argv[0])


def place_of(kernel: type[Any], name: str) -> Place:
    """Return where the class `kernel` says `name`: a method's only `return` or its `def`, an assignment, else the class."""
    import ast

    file = file_of(kernel)
    for each in kernel.__mro__[:-1]:
        defined = _definition(each.__name__, file)
        for node in defined.body if defined else ():
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return Place(file, _line_of_return(node), name)
            if name in _targets(node):
                return Place(file, node.lineno, name)
    defined = _definition(kernel.__name__, file)
    return Place(file, defined.lineno if defined else 1, f"class {kernel.__name__}")


def place_of_text(file: str, text: str) -> Place:
    """Return the first line of `file` that holds `text`, else its first line."""
    lines = _text(file).splitlines()
    return Place(file, next((number for number, line in enumerate(lines, 1) if text in line), 1))


def _definition(name: str, file: str) -> Any:
    import ast

    nodes = ast.walk(ast.parse(_text(file)))
    return next((node for node in nodes if isinstance(node, ast.ClassDef) and node.name == name), None)


def _targets(node: Any) -> list[str]:
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    return [target.id for target in targets if hasattr(target, "id")]


def _line_of_return(method: Any) -> int:
    import ast

    returns = [node.lineno for node in ast.walk(method) if isinstance(node, ast.Return)]
    return int(returns[0] if len(returns) == 1 else method.lineno)


def _text(file: str) -> str:
    try:
        with open(file, encoding="utf-8") as source:
            return source.read()
    except OSError:
        return ""
