"""Decode vector ALU instructions into functions that execute them on a wave.

What an instruction computes is in the tables of compare.py, floats.py, halves.py and integers.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from expctl.gfx11.machine.arrays import ALL_BITS, LANES, Anything, Bits
from expctl.gfx11.machine.step import First, Guarded, Run
from expctl.gfx11.machine.wave import EXEC_KEY, Wave
from expctl.gfx11.operands.vector_source import FLOATS, Source, Type, source, used_bits
from expctl.gfx11.text.operand import EXEC, Kind, Operand
from expctl.gfx11.text.program import Instruction
from expctl.gfx11.vector import compare, division, doubles, floats, halves, integers, selection
from expctl.gfx11.vector.operation import VectorOp
from expctl.gfx11.vector.result import Write, undefined_mask, write_keys, writer

TABLE: dict[str, VectorOp] = {
    **integers.OPS, **floats.OPS, **division.OPS, **doubles.OPS, **compare.OPS, **halves.PLAIN, **selection.OPS,
}  # fmt: skip


_NOTHING: Bits = np.zeros(LANES, dtype=np.uint32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A vector operation with its operands: `evaluate` computes the results, `undefined` their undefined bits. `writes` store
    the results, `marks` the undefined bits; the keys are those of the registers read and written.
    """

    evaluate: Callable[[Wave], tuple[Anything, ...]]
    undefined: Callable[[Wave], Bits]
    writes: tuple[Write, ...]
    marks: tuple[Callable[[Wave, Bits], None], ...]
    read_keys: tuple[int, ...]
    write_keys: tuple[int, ...]
    whole: frozenset[int] | None
    """`write_keys` if they are of whole vector registers."""


def base_name(mnemonic: str) -> str:
    """Return a mnemonic without the suffixes _dpp, _e32 and _e64."""
    return mnemonic.removesuffix("_dpp").removesuffix("_e32").removesuffix("_e64")


def decode_vector(instruction: Instruction) -> Run:
    """Return the function that executes a vector ALU instruction on a wave. Raises Unsupported if it is not implemented."""
    return step_of(instruction, bind(instruction))


def bind(instruction: Instruction, name: str | None = None, first: Callable[[Source], Source] | None = None) -> Bound:
    """Look up an instruction's operation in TABLE and bind it to the operands and modifiers. Raises Unsupported if they don't
    fit. `name` is the key in TABLE, if it is not the instruction's own mnemonic (as in v_dual). `first` changes what is read
    from the first source (as in DPP).
    """
    op = TABLE.get(name or base_name(instruction.mnemonic))
    if op is None:
        raise instruction.unsupported("unknown opcode")
    fields = instruction.fields()
    modifiers = dict(fields.modifiers)
    if "clamp" in modifiers and base_name(instruction.mnemonic) in integers.SATURATING:
        op = integers.SATURATING[base_name(instruction.mnemonic)]
        modifiers.pop("clamp")
    operands = list(fields.operands)
    destinations = [] if op.to_exec else operands[: len(op.results)]
    named = operands[len(destinations) :]
    if op.to_exec and len(named) == len(op.sources) + 1 and named[0].index == EXEC:
        named = named[1:]
    accumulated = [destinations[0]] if op.accumulates else []
    if len(named) + len(accumulated) != len(op.sources) or len(destinations) != len(op.results) * (not op.to_exec):
        raise instruction.unsupported(f"{len(operands)} operands are too many or too few")
    implied = [Operand(kind=Kind.SCALAR, index=index) for index in op.implied]
    kinds = [*op.sources, *(Type.MASK for _ in implied)]
    if any(x.negated or x.absolute for x in named) and op is integers.OPS["v_cndmask_b32"]:
        op = replace(op, sources=(Type.F32, Type.F32, *op.sources[2:]), results=(Type.F32,))
        kinds[:2] = op.sources[:2]
    sources = [source(instruction, x, kind) for x, kind in zip([*named, *accumulated, *implied], kinds, strict=True)]
    if first is not None:
        sources[0] = first(sources[0])
    finish = _finisher(instruction, op, modifiers)
    if op.to_exec:
        destinations = [Operand(kind=Kind.SCALAR, index=EXEC)]
    return bound_to(instruction, op, destinations, sources, finish)


def bound_to(
    instruction: Instruction,
    op: VectorOp,
    destinations: list[Operand],
    sources: list[Source],
    finish: Callable[[Anything], Anything] | None = None,
) -> Bound:
    """Bind an operation to its destinations and sources; `finish`, if given, is applied to the result before writing."""
    written = [(x, kind) for x, kind in zip(destinations, op.results, strict=True)]
    keys = tuple(key for x, kind in written for key in write_keys(x, kind))
    are_whole = all(x.kind is Kind.VECTOR and used_bits(kind) == ALL_BITS for x, kind in written)
    return Bound(
        evaluate=_evaluator(op, sources, finish),
        undefined=_undefined(op, sources),
        writes=tuple(writer(instruction, x, kind) for x, kind in zip(destinations, op.results, strict=True)),
        marks=tuple(undefined_mask(x, kind) for x, kind in zip(destinations, op.results, strict=True)),
        read_keys=(EXEC_KEY, *(key for x in sources for key in x.keys)),
        write_keys=keys,
        whole=frozenset(keys) if are_whole else None,
    )


def step_of(instruction: Instruction, bound: Bound, *, by_lane: bool = True) -> Run:
    """Return a function that executes a bound operation on a wave. It reports loads that were not waited for and tracks
    undefined bits. `by_lane` is False for one in which lanes read other lanes.
    """
    evaluate, line = bound.evaluate, instruction.line
    keys = frozenset((*bound.read_keys, *bound.write_keys))
    if len(bound.writes) == 1:
        (write,) = bound.writes

        def plain(wave: Wave) -> None:
            write(wave, evaluate(wave)[0])
    else:

        def plain(wave: Wave) -> None:
            for write, result in zip(bound.writes, evaluate(wave), strict=True):
                write(wave, result)

    def careful(wave: Wave) -> None:
        wave.check_waited(line, keys)
        undefined = bound.undefined(wave)
        for mark in bound.marks:
            mark(wave, undefined)
        plain(wave)
        if EXEC_KEY in bound.write_keys:
            wave.check_exec(line)

    first = First(frozenset(bound.read_keys), partial(define, bound.marks), bound.whole)
    return Guarded(keys, plain, careful, by_lane=by_lane, first=first)


def define(marks: Iterable[Callable[[Wave, Bits], None]], wave: Wave) -> None:
    """Mark results as wholly defined."""
    for mark in marks:
        mark(wave, _NOTHING)


def _evaluator(
    op: VectorOp, sources: list[Source], finish: Callable[[Anything], Anything] | None
) -> Callable[[Wave], tuple[Anything, ...]]:
    evaluate, several = op.evaluate, len(op.results) > 1
    reads = [x.read for x in sources]
    if finish is not None:
        inner = evaluate

        def evaluate(*values: Anything) -> Anything:
            return finish(inner(*values))

    if several:
        return lambda wave: evaluate(*[read(wave) for read in reads])
    if len(reads) == 1:
        (a,) = reads
        return lambda wave: (evaluate(a(wave)),)
    if len(reads) == 2:
        a, b = reads
        return lambda wave: (evaluate(a(wave), b(wave)),)
    return lambda wave: (evaluate(*[read(wave) for read in reads]),)


def _undefined(op: VectorOp, sources: list[Source]) -> Callable[[Wave], Bits]:
    def undefined(wave: Wave) -> Bits:
        return op.rule([x.read(wave) for x in sources], [x.undefined(wave) for x in sources])

    return undefined


def _finisher(instruction: Instruction, op: VectorOp, modifiers: dict[str, str]) -> Callable[[Anything], Anything] | None:
    """Return the function of the modifier `clamp`, which limits a result to 0..1 and makes a NaN 0; None without modifiers.
    Raises Unsupported for any other modifier, and for `clamp` on a result that is not one float.
    """
    if not modifiers:
        return None
    if op.results[0] not in FLOATS or len(op.results) > 1 or modifiers.keys() != {"clamp"}:
        raise instruction.unsupported(f"modifier {' '.join(modifiers)} is not implemented")
    return lambda result: np.where(np.isnan(result), 0, np.clip(result, 0, 1)).astype(result.dtype)
