"""Buffer accesses: base, lane and scalar offsets; beyond the end of the descriptor nothing is loaded or stored."""

from __future__ import annotations

from functools import partial

from expctl.gfx11.access import atomic
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.single_instruction import execute
from tests.gfx11.cases.atomic_cases import check as check_atomic
from tests.gfx11.cases.memory_cases import GLOBAL_LOADS, GLOBAL_STORES, PATTERN, data, loaded, prepared
from tests.gfx11.cases.procedure import Procedure, kinds, registers

_LANES = range(32)
_BEGIN, _SCALAR, _OFFSET, _SIZE = 64, 20, 12, 416
"""The buffer is bytes 64 to 479 of the pattern; a lane's own offset is 16 times its number, so the last ones are beyond."""
_OLD = 0xA1B2C3D4


def descriptor(wave: Wave) -> dict[int, int]:
    base = wave.group.memory.buffer("x").address + _BEGIN
    return {4: base & 0xFFFFFFFF, 5: base >> 32, 6: _SIZE, 7: 0x31027000, 8: _SCALAR}


def begin_of(lane: int) -> int | None:
    at = 16 * lane + _SCALAR + _OFFSET
    return _BEGIN + at if at < _SIZE else None


def check_load(text: str, width: int, how: str) -> None:
    wave, _ = prepared()
    old = {9 + i: [_OLD] for i in range(4)}
    execute(wave, text, vectors={0: [16 * lane for lane in _LANES], **old}, scalars=descriptor(wave))
    for lane in _LANES:
        begin = begin_of(lane)
        wanted = loaded(bytes(width) if begin is None else PATTERN[begin : begin + width], how)
        assert registers(wave, 9, len(wanted) // 4, lane) == wanted, (text, lane)
    assert kinds(wave) == []


def check_store(text: str, width: int, skipped: int) -> None:
    wave, _ = prepared()
    values = {9 + i: [(0x01020304 * (i + 1) + 0x10101 * lane) & 0xFFFFFFFF for lane in _LANES] for i in range(4)}
    execute(wave, text, vectors={0: [16 * lane for lane in _LANES], **values}, scalars=descriptor(wave))
    wanted = bytearray(PATTERN)
    for lane in _LANES:
        if (begin := begin_of(lane)) is not None:
            wanted[begin : begin + width] = registers(wave, 9, 4, lane)[skipped : skipped + width]
    assert wave.group.memory.contents("x").tobytes() == bytes(wanted)
    assert kinds(wave) == []


def _plain() -> list[Procedure]:
    found = []
    for name, (width, how) in GLOBAL_LOADS.items():
        text = f"buffer_load_{name} {data(width, 9)}, v0, s[4:7], s8 offen offset:{_OFFSET}"
        found.append(Procedure(opcode=text.split()[0], text=text, check=partial(check_load, text, width, how)))
    for name, (width, skipped) in GLOBAL_STORES.items():
        text = f"buffer_store_{name} {data(width, 9)}, v0, s[4:7], s8 offen offset:{_OFFSET}"
        found.append(Procedure(opcode=text.split()[0], text=text, check=partial(check_store, text, width, skipped)))
    return found


def _atomics() -> list[Procedure]:
    found = []
    for opcode in sorted(atomic.GLOBAL):
        _, _, name, kind = opcode.split("_")
        count, buffer = int(kind[1:]) // 32, opcode.replace("global_", "buffer_")
        given = data(4 * count * (1 + name.startswith("cmp")))
        for suffix, returns in (("", False), (" glc", True)):
            text = f"{buffer} {given}, v0, s[16:19], 0 offen{suffix}"
            found.append(
                Procedure(opcode=buffer, text=text, check=partial(check_atomic, text, name, kind, "global", returns, 4))
            )
    return found


CASES = (*_plain(), *_atomics())
