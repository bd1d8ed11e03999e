"""Arithmetic on the named integers of a launch description, such as `(n + 255) // 256`; no code is ever run."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

Number = int | float
LONGEST = 200
LARGEST = 1 << 63
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_CALLS: dict[str, Callable[..., Any]] = {"min": min, "max": max}


class BadExpression(Exception):
    """An expression has no value; the text says why."""


def evaluate(expression: Number | str, shapes: Mapping[str, int]) -> Number:
    """Return the value of a number or an expression of the integers `shapes`. Raises BadExpression."""
    if not isinstance(expression, str):
        return expression
    return _value(_tree(expression), shapes)


def whole(expression: Number | str, shapes: Mapping[str, int]) -> int:
    """Return the value of an expression that must be a whole number. Raises BadExpression."""
    found = evaluate(expression, shapes)
    if not isinstance(found, int):
        raise BadExpression(f"{expression} is {found}, and a whole number is needed")
    return found


def numbers_in(expression: Number | str) -> set[int]:
    """Return the whole numbers that an expression contains: where its value may jump. Empty for a wrong expression."""
    try:
        tree = _tree(str(expression))
    except BadExpression:
        return set()
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) is int}


def _tree(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise BadExpression(f"an expression of {len(text)} characters, the most are {LONGEST}")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BadExpression(f"{text!r} is no arithmetic: numbers, names of shapes, + - * // % ( ) min max") from None


def _value(node: ast.expr, shapes: Mapping[str, int]) -> Number:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            found = number
        case ast.Name(id=name) if name in shapes:
            found = shapes[name]
        case ast.Name(id=name):
            raise BadExpression(f"{name} is none of the shapes ({', '.join(shapes) or 'there are none'})")
        case ast.UnaryOp(op=sign, operand=inner) if type(sign) in _SIGNS:
            found = _SIGNS[type(sign)](_value(inner, shapes))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
            found = _combined(node, _BINARY[type(sign)], _value(left, shapes), _value(right, shapes))
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as inner, keywords=[]) if name in _CALLS:
            values = [_value(each, shapes) for each in inner]
            found = _CALLS[name](values)
        case _:
            raise BadExpression(f"{ast.unparse(node)} is not allowed: only + - * // % ( ) min max")
    if not abs(found) < LARGEST:
        raise BadExpression(f"{ast.unparse(node)} is too large")
    return found


def _combined(node: ast.expr, operation: Callable[[Any, Any], Any], left: Number, right: Number) -> Number:
    try:
        found: Number = operation(left, right)
    except (ZeroDivisionError, OverflowError):
        raise BadExpression(f"{ast.unparse(node)} divides by zero") from None
    return found
