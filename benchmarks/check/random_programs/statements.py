"""Draws statements for random programs: assignments, branches, loops, switches, stores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from benchmarks.check.random_programs.expressions import ExpressionDraw
from benchmarks.check.random_programs.scope import Scope
from benchmarks.check.random_programs.syntax_tree import Expression, Node, Nodes
from benchmarks.check.random_programs.value_types import BOOL, U32, Type

LOOPS_MOST = 2
"""How deep loops lie within each other."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement stands: how many blocks may still lie within it, how many loops are around it, and whether a `break` or
    `continue` has a loop here.
    """

    depth: int
    loops: int = 0
    may_jump: bool = False

    @property
    def within(self) -> Place:
        """Return the place of a block within a branch here."""
        return replace(self, depth=self.depth - 1)

    @property
    def within_loop(self) -> Place:
        """Return the place of a loop's body here."""
        return Place(depth=self.depth - 1, loops=self.loops + 1, may_jump=True)


Maker = Callable[[Scope, Place], Node]


class StatementDraw:
    """Draws statements; `depth` is that of their expressions."""

    def __init__(self, draw: ExpressionDraw, depth: int) -> None:
        self.draw, self.random, self._depth = draw, draw.random, depth
        self._names = 0

    def fresh(self, letter: str) -> str:
        """Return a name that nothing has yet."""
        self._names += 1
        return f"{letter}{self._names}"

    def block(self, scope: Scope, place: Place, most: int) -> Nodes:
        """Draw 1 to `most` statements with a scope of their own."""
        inner = scope.inner()
        return tuple(self.statement(inner, place) for _ in range(self.random.randint(1, most)))

    def statement(self, scope: Scope, place: Place) -> Node:
        """Draw a statement; `scope` gains what it declares."""
        choices: list[tuple[Maker, float]] = [(self._assign, 4), (self._update, 4), (self._declare, 2)]
        if scope.stores:
            choices.append((self._store, 3))
        if place.depth > 0:
            choices += [(self._branch, 4), (self._switch, 1), *([(self._loop, 3)] if place.loops < LOOPS_MOST else [])]
        if place.may_jump:
            choices.append((self._jump, 1.5))
        makers, weights = zip(*choices, strict=True)
        made: Node = self.random.choices(makers, weights)[0](scope, place)
        return made

    def declaration(self, of: Type, scope: Scope, *, is_target: bool = True) -> Node:
        """Draw a variable of a type with its first value."""
        value, name = self.value(of, scope), self.fresh("v")
        scope.declare(name, of, is_target=is_target)
        return Node(f"{'' if is_target else 'const '}{of} {name} = {{0}};", (value,), declares=name)

    def array(self, of: Type, scope: Scope) -> Node:
        """Draw a local array with its first values."""
        count, name = self.random.choice((2, 3, 4, 5, 8)), self.fresh("a")
        values = tuple(self.value(of, scope, depth=1) for _ in range(count))
        scope.declare_array(name, of, count)
        numbered = ", ".join(f"{{{i}}}" for i in range(count))
        return Node(f"{of} {name}[{count}] = {{{{{numbered}}}}};", values, declares=name)

    def value(self, of: Type, scope: Scope, depth: int | None = None) -> Expression:
        """Draw a value."""
        return self.draw.expression(of, scope, self._depth if depth is None else depth)

    def condition(self, scope: Scope) -> Expression:
        """Draw a condition."""
        return self.draw.expression(BOOL, scope, self.random.randint(1, 2))

    def _declare(self, scope: Scope, _: Place) -> Node:
        return self.declaration(self.random.choice(self.draw.types), scope)

    def _assign(self, scope: Scope, _: Place) -> Node:
        target = self.random.choice(scope.targets)
        return Node(f"{target} = {{0}};", (self.value(target.type, scope),))

    def _update(self, scope: Scope, _: Place) -> Node:
        target = self.random.choice(scope.targets)
        return Node(f"{target} = {{0}};", (self.draw.update(target, scope, self._depth),))

    def _store(self, scope: Scope, _: Place) -> Node:
        store = self.random.choice(scope.stores)
        index, *values = store.parts
        parts = (self.draw.expression(index, scope, 1), *(self.value(of, scope) for of in values))
        return Node(store.format, parts)

    def _branch(self, scope: Scope, place: Place) -> Node:
        condition, then = self.condition(scope), self.block(scope, place.within, 3)
        if self.random.random() < 0.5:
            return Node("if ({0}) {{\n{b0}}}", (condition,), (then,))
        return Node("if ({0}) {{\n{b0}}} else {{\n{b1}}}", (condition,), (then, self.block(scope, place.within, 3)))

    def _switch(self, scope: Scope, place: Place) -> Node:
        count = self.random.randint(2, 4)
        blocks = tuple(self.block(scope, place.within, 2) for _ in range(count))
        labels = [*(f"case {self.random.choice((i, i + 5))}:" for i in range(count - 1)), "default:"]
        ends = [self.random.choice(("break;", "break;", "[[fallthrough]];")) for _ in labels[1:]] + ["break;"]
        cases = "\n".join(f"{label} {{{{\n{{b{i}}}}}}} {end}" for i, (label, end) in enumerate(zip(labels, ends, strict=True)))
        return Node(f"switch ({{0}} % 9u) {{{{\n{cases}\n}}}}", (self.draw.index(scope),), blocks)

    def _loop(self, scope: Scope, place: Place) -> Node:
        inner, name, most = scope.inner(), self.fresh("k"), self.random.randint(2, 6 - 2 * place.loops)
        inner.declare(name, U32, is_target=False)
        body = self.block(inner, place.within_loop, 4)
        counted = (
            f"for (u32 {name} = 0; {name} < {{0}} % {most}u; ++{name}) {{{{\n{{b0}}}}}}",
            f"for (u32 {name} = {{0}} % {2 * most}u; {name} > 1; {name} -= 2) {{{{\n{{b0}}}}}}",
        )
        tested = (
            f"for (u32 {name} = 1; {name} < {1 << most}u && {{0}}; {name} *= 2) {{{{\n{{b0}}}}}}",
            f"for (u32 {name} = 0; {name}++ < {most}u && {{0}};) {{{{\n{{b0}}}}}}",
            f"{{{{\nu32 {name} = 0;\ndo {{{{\n{{b0}}}}}} while (++{name} < {most}u && {{0}});\n}}}}",
        )
        if self.random.random() < 0.5:
            return Node(self.random.choice(counted), (self.draw.index(scope),), (body,), declares=name)
        return Node(self.random.choice(tested), (self.condition(inner),), (body,), declares=name)

    def _jump(self, scope: Scope, _: Place) -> Node:
        return Node(f"if ({{0}}) {self.random.choice(('break', 'continue'))};", (self.condition(scope),), is_jump=True)
