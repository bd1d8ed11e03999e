"""Decode packed, mixed and dot-product instructions: those that use one or both 16-bit halves of their operands."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from expctl.gfx11.machine.arrays import Anything
from expctl.gfx11.machine.step import Guarded, Run
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.operands.vector_source import UPPER, Source, Type, source
from expctl.gfx11.text.operand import Kind, Operand
from expctl.gfx11.text.program import Instruction
from expctl.gfx11.vector.decode import bound_to, step_of
from expctl.gfx11.vector.halves import DOT, MIXED, PACKED, mixed
from expctl.gfx11.vector.integers import SATURATING
from expctl.gfx11.vector.operation import VectorOp

NAMES = frozenset((*PACKED, *MIXED, "v_dot2acc_f32_f16", "v_dot2_f32_f16"))


def decode_packed(instruction: Instruction, name: str) -> Run:
    """Return the function that executes packed or dot instruction `name` on a wave. Raises Unsupported for bad operands."""
    if name in PACKED:
        return _packed(instruction, PACKED[name])
    if name in MIXED:
        return _mixed(instruction, MIXED[name])
    return _dot(instruction, accumulates=name == "v_dot2acc_f32_f16")


def bits_of_modifier(instruction: Instruction, value: str | None, count: int, default: int) -> list[int]:
    """Parse a modifier's value, e.g. `[1,0,1]`, into `count` bits, one per source. If it is None, every bit is `default`.
    Raises Unsupported if it has another number of bits.
    """
    if value is None:
        return [default] * count
    bits = value.strip("[]").split(",")
    if len(bits) != count or any(bit not in "01" for bit in bits):
        raise instruction.unsupported(f"the modifier value {value} is not {count} bits")
    return [int(bit) for bit in bits]


def _modifiers(instruction: Instruction, modifiers: dict[str, str], names: Sequence[str]) -> None:
    for name in modifiers:
        if name not in names:
            raise instruction.unsupported(f"modifier {name} is not implemented")


def _chosen(instruction: Instruction, operand: Operand, kind: Type, *, upper: int, negated: int) -> Source:
    if operand.kind is Kind.NUMBER and upper and kind is Type.F16 and isinstance(operand.number, float):
        raise instruction.unsupported("the upper half of a floating-point constant")
    picked = source(instruction, operand, UPPER[kind] if upper else kind)
    if not negated:
        return picked
    return Source(read=lambda wave: np.negative(picked.read(wave)), undefined=picked.undefined, keys=picked.keys)


def _packed(instruction: Instruction, op: VectorOp) -> Run:
    fields, kind = instruction.fields(), op.sources[0]
    signs = ("neg_lo", "neg_hi") if kind is Type.F16 else ()
    saturating = SATURATING.get(instruction.mnemonic.replace("_pk_add_", "_add_nc_").replace("_pk_sub_", "_sub_nc_"))
    _modifiers(instruction, fields.modifiers, ("op_sel", "op_sel_hi", *signs, *(["clamp"] if saturating else [])))
    if saturating and "clamp" in fields.modifiers:
        op = replace(op, evaluate=saturating.evaluate)
    destination, *operands = fields.operands
    count = len(op.sources)
    if len(operands) != count or any(x.negated or x.absolute for x in operands):
        raise instruction.unsupported(f"operands other than {count} sources without a sign")
    halves = []
    for half, (select, default, sign) in enumerate((("op_sel", 0, "neg_lo"), ("op_sel_hi", 1, "neg_hi"))):
        upper = bits_of_modifier(instruction, fields.modifiers.get(select), count, default)
        negated = bits_of_modifier(instruction, fields.modifiers.get(sign), count, 0)
        sources = [_chosen(instruction, x, kind, upper=u, negated=n) for x, u, n in zip(operands, upper, negated, strict=True)]
        result = UPPER[kind] if half else kind
        halves.append(bound_to(instruction, replace(op, results=(result,)), [destination], sources))
    low, high = halves
    keys = frozenset((*low.read_keys, *high.read_keys, *low.write_keys))

    def plain(wave: Wave) -> None:
        lower, upper = low.evaluate(wave)[0], high.evaluate(wave)[0]
        low.writes[0](wave, lower)
        high.writes[0](wave, upper)

    def careful(wave: Wave) -> None:
        wave.check_waited(instruction.line, keys)
        undefined = low.undefined(wave), high.undefined(wave)
        low.marks[0](wave, undefined[0])
        high.marks[0](wave, undefined[1])
        plain(wave)

    return Guarded(keys, plain, careful, by_lane=True)


def _mixed(instruction: Instruction, result: Type) -> Run:
    """Decode a mixed multiply-add. If op_sel_hi[i] is set, source i is a half: the upper one if op_sel[i] is set, else the
    lower.
    """
    fields = instruction.fields()
    _modifiers(instruction, fields.modifiers, ("op_sel", "op_sel_hi"))
    destination, *operands = fields.operands
    if len(operands) != 3:
        raise instruction.unsupported(f"{len(operands)} sources are too many or too few")
    halves = bits_of_modifier(instruction, fields.modifiers.get("op_sel_hi"), 3, 0)
    upper = bits_of_modifier(instruction, fields.modifiers.get("op_sel"), 3, 0)
    kinds = [(Type.F16_HIGH if u else Type.F16) if h else Type.F32 for h, u in zip(halves, upper, strict=True)]
    if any(u and not h for h, u in zip(halves, upper, strict=True)):
        raise instruction.unsupported("op_sel on a single-precision source")
    evaluate: Callable[..., Anything] = mixed
    if result is not Type.F32:

        def evaluate(*values: Anything) -> Anything:
            return mixed(*values).astype(np.float16)

    op = VectorOp(results=(result,), sources=tuple(kinds), evaluate=evaluate)
    sources = [source(instruction, x, kind) for x, kind in zip(operands, kinds, strict=True)]
    return step_of(instruction, bound_to(instruction, op, [destination], sources))


def _dot(instruction: Instruction, *, accumulates: bool) -> Run:
    fields = instruction.fields()
    _modifiers(instruction, fields.modifiers, ())
    destination, *operands = fields.operands
    if accumulates:
        operands.append(destination)
    if len(operands) != 3:
        raise instruction.unsupported(f"{len(operands)} sources are too many or too few")
    a, b, c = operands
    chosen = zip((a, a, b, b, c), DOT.sources, strict=True)
    sources = [source(instruction, x, kind) for x, kind in chosen]
    return step_of(instruction, bound_to(instruction, DOT, [destination], sources))
