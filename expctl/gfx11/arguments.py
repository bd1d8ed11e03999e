"""Lay out the kernel arguments of a launch as the kernel's metadata says, and the dispatch packet that a kernel may read."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from expctl.gfx11.machine.arrays import Anything, Bytes
from expctl.gfx11.machine.memory import Memory
from expctl.gfx11.text.descriptor import Argument, Descriptor
from expctl.gfx11.text.errors import BadLaunch

Extent = tuple[int, int, int]
_FLOATS = {2: "<e", 4: "<f", 8: "<d"}
MOST_NUMBER_BYTES = 8
EMPTY: Mapping[str, bytes] = {}
KERNARG, PACKET = "the kernel arguments", "the dispatch packet"
PACKET_BYTES = 64
KERNARG_GRANULE = 64
"""The kernel argument segment is padded to a multiple of 64 bytes, undefined ones, for compilers load a little past its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unwritten:
    """A kernel argument: an output buffer whose bytes are undefined at first; using one before it is written is a fault."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shifted:
    """A kernel argument: the array `values`, placed `by` bytes after an aligned address."""

    values: Anything
    by: int


Buffer = Anything | Unwritten | Shifted


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A kernel argument: the bytes of a struct or vector that is passed by value. `pointers` maps offsets in it to the names of
    `buffers`, whose addresses go there.
    """

    raw: bytes
    pointers: Mapping[int, str] = field(default_factory=dict)
    buffers: Mapping[str, Buffer] = field(default_factory=dict)


Value = Buffer | Packed | int | float | None
"""A kernel argument: an array, Shifted or Unwritten is a buffer, None is a null pointer, Packed is passed by value. So is a
number: an int as an integer, another one as a float of the parameter's size, for the metadata doesn't say which is meant.
"""


def buffers_of(values: Mapping[str, Value]) -> dict[str, Buffer]:
    """Return the buffers among kernel arguments by name, those that structs point to as well."""
    found: dict[str, Buffer] = {}
    for name, value in values.items():
        if isinstance(value, Packed):
            found |= value.buffers
        elif isinstance(value, (np.ndarray, Unwritten, Shifted)):
            found[name] = value
    return found


def place(
    descriptor: Descriptor,
    values: Mapping[str, Value],
    grid: Extent,
    block: Extent,
    constants: Mapping[str, bytes] = EMPTY,
) -> Memory:
    """Return the global memory of a launch, with its buffers, kernel arguments, dispatch packet and `constants` (by symbol)
    filled in. `grid` counts workgroups and `block` threads per axis. Raises BadLaunch if the values don't fit the kernel's
    arguments.
    """
    visible = [argument for argument in descriptor.arguments if not argument.kind.startswith("hidden_")]
    if len(visible) != len(values):
        raise BadLaunch(
            f"kernel {descriptor.name} takes another number of arguments",
            code="kernel-arguments-differ",
            expected=f"{len(visible)} arguments, of the kinds {', '.join(argument.kind for argument in visible)}",
            found=f"{len(values)} arguments, named {', '.join(values)}",
            hint="pass one value for each parameter of the kernel, in their order",
        )
    buffers = buffers_of(values)
    sizes = {name: size_of(value) for name, value in buffers.items()}
    room = -(-max(descriptor.kernarg_bytes, 1) // KERNARG_GRANULE) * KERNARG_GRANULE
    memory = Memory({KERNARG: room, PACKET: PACKET_BYTES, **{name: len(raw) for name, raw in constants.items()}, **sizes})
    for name, raw in constants.items():
        memory.fill(name, np.frombuffer(raw, dtype=np.uint8))
    kernarg = np.zeros(descriptor.kernarg_bytes, dtype=np.uint8)
    for name, value in buffers.items():
        if isinstance(value, np.ndarray):
            memory.fill(name, value)
        elif isinstance(value, Shifted):
            memory.fill(name, np.concatenate((np.zeros(value.by, dtype=np.uint8), value.values.reshape(-1).view(np.uint8))))
            memory.undefine(memory.buffer(name).offset, value.by)
    for argument, (name, value) in zip(visible, values.items(), strict=True):
        kernarg[argument.offset : argument.offset + argument.size] = _encoded(argument, name, value, memory)
    memory.fill(KERNARG, kernarg)
    hidden = _hidden(grid, block)
    buffer = memory.buffer(KERNARG)
    for argument in descriptor.arguments:
        if argument.kind.startswith("hidden_"):
            known = hidden.get(argument.kind)
            begin = buffer.offset + argument.offset
            if known is None:
                memory.undefine(begin, argument.size)
            else:
                raw = int(known).to_bytes(argument.size, "little")
                memory.data[begin : begin + argument.size] = np.frombuffer(raw, dtype=np.uint8)
    memory.fill(PACKET, _packet(grid, block))
    return memory


def size_of(value: Buffer) -> int:
    """Return the size in bytes of the buffer for a kernel argument; for a Shifted one, including its shift."""
    if isinstance(value, Shifted):
        return value.by + int(value.values.nbytes)
    if isinstance(value, Unwritten):
        return int(np.prod(value.shape)) * np.dtype(value.dtype).itemsize
    return int(value.nbytes)


def _encoded(argument: Argument, name: str, value: Value, memory: Memory) -> Bytes:
    wants_pointer = argument.kind == "global_buffer"
    if isinstance(value, (np.ndarray, Unwritten, Shifted)) or value is None:
        if not wants_pointer:
            raise BadLaunch(
                f"kernel argument {name} is a buffer or None, where the kernel takes a number",
                code="argument-is-a-buffer",
                expected=f"a number of {argument.size} bytes (the metadata says {argument.kind})",
                found="None" if value is None else "an array or buffer",
                hint=f"pass an int or a float as {name}",
            )
        address = 0 if value is None else memory.buffer(name).address + (value.by if isinstance(value, Shifted) else 0)
        return np.frombuffer(struct.pack("<Q", address), dtype=np.uint8)
    if wants_pointer or argument.kind != "by_value":
        raise BadLaunch(
            f"kernel argument {name} is a number, where the kernel takes a buffer",
            code="argument-is-a-number",
            expected=f"an array (the metadata says {argument.kind})",
            found=f"the number {value}",
            hint=f"pass a numpy array as {name}, or Unwritten(shape=..., dtype=...) for an output, or None for a null pointer",
        )
    raw = _packed(value, memory) if isinstance(value, Packed) else _number(value, argument.size)
    if len(raw) != argument.size:
        raise BadLaunch(
            f"kernel argument {name} has another size than the kernel takes",
            code="argument-size-differs",
            expected=f"{argument.size} bytes",
            found=f"{len(raw)} bytes" if isinstance(value, Packed) else f"the number {value}",
            hint="pass a struct or vector as Packed(raw=...), with all of its members and padding",
        )
    return np.frombuffer(raw, dtype=np.uint8)


def _number(value: float, size: int) -> bytes:
    """Return the bytes of a number for a parameter of `size` bytes; none if such a parameter takes no number."""
    if isinstance(value, (float, np.floating)):
        return struct.pack(_FLOATS[size], value) if size in _FLOATS else b""
    return (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little") if size <= MOST_NUMBER_BYTES else b""


def _packed(value: Packed, memory: Memory) -> bytes:
    raw = bytearray(value.raw)
    for at, buffer in value.pointers.items():
        raw[at : at + 8] = struct.pack("<Q", memory.buffer(buffer).address)
    return bytes(raw)


def _hidden(grid: Extent, block: Extent) -> dict[str, int]:
    """Return the hidden kernel arguments that describe grid and block, by value_kind. Others (hostcall buffer, heap) are left
    out.
    """
    values = {"hidden_grid_dims": max(1 + (grid[1] * block[1] > 1), 3 * (grid[2] * block[2] > 1))}
    for i, axis in enumerate("xyz"):
        values[f"hidden_block_count_{axis}"] = grid[i]
        values[f"hidden_group_size_{axis}"] = block[i]
        values[f"hidden_remainder_{axis}"] = 0
        values[f"hidden_global_offset_{axis}"] = 0
    return values


def _packet(grid: Extent, block: Extent) -> Bytes:
    """Return an AQL kernel dispatch packet (HSA 1.2), 64 bytes: workgroup size at byte 4, grid size in threads at byte 12."""
    raw = struct.pack("<HHHHHHIII", 0, 3, *block, 0, *(g * b for g, b in zip(grid, block, strict=True)))
    return np.frombuffer(raw.ljust(PACKET_BYTES, b"\0"), dtype=np.uint8)
