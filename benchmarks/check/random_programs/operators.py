"""What random programs compute with, by the type of the result: formats of expressions, defined for all operands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from benchmarks.check.random_programs.value_types import (
    BOOL,
    F16,
    F32,
    FLOATS,
    I32,
    INTEGERS,
    U32,
    U64,
    VECTORS,
    Kind,
    Type,
)

ROUNDINGS = ("floored", "ceiled", "truncated", "rounded_even", "rounded", "fraction", "root", "magnitude", "unit_clamped")
BITS = ("ones", "leading_zeros", "trailing_zeros", "first_set", "reversed", "bytes_swapped", "magnitude")
PAIRS = ("least", "most", "distance_between", "sum_saturated", "difference_saturated", "high_product")
REDUCTIONS = ("xor", "and", "max", "min")
VECTOR_ROUNDINGS = ("floor", "trunc", "ceil", "rint", "sqrt", "abs")
DIVISORS = (3, 7, 10, 16, 25, 100)
BUILTINS = ("byte_permuted", "aligned_bit", "aligned_byte", "field", "byte_distances", "byte_means")


@dataclass(frozen=True, slots=True)
class Operator:
    """An expression's format, the types of its parts, and how often it is drawn beside others of the same result."""

    result: Type
    format: str
    parts: tuple[Type, ...]
    weight: float = 1.0


def operators_of(result: Type, types: tuple[Type, ...]) -> list[Operator]:
    """Return the operators that give `result`, with parts of `types` and BOOL alone."""
    source = _of_bool if result is BOOL else _of_vector if result.lanes > 1 else _of_float
    found = _of_integer(result) if result.lanes == 1 and result.is_integer else source(result)
    fitting = [each for each in found if all(part is BOOL or part in types for part in each.parts)]
    return [replace(each, format=_enclosed(each.format)) for each in fitting]


def _enclosed(form: str) -> str:
    """Return the format of an expression in brackets, if it begins with a cast: an index or member would come before that."""
    depth = 0
    for i, sign in enumerate(form):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return form if i in (0, len(form) - 1) else f"({form})"
    return form


def _of_integer(t: Type) -> Iterator[Operator]:
    work = "u64" if t.bits == 64 else "u32"
    count = f"((u32){{1}} & {t.bits - 1}u)"
    for sign in "+-*":
        yield Operator(t, f"({t})(({work}){{0}} {sign} ({work}){{1}})", (t, t), 2)
    for sign in "&|^":
        yield Operator(t, f"({t})({{0}} {sign} {{1}})", (t, t))
    yield Operator(t, f"({t})(({work}){{0}} << {count})", (t, U32))
    yield Operator(t, f"({t})({{0}} >> {count})", (t, U32), 2)
    yield Operator(t, f"({t})~{{0}}", (t,))
    yield Operator(t, "negated({0})", (t,), 0.5)
    yield Operator(t, "rotated({0}, {1})", (t, U32))
    for name in ("quotient", "remaining"):
        yield Operator(t, f"{name}<{t}>({{0}}, {{1}})", (t, t), 0.6)
    yield from (Operator(t, f"({t})({{0}} {sign} ({t}){n})", (t,), 0.15) for sign in "/%" for n in DIVISORS)
    yield from (Operator(t, f"{name}({{0}})", (t,), 0.5) for name in BITS if name != "magnitude" or t.kind is Kind.SIGNED)
    yield from (Operator(t, f"{name}({{0}}, {{1}})", (t, t), 0.6) for name in PAIRS)
    for name in ("middle", "clamped"):
        yield Operator(t, f"{name}({{0}}, {{1}}, {{2}})", (t, t, t), 0.6)
    for form in ("({0} & {1}) | {2}", "({0} | {1}) | {2}", "({0} ^ {1}) ^ {2}", "({0} & {1}) | (~{0} & {2})"):
        yield Operator(t, f"({t})({form})", (t, t, t), 0.3)
    for form in ("({w}){0} + ({w}){1} + ({w}){2}", "(({w}){0} << 3) + ({w}){1}", "({w}){0} * ({w}){1} + ({w}){2}"):
        text = form.replace("{w}", work)
        yield Operator(t, f"({t})({text})", (t, t, t) if "{2}" in text else (t, t), 0.3)
    yield Operator(t, "({0} ? {1} : {2})", (BOOL, t, t), 2)
    yield from _conversions_to_integer(t)
    if t is U32:
        yield from (Operator(t, f"{name}({{0}}, {{1}}, {{2}})", (t, t, t), 0.4) for name in BUILTINS)
    if t is I32:
        yield Operator(t, "signed_field({0}, {1}, {2})", (t, U32, U32), 0.4)
        yield from (Operator(t, "exponent({0})", (f,), 0.4) for f in FLOATS)
    if t.bits == 64:
        narrow = Type(t.kind, 32)
        yield Operator(t, f"({t})(({work})(({t}){{0}} * ({t}){{1}}) + ({work}){{2}})", (narrow, narrow, t))


def _conversions_to_integer(t: Type) -> Iterator[Operator]:
    yield from (Operator(t, f"({t}){{0}}", (other,), 0.3) for other in INTEGERS if other != t)
    yield from (Operator(t, f"whole<{t}>({{0}})", (f,), 0.4) for f in FLOATS)
    yield from (Operator(t, "bits({0})", (f,)) for f in FLOATS if t == f.unsigned)
    yield Operator(t, f"({t}){{0}}", (BOOL,), 0.4)
    yield from _out_of_vectors(t)


def _out_of_vectors(t: Type) -> Iterator[Operator]:
    for vector in VECTORS:
        if vector.element == t:
            yield Operator(t, "{0}.x", (vector,), 0.3)
            yield Operator(t, "{0}.y", (vector,), 0.3)
            yield Operator(t, f"{{0}}[{{1}} % {vector.lanes}u]", (vector, U32), 0.3)
            if t.is_integer:
                yield from (Operator(t, f"__builtin_reduce_{name}({{0}})", (vector,), 0.1) for name in REDUCTIONS)
        if t.kind is Kind.UNSIGNED and vector.is_integer and vector.size == t.size:
            yield Operator(t, f"__builtin_bit_cast({t}, {{0}})", (vector,), 0.4)


def _of_float(t: Type) -> Iterator[Operator]:
    yield from (Operator(t, f"({t})({{0}} {sign} {{1}})", (t, t), 3) for sign in "+-*")
    yield Operator(t, f"({t})({{0}} / {{1}})", (t, t))
    yield Operator(t, "fused({0}, {1}, {2})", (t, t, t), 2)
    yield Operator(t, "(-{0})", (t,))
    yield from (Operator(t, f"{name}({{0}})", (t,), 0.5) for name in ROUNDINGS)
    yield from (Operator(t, f"{name}({{0}}, {{1}})", (t, t)) for name in ("least", "most", "with_sign"))
    yield Operator(t, "scaled({0}, {1})", (t, I32), 0.5)
    yield Operator(t, "mantissa({0})", (t,), 0.4)
    yield Operator(t, "({0} ? {1} : {2})", (BOOL, t, t), 2)
    yield Operator(t, f"of_bits({{0}}, ({t})0)", (t.unsigned,))
    yield from (Operator(t, f"({t}){{0}}", (other,), 0.8) for other in FLOATS if other != t)
    if t is F16:
        yield from (Operator(t, f"(f16){'(f32)' if each.bits > 16 else ''}{{0}}", (each,), 0.3) for each in INTEGERS)
        yield Operator(t, "(f16)mixed({0}, {1}, {2})", (F16, F16, F32))
    else:
        yield from (Operator(t, f"({t}){{0}}", (each,), 0.3) for each in INTEGERS)
    if t is F32:
        yield Operator(t, "mixed({0}, {1}, {2})", (F16, F16, F32))
        yield Operator(t, "middle({0}, {1}, {2})", (F32, F32, F32))
    yield from _out_of_vectors(t)


def _of_bool(_: Type) -> Iterator[Operator]:
    for t in (*INTEGERS, *FLOATS):
        yield from (Operator(BOOL, f"({{0}} {sign} {{1}})", (t, t)) for sign in ("<", "<=", ">", ">=", "==", "!="))
    for t in INTEGERS:
        yield Operator(BOOL, "((({0} >> 2) & 1) != 0)", (t,))
        for name in ("sum_overflows", "difference_overflows", "product_overflows"):
            yield Operator(BOOL, f"{name}<{t}>({{0}}, {{1}})", (t, t), 0.4)
    for t in FLOATS:
        yield from (Operator(BOOL, f"(!({{0}} {sign} {{1}}))", (t, t), 0.5) for sign in ("<", "<=", ">", ">="))
        yield from (Operator(BOOL, f"__builtin_is{name}({{0}})", (t,), 0.5) for name in ("nan", "inf", "finite"))
        yield Operator(BOOL, "__builtin_isunordered({0}, {1})", (t, t), 0.5)
        yield from (Operator(BOOL, f"__builtin_isfpclass({{0}}, {mask})", (t,), 0.3) for mask in (0x264, 0x0F0, 0x183, 0x108))
        yield Operator(BOOL, "is_negative({0})", (t,), 0.5)
    yield from (Operator(BOOL, f"({{0}} {sign} {{1}})", (BOOL, BOOL), 3) for sign in ("&&", "||", "!="))
    yield Operator(BOOL, "(!{0})", (BOOL,))


def _of_vector(t: Type) -> Iterator[Operator]:
    element = t.element
    yield Operator(t, f"{t}{{{{{', '.join(f'{{{i}}}' for i in range(t.lanes))}}}}}", (element,) * t.lanes)
    yield Operator(t, f"(({t}){{0}})", (element,), 0.5)
    yield Operator(t, f"({{0}} < {{1}} ? ({t}){{2}} : ({t}){{3}})", (t, t, t, t))
    yield Operator(t, "({0} ? {1} : {2})", (BOOL, t, t))
    for order in ((1, 0), (0, 2), (3, 1)) if t.lanes == 2 else ((3, 2, 1, 0), (0, 4, 1, 5), (2, 7, 6, 1)):
        yield Operator(t, f"__builtin_shufflevector({{0}}, {{1}}, {', '.join(map(str, order))})", (t, t), 0.4)
    yield from _of_integer_vector(t) if t.is_integer else _of_float_vector(t)
    yield from (Operator(t, f"__builtin_convertvector({{0}}, {t})", (other,), 0.5) for other in VECTORS if _converts(other, t))


def _of_integer_vector(t: Type) -> Iterator[Operator]:
    unsigned, count = t.unsigned, f"({{1}} & ({t.unsigned}){t.bits - 1})"
    for sign in "+-*&|^":
        yield Operator(t, f"({t})(({unsigned}){{0}} {sign} ({unsigned}){{1}})", (t, t), 1.5)
    yield Operator(t, f"({t})(({unsigned}){{0}} << {count})", (t, unsigned))
    yield Operator(t, f"({{0}} >> ({t}){count})", (t, unsigned))
    yield from (
        Operator(t, f"__builtin_elementwise_{name}({{0}}, {{1}})", (t, t), 0.7) for name in ("min", "max", "add_sat", "sub_sat")
    )
    yield from (Operator(t, f"__builtin_elementwise_{name}({{0}})", (t,), 0.3) for name in ("popcount", "bitreverse"))
    for other in (*VECTORS, U32, U64):
        if other.is_integer and other.size == t.size and other != t:
            yield Operator(t, f"__builtin_bit_cast({t}, {{0}})", (other,), 0.5)


def _of_float_vector(t: Type) -> Iterator[Operator]:
    yield from (Operator(t, f"({{0}} {sign} {{1}})", (t, t), 2) for sign in "+-*")
    yield Operator(t, "({0} / {1})", (t, t), 0.5)
    yield Operator(t, "(-{0})", (t,))
    for name in ("min", "max"):
        yield Operator(t, f"(__builtin_elementwise_{name}({{0}}, {{1}}) + ({t})0.0f)", (t, t))
    yield from (Operator(t, f"__builtin_elementwise_{name}({{0}})", (t,), 0.4) for name in VECTOR_ROUNDINGS)
    if t.bits > F16.bits:
        yield Operator(t, "__builtin_elementwise_fma({0}, {1}, {2})", (t, t, t), 1.5)


def _converts(other: Type, t: Type) -> bool:
    """Return whether any value of one vector type is, rounded once, one of the other type, or an integer modulo its range."""
    if other == t or other.lanes != t.lanes:
        return False
    if t.is_integer:
        return other.is_integer
    return not other.is_integer or other.bits < 32 or t.bits > 16
