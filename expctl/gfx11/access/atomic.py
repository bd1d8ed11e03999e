"""Decode atomics on global memory and on LDS. The active lanes act one after the other, lane 0 first.

    global_atomic_OP  [v0,] v1 or v[1:2], data, off or s[2:3]  [glc]     with glc the old value goes to the first register
    flat_atomic_OP    [v0,] v[1:2], data  [glc]                          of LDS or of global memory, lane by lane
    ds_OP             v1, data                                           ds_OP_rtn  v0, v1, data

A compare-and-swap of global memory has the new value and what is compared in one register pair (or two pairs), one of LDS in
two operands. What atomics order is in machine/clocks.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from expctl.gfx11.access.address import address_source
from expctl.gfx11.access.flat import flat
from expctl.gfx11.access.global_access import offset_of, reach
from expctl.gfx11.access.lds_access import Part, lds_offset, planned, report_lds_conflicts, vector_index
from expctl.gfx11.access.transfer import Transfer, read_registers, write_registers
from expctl.gfx11.machine.accesses import AccessLog
from expctl.gfx11.machine.arrays import Anything, Bytes, Flags, Indices, Words
from expctl.gfx11.machine.conflicts import report_conflicts
from expctl.gfx11.machine.faults import FaultKind
from expctl.gfx11.machine.memory import BASE, DEFINED, UNDEFINED
from expctl.gfx11.machine.step import Run
from expctl.gfx11.machine.waits import Counter, Operation
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.operands.vector_source import Source
from expctl.gfx11.text.operand import Kind, Operand
from expctl.gfx11.text.program import Instruction

Number = np.generic
_LESS: dict[str, Callable[..., Number]] = {
    "add": lambda old, x: old + x,
    "sub": lambda old, x: old - x,
    "rsub": lambda old, x: x - old,
    "min": lambda old, x: np.fmin(old, x) if isinstance(old, np.floating) else min(old, x),
    "max": lambda old, x: np.fmax(old, x) if isinstance(old, np.floating) else max(old, x),
    "and": lambda old, x: old & x,
    "or": lambda old, x: old | x,
    "xor": lambda old, x: old ^ x,
    "inc": lambda old, x: old.dtype.type(0) if old >= x else old + old.dtype.type(1),
    "dec": lambda old, x: x if old == 0 or old > x else old - old.dtype.type(1),
    "swap": lambda old, x: x,
}
"""Operation -> the new value, from the old one and the data. Source: AMD's RDNA3.5 ISA, LDS and global atomics."""
_KINDS = {"u": np.uint32, "i": np.int32, "b": np.uint32, "f": np.float32}
_WIDE = {"u": np.uint64, "i": np.int64, "b": np.uint64, "f": np.float64}


@dataclass(frozen=True, slots=True, kw_only=True)
class AtomicOp:
    """What an atomic computes on values of `dtype`: `evaluate`, or a compare-and-swap where that is None."""

    dtype: np.dtype
    evaluate: Callable[..., Number] | None

    @property
    def width(self) -> int:
        """Return the bytes of a value."""
        return self.dtype.itemsize

    @property
    def compares(self) -> bool:
        """Return whether it is a compare-and-swap, whose data are two values."""
        return self.evaluate is None

    @property
    def replaces(self) -> bool:
        """Return whether it is an exchange, whose new value does not depend on the old one."""
        return self.evaluate is _LESS["swap"]


def _op(name: str, kind: str, bits: int) -> AtomicOp:
    dtype = np.dtype((_WIDE if bits == 64 else _KINDS)[kind])
    return AtomicOp(dtype=dtype, evaluate=None if name == "cmpswap" else _LESS[name])


def _table(*, prefix: str, swap: str, compare: str, more: tuple[str, ...] = (), wide_floats: bool) -> dict[str, AtomicOp]:
    names = {"swap": swap, "cmpswap": compare}
    pairs = [
        *((name, "u") for name in ("add", "sub", "inc", "dec", *more)),
        *((name, kind) for name in ("min", "max") for kind in "ui"),
        *((name, "b") for name in ("and", "or", "xor", "swap", "cmpswap")),
    ]
    floats = [("min", "f"), ("max", "f"), ("cmpswap", "f")]
    rows = [
        ("add", "f", 32),
        *((name, kind, bits) for name, kind in pairs for bits in (32, 64)),
        *((name, kind, bits) for name, kind in floats for bits in ((32, 64) if wide_floats else (32,))),
    ]
    return {f"{prefix}{names.get(name, name)}_{kind}{bits}": _op(name, kind, bits) for name, kind, bits in rows}


GLOBAL = _table(prefix="global_atomic_", swap="swap", compare="cmpswap", wide_floats=False)
_LDS = _table(prefix="ds_", swap="storexchg", compare="cmpstore", more=("rsub",), wide_floats=True)
_RETURNING = {re.sub(r"_([uibf]\d+)$", r"_rtn_\1", name): op for name, op in _LDS.items()}
LDS = {name: op for name, op in _LDS.items() if "storexchg" not in name} | _RETURNING
NAMES = frozenset((*GLOBAL, *(name.replace("global_", "flat_") for name in GLOBAL), *LDS))


def decode_atomic(instruction: Instruction) -> Run:
    """Return the function that executes an atomic on a wave. Raises Unsupported for operands or modifiers of another form."""
    return _lds(instruction) if instruction.mnemonic in LDS else _global(instruction)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """An atomic with its registers: the first one of the data (new values, and after them or in `compared` what is compared),
    and the one that gets the old value, or None. `also` is a second counter that has to prove that it has ended.
    """

    op: AtomicOp
    line: int
    data: int
    target: int | None
    compared: int | None = None
    also: Counter | None = None

    @property
    def words(self) -> int:
        """Return the registers of one value."""
        return self.op.width // 4

    @property
    def keys(self) -> tuple[int, ...]:
        """Return the registers that get the old value."""
        return () if self.target is None else tuple(range(self.target, self.target + self.words))

    @property
    def values(self) -> tuple[tuple[int, Transfer], ...]:
        """Return where the data are: first registers and formats."""
        one, two = (Transfer(width=self.op.width * n, registers=self.words * n) for n in (1, 2))
        if not self.op.compares:
            return ((self.data, one),)
        return ((self.data, two),) if self.compared is None else ((self.data, one), (self.compared, one))

    @property
    def used(self) -> tuple[int, ...]:
        """Return the registers of the data."""
        return tuple(key for first, part in self.values for key in range(first, first + part.registers))

    def read(self, rows: Words, lanes: Flags) -> Bytes:
        """Return the data, or their undefined bits, of `lanes`: new values and then what is compared, (lanes, bytes)."""
        return np.concatenate([read_registers(rows, first, part, lanes) for first, part in self.values], axis=1)

    def begin(self, wave: Wave, counter: Counter, log: AccessLog, tag: int) -> None:
        """Record that it is under way."""
        wave.begin(Operation(line=self.line, counter=counter, keys=self.keys, log=log, tags=[tag], also=self.also))


def _global(instruction: Instruction) -> Run:
    is_flat = instruction.mnemonic.startswith("flat_")
    op, fields = GLOBAL[instruction.mnemonic.replace("flat_", "global_", 1)], instruction.fields()
    returns = "glc" in fields.modifiers
    offset, operands = offset_of(instruction, fields), list(fields.operands)
    if len(operands) != 3 - is_flat + returns:
        raise instruction.unsupported(f"{len(operands)} operands, expected {3 - is_flat + returns}")
    words = op.width // 4
    exchange = Exchange(
        op=op,
        line=instruction.line,
        target=vector_index(instruction, operands.pop(0), words) if returns else None,
        data=vector_index(instruction, operands[1], words * (1 + op.compares)),
        also=Counter.LGKM if is_flat else None,
    )
    if operands[0].kind is not Kind.VECTOR:
        raise instruction.unsupported("an address is needed")
    base = Operand(kind=Kind.OFF) if is_flat else operands[2]
    addresses = address_source(instruction, operands[0], base, offset, private=False)
    update = global_update(exchange, addresses)
    if not is_flat:
        return update
    low = operands[0].index
    return flat(addresses, instruction.line, update, _lds_update(exchange, low, offset), _refuse_private(instruction.line))


def _refuse_private(line: int) -> Run:
    return lambda wave: wave.fault(FaultKind.OUT_OF_BOUNDS, line, "an atomic on private memory, which has none")


def global_update(exchange: Exchange, addresses: Source) -> Run:
    """Return the function of an atomic on global memory."""
    op, line, target = exchange.op, exchange.line, exchange.target
    keys, used = exchange.keys, exchange.used
    touched = frozenset((*keys, *used, *addresses.keys))
    counter = Counter.VS if target is None else Counter.VM

    def run(wave: Wave) -> None:
        unclear = not wave.dirty.isdisjoint(touched)
        if unclear:
            wave.check_waited(line, (*addresses.keys, *used, *keys))
            if (addresses.undefined(wave)[wave.lanes] != 0).any():
                wave.fault(FaultKind.UNINITIALISED, line, "the address is a value that nothing wrote")
        pieces, lanes, states = reach(wave, line, addresses, op.width, does="updates")
        where = pieces.bytes()
        memory, log = wave.group.memory, wave.group.device.log
        unknown: Flags = (states == UNDEFINED).any(axis=1)
        if unknown.any() and not op.replaces:
            first = int(where[unknown][0, 0])
            wave.fault(FaultKind.UNINITIALISED, line, f"updates what nothing wrote, {memory.describe(first + BASE)}")
        if unclear and (unwritten := exchange.read(wave.vector_undefined, lanes).any(axis=1)).any():
            place = memory.describe(int(where[unwritten][0, 0]) + BASE)
            wave.fault(FaultKind.UNINITIALISED, line, f"a value that nothing wrote goes to memory, at {place}")
        old = _update(memory.data, where, op, exchange.read(wave.vector, lanes))
        _write_back(wave, target, op, lanes, old, unknown)
        memory.states[where] = DEFINED
        tag = log.begin(wave.group.access(line, wave.index))
        wave.exchange(((-1, place) for place in pieces.where.tolist()), acquires=target is not None)
        report_conflicts(wave, line, log.update(tag, pieces), pieces, "updates")
        exchange.begin(wave, counter, log, tag)

    return run


def _lds(instruction: Instruction) -> Run:
    op, fields = LDS[instruction.mnemonic], instruction.fields()
    modifiers, operands, returns = dict(fields.modifiers), list(fields.operands), "_rtn_" in instruction.mnemonic
    offset = lds_offset(instruction, modifiers.pop("offset", "0"), 65535)
    if modifiers or len(operands) != 2 + returns + op.compares:
        raise instruction.unsupported("operands or modifiers that it doesn't have")
    words = op.width // 4
    target = vector_index(instruction, operands.pop(0), words) if returns else None
    base, *data = (vector_index(instruction, x, n) for x, n in zip(operands, (1, words, words), strict=False))
    compared = data[1] if op.compares else None
    return _lds_update(Exchange(op=op, line=instruction.line, data=data[0], compared=compared, target=target), base, offset)


def _lds_update(exchange: Exchange, base: int, offset: int) -> Run:
    op, line, target = exchange.op, exchange.line, exchange.target
    keys, used = exchange.keys, exchange.used
    touched = frozenset((base, *keys, *used))
    part = Part(offset=offset, register=exchange.data, transfer=Transfer(width=op.width, registers=exchange.words))

    def run(wave: Wave) -> None:
        unclear = not wave.dirty.isdisjoint(touched)
        if unclear:
            wave.check_waited(line, (base, *used, *keys))
            wave.check_address(line, base)
        lds, group = wave.group.lds, wave.group
        plan = planned(wave, line, wave.u32[base], part)
        where = plan.pieces.bytes()
        unknown: Anything = lds.undefined[where].any(axis=1)
        left = np.zeros_like(unknown) if op.replaces else unknown
        if unclear:
            given = exchange.read(wave.vector_undefined, plan.lanes).any(axis=1)
            unknown, left = unknown | given, left | given
        old = _update(lds.data, where, op, exchange.read(wave.vector, plan.lanes))
        if op.replaces:
            lds.undefined[where] = np.where(left, 0xFF, 0)[:, None]  # of lanes at one place the last one stays
        else:
            lds.undefined[where[left]] = 0xFF
        _write_back(wave, target, op, plan.lanes, old, unknown)
        tag = lds.log.begin(group.access(line, wave.index))
        wave.exchange(((group.index, place) for place in plan.pieces.where.tolist()), acquires=target is not None)
        report_lds_conflicts(wave, line, lds.log.update(tag, plan.pieces), "updates", plan)
        exchange.begin(wave, Counter.LGKM, lds.log, tag)

    return run


def _update(memory: Bytes, where: Indices, op: AtomicOp, data: Bytes) -> Bytes:
    """Apply the atomic of each lane to its bytes `where` (lanes, width) in turn; return the old bytes, (lanes, width)."""
    old: Bytes = np.empty((len(where), op.width), dtype=np.uint8)
    evaluate = op.evaluate or _swapped_if_equal
    numbers = np.ascontiguousarray(data).view(op.dtype)
    for lane, place in enumerate(where):
        old[lane] = memory[place]
        (before,) = old[lane].view(op.dtype)
        memory[place] = np.asarray(evaluate(before, *numbers[lane]), dtype=op.dtype).reshape(1).view(np.uint8)
    return old


def _swapped_if_equal(old: Number, new: Number, compared: Number) -> Number:
    return new if old == compared else old


def _write_back(wave: Wave, target: int | None, op: AtomicOp, lanes: Flags, old: Bytes, unknown: Flags | None = None) -> None:
    if target is None:
        return
    transfer = Transfer(width=op.width, registers=op.width // 4)
    undefined: Bytes = np.zeros_like(old)
    if unknown is not None:
        undefined[unknown] = 0xFF
    write_registers(wave, target, transfer, old, undefined, lanes)
    missed = wave.lanes & ~lanes
    if missed.any():
        nothing: Bytes = np.zeros((int(missed.sum()), op.width), dtype=np.uint8)
        write_registers(wave, target, transfer, nothing, nothing, missed)
