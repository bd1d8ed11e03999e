"""The type of a table entry for a vector instruction: what it computes, independent of which registers hold its operands."""

from collections.abc import Callable
from dataclasses import dataclass

from expctl.gfx11.machine.arrays import Anything
from expctl.gfx11.machine.definedness import Rule, any_bit
from expctl.gfx11.operands.vector_source import Type
from expctl.gfx11.text.operand import VCC

U32, I32, F32, F16, U16, I16, U64, I64, F64, MASK = (
    Type.U32, Type.I32, Type.F32, Type.F16, Type.U16, Type.I16, Type.U64, Type.I64, Type.F64, Type.MASK,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorOp:
    """What a vector instruction computes: `evaluate` maps the sources' lane arrays to one lane array, or a tuple of several.

    The array returned may be a view of a source. A 16-bit result replaces the low half of its register and leaves the high half
    unchanged. `rule` finds the undefined bits of the result.
    """

    results: tuple[Type, ...]
    sources: tuple[Type, ...]
    evaluate: Callable[..., Anything]
    rule: Rule = any_bit
    accumulates: bool = False
    """The destination is also the last source."""
    implied: tuple[int, ...] = ()
    """Scalar registers read as lane masks after the named sources."""
    to_exec: bool = False
    """The result, a mask, is written to EXEC and the text names no destination."""


def unary(result: Type, a: Type, evaluate: Callable[[Anything], Anything], rule: Rule = any_bit) -> VectorOp:
    """Return an operation with a source of type `a` and a result of type `result`; `rule` finds its undefined bits."""
    return VectorOp(results=(result,), sources=(a,), evaluate=evaluate, rule=rule)


def binary(kind: Type, evaluate: Callable[[Anything, Anything], Anything], rule: Rule = any_bit) -> VectorOp:
    """Return an operation with two sources and a result, all of type `kind`; `rule` finds the result's undefined bits."""
    return VectorOp(results=(kind,), sources=(kind, kind), evaluate=evaluate, rule=rule)


def ternary(kind: Type, evaluate: Callable[..., Anything], rule: Rule = any_bit) -> VectorOp:
    """Return an operation with three sources and a result, all of type `kind`; `rule` finds the result's undefined bits."""
    return VectorOp(results=(kind,), sources=(kind, kind, kind), evaluate=evaluate, rule=rule)


IMPLIED_VCC = (VCC,)
