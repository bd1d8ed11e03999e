"""Short hands in which the tables of cases are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.gfx11.cases.case import Case, Row, usual_places

_SUFFIX = {"f32": "float", "f16": "half", "f64": "double"}


def case(
    opcode: str, sources: str, results: str, ir: str = "", *, exact: Callable[..., Any] | None = None, text: str = "",
    places: str = "", rows: tuple[Row, ...] = (), modifiers: str = "",
) -> Case:  # fmt: skip
    """Types as words, `f32 f32 mask`; the text in full where it isn't the opcode, the results' and the sources' registers."""
    kinds, outcome, scalar = tuple(sources.split()), tuple(results.split()), opcode.startswith("s_")
    registers = tuple(places.split())
    if not text:
        names = [_name(place, kind) for place, kind in zip(registers or usual_places(kinds, scalar=scalar), kinds, strict=True)]
        to = [_name(_target(j, kind, scalar=scalar), kind) for j, kind in enumerate(outcome)]
        text = f"{opcode} {', '.join(name for name in (*to, *names) if name)}{modifiers and ' ' + modifiers}"
    return Case(
        opcode=opcode, text=text, sources=kinds, results=outcome, ir=ir, exact=exact, places=registers, rows=rows, scalar=scalar
    )


def _target(j: int, kind: str, *, scalar: bool) -> str:
    return kind if kind in ("scc", "exec", "active") else f"{'s' if scalar or kind == 'mask' else 'v'}{2 * j}"


def _name(place: str, kind: str) -> str:
    if place in ("scc", "exec", "active", "vcc"):
        return ""
    return f"{place[0]}[{place[1:]}:{int(place[1:]) + 1}]" if kind in ("i64", "f64") else place


def call(function: str, *arguments: str, kind: str = "i32", name: str = "r") -> str:
    """One line of IR: `%r = call ...`. An argument is `a` or `i1 false`."""
    given = ", ".join(word if " " in word else f"{kind_to_type(kind)} %{word}" for word in arguments)
    return f"%{name} = call {kind_to_type(kind)} @llvm.{function}({given})"


def kind_to_type(kind: str) -> str:
    return _SUFFIX.get(kind, kind)


def lines(*each: str) -> str:
    return "\n".join(each)
