"""Loads and stores of every width, in global, private and LDS memory, byte by byte."""

from __future__ import annotations

from functools import partial

import numpy as np

from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.single_instruction import execute, fresh_wave
from tests.gfx11.cases.procedure import Procedure, kinds, registers

_SIZE, _STEP, _LANES = 4096, 16, range(32)
_OLD = 0xA1B2C3D4
PATTERN = bytes((37 * i + 11 + (i >> 5)) % 256 for i in range(_SIZE))
GLOBAL_LOADS = {
    "u8": (1, "zero"), "i8": (1, "sign"), "u16": (2, "zero"), "i16": (2, "sign"),
    **{f"b{8 * n}": (n, "words") for n in (4, 8, 12, 16)},
    "d16_u8": (1, "low zero"), "d16_i8": (1, "low sign"), "d16_b16": (2, "low zero"),
    "d16_hi_u8": (1, "high zero"), "d16_hi_i8": (1, "high sign"), "d16_hi_b16": (2, "high zero"),
}  # fmt: skip
_LDS_LOADS = {
    **{name: how for name, how in GLOBAL_LOADS.items() if "d16" not in name},
    "u8_d16": (1, "low zero"), "i8_d16": (1, "low sign"), "u16_d16": (2, "low zero"),
    "u8_d16_hi": (1, "high zero"), "i8_d16_hi": (1, "high sign"), "u16_d16_hi": (2, "high zero"),
}  # fmt: skip
_STORES = {"b8": (1, 0), "b16": (2, 0), **{f"b{8 * n}": (n, 0) for n in (4, 8, 12, 16)}}
GLOBAL_STORES = {**_STORES, "d16_hi_b8": (1, 2), "d16_hi_b16": (2, 2)}
_LDS_STORES = {**_STORES, "b8_d16_hi": (1, 2), "b16_d16_hi": (2, 2)}
"""Bytes, and the first byte of the register that goes out."""


def prepared() -> tuple[Wave, dict[int, int]]:
    """A wave whose buffer (at s2, s3), LDS and private memory hold the pattern, 64 bytes of it for a lane."""
    wave = fresh_wave(buffers={"x": _SIZE}, lds_bytes=_SIZE, private_bytes=64)
    memory, group = wave.group.memory, wave.group
    memory.fill("x", np.frombuffer(PATTERN, dtype=np.uint8))
    group.lds.data[:], group.lds.undefined[:] = np.frombuffer(PATTERN, dtype=np.uint8), 0
    private = group.private[0]
    private.data[:], private.undefined[:] = np.frombuffer(PATTERN[: 32 * 64], dtype=np.uint8).reshape(32, 64), 0
    address = memory.buffer("x").address
    return wave, {2: address & 0xFFFFFFFF, 3: address >> 32}


def loaded(raw: bytes, how: str) -> bytes:
    """The registers after a load of `raw`, little-endian, over the old value."""
    if how == "words":
        return raw
    part, _, extend = how.rpartition(" ")
    room = 2 if part else 4
    value = int.from_bytes(raw, "little", signed=extend == "sign").to_bytes(room, "little", signed=extend == "sign")
    old = _OLD.to_bytes(4, "little")
    return {"": value, "low": value + old[2:], "high": old[:2] + value}[part]


def check_load(text: str, width: int, how: str, place: str, offset: int) -> None:
    wave, scalars = prepared()
    private = place == "scratch"
    addresses = [32 if private else _STEP * lane + 64 for lane in _LANES]
    execute(wave, text, vectors={0: addresses, **{4 + i: [_OLD] for i in range(4)}}, scalars=scalars)
    for lane, address in enumerate(addresses):
        begin = address + offset + 64 * lane * private
        wanted = loaded(PATTERN[begin : begin + width], how)
        assert registers(wave, 4, len(wanted) // 4, lane) == wanted
    assert kinds(wave) == []


def check_store(text: str, width: int, skipped: int, place: str, offset: int) -> None:
    wave, scalars = prepared()
    private = place == "scratch"
    addresses = [32 if private else _STEP * lane + 64 for lane in _LANES]
    data = {4 + i: [(0x01020304 * (i + 1) + 0x10101 * lane) & 0xFFFFFFFF for lane in _LANES] for i in range(4)}
    execute(wave, text, vectors={0: addresses, **data}, scalars=scalars)
    wanted = bytearray(PATTERN)
    for lane, address in enumerate(addresses):
        begin = address + offset + 64 * lane * private
        wanted[begin : begin + width] = registers(wave, 4, 4, lane)[skipped : skipped + width]
    group = wave.group
    found = {"global": group.memory.contents("x"), "ds": group.lds.data, "scratch": group.private[0].data}[place].tobytes()
    assert found == bytes(wanted[: len(found)])
    assert kinds(wave) == []


def data(width: int) -> str:
    count = max(width // 4, 1)
    return f"v[4:{3 + count}]" if count > 1 else "v4"


def check_two(text: str, width: int, scale: int, does: str) -> None:
    """Two elements, 1 and 3 times `scale` bytes on. The lanes lie so far apart that no two meet."""
    wave, scalars = prepared()
    count, lanes = width // 4, range(8)
    addresses = [(4 * width if scale == width else width) * (lane % 8) for lane in _LANES]
    values = {4 + i: [0x1111 * (i + 1) + lane % 8 for lane in _LANES] for i in range(2 * count)}
    wave.set_exec(0xFF)
    execute(wave, text, vectors={0: addresses, **values}, scalars=scalars)
    wanted = bytearray(PATTERN)
    for lane in lanes:
        found = registers(wave, 4, 2 * count, lane)
        for i, far in enumerate((1, 3)):
            begin, part = addresses[lane] + far * scale, found[i * width : (i + 1) * width]
            if does == "store":
                wanted[begin : begin + width] = part
            assert part == wanted[begin : begin + width]
    assert wave.group.lds.data.tobytes() == bytes(wanted)
    assert kinds(wave) == []


def check_scalar(text: str, count: int, offset: int) -> None:
    wave, scalars = prepared()
    execute(wave, text, scalars={**scalars, 4: 8})
    assert b"".join(word.to_bytes(4, "little") for word in wave.scalar[16 : 16 + count]) == PATTERN[offset : offset + 4 * count]
    assert kinds(wave) == []


def _vector() -> list[Procedure]:
    found = []
    forms = (("global", "v0, s[2:3]", -3, GLOBAL_LOADS, GLOBAL_STORES),
        ("scratch", "v0, off", 5, GLOBAL_LOADS, GLOBAL_STORES),
             ("ds", "v0", 12, _LDS_LOADS, _LDS_STORES))  # fmt: skip
    for place, where, offset, loads, stores in forms:
        for name, (width, how) in loads.items():
            text = f"{place}_load_{name} {data(width)}, {where} offset:{offset}"
            check = partial(check_load, text, width, how, place, offset)
            found.append(Procedure(opcode=text.split()[0], text=text, check=check))
        for name, (width, skipped) in stores.items():
            first, _, base = where.partition(", ")
            text = f"{place}_store_{name} {first}, {data(width)}{base and ', ' + base} offset:{offset}"
            check = partial(check_store, text, width, skipped, place, offset)
            found.append(Procedure(opcode=text.split()[0], text=text, check=check))
    return found


def _two() -> list[Procedure]:
    found = []
    for width in (4, 8):
        for stride, scale in (("", width), ("stride64_", 64 * width)):
            load = f"ds_load_2addr_{stride}b{8 * width} v[4:{3 + width // 2}], v0 offset0:1 offset1:3"
            pair = ("v4", "v5") if width == 4 else ("v[4:5]", "v[6:7]")
            store = f"ds_store_2addr_{stride}b{8 * width} v0, {', '.join(pair)} offset0:1 offset1:3"
            for does, text in (("load", load), ("store", store)):
                found.append(Procedure(opcode=text.split()[0], text=text, check=partial(check_two, text, width, scale, does)))
    return found


def _scalar() -> list[Procedure]:
    found = []
    for count in (1, 2, 4, 8, 16):
        to = f"s[16:{15 + count}]" if count > 1 else "s16"
        for where, offset in (("0x24", 0x24), ("s4 offset:0x10", 0x18)):
            text = f"s_load_b{32 * count} {to}, s[2:3], {where}"
            found.append(Procedure(opcode=text.split()[0], text=text, check=partial(check_scalar, text, count, offset)))
    return found


CASES = (*_vector(), *_two(), *_scalar())
