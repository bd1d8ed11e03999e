"""Random kernels give the same bits in the interpreter and on the host: a sample; 500 with --long. What is planted is found."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.check.random_kernels import files, ran, totals, write
from benchmarks.check.random_programs.comparison import Answer, Outcome, difference, outcomes
from benchmarks.check.random_programs.drawing import drawn
from benchmarks.check.random_programs.program import Program, inputs
from benchmarks.check.random_programs.shrinking import shrunk
from benchmarks.check.random_programs.single_operators import single_operators
from benchmarks.check.random_programs.syntax_tree import all_nodes
from benchmarks.check.random_programs.value_types import BOOL, F16, F32, I32, U32, U64

LONG, AT_ONCE = 500, 10
FIRST = 7_000_000
CHUNKS = [pytest.param(i, marks=[pytest.mark.long] if i else []) for i in range(0, LONG, AT_ONCE)]


@pytest.fixture(autouse=True)
def _clang() -> None:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")


@pytest.mark.parametrize("begin", CHUNKS)
def test_both_sides_give_the_same_bits(begin: int) -> None:
    levels = ("-O1", "-O2", "-O3") if begin else ("-O2",)
    programs = [drawn(seed) for seed in range(FIRST + begin, FIRST + begin + AT_ONCE)]
    found = [each for file in files(programs, levels) for each in ran(file)]
    assert {each.answer for each in found} <= {Answer.EQUAL, Answer.REFUSED}, totals(found)


def test_operators_alone_give_the_same_bits() -> None:
    types = (F32, I32, U32)
    programs = [program for operator, program in single_operators(types) if operator.result in (*types, BOOL)][::6]
    found = outcomes(programs, "-O3")
    assert {each.answer for each in found} <= {Answer.EQUAL, Answer.REFUSED}, totals(found)
    assert sum(each.answer is Answer.EQUAL for each in found) > len(found) // 2, totals(found)


def test_a_changed_operator_is_found() -> None:
    programs = [program for operator, program in single_operators((F16, F32, U32, U64)) if " + " in operator.format][:8]
    [file] = files(programs, ["-O1"], is_planted=True)
    found = ran(file)
    assert {each.answer for each in found} == {Answer.VALUE}, totals(found)
    assert all("interpreter" in each.cause for each in found)


def test_a_seed_gives_the_same_program_and_another_seed_another() -> None:
    assert drawn(3).text == drawn(3).text
    assert drawn(3).text.replace("program_3", "") != drawn(4).text.replace("program_4", "")
    assert difference(inputs(drawn(3)), inputs(drawn(3))) == ""


def test_a_difference_is_one_of_bits_but_of_those_of_a_nan() -> None:
    nan, other_nan = np.array([np.nan], dtype="f4"), np.array([0xFFC00001], dtype="u4").view("f4")
    assert difference({"x": nan}, {"x": other_nan}) == ""
    assert "0x80000000" in difference({"x": np.array([1, -0.0], dtype="f4")}, {"x": np.array([1, 0], dtype="f4")})
    assert difference({"x": nan}, {"x": np.array([1], dtype="f4")})
    assert difference({"x": np.array([1, 2, 3], dtype="u1")}, {"x": np.array([1, 2, 4], dtype="u1")}).startswith("x[2]")


def test_a_program_that_differs_shrinks_to_what_differs(tmp_path: Path) -> None:
    program = drawn(5)
    wrong = next(str(each) for each in all_nodes(program.body) if each.declares.startswith("v"))

    def judge(programs: Sequence[Program], level: str) -> list[Outcome]:
        answers = (Answer.VALUE if wrong in each.text else Answer.EQUAL for each in programs)
        return [Outcome(each, level, answer, "x") for each, answer in zip(programs, answers, strict=True)]

    [first] = judge([program], "-O2")
    smallest = shrunk(first, 60, judge)
    assert wrong in smallest.program.text
    assert len(all_nodes(smallest.program.body)) < len(all_nodes(program.body)) // 3
    made = write(smallest, first, tmp_path)
    assert wrong in (made / "smallest/kernels.hip").read_text()
    assert (made / "drawn/difference.txt").read_text() == "-O2 different: x\n"


def test_undefined_behaviour_is_no_difference() -> None:
    program = drawn(6)
    overflow = replace(program.body[0], format="volatile int most = 0x7fffffff;\nvolatile int sum = most + 1;", expressions=())
    [found] = outcomes([replace(program, body=(overflow, *program.body))], "-O1")
    assert found.answer is Answer.INVALID
