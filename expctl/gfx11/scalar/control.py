"""Decode branches, waits, barriers, and hints (instructions that only advise the hardware)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from expctl.gfx11.machine.faults import FaultKind
from expctl.gfx11.machine.schedule import BARRIER, END
from expctl.gfx11.machine.step import AtOnce, Run
from expctl.gfx11.machine.team import Team
from expctl.gfx11.machine.waits import MOST, Counter
from expctl.gfx11.machine.wave import SCALAR_KEY, Wave, name_of
from expctl.gfx11.operands.scalar import scalar_source, scalar_target
from expctl.gfx11.text.operand import EXEC, SCC, VCC
from expctl.gfx11.text.program import Instruction

HINTS = frozenset((
    "s_delay_alu", "s_clause", "s_nop", "s_set_inst_prefetch_distance", "s_inst_prefetch", "s_sleep", "s_setprio", "s_code_end",
    "buffer_gl0_inv", "buffer_gl1_inv", "v_nop",
))  # fmt: skip
"""Opcodes without an effect on any value here: the interpreter has no caches and no pipeline."""
_WAITS = ("s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_lgkmcnt")
_BRANCHES = {
    **{f"s_cbranch_scc{bit}": (SCC, bit == 1) for bit in (0, 1)},
    **{
        f"s_cbranch_{name}{zero}": (index, zero == "nz")
        for name, index in (("vcc", VCC), ("exec", EXEC))
        for zero in ("z", "nz")
    },
}
"""Branch -> (index of the scalar register that it tests, whether it is taken when the register is not zero)."""
_COUNT = re.compile(r"(vmcnt|lgkmcnt|expcnt)\((\d+)\)")
ENDS_BLOCK = re.compile(r"^(s_c?branch|s_endpgm$|s_barrier$|s_setpc|s_swappc)")
LEAVES = frozenset(("s_endpgm", "s_barrier", "s_branch", "s_setpc_b64", "s_swappc_b64", *_BRANCHES))
NAMES = frozenset((*HINTS, "s_sendmsg", "s_waitcnt", *_WAITS, "s_waitcnt_expcnt", "s_waitcnt_depctr"))
Leave = Callable[[Wave], int]


def decode_hint(instruction: Instruction) -> None:
    """Check an instruction that only advises the hardware. Raises Unsupported for an s_sendmsg other than MSG_DEALLOC_VGPRS."""
    if instruction.mnemonic == "s_sendmsg" and instruction.rest != "sendmsg(MSG_DEALLOC_VGPRS)":
        raise instruction.unsupported("unknown message of s_sendmsg")


def decode_wait(instruction: Instruction) -> Run:
    """Decode `s_waitcnt` with vmcnt(n), lgkmcnt(n) or both, or `s_waitcnt_vscnt null, n`. Raises Unsupported for others."""
    name, rest = instruction.mnemonic, instruction.rest
    wanted: list[tuple[Counter, int]] = []
    if name == "s_waitcnt":
        words = rest.replace("&", " ").split()
        matches = [_COUNT.fullmatch(word) for word in words]
        if not words or None in matches:
            raise instruction.unsupported("a wait that is not written with vmcnt, lgkmcnt, expcnt")
        wanted = [(Counter(match[1]), int(match[2])) for match in matches if match and match[1] != "expcnt"]
    elif name in _WAITS:
        register, _, count = rest.partition(",")
        if register.strip() != "null":
            raise instruction.unsupported("a wait relative to a register")
        wanted = [(Counter(name.removeprefix("s_waitcnt_")), int(count.strip(), 0))]
    elif name not in ("s_waitcnt_expcnt", "s_waitcnt_depctr"):
        raise instruction.unsupported("unknown opcode")
    for counter, most in wanted:
        if not 0 <= most <= MOST[counter]:
            raise instruction.unsupported(f"{counter}({most}) is not in 0..{MOST[counter]}")

    def run(wave: Wave) -> None:
        for counter, most in wanted:
            wave.wait(counter, most)

    return AtOnce(run, partial(_waited, wanted))


def _waited(wanted: list[tuple[Counter, int]], team: Team) -> bool:
    for counter, most in wanted:
        team.wait(counter, most)
    return True


def decode_leave(
    instruction: Instruction,
    here: int,
    block_of: Callable[[str], int | None],
    after: int = 0,
    block_at: Callable[[int], int | None] = lambda address: None,
) -> Leave:
    """Return a function that executes the last instruction of block `here` on a wave and returns where the wave continues.

    That is the index of a block, BARRIER or END. `block_of` maps a label to the index of its block, or to None if it is outside
    of the function. Raises Unsupported for such a label. `after` is the address of the next instruction, and `block_at` maps
    an address to the index of the block that begins there, or to None.
    """
    name = instruction.mnemonic
    if name == "s_endpgm":
        return lambda wave: END
    if name == "s_barrier":
        return _barrier(here + 1)
    if name not in LEAVES:
        raise instruction.unsupported("unknown opcode")
    if name in ("s_setpc_b64", "s_swappc_b64"):
        return _jump(instruction, after, block_at)
    target = block_of(instruction.rest)
    if target is None:
        raise instruction.unsupported("a branch to a label outside the function")
    if name == "s_branch":
        return lambda wave: target
    index, when_set = _BRANCHES[name]
    return _conditional(instruction, index, when_set, target, here + 1)


def decided_by(instruction: Instruction) -> frozenset[int] | None:
    """Return the indices of the scalar registers by which the last instruction of a block chooses among the blocks that the
    text names; None for one that goes elsewhere.
    """
    if instruction.mnemonic in _BRANCHES:
        return frozenset((_BRANCHES[instruction.mnemonic][0],))
    return frozenset() if instruction.mnemonic in ("s_endpgm", "s_barrier", "s_branch") else None


def _jump(instruction: Instruction, after: int, block_at: Callable[[int], int | None]) -> Leave:
    """Decode `s_setpc_b64 s[30:31]`, a return, or `s_swappc_b64 s[30:31], s[0:1]`, a call, which keeps where it came from."""
    operands, line = list(instruction.fields().operands), instruction.line
    target = scalar_target(instruction, operands.pop(0), wide=True) if instruction.mnemonic == "s_swappc_b64" else None
    if len(operands) != 1:
        raise instruction.unsupported("too many or too few operands")
    address = scalar_source(instruction, operands[0], wide=True)

    def leave(wave: Wave) -> int:
        wave.check_waited(line, address.keys)
        to, is_unclear = address.read(wave), bool(address.undefined(wave))
        if target is not None:
            target.mark(wave, 0)
            target.write(wave, after)
        block = block_at(to)
        if is_unclear or block is None:
            kind = FaultKind.UNINITIALISED if is_unclear else FaultKind.OUT_OF_BOUNDS
            wave.fault(kind, line, f"jumps to {to:#x}, where no function begins or goes on")
            return END
        return block

    return leave


def _conditional(instruction: Instruction, index: int, when_set: bool, target: int, other: int) -> Leave:
    key, line = SCALAR_KEY + index, instruction.line

    def leave(wave: Wave) -> int:
        if key in wave.dirty:
            wave.check_waited(line, (key,))
            if wave.scalar_undefined[index]:
                wave.fault(FaultKind.UNINITIALISED, line, f"the branch depends on {name_of(key)}, which nothing wrote")
        return target if (wave.scalar[index] != 0) == when_set else other

    return leave


def _barrier(after: int) -> Leave:
    def leave(wave: Wave) -> int:
        wave.pass_barrier()
        wave.resume = after
        return BARRIER

    return leave
