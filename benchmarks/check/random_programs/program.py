"""A random kernel with its launch: its text, its arguments, and the values that they get."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.check.random_programs.syntax_tree import Node, Nodes, text_of
from benchmarks.check.random_programs.value_types import Kind, Type

ALIGNMENT = 64
HEADER = """#ifdef __HIP__
#include <hip/hip_runtime.h>
#endif
#include "operations.h"
"""
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 65504.0, np.inf, -np.inf, np.nan, 1e-7, 1e-40, 3e38, -16777217.0, 4.2e9, 1.8e19, 127.5)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel: a scalar of `type`, or a pointer to `count` values of it, which the kernel may write."""

    name: str
    type: Type
    count: int = 0
    is_output: bool = False

    def __str__(self) -> str:
        return f"{'' if self.is_output or not self.count else 'const '}{self.type} {'*' if self.count else ''}{self.name}"

    @property
    def size(self) -> int:
        """Return the bytes of the scalar or of the whole array."""
        return self.type.size * max(self.count, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A kernel: `outer` stands before it, `body` within it. It is launched with `groups` workgroups of `block` threads (x, y).
    Variants of a program have other namespaces, and the same inputs.
    """

    seed: int
    block: tuple[int, int]
    groups: int
    parameters: tuple[Parameter, ...]
    outer: Nodes
    body: Nodes
    variant: int = 0

    @property
    def namespace(self) -> str:
        """Return the namespace that holds all of the program."""
        return f"program_{self.seed}{f'_{self.variant}' if self.variant else ''}"

    @property
    def name(self) -> str:
        """Return the name of the kernel with its namespace."""
        return f"{self.namespace}::kernel"

    @property
    def text(self) -> str:
        """Return the source: a namespace of its own."""
        whole = Node(
            f"namespace {self.namespace} {{{{\n{{b0}}\n"
            f"__global__ void kernel({', '.join(map(str, self.parameters))}) {{{{\n{{b1}}}}}}\n}}}}",
            blocks=(self.outer, self.body),
        )  # fmt: skip
        return text_of((whole,))

    def variant_numbered(self, number: int) -> Program:
        """Return the program in another namespace, with the same inputs: several variants may stand in one file."""
        return replace(self, variant=number)


def offsets(program: Program) -> tuple[dict[str, int], int]:
    """Return where each argument begins in the memory that the host's program is given, and the size of that memory."""
    found, end = {}, 0
    for parameter in program.parameters:
        found[parameter.name] = end
        end += -(-parameter.size // ALIGNMENT) * ALIGNMENT
    return found, end


def inputs(program: Program) -> dict[str, Any]:
    """Return the arguments by name, drawn from the program's seed: arrays of lanes, of one element for a scalar."""
    return {
        each.name: _values(each, np.random.default_rng((program.seed, zlib.crc32(each.name.encode()))))
        for each in program.parameters
    }


def _values(parameter: Parameter, random: np.random.Generator) -> Any:
    of, count = parameter.type, max(parameter.count, 1) * parameter.type.lanes
    if of.kind is Kind.FLOAT:
        return _floats(of, count, random, is_finite=not parameter.count)
    stored = np.dtype(f"{'u' if of.kind is Kind.UNSIGNED else 'i'}{of.bits // 8}")
    ends = np.iinfo(stored)
    anywhere = random.integers(ends.min, ends.max, count, dtype=stored, endpoint=True)
    small = random.integers(0, 20, count).astype(stored)
    special = random.choice(np.array([0, 1, ends.max, ends.min, ends.max - 1, ends.max // 2], dtype=stored), count)
    return np.choose(random.integers(0, 4, count), [anywhere, anywhere, small, special])


def _floats(of: Type, count: int, random: np.random.Generator, *, is_finite: bool) -> Any:
    near_one = random.standard_normal(count)
    wide = near_one * np.exp2(random.integers(-20, 20, count))
    special = random.choice(np.array(FLOATS), count)
    found = np.choose(random.integers(0, 8, count), [near_one] * 3 + [wide] * 2 + [np.rint(wide)] * 2 + [special])
    with np.errstate(over="ignore", under="ignore"):
        stored = found.astype(f"f{of.bits // 8}")
    return np.where(np.isfinite(stored), stored, np.ones_like(stored)) if is_finite else stored
