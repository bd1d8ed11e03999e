"""Draws expressions and literals for random programs."""

from __future__ import annotations

import struct
from collections.abc import Sequence, Set
from random import Random

from benchmarks.check.random_programs.operators import Operator, operators_of
from benchmarks.check.random_programs.scope import Scope
from benchmarks.check.random_programs.syntax_tree import Expression
from benchmarks.check.random_programs.value_types import BOOL, U32, Kind, Type

OF_SCOPE, LEAF, LITERAL, OTHER = 0.3, 0.12, 0.15, 0.5
"""How often an operator of the scope, a leaf before the depth is used up, a literal among the leaves; a conversion instead of a
variable that is there already.
"""
FLOATS = (0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 4.0, -4.0, 0.15915494, 3.0, 100.0, -0.1, 65504.0, 1e-7, 1e10, 3e38, 1e-40)
_PACKED = {16: "<e", 32: "<f", 64: "<d"}


class ExpressionDraw:
    """Draws expressions over variables of `types`, with all operators but those of `without`."""

    def __init__(self, random: Random, types: tuple[Type, ...], without: Set[Operator] = frozenset()) -> None:
        self.random, self.types = random, types
        self._operators = {t: [each for each in operators_of(t, types) if each not in without] for t in (*types, BOOL)}

    def expression(self, of: Type, scope: Scope, depth: int) -> Expression:
        """Draw a value of type `of`, with at most `depth` operators from root to leaf, and one more at leaves that need it."""
        if depth <= 0 or (of is not BOOL and self.random.random() < LEAF):
            return self._leaf(of, scope)
        own = [each for each in scope.operators if each.result == of]
        among = own if own and self.random.random() < OF_SCOPE else self._operators[of]
        return self._applied(self._weighted(among), scope, depth - 1)

    def update(self, target: Expression, scope: Scope, depth: int) -> Expression:
        """Draw a new value for a variable that depends on the old one, as a sum in a loop does."""
        among = [each for each in self._operators[target.type] if target.type in each.parts and len(each.parts) > 1]
        operator = self._weighted(among)
        place = operator.parts.index(target.type)
        parts = [self.expression(part, scope, depth - 1) for part in operator.parts]
        parts[place] = target
        return Expression(target.type, operator.format, tuple(parts))

    def index(self, scope: Scope, depth: int = 1) -> Expression:
        """Draw an unsigned number."""
        return self.expression(U32, scope, self.random.randint(0, depth))

    def literal(self, of: Type) -> Expression:
        """Draw a constant."""
        return Expression(of, f"(({of}){self._number(of.element)})")

    def _leaf(self, of: Type, scope: Scope) -> Expression:
        if of is not BOOL and self.random.random() < LITERAL:
            return self.literal(of)
        if own := scope.of_type(of):
            return self.random.choice(own)
        return self._from_other_type(of, scope)

    def _from_other_type(self, of: Type, scope: Scope) -> Expression:
        reachable = [each for each in self._operators[of] if of not in each.parts and scope.can_read(each.parts)]
        return self._applied(self._weighted(reachable), scope, 0) if reachable else self.literal(of)

    def _applied(self, operator: Operator, scope: Scope, depth: int) -> Expression:
        parts: list[Expression] = []
        for of in operator.parts:
            part = self.expression(of, scope, depth)
            parts.append(self._other(of, scope) if part in parts else part)
        return Expression(operator.result, operator.format, tuple(parts))

    def _other(self, of: Type, scope: Scope) -> Expression:
        """Draw something else than a variable that is there already: `x - x` and `x < x` say little."""
        if of is BOOL or self.random.random() < OTHER:
            return self._from_other_type(of, scope)
        own = [each for each in scope.operators if each.result == of and each.parts == (U32,)]
        return self._applied(self.random.choice(own), scope, 0) if own else self.literal(of)

    def _weighted(self, among: Sequence[Operator]) -> Operator:
        return self.random.choices(among, [each.weight for each in among])[0]

    def _number(self, of: Type) -> str:
        if of.kind is Kind.FLOAT:
            return self._float(of)
        if of is BOOL:
            return self.random.choice(("false", "true"))
        power = 1 << self.random.randrange(of.bits)
        number = self.random.choice((self.random.randint(-16, 64), power, power - 1, -power, self.random.getrandbits(of.bits)))
        return f"{number % (1 << of.bits):#x}{'ull' if of.bits == 64 else 'u'}"

    def _float(self, of: Type) -> str:
        if self.random.random() < 0.06:
            return self.random.choice(("__builtin_inff()", "-__builtin_inff()", '__builtin_nanf("")'))
        number = self.random.choice((*FLOATS, self.random.gauss(0, 1), self.random.gauss(0, 1000)))
        return f"{_nearest(number, of).hex()}{'' if of.bits == 64 else 'f'}"


def _nearest(number: float, of: Type) -> float:
    """Return the nearest number that a type has, or `number` halved until it has one."""
    try:
        return float(struct.unpack(_PACKED[of.bits], struct.pack(_PACKED[of.bits], number))[0])
    except OverflowError:
        return _nearest(number / 2, of)
