"""Every opcode against what its author did not decide: LLVM's constant folding where it folds, else exact arithmetic."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from expctl.gfx11.opcodes import OPCODES
from tests.gfx11.cases.case import Case, agree, computed
from tests.gfx11.cases.folding import Folded, results_of
from tests.gfx11.cases.procedure import Procedure
from tests.gfx11.cases.selection import BY_NAME, OTHERWISE, selected
from tests.gfx11.cases.table import CASES, EXACT, FOLDED, PROCEDURES, STRANGERS

SELECTED = {case.opcode for case in FOLDED if not OTHERWISE.match(case.opcode)} - BY_NAME


def test_every_opcode_has_a_case() -> None:
    assert OPCODES - {case.opcode for case in CASES} == set()
    assert {case.opcode for case in CASES} - OPCODES == set()
    assert len(CASES) >= 200


def test_no_case_is_there_twice() -> None:
    assert [text for text, count in Counter(case.text for case in CASES).items() if count > 1] == []


def test_a_case_runs_the_opcode_that_it_is_of() -> None:
    for case in CASES:
        words = case.text.replace("_dpp ", " ").replace("_e64", "").replace("_e32", "").replace("\n", " ").split()
        assert case.opcode in words, case.text


def test_llvm_folds_all_that_it_is_asked(constants: Folded) -> None:
    """One that it leaves as code needs another oracle, and says so by standing here."""
    left = [case.text for case in FOLDED if None in constants[case.text]]
    short = [case.text for case in FOLDED if len(constants[case.text]) != len(case.operand_sets())]
    assert (left, short) == ([], [])


@pytest.mark.parametrize("case", FOLDED, ids=str)
def test_as_llvm_folds_it(case: Case, constants: Folded) -> None:
    wanted = [results_of(case, value) for value in constants[case.text] if value is not None]
    compare(case, wanted)


@pytest.mark.parametrize("case", EXACT, ids=str)
def test_as_exact_arithmetic_has_it(case: Case) -> None:
    assert case.exact is not None
    wanted = [case.exact(*row) for row in case.operand_sets()]
    compare(case, [value if isinstance(value, tuple) else (value,) for value in wanted])


def compare(case: Case, wanted: Sequence[tuple[int | None, ...]]) -> None:
    for (row, found), values in zip(computed(case), wanted, strict=True):
        for kind, x, y in zip(case.results, found, values, strict=True):
            shown = f"{case.text} of {[hex(n) for n in row]}: {kind} {x:#x}, expected {'a NaN' if y is None else hex(y)}"
            assert agree(x, y, kind), shown


@pytest.mark.parametrize("case", PROCEDURES, ids=str)
def test_as_its_definition_has_it(case: Procedure) -> None:
    case.check()


def test_every_case_is_an_instruction_of_the_machine(tmp_path: Path) -> None:
    """LLVM's assembler for gfx1151 takes each, with whole registers for halves or with .l and .h."""
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    refused: list[set[int]] = []
    texts = [line for case in CASES for line in case.text.splitlines()]
    source = tmp_path / "cases.s"
    source.write_text("\n".join(texts) + "\n.L1:\n")
    for sign in "+-":
        argv = [sys.executable, "-m", "ziglang", "clang", "-cc1as", "-triple", "amdgcn-amd-amdhsa", "-target-cpu", "gfx1151"]
        argv += ["-target-feature", f"{sign}real-true16", "-filetype", "obj", str(source), "-o", str(tmp_path / "cases.o")]
        said = subprocess.run(argv, capture_output=True, text=True).stderr
        refused.append(
            {int(line.split(":")[1]) - 1 for line in said.splitlines() if line.startswith(str(source)) and "error:" in line}
        )
    assert [texts[n] for n in sorted(refused[0] & refused[1])] == []
    assert refused[0] != refused[1], "the assembler was not asked"


def test_llvm_selects_the_instruction_for_the_same_ir(tmp_path: Path) -> None:
    """That the IR of a case is the operation of its opcode is LLVM's word too, but for those that it never writes like that."""
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    assert SELECTED - selected(FOLDED, tmp_path) == set()


def test_the_figures_in_the_documentation() -> None:
    text = " ".join((Path(__file__).parents[2] / "docs/GFX11.md").read_text().split())
    kinds = ({case.opcode for case in FOLDED}, {case.opcode for case in EXACT}, {case.opcode for case in PROCEDURES})
    assert f"{len(kinds[0])} of the {len(OPCODES)} are held to LLVM" in text
    assert f"For {len(SELECTED)} of them" in text
    assert f"{len(kinds[1] - kinds[0])} that don't fold" in text
    assert f"{len(kinds[2])} that access memory" in text
    assert f"{len(STRANGERS)} cases (`strangers/*.py`)" in text
