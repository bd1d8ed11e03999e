"""The waves of a workgroup while they take the same way: one array of lanes, on which an instruction runs once for all.

A Team looks like a wide Wave to instructions that treat every lane alike, and to scalar ones where all waves have the same
values. While it `is_one`, it holds what the waves have in common: scalar registers, active lanes, memory accesses under way.
For an instruction that runs wave by wave it hands that to the waves, and takes it back before the next that doesn't.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from expctl.gfx11.machine.arrays import ALL_BITS, LANES, Flags, Indices, Words, lanes_of, masks_of
from expctl.gfx11.machine.in_flight import InFlight
from expctl.gfx11.machine.waits import Counter, Operation, Waits
from expctl.gfx11.machine.wave import SCALAR_KEY
from expctl.gfx11.text.operand import EXEC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from expctl.gfx11.machine.accesses import AccessLog
    from expctl.gfx11.machine.wave import Wave


MOST_TAKEN = 32
"""More accesses under way of one counter are not handed over again: an endless loop may never wait for them."""


class Team(InFlight):
    """All waves of a workgroup; `storage` has their vector registers, (registers, waves, 32). Rows are those of Wave, for the
    lanes of all waves: (waves * 32,). `scalar` has the scalar registers but those `varying`, which each wave has for itself.
    `order` is the order of the waves where they run one by one.
    """

    __slots__ = (
        "_has_new_exec", "_is_one", "_new", "_ranks", "_scalars", "exec", "execs", "f32", "full", "high", "i32", "lanes", "low",
        "order", "owners", "resume", "scalar", "size", "u32", "varying", "vector", "waves",
    )  # fmt: skip

    def __init__(self, waves: Sequence[Wave], storage: Words) -> None:
        self.waves = tuple(waves)
        self.set_order(waves)
        self.group = waves[0].group
        self.size = len(waves) * LANES
        self.owners: Indices = np.arange(self.size) // LANES
        self.vector: Words = storage.reshape(len(storage), self.size)
        self.u32 = list(self.vector)
        self.i32 = list(self.vector.view(np.int32))
        self.f32 = list(self.vector.view(np.float32))
        halves = self.vector.view(np.float16)
        self.low, self.high = list(halves[:, 0::2]), list(halves[:, 1::2])
        self._scalars = [wave.scalar for wave in waves]
        self.scalar: list[int] = []
        self.varying: set[int] = set()
        self._new: set[int] = set()
        """Scalar registers that the waves don't have yet."""
        self._has_new_exec = False
        self.pending, self.waits = {}, Waits()
        self.resume = waves[0].resume
        self._is_one = False

    def agents(self) -> tuple[int, ...]:
        """Return the numbers of the waves in the launch."""
        return tuple(self.group.agent(wave.index) for wave in self.waves)

    def set_order(self, order: Sequence[Wave]) -> None:
        """Set the order of the waves."""
        self.order = tuple(order)
        self._ranks = [self.order.index(wave) for wave in self.waves]

    def is_one(self) -> bool:
        """Take from the waves what they have in common, if it isn't here; return False if they have too little."""
        if self._is_one:
            return True
        if any(any(wave.waits.under_way.values()) for wave in self.waves) and not self._take_operations():
            return False
        first, *others = self._scalars
        self.scalar = first.copy()
        self.varying = set()
        for scalars in others:
            if scalars != first:
                self.varying.update(n for n, (one, other) in enumerate(zip(first, scalars, strict=True)) if one != other)
        self._new.clear()
        self._read_exec()
        self.undefined = set().union(*(wave.undefined for wave in self.waves))
        self.dirty = self.undefined | self.pending.keys()
        self._is_one = True
        return True

    def part(self) -> None:
        """Give each wave what the team holds."""
        if not self._is_one:
            return
        for n in self._new:
            for scalars in self._scalars:
                scalars[n] = self.scalar[n]
        self._give_exec()
        self._give_operations()
        self._is_one = False

    def each(self, step: Callable[[Wave], object]) -> None:
        """Run a step wave by wave."""
        self.part()
        for wave in self.order:
            step(wave)

    def each_of(self, step: Callable[[Wave], object], touched: frozenset[int]) -> None:
        """Run a step wave by wave that uses none but the registers with the keys `touched`, none of which is awaited."""
        scalars = [key - SCALAR_KEY for key in touched if key >= SCALAR_KEY]
        for n in self._new.intersection(scalars):
            for each in self._scalars:
                each[n] = self.scalar[n]
        self._give_exec()
        for wave in self.order:
            step(wave)
        self._new.difference_update(scalars)
        for n in scalars:
            self._settle(n)
        self._read_exec()
        self._note_undefined(touched)

    def define(self, define: Callable[[Wave], None], whole: frozenset[int] | None, touched: frozenset[int]) -> None:
        """Mark as defined what an instruction writes that touches the registers with the keys `touched`: by `define`, or, if it
        writes `whole` vector registers in all lanes, these.
        """
        if self.full and whole is not None:
            for wave in self.waves:
                for key in whole:
                    wave.vector_undefined[key] = 0
                wave.undefined -= whole
                wave.dirty -= whole
            self.undefined -= whole
            self.dirty -= whole
            return
        self._give_exec()
        for wave in self.waves:
            define(wave)
        self._note_undefined(touched)

    def _note_undefined(self, touched: frozenset[int]) -> None:
        undefined = {key for key in touched if any(key in wave.undefined for wave in self.waves)}
        for keys in (self.undefined, self.dirty):
            keys.difference_update(touched)
            keys.update(undefined)

    def wrote(self, registers: frozenset[int]) -> None:
        """Record that a step has written to `scalar` what all waves have."""
        self.varying -= registers
        self._new |= registers

    def agrees(self, registers: frozenset[int]) -> bool:
        """Return whether the scalar `registers` are neither undefined nor awaited, and have the same values in all waves."""
        is_one = self.is_one() and self.varying.isdisjoint(registers)
        return is_one and not any(SCALAR_KEY + n in self.dirty for n in registers)

    def may_load(self, address: Iterable[int], data: Iterable[int], counter: Counter) -> bool:
        """Return whether a load may run without a check: the registers of its address are neither undefined nor awaited, those
        of its data not undefined, and awaited only by loads that return before it.
        """
        if not self.dirty.isdisjoint(address) or not self.undefined.isdisjoint(data):
            return False
        waited = [self.pending[key] for key in data if key in self.pending]
        return all(operation.counter is counter and operation.in_order for operation in waited)

    def tags(self, line: int, log: AccessLog, parts: int = 1) -> list[list[int]]:
        """Add to the log `parts` accesses of each wave, which begin now; return the tags of each part by wave."""
        agents = [self.group.agent(wave.index) for wave in self.order]
        first = log.begin_several(line, agents, parts, self.group.index, self.group.epoch)
        return [[first + rank * parts + part for rank in self._ranks] for part in range(parts)]

    def set_exec(self, bits: int) -> None:
        """Set EXEC of all waves to a 32-bit lane mask."""
        self.exec = self.scalar[EXEC] = bits
        self.execs = [bits] * len(self.waves)
        self.full = bits == ALL_BITS
        self.lanes: Flags = self._repeated(lanes_of(bits))
        self._has_new_exec = True
        self.wrote(frozenset((EXEC,)))

    def narrow_exec(self, result: Flags) -> None:
        """Keep those active lanes active whose flag in `result` is set."""
        masks = masks_of(result & self.lanes)
        if masks.count(masks[0]) == len(masks):
            self.set_exec(masks[0])
            return
        for wave, bits in zip(self.waves, masks, strict=True):
            wave.set_exec(bits)
        self._new.discard(EXEC)
        self._read_exec()
        self._settle(EXEC)

    def put_mask(self, index: int, result: Flags) -> None:
        """Write flags of the lanes as each wave's mask in scalar register `index`; inactive lanes get 0."""
        masks = masks_of(result & self.lanes)
        for scalars, bits in zip(self._scalars, masks, strict=True):
            scalars[index] = bits
        self._new.discard(index)
        self._settle(index)

    def mask(self, index: int) -> Flags:
        """Return the masks in scalar register `index` as flags of the lanes."""
        if index not in self.varying:
            return self._repeated(lanes_of(self.scalar[index]))
        words = np.array([scalar[index] for scalar in self._scalars], dtype=np.uint32)
        return np.unpackbits(words.view(np.uint8), bitorder="little").view(np.bool_)

    def _repeated(self, lanes: Flags) -> Flags:
        return np.asarray(np.broadcast_to(lanes, (len(self.waves), LANES)).reshape(-1))

    def spread(self, index: int, into: Words) -> None:
        """Write the values of scalar register `index` to the first elements of `into`, one for each lane."""
        if index not in self.varying:
            into[: self.size] = self.scalar[index]
        else:
            into[: self.size] = np.repeat(np.array(self._values(index), dtype=np.uint32), LANES)

    def spread_pair(self, index: int, into: NDArray[np.uint64]) -> None:
        """Write the values of a pair of scalar registers to the first elements of `into`, one for each lane."""
        if index not in self.varying and index + 1 not in self.varying:
            into[: self.size] = self.scalar[index] | self.scalar[index + 1] << 32
            return
        pairs = zip(self._values(index), self._values(index + 1), strict=True)
        into[: self.size] = np.repeat(np.array([low | high << 32 for low, high in pairs], dtype=np.uint64), LANES)

    def _values(self, index: int) -> list[int]:
        return [scalar[index] if index in self.varying else self.scalar[index] for scalar in self._scalars]

    def _settle(self, index: int) -> None:
        """Find out whether a scalar register that the waves have has the same value in all."""
        values = [scalar[index] for scalar in self._scalars]
        if values.count(values[0]) == len(values):
            self.scalar[index] = values[0]
            self.varying.discard(index)
        else:
            self.varying.add(index)

    def _read_exec(self) -> None:
        self.exec = self.waves[0].exec
        self.execs = [wave.exec for wave in self.waves]
        self.full = all(wave.full for wave in self.waves)
        self.lanes = np.concatenate([wave.lanes for wave in self.waves])
        self._has_new_exec = False

    def _give_exec(self) -> None:
        if self._has_new_exec:
            for wave in self.waves:
                wave.set_exec(self.exec)
            self._has_new_exec = False

    def _give_operations(self) -> None:
        copies: dict[int, list[Operation]] = {}
        for counter, operations in self.waits.under_way.items():
            for operation in operations:
                if id(operation) not in copies:
                    copies[id(operation)] = [operation.with_tags(tags) for tags in self._tags_by_wave(operation)]
                for wave, copy in zip(self.waves, copies[id(operation)], strict=True):
                    wave.waits.under_way[counter].append(copy)
        for key, operation in self.pending.items():
            for wave, copy in zip(self.waves, copies[id(operation)], strict=True):
                wave.pending[key] = copy
                wave.dirty.add(key)
        self.pending, self.waits = {}, Waits()

    def _tags_by_wave(self, operation: Operation) -> list[list[int]]:
        each = len(operation.tags) // len(self.waves)
        return [operation.tags[i * each : (i + 1) * each] for i in range(len(self.waves))]

    def _take_operations(self) -> bool:
        """Take the memory accesses under way from the waves, if all of them have the same."""
        joint: dict[int, Operation] = {}
        waits = Waits()
        for counter, taken in waits.under_way.items():
            lists = [wave.waits.under_way[counter] for wave in self.waves]
            if len({len(operations) for operations in lists}) > 1 or len(lists[0]) > MOST_TAKEN:
                return False
            for column in zip(*lists, strict=True):
                first = column[0]
                if not all(first.is_like(each) for each in column[1:]):
                    return False
                if id(first) not in joint:
                    whole = first.with_tags([tag for each in column for tag in each.tags])
                    joint |= {id(each): whole for each in column}
                if any(joint.get(id(each)) is not joint[id(first)] for each in column):
                    return False
                taken.append(joint[id(first)])
        pending = [{key: joint.get(id(operation)) for key, operation in wave.pending.items()} for wave in self.waves]
        if any(each != pending[0] for each in pending[1:]) or None in pending[0].values():
            return False
        for wave in self.waves:
            wave.dirty -= wave.pending.keys() - wave.undefined
            wave.pending, wave.waits = {}, Waits()
        self.waits = waits
        self.pending = {key: operation for key, operation in pending[0].items() if operation is not None}
        return True
