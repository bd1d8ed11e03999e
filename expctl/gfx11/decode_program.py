"""Decode a program into basic blocks of callable steps. Every instruction is decoded once, before anything runs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from expctl.gfx11.access.atomic import decode_atomic
from expctl.gfx11.access.buffer_access import NAMES as BUFFER_NAMES
from expctl.gfx11.access.buffer_access import decode_buffer
from expctl.gfx11.access.flat import NAMES as FLAT_NAMES
from expctl.gfx11.access.flat import decode_flat
from expctl.gfx11.access.global_access import decode_memory, is_atomic_load
from expctl.gfx11.access.lds_access import decode_lds
from expctl.gfx11.access.lds_permute import NAMES as PERMUTE_NAMES
from expctl.gfx11.access.lds_permute import decode_permute
from expctl.gfx11.machine.block import Block
from expctl.gfx11.machine.counts import Class, class_of, work_of
from expctl.gfx11.machine.memory import CODE
from expctl.gfx11.machine.schedule import END
from expctl.gfx11.machine.step import Run, alone, together
from expctl.gfx11.opcodes import opcode_of
from expctl.gfx11.scalar.control import ENDS_BLOCK, Leave, decided_by, decode_hint, decode_leave, decode_wait
from expctl.gfx11.scalar.decode import decode_scalar
from expctl.gfx11.scalar.load import decode_scalar_load
from expctl.gfx11.scalar.trap import ENDS_BLOCK as TRAPS
from expctl.gfx11.scalar.trap import decode_trap
from expctl.gfx11.text.program import Instruction, Program
from expctl.gfx11.vector.decode import decode_vector
from expctl.gfx11.vector.dot import NAMES as DOT_NAMES
from expctl.gfx11.vector.dot import decode_dot
from expctl.gfx11.vector.dpp import SUFFIX, decode_dpp
from expctl.gfx11.vector.dual import decode_dual
from expctl.gfx11.vector.lane import DECODERS as LANE_DECODERS
from expctl.gfx11.vector.matrix import decode_matrix
from expctl.gfx11.vector.packed import NAMES as PACKED_NAMES
from expctl.gfx11.vector.packed import decode_packed
from expctl.gfx11.vector.permlane import NAMES as PERMLANE_NAMES
from expctl.gfx11.vector.permlane import decode_permlane

_VECTOR_REGISTER = re.compile(r"\bv(?:(\d+)\b|\[\d+:(\d+)\])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A decoded program: its basic blocks in the order of the text; block 0 is the entry. It holds no state of a run."""

    program: Program
    blocks: tuple[Block, ...]
    has_atomics: bool = False

    @property
    def functions(self) -> dict[str, int]:
        """Return the address of each function that is called, and of each label, by its name."""
        return {name: CODE + 4 * index for name, index in self.program.labels.items()}


def decode_step(instruction: Instruction) -> Run | None:
    """Return the function that executes an instruction on a wave; None for one that has no effect. Raises Unsupported."""
    kind, name = class_of(instruction), opcode_of(instruction)
    if kind is Class.HINT or name == "v_nop":
        decode_hint(instruction)
        return None
    if name in BUFFER_NAMES:
        return decode_buffer(instruction)
    if kind is Class.VECTOR:
        return _decode_vector(instruction, name)
    if kind is Class.MATRIX:
        return decode_matrix(instruction)
    if kind in (Class.LDS_LOAD, Class.LDS_STORE):
        return decode_permute(instruction) if name in PERMUTE_NAMES else decode_lds(instruction)
    if kind in (Class.GLOBAL_LOAD, Class.GLOBAL_STORE, Class.SCRATCH):
        return decode_flat(instruction) if name in FLAT_NAMES else decode_memory(instruction)
    if kind is Class.ATOMIC:
        return decode_atomic(instruction)
    if kind is Class.SCALAR_LOAD:
        return decode_scalar_load(instruction)
    if kind is Class.WAIT:
        return decode_wait(instruction)
    return decode_scalar(instruction)


def _decode_vector(instruction: Instruction, name: str) -> Run:
    if instruction.mnemonic.endswith(SUFFIX):
        return decode_dpp(instruction)
    if name.startswith("v_dual_"):
        return decode_dual(instruction)
    if name in PACKED_NAMES:
        return decode_packed(instruction, name)
    if name in DOT_NAMES:
        return decode_dot(instruction, name)
    if name in PERMLANE_NAMES:
        return decode_permlane(instruction, name)
    if decoder := LANE_DECODERS.get(name):
        return decoder(instruction)
    return decode_vector(instruction)


def decode(program: Program, *, vector_registers: int = 256) -> Decoded:
    """Decode a program into basic blocks. Raises Unsupported, with the line, for an instruction that is not implemented, even
    if it can't be reached (but after a trap), and for a VGPR whose number is `vector_registers` or above.
    """
    for instruction in program.instructions:
        if any(int(name[0] or name[1]) >= vector_registers for name in _VECTOR_REGISTER.findall(instruction.rest)):
            raise instruction.unsupported(f"a register beyond the {vector_registers} of .amdhsa_next_free_vgpr")
    starts = _starts(program)
    number = {start: i for i, start in enumerate(starts)}

    def block_of(label: str) -> int | None:
        at = program.labels.get(label)
        return None if at is None else number.get(at)

    def block_at(address: int) -> int | None:
        return number.get((address - CODE) // 4)

    after_trap = _after_trap(program)
    blocks = []
    for i, (first, end) in enumerate(zip(starts, [*starts[1:], len(program.instructions)], strict=True)):
        body = program.instructions[first:end]
        last = body[-1]
        if first in after_trap:
            blocks.append(_block((), _to(END), frozenset(), body, first, work=0))
            continue
        ends = _ends_block(last)
        leave: Leave = _to(i + 1)
        decided: frozenset[int] | None = frozenset()
        if ends:
            decided = decided_by(last)
            is_trap = TRAPS.match(last.mnemonic)
            leave = decode_trap(last) if is_trap else decode_leave(last, i, block_of, CODE + 4 * end, block_at)
        steps = [step for x in (body[:-1] if ends else body) if (step := decode_step(x)) is not None]
        blocks.append(_block(tuple(steps), leave, decided, body, first, work=sum(map(work_of, body))))
    if not blocks or program.instructions[-1].mnemonic not in ("s_endpgm", "s_branch", "s_code_end", "s_setpc_b64", "s_trap"):
        raise program.instructions[-1].unsupported("the function does not end with s_endpgm")
    has_atomics = any(class_of(each) is Class.ATOMIC or is_atomic_load(each) for each in program.instructions)
    return Decoded(program=program, blocks=tuple(blocks), has_atomics=has_atomics)


def _block(
    steps: tuple[Run, ...],
    leave: Leave,
    decided: frozenset[int] | None,
    body: tuple[Instruction, ...],
    first: int,
    *,
    work: int,
) -> Block:
    return Block(
        steps=tuple(map(alone, steps)),
        together=tuple(map(together, steps)),
        leave=leave,
        decided_by=decided,
        first=first,
        size=len(body),
        work=work,
        last_line=body[-1].line,
    )


def _to(target: int) -> Leave:
    return lambda wave: target


def _starts(program: Program) -> list[int]:
    """Return the sorted indices of instructions that begin a block: the first, those at labels, after branches and barriers."""
    count = len(program.instructions)
    after = {i + 1 for i, instruction in enumerate(program.instructions) if _ends_block(instruction)}
    return sorted(start for start in {0, *program.labels.values(), *after} if start < count)


def _ends_block(instruction: Instruction) -> bool:
    return bool(ENDS_BLOCK.match(instruction.mnemonic) or TRAPS.match(instruction.mnemonic))


def _after_trap(program: Program) -> set[int]:
    """Return the indices of instructions after a trap that no label stands before: how gfx1100 waits for its end."""
    traps = {i + 1 for i, instruction in enumerate(program.instructions) if instruction.mnemonic == "s_trap"}
    return traps - set(program.labels.values())
