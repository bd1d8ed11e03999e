"""Decode vector instructions that move the value of a single lane, or that select a register by M0 at run time."""

from __future__ import annotations

import numpy as np

from expctl.gfx11.machine.arrays import ALL_BITS
from expctl.gfx11.machine.faults import FaultKind
from expctl.gfx11.machine.step import Run
from expctl.gfx11.machine.wave import M0_KEY, Wave
from expctl.gfx11.operands.scalar import scalar_source, scalar_target
from expctl.gfx11.operands.vector_source import Type, source
from expctl.gfx11.text.operand import M0, Kind, Operand
from expctl.gfx11.text.program import Instruction


def decode_readfirstlane(instruction: Instruction) -> Run:
    """Decode v_readfirstlane: read the lowest active lane, or lane 0 if none is active, into a scalar register."""
    destination, vector = _two(instruction)
    target, line = scalar_target(instruction, destination), instruction.line

    def run(wave: Wave) -> None:
        wave.check_waited(line, (vector.index, *target.keys))
        lane = (wave.exec & -wave.exec).bit_length() - 1 if wave.exec else 0
        target.write(wave, int(wave.u32[vector.index][lane]))
        target.mark(wave, int(wave.vector_undefined[vector.index][lane]))

    return run


def decode_readlane(instruction: Instruction) -> Run:
    """Decode v_readlane: read one lane into a scalar register. A scalar operand gives the lane (modulo 32), active or not."""
    fields = instruction.fields()
    if len(fields.operands) != 3 or fields.modifiers or fields.operands[1].kind is not Kind.VECTOR:
        raise instruction.unsupported("operands not of the form s, v, lane")
    target, n = scalar_target(instruction, fields.operands[0]), fields.operands[1].index
    which, line = scalar_source(instruction, fields.operands[2]), instruction.line

    def run(wave: Wave) -> None:
        wave.check_waited(line, (n, *which.keys, *target.keys))
        lane = which.read(wave) & 31
        undefined = ALL_BITS if which.undefined(wave) else int(wave.vector_undefined[n][lane])
        target.write(wave, int(wave.u32[n][lane]))
        target.mark(wave, undefined)

    return run


def decode_writelane(instruction: Instruction) -> Run:
    """Decode v_writelane: write a scalar to one lane. Another scalar operand gives the lane (modulo 32), active or not."""
    fields = instruction.fields()
    if len(fields.operands) != 3 or fields.modifiers or fields.operands[0].kind is not Kind.VECTOR:
        raise instruction.unsupported("operands not of the form v, s, lane")
    n, line = fields.operands[0].index, instruction.line
    value, which = (scalar_source(instruction, x) for x in fields.operands[1:])

    def run(wave: Wave) -> None:
        wave.check_waited(line, (n, *value.keys, *which.keys))
        lane = which.read(wave) & 31
        wave.u32[n][lane] = value.read(wave)
        wave.vector_undefined[n][lane] = ALL_BITS if which.undefined(wave) else value.undefined(wave)
        wave.refresh(n)

    return run


def decode_movrels(instruction: Instruction) -> Run:
    """Decode v_movrels: copy vector register n + M0 to the destination, where n is the source register in the text."""
    destination, vector = _two(instruction)
    if destination.kind is not Kind.VECTOR:
        raise instruction.unsupported("the destination is not a vector register")
    n, first, line = destination.index, vector.index, instruction.line

    def run(wave: Wave) -> None:
        chosen = _chosen(wave, first, line)
        if chosen is None:
            return
        wave.check_waited(line, (chosen, n))
        np.copyto(wave.u32[n], wave.u32[chosen], where=wave.lanes)
        wave.mark_vector(n, wave.vector_undefined[chosen])

    return run


def decode_movreld(instruction: Instruction) -> Run:
    """Decode v_movreld: copy the source to vector register n + M0, where n is the destination in the text."""
    fields = instruction.fields()
    if len(fields.operands) != 2 or fields.modifiers or fields.operands[0].kind is not Kind.VECTOR:
        raise instruction.unsupported("operands not of the form vector register, source")
    first, line = fields.operands[0].index, instruction.line
    value = source(instruction, fields.operands[1], Type.U32)

    def run(wave: Wave) -> None:
        chosen = _chosen(wave, first, line)
        if chosen is None:
            return
        wave.check_waited(line, (chosen, *value.keys))
        wave.mark_vector(chosen, value.undefined(wave).astype(np.uint32))
        np.copyto(wave.u32[chosen], value.read(wave), where=wave.lanes)

    return run


def _chosen(wave: Wave, first: int, line: int) -> int | None:
    """Return the number of the vector register `first` + M0; None, after a fault, if there is no such register."""
    wave.check_waited(line, (M0_KEY,))
    if wave.scalar_undefined[M0]:
        wave.fault(FaultKind.UNINITIALISED, line, "m0 chooses a register, but nothing wrote it")
    chosen = first + wave.scalar[M0]
    if chosen >= len(wave.u32):
        wave.fault(FaultKind.OUT_OF_BOUNDS, line, f"v{chosen} of {len(wave.u32)} vector registers")
        return None
    return chosen


def decode_swap(instruction: Instruction) -> Run:
    """Decode v_swap_b32: two vector registers exchange their values in the active lanes."""
    a, b = _two(instruction)
    if a.kind is not Kind.VECTOR:
        raise instruction.unsupported("an operand that is not a vector register")
    one, two, line = a.index, b.index, instruction.line

    def run(wave: Wave) -> None:
        wave.check_waited(line, (one, two))
        for rows in (wave.vector, wave.vector_undefined):
            before = rows[one].copy()
            np.copyto(rows[one], rows[two], where=wave.lanes)
            np.copyto(rows[two], before, where=wave.lanes)
        wave.refresh(one)
        wave.refresh(two)

    return run


def _two(instruction: Instruction) -> tuple[Operand, ...]:
    fields = instruction.fields()
    if len(fields.operands) != 2 or fields.modifiers or fields.operands[1].kind is not Kind.VECTOR:
        raise instruction.unsupported("operands not of the form destination, vector register")
    return fields.operands


DECODERS = {
    "v_readfirstlane_b32": decode_readfirstlane,
    "v_readlane_b32": decode_readlane,
    "v_writelane_b32": decode_writelane,
    "v_swap_b32": decode_swap,
    "v_movrels_b32": decode_movrels,
    "v_movreld_b32": decode_movreld,
}
