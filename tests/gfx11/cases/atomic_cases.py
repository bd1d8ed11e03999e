"""Atomics on global memory and LDS: 32 lanes, some on one place, act in turn, on Python's integers and floats."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial

import numpy as np

from expctl.gfx11.access import atomic
from expctl.gfx11.single_instruction import execute, fresh_wave
from tests.gfx11.cases.procedure import Procedure, kinds, registers

_PLACES = 24  # of 8 bytes; lanes 24 to 31 meet lanes 0 to 7
MEANING: dict[str, Callable[..., int]] = {
    "add": lambda old, x, _: old + x,
    "sub": lambda old, x, _: old - x,
    "rsub": lambda old, x, _: x - old,
    "inc": lambda old, x, _: 0 if old >= x else old + 1,
    "dec": lambda old, x, _: x if old == 0 or old > x else old - 1,
    "min": lambda old, x, _: min(old, x),
    "max": lambda old, x, _: max(old, x),
    "and": lambda old, x, _: old & x,
    "or": lambda old, x, _: old | x,
    "xor": lambda old, x, _: old ^ x,
    "swap": lambda old, x, _: x,
    "storexchg": lambda old, x, _: x,
    "cmpswap": lambda old, x, wanted: x if old == wanted else old,
    "cmpstore": lambda old, x, wanted: x if old == wanted else old,
}
_NUMBERS = {"u32": "I", "i32": "i", "b32": "I", "f32": "f", "u64": "Q", "i64": "q", "b64": "Q", "f64": "d"}


def start(i: int, kind: str) -> float:
    """What a place holds, or a lane brings: positive, negative, small, large."""
    if kind[0] == "f":
        return (i * 0.75 - 7) * (-1.0 if i % 2 else 1.0)
    value = (i * 0x9E3779B97F4A7C15 + (i << 61)) % (1 << int(kind[1:])) if i % 3 else i % 5
    return value - (1 << int(kind[1:])) if kind[0] == "i" and value >> int(kind[1:]) - 1 else value


def packed(value: float, kind: str) -> bytes:
    if kind[0] == "f":
        return struct.pack(f"<{_NUMBERS[kind]}", value)
    return (int(value) % (1 << int(kind[1:]))).to_bytes(int(kind[1:]) // 8, "little")


def number_of(raw: bytes, kind: str) -> float:
    (value,) = struct.unpack(f"<{_NUMBERS[kind]}", raw)
    return float(value) if kind[0] == "f" else int(value)


def check(text: str, name: str, kind: str, place: str, returns: bool) -> None:
    """Compare memory and the returned values with what the definition says; compares match in every second place."""
    width, wave = int(kind[1:]) // 8, fresh_wave(buffers={"x": 8 * _PLACES}, lds_bytes=8 * _PLACES)
    before = [start(i, kind) for i in range(_PLACES)]
    raw = b"".join(packed(value, kind).ljust(8, b"\0") for value in before)
    wave.group.memory.fill("x", np.frombuffer(raw, dtype=np.uint8))
    wave.group.lds.data[:], wave.group.lds.undefined[:] = np.frombuffer(raw, dtype=np.uint8), 0
    data = [start(i + 11, kind) for i in range(32)]
    compared = [before[i % _PLACES] if i % 2 else start(i + 1, kind) for i in range(32)]
    vectors = {0: [8 * (i % _PLACES) for i in range(32)]}
    for first, values in ((4, data), (4 + width // 4, compared)):
        for part in range(width // 4):
            parts = (packed(value, kind)[4 * part : 4 * part + 4] for value in values)
            vectors[first + part] = [int.from_bytes(each, "little") for each in parts]
    address = wave.group.memory.buffer("x").address
    execute(wave, text, vectors=vectors, scalars={2: address & 0xFFFFFFFF, 3: address >> 32})
    now = list(before)
    for lane in range(32):
        at = lane % _PLACES
        if returns:
            assert registers(wave, 12, width // 4, lane) == packed(now[at], kind), f"{text}: lane {lane} returns"
        found = MEANING[name](now[at], data[lane], compared[lane])
        now[at] = number_of(packed(found, kind), kind)
    memory = (wave.group.memory.contents("x") if place == "global" else wave.group.lds.data).tobytes()
    for i, value in enumerate(now):
        assert memory[8 * i : 8 * i + width] == packed(value, kind), f"{text}: place {i}"
    assert kinds(wave) == []


def _pair(first: int, count: int) -> str:
    return f"v[{first}:{first + count - 1}]" if count > 1 else f"v{first}"


def _cases() -> list[Procedure]:
    found = []
    for opcode in sorted({*atomic.GLOBAL, *atomic.LDS}):
        place, name, *rest, kind = opcode.replace("global_atomic", "global").split("_")
        count, compares, returning = int(kind[1:]) // 32, name.startswith("cmp"), rest == ["rtn"]
        if place == "ds":
            operands = ["v0", _pair(4, count), *([_pair(4 + count, count)] if compares else [])]
            forms = [(", ".join(([_pair(12, count)] if returning else []) + operands), returning)]
        else:
            operands = ["v0", _pair(4, count * (1 + compares)), "s[2:3]"]
            forms = [(", ".join(operands), False), (", ".join([_pair(12, count), *operands]) + " glc", True)]
        for form, returns in forms:
            text = f"{opcode} {form}"
            found.append(Procedure(opcode=opcode, text=text, check=partial(check, text, name, kind, place, returns)))
    return found


CASES = tuple(_cases())
