"""Draws what stands before a random kernel: structs, tables of constants, functions."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.check.random_programs.operators import Operator
from benchmarks.check.random_programs.scope import Scope
from benchmarks.check.random_programs.statements import Place, StatementDraw
from benchmarks.check.random_programs.syntax_tree import Expression, Node
from benchmarks.check.random_programs.value_types import U32, Type

FIELDS = "abcde"


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct with a field of each type, called a, b, ...; `node` declares it."""

    name: str
    types: tuple[Type, ...]
    node: Node

    @property
    def fields(self) -> list[tuple[str, Type]]:
        """Return the fields' names and types."""
        return list(zip(FIELDS, self.types, strict=False))

    def built(self, first: int = 0) -> str:
        """Return the format of a value of the struct from those of its fields, whose numbers begin with `first`."""
        return f"{self.name}{{{{{', '.join(f'{{{first + i}}}' for i in range(len(self.types)))}}}}}"


class DeclarationDraw:
    """Draws declarations whose types are those that `statements` draws over."""

    def __init__(self, statements: StatementDraw) -> None:
        self._statements, self._draw, self._random = statements, statements.draw, statements.random

    def struct(self) -> Struct:
        """Draw a struct of 2 to 5 fields."""
        name, types = self._statements.fresh("S"), self._some_types(2, 5)
        text = " ".join(f"{of} {letter};" for letter, of in zip(FIELDS, types, strict=False))
        return Struct(name, types, Node(f"struct {name} {{{{ {text} }}}};", declares=name))

    def struct_variable(self, of: Struct, scope: Scope) -> Node:
        """Draw a variable of a struct with first values; `scope` gains its fields."""
        name, values = self._statements.fresh("s"), self._values(of, scope)
        for letter, each in of.fields:
            scope.declare(f"{name}.{letter}", each)
        return Node(f"{of.name} {name} = {of.built()};", values, declares=name)

    def struct_array(self, of: Struct, scope: Scope) -> Node:
        """Draw an array of two or three structs, all with the same first values; `scope` gains its fields at any index."""
        count, name, values = self._random.choice((2, 3)), self._statements.fresh("s"), self._values(of, scope)
        for letter, each in of.fields:
            place = f"{name}[{{0}} % {count}u].{letter}"
            scope.operators.append(Operator(each, place, (U32,)))
            scope.stores.append(Operator(each, f"{place} = {{1}};", (U32, each)))
        scope.stores.append(Operator(U32, f"{name}[{{0}} % {count}u] = {name}[{{1}} % {count}u];", (U32, U32)))
        return Node(f"{of.name} {name}[{count}] = {{{{{', '.join([of.built()] * count)}}}}};", values, declares=name)

    def table(self, scope: Scope) -> Node:
        """Draw a table of constants."""
        of, count, name = self._random.choice(self._draw.types), self._random.choice((4, 7, 16)), self._statements.fresh("t")
        scope.declare_array(name, of, count, is_target=False)
        values = ", ".join(str(self._draw.literal(of)) for _ in range(count))
        return Node(f"static __device__ __constant__ const {of} {name}[{count}] = {{{{{values}}}}};", declares=name)

    def function(self, scope: Scope, struct: Struct | None) -> Node:
        """Draw a function that calls those of `scope` and reads its tables; `scope` gains it as an operator. Its last parameter
        is a `struct`, if there is one.
        """
        result, name, types = self._random.choice(self._draw.types), self._statements.fresh("fn"), self._some_types(1, 3)
        inner, parameters = Scope(operators=list(scope.operators)), []
        for of in types:
            parameters.append(f"{of} {(parameter := self._statements.fresh('p'))}")
            inner.declare(parameter, of)
        arguments = [f"{{{i}}}" for i in range(len(types))]
        if struct is not None:
            parameters.append(f"{struct.name} {(parameter := self._statements.fresh('p'))}")
            for letter, of in struct.fields:
                inner.declare(f"{parameter}.{letter}", of)
            arguments.append(struct.built(len(types)))
        body = self._function_body(result, inner)
        parts = (*types, *(struct.types if struct is not None else ()))
        scope.operators.append(Operator(result, f"{name}({', '.join(arguments)})", parts))
        head = f"{self._random.choice(('INLINED', 'CALLED'))} {result} {name}({', '.join(parameters)})"
        return Node(f"{head} {{{{\n{{b0}}}}}}", (), (body,), declares=name)

    def _function_body(self, result: Type, scope: Scope) -> tuple[Node, ...]:
        body = [self._statements.statement(scope, Place(depth=2)) for _ in range(self._random.randint(1, 4))]
        if self._random.random() < 0.4:
            early = (self._statements.condition(scope), self._statements.value(result, scope))
            body.append(Node("if ({0}) return {1};", early))
            body.append(self._statements.statement(scope, Place(depth=2)))
        return (*body, Node("return {0};", (self._statements.value(result, scope),), is_fixed=True))

    def _values(self, of: Struct, scope: Scope) -> tuple[Expression, ...]:
        return tuple(self._statements.value(each, scope, 1) for each in of.types)

    def _some_types(self, least: int, most: int) -> tuple[Type, ...]:
        return tuple(self._random.choices(self._draw.types, k=self._random.randint(least, most)))
