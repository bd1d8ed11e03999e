"""Draws whole kernels: parameters, variables, phases with barriers, and what they store at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import replace
from random import Random

from benchmarks.check.random_programs.declarations import DeclarationDraw
from benchmarks.check.random_programs.expressions import ExpressionDraw
from benchmarks.check.random_programs.operators import Operator
from benchmarks.check.random_programs.program import Parameter, Program
from benchmarks.check.random_programs.scope import Scope
from benchmarks.check.random_programs.statements import Place, StatementDraw
from benchmarks.check.random_programs.syntax_tree import Expression, Node
from benchmarks.check.random_programs.value_types import (
    INTEGERS,
    U8,
    U32,
    Type,
    values_of_programs,
)

BLOCKS = ((32, 1), (64, 1), (48, 1), (33, 1), (96, 1), (8, 8), (16, 3), (5, 7))
SCRATCH = 32
"""Bytes of scratch memory that a thread has to itself."""
THREAD = Expression(U32, "thread")


def drawn(seed: int, *, with_double: bool = False, without: Set[Operator] = frozenset()) -> Program:
    """Draw the program of a seed, with all operators but those of `without`."""
    return KernelDraw(seed, values_of_programs(with_double=with_double), without).program()


class KernelDraw:
    """Draws one kernel. What all threads of a workgroup compute alike has a scope of its own, for loops around barriers."""

    def __init__(self, seed: int, types: tuple[Type, ...], without: Set[Operator]) -> None:
        self._seed, self._random = seed, Random(seed)  # noqa: S311  a program that a seed gives again
        self._draw = ExpressionDraw(self._random, types, without)
        self._statements = StatementDraw(self._draw, depth=self._random.choice((2, 2, 3)))
        self._declarations = DeclarationDraw(self._statements)
        self._block, self._groups = self._random.choice(BLOCKS), self._random.choice((1, 2, 3))
        self._threads = self._block[0] * self._block[1]
        self._scope, self._uniform = Scope(), Scope()
        self._parameters: list[Parameter] = []
        self._outer: list[Node] = []
        self._body: list[Node] = []

    def program(self) -> Program:
        """Return the kernel with its launch."""
        self._add_declarations()
        self._add_indices()
        self._add_inputs()
        self._add_own_memory()
        self._add_variables()
        for _ in range(self._random.randint(1, 3)):
            self._add_statements(5)
            if self._random.random() < 0.7:
                self._body.append(self._phase())
        self._add_statements(4)
        if self._random.random() < 0.1:
            self._body.append(Node("if ({0}) return;", (self._statements.condition(self._scope),)))
        self._add_outputs()
        return Program(
            seed=self._seed,
            block=self._block,
            groups=self._groups,
            parameters=tuple(self._parameters),
            outer=tuple(self._outer),
            body=tuple(self._body),
        )

    def _add_declarations(self) -> None:
        structs = [self._declarations.struct() for _ in range(self._random.choice((0, 1, 2)))]
        self._structs = structs
        self._outer += [each.node for each in structs]
        self._outer += [self._declarations.table(self._scope) for _ in range(self._random.choice((0, 0, 1)))]
        for _ in range(self._random.choice((0, 1, 1, 2))):
            struct = self._random.choice([None, *structs])
            self._outer.append(self._declarations.function(self._scope, struct))

    def _add_indices(self) -> None:
        thread = "threadIdx.x" if self._block[1] == 1 else f"threadIdx.x + threadIdx.y * {self._block[0]}u"
        values = {"thread": thread, "group": "blockIdx.x", "place": f"blockIdx.x * {self._threads}u + {thread}"}
        for name, value in values.items():
            self._body.append(Node(f"const u32 {name} = {value};", declares=name))
            self._scope.declare(name, U32, is_target=False)
        self._uniform.declare("group", U32, is_target=False)

    def _add_inputs(self) -> None:
        for of in self._random.choices(self._draw.types, k=self._random.randint(3, 5)):
            parameter = self._parameter("x", of, self._random.choice((7, 16, 40, 64, 200)))
            for scope in (self._scope, self._uniform):
                scope.declare_array(parameter.name, of, parameter.count, is_target=False)
        for of in self._random.choices([each for each in self._draw.types if each.lanes == 1], k=self._random.randint(1, 4)):
            parameter = self._parameter("n", of)
            for scope in (self._scope, self._uniform):
                scope.declare(parameter.name, of, is_target=False)
        text = self._parameter("bytes", U8, self._random.choice((24, 64, 100)))
        for of in self._random.sample(INTEGERS, 3):
            read = Operator(of, f"read<{of}>({text.name} + {{0}} % {text.count - of.size + 1}u)", (U32,))
            self._scope.operators.append(read)
            self._uniform.operators.append(read)

    def _add_own_memory(self) -> None:
        scratch = self._parameter("scratch", U8, SCRATCH * self._groups * self._threads, is_output=True)
        mine = self._own_pointer(scratch, SCRATCH)
        for of in self._random.sample(INTEGERS, 3):
            at = f"{mine} + {{0}} % {SCRATCH - of.size + 1}u"
            self._scope.operators.append(Operator(of, f"read<{of}>({at})", (U32,)))
            self._scope.stores.append(Operator(of, f"write<{of}>({at}, {{1}});", (U32, of)))
        if self._random.random() < 0.6:
            of = self._random.choice(self._draw.types)
            row = self._parameter("row", of, 4 * self._groups * self._threads, is_output=True)
            self._scope.declare_array(self._own_pointer(row, 4), of, 4)

    def _own_pointer(self, array: Parameter, count: int) -> str:
        name = self._statements.fresh("own")
        self._body.append(Node(f"{array.type} *const {name} = {array.name} + place * {count};", declares=name))
        return name

    def _add_variables(self) -> None:
        for of in self._random.choices(self._draw.types, k=self._random.randint(0, 3)):
            node = self._statements.declaration(of, self._uniform, is_target=False)
            self._scope.declare(node.declares, of, is_target=False)
            self._body.append(node)
        self._locals: list[Operator] = []
        for of in self._random.sample(self._draw.types, self._random.randint(4, 8)):
            self._body.append(self._statements.declaration(of, self._scope))
        before = len(self._scope.operators)
        for of in self._random.choices(self._draw.types, k=self._random.choice((0, 1, 1, 2))):
            self._body.append(self._statements.array(of, self._scope))
        for struct in self._structs:
            make = self._random.choice((self._declarations.struct_variable, self._declarations.struct_array))
            self._body.append(make(struct, self._scope))
        self._locals = self._scope.operators[before:]

    def _add_statements(self, most: int) -> None:
        for _ in range(self._random.randint(1, most)):
            self._body.append(self._statements.statement(self._scope, Place(depth=3)))

    def _phase(self) -> Node:
        """Draw a phase: all threads store to LDS, then all read there; perhaps in a loop that all threads run alike."""
        of, per_thread = self._random.choice(self._draw.types), self._random.choice((1, 1, 2))
        name, count = self._statements.fresh("tile"), per_thread * self._threads
        stores = [f"{name}[thread{f' * {per_thread}u + {i}' if per_thread > 1 else ''}] = {{{i}}};" for i in range(per_thread)]
        values = tuple(self._statements.value(of, self._scope) for _ in range(per_thread))
        blocks = [self._reading(name, of, count)]
        if self._random.random() < 0.4:
            blocks.append((self._reduction(name, of, count),))
        reduction = ["{b1}"] if len(blocks) > 1 else []
        lines = [
            f"__shared__ {of} {name}[{count}];",
            *stores,
            "__syncthreads();",
            *reduction,
            "{{",
            "{b0}}}",
            "__syncthreads();",
        ]
        phase = Node("{{\n" + "\n".join(lines) + "\n}}", values, tuple(blocks), declares=name)
        if self._random.random() < 0.7:
            return phase
        turn = self._statements.fresh("turn")
        head = f"for (u32 {turn} = 0; {turn} < {{0}} % 4u; ++{turn})"
        return Node(f"{head} {{{{\n{{b0}}}}}}", (self._draw.index(self._uniform),), ((phase,),), declares=turn)

    def _reading(self, name: str, of: Type, count: int) -> tuple[Node, ...]:
        """Draw statements that may read the LDS array `name`, its elements, or an integer at any of its bytes."""
        inner = self._scope.inner()
        inner.declare_array(name, of, count, is_target=False)
        for other in self._random.sample(INTEGERS, 2) if of.is_integer else ():
            at = f"(const u8 *){name} + {{0}} % {count * of.size - other.size + 1}u"
            inner.operators.append(Operator(other, f"read<{other}>({at})", (U32,)))
        return tuple(self._statements.statement(inner, Place(depth=2)) for _ in range(self._random.randint(1, 4)))

    def _reduction(self, name: str, of: Type, count: int) -> Node:
        """Draw a reduction of the first elements of `name` by halves."""
        first, second = Expression(of, f"{name}[thread]"), Expression(of, f"{name}[thread + half]")
        scope = Scope(values=[second, THREAD])
        half = 1 << (count.bit_length() - 2)  # at most the number of threads, and twice that fits
        lines = (f"for (u32 half = {half}; half > 0; half /= 2) {{{{", f"    if (thread < half) {first} = {{0}};",
                 "    __syncthreads();", "}}")  # fmt: skip
        return Node("\n".join(lines), (self._draw.update(first, scope, 1),))

    def _add_outputs(self) -> None:
        """Store every variable, and an element of every local array, at this thread's place in an array of its type."""
        found = [*self._scope.targets, *(self._element(each) for each in self._locals)]
        per_thread = Counter(each.type for each in found)
        threads = self._groups * self._threads
        arrays = {of: self._parameter("out", of, count * threads, is_output=True) for of, count in per_thread.items()}
        used: Counter[Type] = Counter()
        for each in found:
            place = f"{arrays[each.type].name}[place * {per_thread[each.type]} + {used[each.type]}]"
            self._body.append(Node(f"{place} = {{0}};", (each,)))
            used[each.type] += 1

    def _element(self, of: Operator) -> Expression:
        return Expression(of.result, of.format, tuple(replace(THREAD) for _ in of.parts))

    def _parameter(self, letter: str, of: Type, count: int = 0, *, is_output: bool = False) -> Parameter:
        found = Parameter(self._statements.fresh(letter), of, count, is_output)
        self._parameters.append(found)
        return found
