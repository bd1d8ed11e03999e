"""The cases notice: every arithmetic opcode is made wrong in one bit, for one lane, and one of its cases must fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from expctl.gfx11.machine.arrays import Anything
from expctl.gfx11.scalar import operations
from expctl.gfx11.scalar.operation import Evaluate
from expctl.gfx11.vector import decode, halves
from tests.gfx11.cases.case import Case, agree, computed
from tests.gfx11.cases.folding import Folded, results_of
from tests.gfx11.cases.table import EXACT, FOLDED

LANE = 5
Wanted = dict[str, list[tuple[int | None, ...]]]


@pytest.fixture(scope="module")
def wanted(constants: Folded) -> Wanted:
    found: Wanted = {case.text: [results_of(case, value or 0) for value in constants[case.text]] for case in FOLDED}
    for case in EXACT:
        assert case.exact is not None
        values = [case.exact(*row) for row in case.operand_sets()]
        found[case.text] = [value if isinstance(value, tuple) else (value,) for value in values]
    return found


def passes(opcode: str, wanted: Wanted) -> bool:
    return all(holds(case, wanted[case.text]) for case in (*FOLDED, *EXACT) if case.opcode == opcode)


def holds(case: Case, wanted: list[tuple[int | None, ...]]) -> bool:
    return all(
        agree(x, y, kind)
        for (_, found), values in zip(computed(case), wanted, strict=True)
        for kind, x, y in zip(case.results, found, values, strict=True)
    )


def spoiled(evaluate: Callable[..., Anything]) -> Callable[..., Anything]:
    def wrong(*sources: Anything) -> Anything:
        result = evaluate(*sources)
        first, *others = result if isinstance(result, tuple) else (result,)
        first = np.array(first)
        bits = first if first.dtype == np.bool_ else first.view(f"u{first.dtype.itemsize}")
        bits[LANE] ^= True
        return (first, *others) if others else first

    return wrong


@pytest.mark.parametrize("table", [decode.TABLE, halves.PACKED], ids=["plain", "packed"])
def test_vector(table: dict[str, Anything], wanted: Wanted, monkeypatch: pytest.MonkeyPatch) -> None:
    missed = []
    for name, op in table.items():
        with monkeypatch.context() as patch:
            patch.setitem(table, name, replace(op, evaluate=spoiled(op.evaluate)))
            missed += [name] * passes(name, wanted)
    assert missed == []


@pytest.mark.parametrize("part", ["result", "scc"])
def test_scalar(part: str, wanted: Wanted, monkeypatch: pytest.MonkeyPatch) -> None:
    missed = []
    for name, op in operations.OPS.items():
        with monkeypatch.context() as patch:

            def wrong(*sources: int, evaluate: Evaluate = op.evaluate) -> tuple[int, int | None]:
                result, scc = evaluate(*sources)
                return (result ^ 1, scc) if part == "result" else (result, 0 if scc is None else 1 - scc)

            patch.setitem(operations.OPS, name, replace(op, evaluate=wrong))
            missed += [name] * (passes(name, wanted) and bool(op.result or part == "scc"))
    assert missed == []
