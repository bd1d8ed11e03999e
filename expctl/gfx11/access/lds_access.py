"""Decode loads and stores of LDS. An address is a register plus an offset in bytes.

The 2addr opcodes have two offsets, which count elements; their stride64 variants count in steps of 64 elements.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from expctl.gfx11.access.transfer import LDS_LOADS, LDS_STORES, Transfer, put_values, read_registers, write_registers
from expctl.gfx11.machine.accesses import Access
from expctl.gfx11.machine.arrays import Bytes, Flags, Words
from expctl.gfx11.machine.counts import Traffic
from expctl.gfx11.machine.faults import FaultKind
from expctl.gfx11.machine.lds import Plan, TeamPlan
from expctl.gfx11.machine.step import AtOnce, Run
from expctl.gfx11.machine.team import Team
from expctl.gfx11.machine.waits import Counter, Operation
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.text.operand import Kind, Operand
from expctl.gfx11.text.program import Instruction

_TWO = re.compile(r"^ds_(?P<do>load|store)_2addr_(?P<far>stride64_)?b(?P<bits>32|64)$")
_ONE = re.compile(r"^ds_(?P<do>load|store)_(?P<suffix>\w+)$")
NAMES = frozenset((
    *(f"ds_load_{suffix}" for suffix in LDS_LOADS),
    *(f"ds_store_{suffix}" for suffix in LDS_STORES),
    *(f"ds_{do}_2addr_{far}b{bits}" for do in ("load", "store") for far in ("", "stride64_") for bits in (32, 64)),
))  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One of the one or two accesses that an LDS instruction makes: its offset in bytes, and the first register of its data."""

    offset: int
    register: int
    transfer: Transfer


def decode_lds(instruction: Instruction) -> Run:
    """Return the function that executes a ds_load or ds_store on a wave. Raises Unsupported for any other form."""
    two, one = _TWO.match(instruction.mnemonic), _ONE.match(instruction.mnemonic)
    match = two or one
    if match is None:
        raise instruction.unsupported("unknown opcode")
    stores = match["do"] == "store"
    fields = instruction.fields()
    if two:
        width = int(two["bits"]) // 8
        transfer: Transfer | None = Transfer(width=width, registers=width // 4)
        scale = width * (64 if two["far"] else 1)
        names: Sequence[str] = ("offset0", "offset1")
    else:
        transfer, scale, names = (LDS_STORES if stores else LDS_LOADS).get(match["suffix"]), 1, ("offset",)
    if transfer is None:
        raise instruction.unsupported("unknown opcode")
    offsets = [lds_offset(instruction, fields.modifiers.pop(name, "0"), 255 if two else 65535) * scale for name in names]
    if fields.modifiers:
        raise instruction.unsupported(f"modifier {' '.join(fields.modifiers)} is not implemented")
    operands = list(fields.operands)
    if stores:
        if len(operands) != 1 + len(offsets):
            raise instruction.unsupported(f"{len(operands)} operands are too many or too few")
        address, data = operands[0], [vector_index(instruction, x, transfer.registers) for x in operands[1:]]
    else:
        if len(operands) != 2:
            raise instruction.unsupported(f"{len(operands)} operands are too many or too few")
        address = operands[1]
        first = vector_index(instruction, operands[0], transfer.registers * len(offsets))
        data = [first + i * transfer.registers for i in range(len(offsets))]
    base = vector_index(instruction, address, 1)
    parts = [Part(offset=offset, register=n, transfer=transfer) for offset, n in zip(offsets, data, strict=True)]
    return lds_store(instruction, base, parts) if stores else lds_load(instruction, base, parts)


def lds_offset(instruction: Instruction, text: str, most: int) -> int:
    """Parse the offset of an LDS instruction. Raises Unsupported if it isn't a number in 0..`most`."""
    try:
        offset = int(text, 0)
    except ValueError:
        offset = -1
    if not 0 <= offset <= most:
        raise instruction.unsupported(f"offset {text} is not in 0..{most}")
    return offset


def vector_index(instruction: Instruction, operand: Operand, count: int) -> int:
    """Return the number of the first VGPR of an operand. Raises Unsupported for an operand that is not `count` VGPRs."""
    if operand.kind is not Kind.VECTOR or operand.count != count or operand.negated or operand.absolute:
        raise instruction.unsupported(f"an operand of {count} vector register(s) is needed")
    return operand.index


def _registers(parts: list[Part]) -> tuple[int, ...]:
    return tuple(key for part in parts for key in range(part.register, part.register + part.transfer.registers))


def lds_load(instruction: Instruction, base: int, parts: list[Part], also: Counter | None = None) -> Run:
    """Return the function of a load from LDS at the address in VGPR `base`, which the counter `also` has to prove too."""
    line, keys = instruction.line, _registers(parts)
    touched = frozenset((base, *keys))

    def run(wave: Wave) -> None:
        if not wave.dirty.isdisjoint(touched):
            _check(wave, line, base, keys, Counter.LGKM)
        lds, group = wave.group.lds, wave.group
        tags = []
        addresses = wave.u32[base].copy()
        for part in parts:
            plan = planned(wave, line, addresses, part)
            data, undefined = plan.pieces.read(lds.data), plan.pieces.read(lds.undefined)
            if plan.outside:
                _write_zero(wave, part, wave.lanes & ~plan.lanes)
            write_registers(wave, part.register, part.transfer, data, undefined, plan.lanes)
            tag = lds.log.begin(group.access(line, wave.index))
            report_lds_conflicts(wave, line, lds.log.read(tag, plan.pieces), "reads", plan)
            tags.append(tag)
        wave.begin(Operation(line=line, counter=Counter.LGKM, keys=keys, log=lds.log, tags=tags, also=also))

    def at_once(team: Team) -> bool:
        lds = team.group.lds
        plans = _team_plans(team, base, parts) if team.may_load((base,), keys, Counter.LGKM) else None
        if plans is None or any(plan.pieces.read(lds.undefined).any() for plan in plans):
            return False
        tags = team.tags(line, lds.log, len(parts))
        if not all(lds.log.read_at_once(each, plan.owners, plan.pieces) for each, plan in zip(tags, plans, strict=True)):
            return False
        for part, plan in zip(parts, plans, strict=True):
            put_values(team.vector, part.register, part.transfer, plan.pieces.read(lds.data), plan.lanes)
            _count(team.group.tally.of_line(line), plan)
        team.begin(Operation(line=line, counter=Counter.LGKM, keys=keys, log=lds.log, tags=_by_wave(tags), also=also))
        return True

    return AtOnce(run, at_once)


def lds_store(instruction: Instruction, base: int, parts: list[Part], also: Counter | None = None) -> Run:
    """Return the function of a store to LDS at the address in VGPR `base`, which the counter `also` has to prove too."""
    line, keys = instruction.line, _registers(parts)
    touched = frozenset((base, *keys))

    def run(wave: Wave) -> None:
        unclear = not wave.dirty.isdisjoint(touched)
        if unclear:
            _check(wave, line, base, keys)
        lds, group = wave.group.lds, wave.group
        tags = []
        for part in parts:
            plan = planned(wave, line, wave.u32[base], part)
            data = read_registers(wave.vector, part.register, part.transfer, plan.lanes)
            plan.pieces.write(lds.data, data)
            if plan.overlaps and (plan.pieces.read(lds.data) != data).any():
                wave.fault(FaultKind.RACE, line, "lanes of one store write different values to the same bytes of LDS")
            if unclear:
                undefined = read_registers(wave.vector_undefined, part.register, part.transfer, plan.lanes)
                plan.pieces.write(lds.undefined, undefined)
            else:
                plan.pieces.fill(lds.undefined, 0)
            tag = lds.log.begin(group.access(line, wave.index))
            report_lds_conflicts(wave, line, lds.log.write(tag, plan.pieces), "writes", plan)
            tags.append(tag)
        wave.begin(Operation(line=line, counter=Counter.LGKM, log=lds.log, tags=tags, also=also))

    def at_once(team: Team) -> bool:
        lds = team.group.lds
        plans = _team_plans(team, base, parts) if team.dirty.isdisjoint(touched) else None
        if plans is None or len(plans) > 1 or plans[0].overlaps:
            return False
        (part,), (plan,) = parts, plans
        (tags,) = team.tags(line, lds.log)
        if not lds.log.write_at_once(tags, plan.owners, plan.pieces):
            return False
        plan.pieces.write(lds.data, read_registers(team.vector, part.register, part.transfer, plan.lanes))
        plan.pieces.fill(lds.undefined, 0)
        _count(team.group.tally.of_line(line), plan)
        team.begin(Operation(line=line, counter=Counter.LGKM, log=lds.log, tags=tags, also=also))
        return True

    return AtOnce(run, at_once)


def _team_plans(team: Team, base: int, parts: list[Part]) -> list[TeamPlan] | None:
    plans = [team.group.lds.team_plan(team.u32[base], part.offset, team.execs, part.transfer.width) for part in parts]
    found = [plan for plan in plans if plan is not None]
    return found if len(found) == len(plans) else None


def _by_wave(tags: list[list[int]]) -> list[int]:
    return [tag for of_wave in zip(*tags, strict=True) for tag in of_wave]


def planned(wave: Wave, line: int, addresses: Words, part: Part) -> Plan:
    """Return which bytes of LDS a part touches in the active lanes; count its passes, report lanes beyond the end."""
    lds = wave.group.lds
    plan = lds.plan(addresses, part.offset, wave.exec, part.transfer.width)
    _count(wave.group.tally.of_line(line), plan)
    if plan.outside:
        what = f"{part.transfer.width} bytes at {plan.outside[0]} of LDS, which has {lds.size}"
        wave.fault(FaultKind.OUT_OF_BOUNDS, line, what, lanes=wave.lanes & ~plan.lanes)
    return plan


def _count(traffic: Traffic, plan: Plan | TeamPlan) -> None:
    traffic.lds_passes += plan.passes
    traffic.lds_least += plan.least
    traffic.bytes += plan.pieces.where.size * plan.pieces.width


def _check(wave: Wave, line: int, base: int, data: Iterable[int], loads: Counter | None = None) -> None:
    wave.check_waited(line, (base,))
    wave.check_waited(line, data, loads=loads)
    wave.check_address(line, base)


def _write_zero(wave: Wave, part: Part, lanes: Flags) -> None:
    nothing: Bytes = np.zeros((int(lanes.sum()), part.transfer.width), dtype=np.uint8)
    write_registers(wave, part.register, part.transfer, nothing, nothing, lanes)


def report_lds_conflicts(wave: Wave, line: int, others: list[Access], does: str, plan: Plan) -> None:
    """Report a fault for each of `others`, accesses of LDS that conflict with one at `line` whose bytes `plan` has."""
    for other in others:
        first = int(plan.pieces.where.min())
        whom = f"LDS bytes from {first} on that wave {wave.index} {does}"
        met = other.agent % wave.group.most_waves
        if other.begun < wave.group.epoch:
            what = f"{whom}: the access of wave {met} may outlast the barrier, nothing waits for it (lgkmcnt)"
            wave.fault(FaultKind.MISSING_WAIT, line, what, other_line=other.line)
        else:
            wave.fault(FaultKind.RACE, line, f"{whom} and wave {met} touches, with no barrier between", other_line=other.line)
