"""Run one kernel of an assembly text over a grid. Nothing is carried over from one launch to another."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from expctl.gfx11.arguments import KERNARG, PACKET, Extent, Shifted, Value, buffers_of, place
from expctl.gfx11.decode_program import Decoded, decode
from expctl.gfx11.machine.accesses import AccessLog
from expctl.gfx11.machine.arrays import ALL_BITS, LANES, Anything, Flags, Words
from expctl.gfx11.machine.clocks import Clocks
from expctl.gfx11.machine.counts import Counts, Tally
from expctl.gfx11.machine.faults import Fault, FaultLog
from expctl.gfx11.machine.memory import Memory
from expctl.gfx11.machine.schedule import run_waves
from expctl.gfx11.machine.team import Team
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.machine.workgroup import Device, Workgroup
from expctl.gfx11.text.constants import constants_of
from expctl.gfx11.text.descriptor import Descriptor, parse_descriptor
from expctl.gfx11.text.errors import BadLaunch, Runaway
from expctl.gfx11.text.operand import EXEC_HI
from expctl.gfx11.text.program import parse_program, with_callees
from expctl.gpu.architectures import ARCHITECTURES

MOST_GROUPS = 1 << 20
"""More workgroups would run for hours here."""
MOST_WORK = 1 << 62
MOST_LDS_BYTES = ARCHITECTURES["gfx1151"].lds_most


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """A parsed and decoded kernel. It keeps nothing of a launch, so it may be launched again."""

    descriptor: Descriptor
    decoded: Decoded
    constants: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpretation:
    """The result of one launch: the contents of its buffers, the faults found and the counts of instructions."""

    outputs: dict[str, Anything]
    """Every buffer after the launch, in its shape and type; bytes that nothing wrote are 0xff, a NaN as a half or a float."""
    written: dict[str, Flags]
    """For each buffer, flags in its shape: True where every bit of the element is defined."""
    faults: tuple[Fault, ...]
    counts: Counts


@lru_cache(maxsize=32)
def load(assembly: str, kernel: str) -> Kernel:
    """Parse and decode one kernel of an assembly text. Raises BadLaunch if it is missing, Unsupported for unknown code."""
    descriptor, program = parse_descriptor(assembly, kernel), with_callees(assembly, parse_program(assembly, kernel))
    decoded = decode(program, vector_registers=descriptor.vector_registers)
    return Kernel(descriptor=descriptor, decoded=decoded, constants=constants_of(assembly, program))


def interpret(
    assembly: str,
    kernel: str,
    grid: Extent,
    block: Extent,
    arguments: Mapping[str, Value],
    *,
    order_seed: int,
    dynamic_lds_bytes: int = 0,
    most_instructions: int = 10_000_000,
) -> Interpretation:
    """Run one kernel of an assembly text with `grid` workgroups of `block` threads; return buffers, faults and counts.

    `arguments` are in the order of the kernel's parameters; their names are chosen by the caller and appear in faults. Arrays
    are copied, never written. `order_seed` seeds the order of the workgroups and, from barrier to barrier, of the waves; the
    results of a kernel without races don't depend on it. Workgroups run in the reverse of the order of
    the even seed before it where a seed is odd. Raises Unsupported for unknown code, BadLaunch if kernel, shape or arguments
    don't fit, Runaway if one wave executes more than `most_instructions`.
    """
    return launch(
        load(assembly, kernel), grid, block, arguments, order_seed=order_seed, dynamic_lds_bytes=dynamic_lds_bytes,
        most_instructions=most_instructions,
    )  # fmt: skip


def launch(
    kernel: Kernel,
    grid: Extent,
    block: Extent,
    arguments: Mapping[str, Value],
    *,
    order_seed: int,
    dynamic_lds_bytes: int = 0,
    most_instructions: int = 10_000_000,
    most_work: int = MOST_WORK,
    together: bool | None = None,
) -> Interpretation:
    """Run a kernel that `load` returned, with `grid` workgroups of `block` threads; return buffers, faults and counts. The
    other arguments and the errors are those of `interpret`. `together` says whether the waves of a workgroup run side by side,
    which is faster, or one after the other from barrier to barrier; None: side by side where `order_seed` is even. `most_work`
    limits what the waves of a workgroup do in all, as Block.work counts it.
    """
    descriptor, decoded = kernel.descriptor, kernel.decoded
    _check_extents(descriptor, grid, block, dynamic_lds_bytes)
    memory = place(descriptor, arguments, grid, block, kernel.constants)
    memory.functions = decoded.functions
    clocks = Clocks() if decoded.has_atomics else None
    device = Device(
        memory=memory,
        log=AccessLog(memory.regions(), shared=True, clocks=clocks),
        clocks=clocks,
        faults=FaultLog(),
        tally=Tally([0] * len(decoded.blocks)),
        most_instructions=most_instructions,
        most_work=most_work,
    )
    order, numbers = _orders(order_seed, grid[0] * grid[1] * grid[2])
    together = order_seed % 2 == 0 if together is None else together
    lds_bytes = descriptor.lds_bytes + dynamic_lds_bytes
    try:
        with np.errstate(all="ignore"):
            _run_groups(kernel, device, grid, numbers, _workitems(descriptor, block), lds_bytes, order, together=together)
    except Runaway as error:
        error.faults = device.faults.all()
        raise
    return _interpretation(decoded, device, arguments)


def _check_extents(descriptor: Descriptor, grid: Extent, block: Extent, dynamic_lds_bytes: int) -> None:
    threads = block[0] * block[1] * block[2]
    groups = grid[0] * grid[1] * grid[2]
    if not 0 < threads <= descriptor.most_threads or min(*grid, *block) < 1 or groups > MOST_GROUPS:
        raise BadLaunch(
            "the kernel can't be launched with this grid or block",
            code="grid-or-block-unfit",
            expected=f"1 to {MOST_GROUPS} workgroups of 1 to {descriptor.most_threads} threads",
            found=f"grid {grid}, block {block}",
            hint="correct grid or block; __launch_bounds__, .max_flat_workgroup_size in the metadata, says the most threads",
        )
    if descriptor.lds_bytes + dynamic_lds_bytes > MOST_LDS_BYTES:
        raise BadLaunch(
            "the kernel can't be launched with so much LDS",
            code="lds-too-large",
            expected=f"at most {MOST_LDS_BYTES} bytes for a workgroup",
            found=f"{descriptor.lds_bytes} bytes of its own, and {dynamic_lds_bytes} of dynamic LDS",
            hint="correct the bytes of dynamic LDS",
        )


def _orders(seed: int, groups: int) -> tuple[random.Random, list[int]]:
    """Return what draws the orders of waves, and the order of the workgroups. With an odd seed that is the reverse of the one
    with the seed before it, so that of any two workgroups each runs before the other: what a workgroup does may depend on it.
    """
    order, numbers = random.Random(seed - seed % 2), list(range(groups))  # noqa: S311  an order, not a secret
    order.shuffle(numbers)
    return (random.Random(seed), numbers[::-1]) if seed % 2 else (order, numbers)  # noqa: S311


def _run_groups(
    kernel: Kernel,
    device: Device,
    grid: Extent,
    numbers: list[int],
    items: list[Anything],
    lds_bytes: int,
    order: random.Random,
    *,
    together: bool,
) -> None:
    descriptor, blocks = kernel.descriptor, list(kernel.decoded.blocks)
    for index in numbers:
        ids = (index % grid[0], index // grid[0] % grid[1], index // (grid[0] * grid[1]))
        group = Workgroup(index, device, lds_bytes=lds_bytes, private_bytes=descriptor.private_bytes, most_waves=len(items))
        storage: Words = np.zeros((max(descriptor.vector_registers, 1), len(items), LANES), dtype=np.uint32)
        waves = [_wave(i, group, descriptor, device.memory, lanes, ids, storage) for i, lanes in enumerate(items)]
        run_waves(group, waves, blocks, order, Team(waves, storage) if together and len(waves) > 1 else None)


def _workitems(descriptor: Descriptor, block: Extent) -> list[Anything]:
    """Return the initial v0 of each wave: the packed work-item ids of its threads, (number of threads,) uint32."""
    flat: Anything = np.arange(block[0] * block[1] * block[2], dtype=np.uint32)
    x, y, z = flat % block[0], flat // block[0] % block[1], flat // (block[0] * block[1])
    packed = x
    if descriptor.workitem_axes > 1:
        packed = packed | y << 10
    if descriptor.workitem_axes > 2:
        packed = packed | z << 20
    return [packed[first : first + LANES].astype(np.uint32) for first in range(0, len(packed), LANES)]


def _wave(
    index: int, group: Workgroup, descriptor: Descriptor, memory: Memory, items: Anything, ids: Extent, storage: Words
) -> Wave:
    lanes = ALL_BITS if len(items) == LANES else (1 << len(items)) - 1
    wave = Wave(index, group, vector_registers=len(storage), lanes=lanes, storage=storage[:, index])
    wave.define_vector(0, np.pad(items, (0, LANES - len(items))))
    wave.define_scalar(EXEC_HI, 0)
    values = {
        "dispatch_ptr": memory.buffer(PACKET).address,
        "queue_ptr": 0,  # no load from it is inside a buffer
        "dispatch_id": 0,
        "kernarg_segment_ptr": memory.buffer(KERNARG).address,
        "private_segment_size": descriptor.private_bytes,
    }
    at = 0
    for name, count in descriptor.user:
        for i in range(count):
            wave.define_scalar(at + i, values[name] >> 32 * i & ALL_BITS)
        at += count
    at = descriptor.user_registers
    for is_wanted, number in zip(descriptor.workgroup_ids, ids, strict=True):
        if is_wanted:
            wave.define_scalar(at, number)
            at += 1
    return wave


def _interpretation(decoded: Decoded, device: Device, arguments: Mapping[str, Value]) -> Interpretation:
    outputs: dict[str, Anything] = {}
    written: dict[str, Flags] = {}
    for name, value in buffers_of(arguments).items():
        by, buffer = (value.by, value.values) if isinstance(value, Shifted) else (0, value)
        dtype = np.dtype(buffer.dtype)
        outputs[name] = device.memory.contents(name)[by:].copy().view(dtype).reshape(buffer.shape)
        states = device.memory.written(name)[by:].reshape(*buffer.shape, dtype.itemsize)
        written[name] = np.asarray(states.all(axis=-1))
    executed = [0] * len(decoded.program.instructions)
    for block, times in zip(decoded.blocks, device.tally.executions, strict=True):
        executed[block.first : block.first + block.size] = [times] * block.size
    counts = Counts(program=decoded.program, executed=tuple(executed), traffic=device.tally.traffic)
    return Interpretation(outputs=outputs, written=written, faults=device.faults.all(), counts=counts)
