"""Decode scalar ALU instructions into functions that execute them on a wave."""

from __future__ import annotations

import re
from collections.abc import Callable

from expctl.gfx11.machine.arrays import ALL_BITS
from expctl.gfx11.machine.faults import FaultKind
from expctl.gfx11.machine.step import First, Guarded, Run, Scalars
from expctl.gfx11.machine.wave import EXEC_KEY, M0_KEY, SCALAR_KEY, SCC_KEY, Wave
from expctl.gfx11.operands.scalar import ScalarSource, ScalarTarget, scalar_source, scalar_target
from expctl.gfx11.operands.vector_source import Type
from expctl.gfx11.scalar.operation import ScalarOp, signed
from expctl.gfx11.scalar.operations import LOGIC, OPS
from expctl.gfx11.text.operand import EXEC, M0, SCC, VCC, Kind, Operand
from expctl.gfx11.text.program import Fields, Instruction


def decode_scalar(instruction: Instruction) -> Run:
    """Return the function that executes a scalar ALU instruction on a wave. Raises Unsupported for an unknown one."""
    name, fields = instruction.mnemonic, instruction.fields()
    if fields.modifiers:
        raise instruction.unsupported(f"modifier {' '.join(fields.modifiers)} is not implemented")
    if name in _SAVE_EXEC:
        return _save_exec(instruction, fields)
    if name in _RELATIVE:
        return _relative(instruction, fields)
    if name in _SHORT:
        return _with_short(instruction, fields)
    op = OPS.get(name)
    if op is None:
        raise instruction.unsupported("unknown opcode")
    return _plain(instruction, op, list(fields.operands))


def _plain(instruction: Instruction, op: ScalarOp, operands: list[Operand]) -> Run:
    accumulated = operands[:1] if op.accumulates else []
    target = scalar_target(instruction, operands.pop(0), wide=op.result == 64) if op.result and operands else None
    operands += accumulated
    if len(operands) != len(op.sources) or (target is None) != (op.result == 0):
        raise instruction.unsupported("too many or too few operands")
    kind = (Type.F16 if instruction.mnemonic.endswith("_f16") else Type.F32) if op.floats else Type.U32
    sources = [scalar_source(instruction, x, wide=bits == 64, kind=kind) for x, bits in zip(operands, op.sources, strict=True)]
    return _step(instruction, op, target, sources)


def _step(instruction: Instruction, op: ScalarOp, target: ScalarTarget | None, sources: list[ScalarSource]) -> Run:
    evaluate, line = op.evaluate, instruction.line
    used = 0xFFFF if instruction.mnemonic.endswith("_f16") else -1
    reads: list[Callable[[Wave], int]] = [x.read for x in sources]
    if op.reads_scc:
        reads.append(lambda wave: wave.scalar[SCC])
    targets = target.keys if target else ()
    read_keys = (*(key for x in sources for key in x.keys), *((SCC_KEY,) if op.reads_scc else ()))
    keys = frozenset((*read_keys, *targets, SCC_KEY))

    def plain(wave: Wave) -> None:
        result, scc = evaluate(*[read(wave) for read in reads])
        if target is not None:
            target.write(wave, result)
        if scc is not None:
            wave.scalar[SCC] = scc

    def careful(wave: Wave) -> None:
        wave.check_waited(line, (*read_keys, *targets))
        values = [read(wave) for read in reads]
        bits = [x.undefined(wave) & used for x in sources]
        if op.reads_scc:
            bits.append(wave.scalar_undefined[SCC])
        _, scc = evaluate(*values)
        undefined = _undefined(instruction.mnemonic, op, values, bits)
        plain(wave)
        if target is not None:
            target.mark(wave, undefined)
        if scc is not None:
            wave.mark_scalar(SCC, int(undefined != 0 or (op.result == 0 and any(bits))))
        if EXEC_KEY in targets:
            wave.check_exec(line)

    return Guarded(keys, plain, careful, scalars=Scalars.of((*read_keys, SCC_KEY), (*targets, SCC_KEY)))


_MOVING = re.compile(
    r"s_(lshl|lshr|ashr)_[biu](32|64)|s_bfe_[iu](32|64)|s_sext_i32_i(8|16)|s_brev_b32|s_pack_(ll|lh|hl|hh)_b32_b16"
)
_RISING = re.compile(r"s_(add|sub)_[iu]32|s_mul_i32|s_lshl[1-4]_add_u32")


def _undefined(name: str, op: ScalarOp, values: list[int], bits: list[int]) -> int:
    """Return a mask of the undefined bits of the result; `bits` are those of the sources, whose values are `values`.

    A bitwise operation is evaluated with each source's undefined bits set to all 0 and to all 1. Each bit of the result depends
    on one bit of each source, so it is defined if all these results agree on it. A shift moves undefined bits like the value, a
    sum or product has them from the lowest one on, and a choice has those of what is chosen. Any other operation has a result
    whose bits are all undefined if one bit of a source is.
    """
    if not any(bits):
        return 0
    mask = (1 << max(op.result, 1)) - 1
    if name.startswith("s_cselect_"):
        return mask if bits[2] else bits[0 if values[2] else 1]
    if _RISING.fullmatch(name):
        lowest = min(each & -each for each in bits if each)
        return mask & -lowest
    if _MOVING.fullmatch(name):
        if "pack" in name or len(bits) == 1:
            return op.evaluate(*bits)[0] & mask
        used = 0x7F003F if "bfe" in name else op.result - 1
        return mask if bits[1] & used else op.evaluate(bits[0], values[1])[0] & mask
    if not op.bitwise:
        return mask
    changed = 0
    corners = [(value & ~unknown, value | unknown) for value, unknown in zip(values, bits, strict=True)]
    if len(corners) == 1:
        return bits[0] & mask
    (a0, a1), (b0, b1) = corners
    results = [op.evaluate(a, b)[0] for a in (a0, a1) for b in (b0, b1)]
    for result in results[1:]:
        changed |= result ^ results[0]
    return changed & mask


def _save_exec(instruction: Instruction, fields: Fields) -> Run:
    """Decode s_OP_saveexec: D = EXEC; EXEC = S OP EXEC; SCC = (EXEC != 0). In `_not0_` S is negated, in `_not1_` EXEC."""
    logic, swapped = _SAVE_EXEC[instruction.mnemonic]
    function = LOGIC[logic]
    if len(fields.operands) != 2:
        raise instruction.unsupported("operands not of the form register, register or number")
    target = scalar_target(instruction, fields.operands[0])
    mask, line = scalar_source(instruction, fields.operands[1]), instruction.line
    keys = frozenset((*target.keys, *mask.keys, EXEC_KEY, SCC_KEY))

    def plain(wave: Wave) -> None:
        before, value = wave.exec, mask.read(wave)
        # and_not1: S & ~EXEC; and_not0: ~S & EXEC
        after = function(before, value) if swapped else function(value, before)
        target.write(wave, before)
        wave.set_exec(after & ALL_BITS)
        wave.scalar[SCC] = int(wave.exec != 0)

    def careful(wave: Wave) -> None:
        wave.check_waited(line, (*mask.keys, *target.keys))
        undefined = mask.undefined(wave) & (wave.exec if logic == "and" else ALL_BITS)
        plain(wave)
        target.mark(wave, 0)
        wave.mark_scalar(SCC, 0)
        wave.mark_scalar(EXEC, undefined)
        wave.check_exec(line)

    written = (*target.keys, EXEC_KEY, SCC_KEY)

    def define(wave: Wave) -> None:
        target.mark(wave, 0)
        wave.mark_scalar(SCC, 0)

    reads = (*mask.keys, EXEC_KEY)
    return Guarded(keys, plain, careful, scalars=Scalars.of(reads, written), first=First(frozenset(reads), define))


_SHORT: dict[str, tuple[str, bool]] = {
    "s_movk_i32": ("s_mov_b32", False),
    "s_cmovk_i32": ("s_cmov_b32", False),
    "s_addk_i32": ("s_add_i32", True),
    "s_mulk_i32": ("s_mul_i32", True),
    **{f"s_cmpk_{name}_i32": (f"s_cmp_{name}_i32", False) for name in ("eq", "lg", "gt", "ge", "lt", "le")},
    **{f"s_cmpk_{name}_u32": (f"s_cmp_{name}_u32", False) for name in ("eq", "lg", "gt", "ge", "lt", "le")},
}
"""Opcode with a 16-bit constant -> (the 32-bit operation that it stands for, whether the destination is its first source)."""


_SAVE_EXEC: dict[str, tuple[str, bool]] = {
    **{f"s_{name}_saveexec_b32": (name, False) for name in LOGIC},
    **{f"s_{name}0_saveexec_b32": (f"{name}1", True) for name in ("and_not", "or_not")},
}
"""Opcode -> (key in LOGIC, whether EXEC is the first argument)."""
_RELATIVE: dict[str, tuple[bool, int]] = {
    f"s_movrel{which}_b{32 * count}": (which == "d", count) for which in "sd" for count in (1, 2)
}
"""Opcode -> (whether M0 is added to the number of the destination, not of the source, and how many registers are moved)."""
NAMES = frozenset((*OPS, *_SHORT, *_SAVE_EXEC, *_RELATIVE))


def _relative(instruction: Instruction, fields: Fields) -> Run:
    """Decode s_movrels and s_movreld, which move registers of which one is found at run time, by M0."""
    moves_target, count = _RELATIVE[instruction.mnemonic]
    if len(fields.operands) != 2 or any(x.kind is not Kind.SCALAR or x.count != count for x in fields.operands):
        raise instruction.unsupported(f"operands other than two times {count} scalar registers")
    target, given = (x.index for x in fields.operands)
    line = instruction.line

    def run(wave: Wave) -> None:
        wave.check_waited(line, (M0_KEY,))
        if wave.scalar_undefined[M0]:
            wave.fault(FaultKind.UNINITIALISED, line, "m0 chooses a register, but nothing wrote it")
        first = (target if moves_target else given) + wave.scalar[M0]
        if first + count > VCC:
            wave.fault(FaultKind.OUT_OF_BOUNDS, line, f"s{first} of {VCC} scalar registers")
            return
        to, source = (first, given) if moves_target else (target, first)
        wave.check_waited(line, (SCALAR_KEY + n + i for n in (to, source) for i in range(count)))
        values = [(wave.scalar[source + i], wave.scalar_undefined[source + i]) for i in range(count)]
        for i, (value, undefined) in enumerate(values):
            wave.scalar[to + i] = value
            wave.mark_scalar(to + i, undefined)

    return run


def _with_short(instruction: Instruction, fields: Fields) -> Run:
    name, accumulates = _SHORT[instruction.mnemonic]
    if len(fields.operands) != 2 or not isinstance(fields.operands[1].number, int):
        raise instruction.unsupported("operands not of the form register, 16-bit number")
    register, short = fields.operands
    bits = int(short.number) & 0xFFFF
    value = bits if instruction.mnemonic.endswith("_u32") else signed(bits, 16) & ALL_BITS
    operands = [register, Operand(kind=short.kind, number=value)]
    if accumulates:
        operands.insert(0, register)
    return _plain(instruction, OPS[name], operands)
