"""Decode loads and stores of global memory, and of the private (scratch) memory of each lane.

    global   v[1:2], off        the address is the register pair
    global   v1, s[2:3]         the address is the scalar pair plus the register, both unsigned
    scratch  v1 or off, s1 or off    the sum is a byte offset into the lane's own memory

The instruction's signed offset in bytes is added to each.
"""

from __future__ import annotations

import re

import numpy as np

from expctl.gfx11.access.address import address_source, check_registers
from expctl.gfx11.access.private_access import private_load, private_store
from expctl.gfx11.access.transfer import LOADS, STORES, Transfer, put_values, read_registers, write_registers
from expctl.gfx11.machine.arrays import Bytes, Flags, Indices
from expctl.gfx11.machine.conflicts import report_conflicts
from expctl.gfx11.machine.counts import Tally
from expctl.gfx11.machine.faults import FaultKind
from expctl.gfx11.machine.memory import BASE, DEFINED, OUTSIDE, UNDEFINED
from expctl.gfx11.machine.pieces import Pieces
from expctl.gfx11.machine.step import AtOnce, Run
from expctl.gfx11.machine.team import Team
from expctl.gfx11.machine.waits import Counter, Operation
from expctl.gfx11.machine.wave import SCALAR_KEY, Wave
from expctl.gfx11.operands.vector_source import Source
from expctl.gfx11.text.operand import Kind
from expctl.gfx11.text.program import Fields, Instruction

LINE_BYTES, MOST_LINES = 128, 4096
assert BASE % LINE_BYTES == 0  # noqa: S101  an offset into the arena has the line boundaries of its address
assert OUTSIDE == 0  # noqa: S101  so that all() means inside
CACHE_POLICY = frozenset(("glc", "slc", "dlc"))
"""Modifiers that say which caches an access may use; without effect on the values, for the interpreter has no caches."""
_NAME = re.compile(r"^(?P<where>global|scratch)_(?P<do>load|store)_(?P<suffix>\w+)$")
NAMES = frozenset(
    f"{where}_{name}"
    for where in ("global", "scratch")
    for name in (*(f"load_{suffix}" for suffix in LOADS), *(f"store_{suffix}" for suffix in STORES))
)


def decode_memory(instruction: Instruction) -> Run:
    """Return the function that executes a global or scratch load or store on a wave. Raises Unsupported for other accesses."""
    match = _NAME.match(instruction.mnemonic)
    transfer = (STORES if match["do"] == "store" else LOADS).get(match["suffix"]) if match else None
    fields = instruction.fields()
    if match is None or transfer is None or len(fields.operands) != 3:
        raise instruction.unsupported("unknown opcode")
    offset = offset_of(instruction, fields)
    stores = match["do"] == "store"
    data = fields.operands[1 if stores else 0]
    address, base = (fields.operands[0], fields.operands[2]) if stores else fields.operands[1:]
    if data.kind is not Kind.VECTOR or data.count != transfer.registers:
        raise instruction.unsupported(f"the data must be {transfer.registers} vector register(s)")
    if match["where"] == "scratch":
        addresses = address_source(instruction, address, base, offset, private=True)
        return (private_store if stores else private_load)(instruction, data.index, transfer, addresses)
    addresses = address_source(instruction, address, base, offset, private=False)
    return (global_store if stores else global_load)(instruction, data.index, transfer, addresses)


def offset_of(instruction: Instruction, fields: Fields) -> int:
    """Return the offset modifier in bytes, 0 if there is none. Raises Unsupported for modifiers but cache policies."""
    modifiers = dict(fields.modifiers)
    offset = int(modifiers.pop("offset", "0"), 0)
    if unknown := modifiers.keys() - CACHE_POLICY:
        raise instruction.unsupported(f"modifier {' '.join(sorted(unknown))} is not implemented")
    return offset


def is_atomic_load(instruction: Instruction) -> bool:
    """Return whether a load from global memory is an atomic one, of the scope agent or system: it has glc, and not dlc as a
    volatile one has. Source: LLVM AMDGPU usage guide, memory model of gfx10 and gfx11.
    """
    if not instruction.mnemonic.startswith(("global_load_", "flat_load_", "buffer_load_")):
        return False
    modifiers = instruction.fields().modifiers
    return "glc" in modifiers and "dlc" not in modifiers


def reach(wave: Wave, line: int, source: Source, width: int, *, does: str) -> tuple[Pieces, Flags, Bytes]:
    """Compute which bytes the active lanes access; report an OUT_OF_BOUNDS fault for lanes that miss every buffer.

    Returns, for the other lanes, the bytes in the arena, a flag per lane (32,), and the bytes' states (lanes, width).
    `does` is the fault's verb, `reads` or `writes`.
    """
    memory, lanes, addresses = wave.group.memory, wave.lanes, source.read(wave)
    begin = memory.offsets(addresses)
    pieces = Pieces(begin if wave.full else begin[lanes], width)
    states = pieces.read(memory.states)
    _count_lines(wave.group.tally, line, pieces.where, width)
    if states.all():
        return pieces, lanes, states
    inside = (states != OUTSIDE).all(axis=1)
    first = int(addresses[lanes][~inside][0])
    kept = lanes.copy()
    kept[lanes] = inside
    what = f"{does} {width} bytes at {memory.describe(first, _base(wave, source))}"
    wave.fault(FaultKind.OUT_OF_BOUNDS, line, what, lanes=lanes & ~kept)
    return Pieces(pieces.where[inside], width), kept, states[inside]


def _base(wave: Wave, addresses: Source) -> int | None:
    """Return the 64-bit scalar part of an address, for messages; None if it has none."""
    pair = [wave.scalar[key - SCALAR_KEY] for key in addresses.keys if key >= SCALAR_KEY]
    return pair[0] | pair[1] << 32 if len(pair) == 2 else None


def _count_lines(tally: Tally, line: int, begin: Indices, width: int, owners: Indices | None = None) -> None:
    """Count the lines that an access touches at `begin`; if lanes have different waves as `owners`, for each wave by itself."""
    if begin.size == 0:
        return
    key = ((begin - (int(begin[0]) & -LINE_BYTES)).tobytes(), width, b"" if owners is None else owners.tobytes())
    if key not in tally.lines:
        if len(tally.lines) >= MOST_LINES:
            tally.lines.clear()
        parts = [begin] if owners is None else [begin[owners == each] for each in np.unique(owners)]
        found = [_lines(part, width) for part in parts]
        tally.lines[key] = sum(lines for lines, _ in found), sum(least for _, least in found)
    lines, least = tally.lines[key]
    traffic = tally.of_line(line)
    traffic.lines += lines
    traffic.lines_least += least
    traffic.bytes += begin.size * width


def _lines(begin: Indices, width: int) -> tuple[int, int]:
    """Return how many lines the bytes at `begin` touch, and the fewest that could hold them."""
    starts = set(begin.tolist())
    lines = {start // LINE_BYTES for start in starts}
    if width & (width - 1) or (begin & (width - 1)).any():
        lines |= {(start + width - 1) // LINE_BYTES for start in starts}
    return len(lines), -(-len(starts) * width // LINE_BYTES)


def _pieces_of(team: Team, addresses: Source, width: int) -> tuple[Pieces, Indices]:
    """Return the bytes that the active lanes access, and the wave of each lane."""
    begin = team.group.memory.offsets(addresses.read(team))
    return (Pieces(begin, width), team.owners) if team.full else (Pieces(begin[team.lanes], width), team.owners[team.lanes])


def global_load(
    instruction: Instruction, first: int, transfer: Transfer, addresses: Source, also: Counter | None = None
) -> Run:
    """Return the function of a load from global memory, which the counter `also` has to prove too."""
    line, width = instruction.line, transfer.width
    keys = tuple(range(first, first + transfer.registers))
    touched = frozenset((*keys, *addresses.keys))
    is_atomic = is_atomic_load(instruction)

    def run(wave: Wave) -> None:
        if not wave.dirty.isdisjoint(touched):
            check_registers(wave, line, addresses, keys, Counter.VM)
        pieces, lanes, states = reach(wave, line, addresses, width, does="reads")
        group = wave.group
        undefined = (states == UNDEFINED).view(np.uint8) * np.uint8(0xFF)
        if lanes is not wave.lanes:
            nothing: Bytes = np.zeros((int((wave.lanes & ~lanes).sum()), width), dtype=np.uint8)
            write_registers(wave, first, transfer, nothing, nothing, wave.lanes & ~lanes)
        write_registers(wave, first, transfer, pieces.read(group.memory.data), undefined, lanes)
        log = group.device.log
        tag = log.begin(group.access(line, wave.index))
        if is_atomic:
            wave.exchange(((-1, place) for place in pieces.where.tolist()), acquires=True, writes=False)
        others = (log.load_atomically if is_atomic else log.read)(tag, pieces)
        report_conflicts(wave, line, others, pieces, "reads")
        wave.begin(Operation(line=line, counter=Counter.VM, keys=keys, log=log, tags=[tag], also=also))

    def at_once(team: Team) -> bool:
        memory, log = team.group.memory, team.group.device.log
        if is_atomic or not team.may_load(addresses.keys, keys, Counter.VM):
            return False
        pieces, owners = _pieces_of(team, addresses, width)
        if (pieces.read(memory.states) != DEFINED).any():
            return False
        (tags,) = team.tags(line, log)
        if not log.read_at_once(tags, owners, pieces):
            return False
        _count_lines(team.group.tally, line, pieces.where, width, owners)
        put_values(team.vector, first, transfer, pieces.read(memory.data), team.lanes)
        team.begin(Operation(line=line, counter=Counter.VM, keys=keys, log=log, tags=tags, also=also))
        return True

    return AtOnce(run, at_once)


def global_store(
    instruction: Instruction, first: int, transfer: Transfer, addresses: Source, also: Counter | None = None
) -> Run:
    """Return the function of a store to global memory, which the counter `also` has to prove too."""
    line, width = instruction.line, transfer.width
    keys = tuple(range(first, first + transfer.registers))
    touched = frozenset((*keys, *addresses.keys))

    def run(wave: Wave) -> None:
        unclear = not wave.dirty.isdisjoint(touched)
        if unclear:
            check_registers(wave, line, addresses, keys)
        pieces, lanes, _ = reach(wave, line, addresses, width, does="writes")
        if unclear and (unwritten := read_registers(wave.vector_undefined, first, transfer, lanes).any(axis=1)).any():
            buffer = wave.group.memory.describe(int(pieces.where[unwritten][0]) + BASE)
            wave.fault(FaultKind.UNINITIALISED, line, f"a value that nothing wrote goes to memory, at {buffer}")
        group = wave.group
        data = read_registers(wave.vector, first, transfer, lanes)
        pieces.write(group.memory.data, data)
        _report_overlap(wave, line, pieces, pieces.read(group.memory.data) != data)
        pieces.fill(group.memory.states, DEFINED)
        log = group.device.log
        tag = log.begin(group.access(line, wave.index))
        report_conflicts(wave, line, log.write(tag, pieces), pieces, "writes")
        wave.begin(Operation(line=line, counter=Counter.VS, log=log, tags=[tag], also=also))

    def at_once(team: Team) -> bool:
        memory, log = team.group.memory, team.group.device.log
        if not team.dirty.isdisjoint(touched):
            return False
        pieces, owners = _pieces_of(team, addresses, width)
        if not pieces.read(memory.states).all():
            return False
        (tags,) = team.tags(line, log)
        if not log.write_at_once(tags, owners, pieces):
            return False
        _count_lines(team.group.tally, line, pieces.where, width, owners)
        data = read_registers(team.vector, first, transfer, team.lanes)
        pieces.write(memory.data, data)
        differs = pieces.read(memory.data) != data
        if differs.any():
            for wave in team.order:
                _report_overlap(wave, line, pieces.among(owners == wave.index), differs[owners == wave.index])
        pieces.fill(memory.states, DEFINED)
        team.begin(Operation(line=line, counter=Counter.VS, log=log, tags=tags, also=also))
        return True

    return AtOnce(run, at_once)


def _report_overlap(wave: Wave, line: int, pieces: Pieces, differs: Flags) -> None:
    """Report a fault if a byte of `pieces` is not what its lane has just written."""
    if differs.any():
        place = wave.group.memory.describe(int(pieces.where.min()) + BASE)
        wave.fault(FaultKind.RACE, line, f"lanes of one store write different values to the same bytes, near {place}")
