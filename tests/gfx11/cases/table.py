"""All cases."""

from tests.gfx11.cases import (
    atomic_cases,
    buffer_cases,
    byte_cases,
    compare_cases,
    control_cases,
    division_cases,
    double_cases,
    flat_cases,
    float_cases,
    half_cases,
    integer_cases,
    lane_cases,
    lane_move_cases,
    memory_cases,
    scalar_cases,
    scalar_float_cases,
    selection_cases,
)
from tests.gfx11.cases.case import Case
from tests.gfx11.cases.procedure import Procedure
from tests.gfx11.cases.strangers import (
    division,
    double,
    half,
    integer,
    lane,
    matrix,
    memory,
    operands,
    quiet,
    scalar,
    single,
)

STRANGERS: tuple[Case | Procedure, ...] = (
    *double.CASES, *half.CASES, *single.CASES, *integer.CASES, *scalar.CASES,
    *division.CASES, *lane.CASES, *memory.CASES, *matrix.CASES,
    *operands.CASES, *quiet.CASES,
)  # fmt: skip
"""By somebody who had not read the interpreter."""
CASES: tuple[Case | Procedure, ...] = (
    *integer_cases.CASES, *float_cases.CASES, *division_cases.CASES, *half_cases.CASES, *compare_cases.CASES,
    *scalar_cases.CASES, *scalar_float_cases.CASES, *atomic_cases.CASES, *selection_cases.CASES,
    *lane_move_cases.CASES, *double_cases.CASES, *byte_cases.CASES, *flat_cases.CASES, *buffer_cases.CASES,
    *lane_cases.CASES, *memory_cases.CASES, *control_cases.CASES,
    *STRANGERS,
)  # fmt: skip
FOLDED = tuple(case for case in CASES if isinstance(case, Case) and case.ir)
"""LLVM must fold every one of these, on every operand set."""
EXACT = tuple(case for case in CASES if isinstance(case, Case) and not case.ir)
PROCEDURES = tuple(case for case in CASES if isinstance(case, Procedure))
