"""Flat accesses: lanes of one instruction in global memory, in LDS and in private memory, by the upper half of the address."""

from __future__ import annotations

from functools import partial

import numpy as np

from expctl.gfx11.access import atomic
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.single_instruction import execute
from tests.gfx11.cases.atomic_cases import MEANING, number_of, packed, start
from tests.gfx11.cases.memory_cases import GLOBAL_LOADS, GLOBAL_STORES, PATTERN, data, loaded, prepared
from tests.gfx11.cases.procedure import Procedure, kinds, registers

_LANES, _SHARED, _PRIVATE = range(32), 0x10000, 0x20000
_OFFSET = 12


def place_of(lane: int) -> str:
    return ("global", "shared", "private")[lane % 3]


def addresses(wave: Wave, at: dict[str, list[int]]) -> dict[int, list[int]]:
    """v[0:1] of each lane, `at[place][lane]` bytes into the place that is meant."""
    base = wave.group.memory.buffer("x").address
    bases = {"global": base, "shared": _SHARED << 32, "private": _PRIVATE << 32}
    whole = [bases[place_of(lane)] + at[place_of(lane)][lane] for lane in _LANES]
    return {0: [each & 0xFFFFFFFF for each in whole], 1: [each >> 32 for each in whole]}


def spread() -> dict[str, list[int]]:
    return {"global": [16 * n for n in _LANES], "shared": [16 * n + 1024 for n in _LANES], "private": [16] * 32}


def check_load(text: str, width: int, how: str) -> None:
    wave, _ = prepared()
    at = spread()
    execute(wave, text, vectors={**addresses(wave, at), **{4 + i: [0xA1B2C3D4] for i in range(4)}})
    for lane in _LANES:
        begin = at[place_of(lane)][lane] + _OFFSET + (64 * lane if place_of(lane) == "private" else 0)
        wanted = loaded(PATTERN[begin : begin + width], how)
        assert registers(wave, 4, len(wanted) // 4, lane) == wanted, (text, lane)
    assert kinds(wave) == []


def check_store(text: str, width: int, skipped: int) -> None:
    wave, _ = prepared()
    at = spread()
    values = {4 + i: [(0x01020304 * (i + 1) + 0x10101 * lane) & 0xFFFFFFFF for lane in _LANES] for i in range(4)}
    execute(wave, text, vectors={**addresses(wave, at), **values})
    wanted = {place: bytearray(PATTERN) for place in at}
    for lane in _LANES:
        begin = at[place_of(lane)][lane] + _OFFSET + (64 * lane if place_of(lane) == "private" else 0)
        wanted[place_of(lane)][begin : begin + width] = registers(wave, 4, 4, lane)[skipped : skipped + width]
    assert wave.group.memory.contents("x").tobytes() == bytes(wanted["global"])
    assert wave.group.lds.data.tobytes() == bytes(wanted["shared"])
    assert wave.group.private[0].data.tobytes() == bytes(wanted["private"][: 32 * 64])
    assert kinds(wave) == []


def check_atomic(text: str, name: str, kind: str, returns: bool) -> None:
    """Even lanes update global memory, odd ones LDS; two lanes of each meet."""
    width, (wave, _) = int(kind[1:]) // 8, prepared()
    before = {place: [start(i + 3 * (place == "shared"), kind) for i in range(8)] for place in ("global", "shared")}
    raw = {place: b"".join(packed(value, kind).ljust(8, b"\0") for value in values) for place, values in before.items()}
    wave.group.memory.fill("x", np.frombuffer(raw["global"], dtype=np.uint8))
    wave.group.lds.data[:64] = np.frombuffer(raw["shared"], dtype=np.uint8)
    place = ["global" if lane % 2 == 0 else "shared" for lane in _LANES]
    base = {"global": wave.group.memory.buffer("x").address, "shared": _SHARED << 32}
    whole = [base[place[lane]] + 8 * (lane // 2 % 8) for lane in _LANES]
    values = [start(i + 11, kind) for i in _LANES]
    compared = [before[place[i]][i // 2 % 8] if i % 4 < 2 else start(i + 1, kind) for i in _LANES]
    vectors = {0: [each & 0xFFFFFFFF for each in whole], 1: [each >> 32 for each in whole]}
    for first, given in ((4, values), (4 + width // 4, compared)):
        for part in range(width // 4):
            words = (packed(value, kind)[4 * part : 4 * part + 4] for value in given)
            vectors[first + part] = [int.from_bytes(each, "little") for each in words]
    execute(wave, text, vectors=vectors)
    now = {name: list(values) for name, values in before.items()}
    for lane in _LANES:
        here, i = now[place[lane]], lane // 2 % 8
        if returns:
            assert registers(wave, 12, width // 4, lane) == packed(here[i], kind), (text, lane)
        here[i] = number_of(packed(MEANING[name](here[i], values[lane], compared[lane]), kind), kind)
    found = {"global": wave.group.memory.contents("x").tobytes(), "shared": wave.group.lds.data.tobytes()}
    for each, numbers in now.items():
        for i, value in enumerate(numbers):
            assert found[each][8 * i : 8 * i + width] == packed(value, kind), (text, each, i)
    assert kinds(wave) == []


def _atomics() -> list[Procedure]:
    found = []
    for opcode in sorted(atomic.GLOBAL):
        _, _, name, kind = opcode.split("_")
        count, flat = int(kind[1:]) // 32, opcode.replace("global_", "flat_")
        given, to = data(4 * count * (1 + name.startswith("cmp"))), f"v[12:{11 + count}]" if count > 1 else "v12"
        for text, returns in ((f"{flat} v[0:1], {given}", False), (f"{flat} {to}, v[0:1], {given} glc", True)):
            found.append(Procedure(opcode=flat, text=text, check=partial(check_atomic, text, name, kind, returns)))
    return found


def _plain() -> list[Procedure]:
    found = []
    for name, (width, how) in GLOBAL_LOADS.items():
        text = f"flat_load_{name} {data(width)}, v[0:1] offset:{_OFFSET}"
        found.append(Procedure(opcode=text.split()[0], text=text, check=partial(check_load, text, width, how)))
    for name, (width, skipped) in GLOBAL_STORES.items():
        text = f"flat_store_{name} v[0:1], {data(width)} offset:{_OFFSET}"
        found.append(Procedure(opcode=text.split()[0], text=text, check=partial(check_store, text, width, skipped)))
    return found


CASES = (*_plain(), *_atomics())
