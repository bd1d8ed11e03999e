"""A program for each operator alone: each thread applies it to numbers of its own, or a workgroup to numbers that it shares."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.check.random_programs.operators import Operator, operators_of
from benchmarks.check.random_programs.program import Parameter, Program
from benchmarks.check.random_programs.syntax_tree import Expression, Node
from benchmarks.check.random_programs.value_types import BOOL, U8, Type

THREADS, GROUPS = 64, 4
SHARED_GROUPS = 48
"""Workgroups, and so operands, of a program whose operands are the same in all threads: they go to scalar registers."""


def all_operators(types: tuple[Type, ...]) -> list[Operator]:
    """Return every operator over `types`."""
    return [each for result in (*types, BOOL) for each in operators_of(result, types)]


def single_operators(types: tuple[Type, ...]) -> Iterator[tuple[Operator, Program]]:
    """Yield each operator with a program of it whose operands differ in each thread, then with one whose operands don't."""
    for number, operator in enumerate(all_operators(types)):
        yield operator, _program(2 * number, operator, "place", THREADS, GROUPS)
        yield operator, _program(2 * number + 1, operator, "blockIdx.x", 1, SHARED_GROUPS)


def _program(number: int, operator: Operator, index: str, threads: int, groups: int) -> Program:
    count = threads * groups
    inputs = [Parameter(f"x{i}", _stored(of), count) for i, of in enumerate(operator.parts)]
    output = Parameter("out", _stored(operator.result), count, is_output=True)
    parts = tuple(
        Expression(of, f"({each.name}[{index}] % 2 != 0)" if of is BOOL else f"{each.name}[{index}]")
        for of, each in zip(operator.parts, inputs, strict=True)
    )
    body = (
        Node(f"const u32 place = blockIdx.x * {threads}u + threadIdx.x;", declares="place"),
        Node("out[place] = {0};", (Expression(operator.result, operator.format, parts),)),
    )
    return Program(seed=number, block=(threads, 1), groups=groups, parameters=(*inputs, output), outer=(), body=body)


def _stored(of: Type) -> Type:
    return U8 if of is BOOL else of
