"""What an expression may name at one place of a random program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.check.random_programs.operators import Operator
from benchmarks.check.random_programs.syntax_tree import Expression
from benchmarks.check.random_programs.value_types import BOOL, U32, Type


@dataclass(slots=True)
class Scope:
    """`values` are variables, parameters and indices; `targets` those of them that may be assigned to.

    `operators` read arrays, LDS and memory, and call functions. `stores` are formats of statements that store into them; {0} is
    an index or another value, {1} a value.
    """

    values: list[Expression] = field(default_factory=list)
    targets: list[Expression] = field(default_factory=list)
    operators: list[Operator] = field(default_factory=list)
    stores: list[Operator] = field(default_factory=list)

    def inner(self) -> Scope:
        """Return the scope of a block, whose declarations the outer scope doesn't see."""
        return Scope(list(self.values), list(self.targets), list(self.operators), list(self.stores))

    def declare(self, name: str, of: Type, *, is_target: bool = True) -> None:
        """Add a variable."""
        found = Expression(of, name)
        self.values.append(found)
        if is_target:
            self.targets.append(found)

    def declare_array(self, name: str, of: Type, count: int, *, is_target: bool = True) -> None:
        """Add an array of `count` elements, read and written at any index modulo `count`."""
        self.operators.append(Operator(of, f"{name}[{{0}} % {count}u]", (U32,)))
        if is_target:
            self.stores.append(Operator(of, f"{name}[{{0}} % {count}u] = {{1}};", (U32, of)))

    def of_type(self, wanted: Type) -> list[Expression]:
        """Return the values of a type."""
        return [each for each in self.values if each.type == wanted]

    def can_read(self, types: Iterable[Type]) -> bool:
        """Return whether there is a value of each type. BOOL is no type of variables, and not there."""
        there = {each.type for each in self.values}
        return all(each in there and each is not BOOL for each in types)
