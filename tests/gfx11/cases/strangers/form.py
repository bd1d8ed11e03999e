"""How a stranger's case is written: registers that no other case uses, rows in words, the text where it isn't the plain one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.gfx11.cases.case import Case, Row
from tests.gfx11.cases.strangers.numbers import DOUBLE, HALF, SINGLE, Binary, rows
from tests.gfx11.cases.tables import case

_FORMS = {"f16": HALF, "v2f16": HALF, "f32": SINGLE, "f64": DOUBLE}


def form_of(kind: str) -> Binary:
    return _FORMS.get(kind, SINGLE)


def hard(
    opcode: str, sources: str, results: str, exact: Callable[..., Any], given: str | tuple[Row, ...], text: str = ""
) -> Case:
    """Sources lie from v10 or s10 on, masks from s20 on, results from v0 or s0 on. `{0}` in the text is the first source."""
    kinds, bank = sources.split(), "s" if opcode.startswith("s_") else "v"
    places = [f"s{20 + 2 * i}" if kind == "mask" else f"{bank}{10 + 2 * i}" for i, kind in enumerate(kinds)]
    places = ["scc" if kind == "scc" else place for place, kind in zip(places, kinds, strict=True)]
    names = [_operand(place, kind) for place, kind in zip(places, kinds, strict=True)]
    if not text:
        wanted = [
            _operand(f"{'s' if kind == 'mask' else bank}{2 * j}", kind)
            for j, kind in enumerate(results.split())
            if kind != "scc"
        ]
        text = f"{opcode} {', '.join([*wanted, *(name for name in names if name != 'scc')])}"
    sets = rows(form_of(kinds[0]), given) if isinstance(given, str) else given
    return case(opcode, sources, results, exact=exact, places=" ".join(places), text=text.format(*names), rows=sets)


def _operand(place: str, kind: str) -> str:
    return f"{place[0]}[{place[1:]}:{int(place[1:]) + 1}]" if kind in ("i64", "f64") else place
