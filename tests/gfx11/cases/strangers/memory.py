"""Addresses that go around or below, flat accesses by the aperture that the program reads, atomics at their edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.single_instruction import execute, fresh_wave
from tests.gfx11.cases.procedure import Procedure, kinds, registers
from tests.gfx11.cases.strangers.numbers import DOUBLE, SINGLE

_LANES, _BYTES, _LANE_BYTES = range(32), 2048, 64
_NOISE = bytes((131 * i + 17 * (i >> 8) + 89) % 251 for i in range(_BYTES))
ALL, WIDE = 0xFFFFFFFF, (1 << 64) - 1


def furnished(lanes: int = ALL, content: bytes = _NOISE) -> tuple[Wave, int]:
    """A wave, and the address of its buffer. Buffer and LDS hold `content`, and private memory of each lane the noise from
    64 times its number on."""
    wave = fresh_wave(lanes=lanes, buffers={"x": _BYTES}, lds_bytes=_BYTES, private_bytes=_LANE_BYTES)
    group = wave.group
    group.memory.fill("x", np.frombuffer(content.ljust(_BYTES, b"\xee"), dtype=np.uint8))
    group.lds.data[:], group.lds.undefined[:] = np.frombuffer(content.ljust(_BYTES, b"\xee"), dtype=np.uint8), 0
    private = group.private[0]
    private.data[:], private.undefined[:] = (
        np.frombuffer(_NOISE[: 32 * _LANE_BYTES], dtype=np.uint8).reshape(32, _LANE_BYTES),
        0,
    )
    return wave, group.memory.buffer("x").address


def halves(first: int, values: Sequence[int]) -> dict[int, list[int]]:
    return {first: [value & ALL for value in values], first + 1: [value >> 32 & ALL for value in values]}


def split(values: Sequence[int], first: int, words: int) -> dict[int, list[int]]:
    return {first + i: [value >> 32 * i & ALL for value in values] for i in range(words)}


def check_wrapped_lds(text: str, places: Callable[[int], tuple[int, ...]], base: Callable[[int], int], width: int) -> None:
    """The sum of address and offset has 32 bits."""
    wave, _ = furnished()
    execute(wave, text, vectors={10: [base(n) & ALL for n in _LANES]})
    for lane in _LANES:
        wanted = b"".join(_NOISE[at : at + width] for at in places(lane))
        assert registers(wave, 0, len(wanted) // 4, lane) == wanted, (text, lane)
    assert kinds(wave) == []


def check_global(text: str, base: int, index: Callable[[int], int], offset: int, wide: bool) -> None:
    """`base` bytes beyond the buffer lies the scalar address; the index has 32 bits without a sign, or 64 with `off`."""
    wave, address = furnished()
    start = address + base
    vectors = halves(10, [address + index(n) for n in _LANES]) if wide else {10: [index(n) & ALL for n in _LANES]}
    execute(wave, text, vectors=vectors, scalars={20: start & ALL, 21: start >> 32 & ALL})
    for lane in _LANES:
        at = index(lane) + offset + (0 if wide else base)
        assert registers(wave, 0, 1, lane) == _NOISE[at : at + 4], (text, lane)
    assert kinds(wave) == []


def check_inactive(text: str) -> None:
    """A lane that is off may hold any address, and keeps its register."""
    lanes = 0x00FF00F0
    wave, address = furnished(lanes)
    given = [address + 4 * n if lanes >> n & 1 else 0xDEAD0000_00000003 for n in _LANES]
    execute(wave, text, vectors={**halves(10, given), 0: [0xA5], 14: [0xB6]})
    for lane in _LANES:
        assert registers(wave, 0, 1, lane) == (_NOISE[4 * lane : 4 * lane + 4] if lanes >> lane & 1 else b"\xa5\0\0\0"), (
            text,
            lane,
        )
    assert kinds(wave) == []


def check_scalar(text: str, base: int, scalars: dict[int, int], at: int, words: int) -> None:
    wave, address = furnished()
    start = address + base
    execute(wave, text, scalars={20: start & ALL, 21: start >> 32, **scalars})
    assert b"".join(word.to_bytes(4, "little") for word in wave.scalar[0:words]) == _NOISE[at : at + 4 * words]
    assert kinds(wave) == []


_APERTURES = "s_mov_b64 s[22:23], src_shared_base\ns_mov_b64 s[24:25], src_private_base"


def place_of(lane: int) -> str:
    return ("shared", "global", "private", "global")[lane % 4]


def aimed(wave: Wave, address: int, at: Callable[[int], int]) -> dict[int, list[int]]:
    """v[10:11]: `at` bytes into the place of each lane, with what the program reads from src_shared_base, src_private_base."""
    execute(wave, _APERTURES)
    base = {"global": address, "shared": wave.scalar[23] << 32, "private": wave.scalar[25] << 32}
    return halves(10, [base[place_of(n)] + at(n) for n in _LANES])


def check_flat_load(text: str, width: int, offset: int, shown: Callable[[bytes], bytes]) -> None:
    wave, address = furnished(0xFFFFFF0F)
    vectors = aimed(wave, address, lambda n: 24 if place_of(n) == "private" else 40 * n)
    execute(wave, text, vectors={**vectors, **{i: [0x13579BDF] for i in range(4)}})
    for lane in _LANES:
        at = offset + (64 * lane + 24 if place_of(lane) == "private" else 40 * lane)
        wanted = shown(_NOISE[at : at + width]) if 0xFFFFFF0F >> lane & 1 else b"\xdf\x9b\x57\x13"
        assert registers(wave, 0, len(wanted) // 4, lane) == wanted, (text, lane)
    assert kinds(wave) == []


def check_flat_store(text: str, width: int, offset: int, taken: slice) -> None:
    wave, address = furnished(0x7FFFFFFE)
    vectors = aimed(wave, address, lambda n: 24 if place_of(n) == "private" else 40 * n)
    data = {14 + i: [(0x1F2E3D4C * (n + 1) + i) & ALL for n in _LANES] for i in range(4)}
    execute(wave, text, vectors={**vectors, **data})
    wanted = {"global": bytearray(_NOISE), "shared": bytearray(_NOISE), "private": bytearray(_NOISE[: 32 * 64])}
    for lane in range(1, 31):
        at = offset + (64 * lane + 24 if place_of(lane) == "private" else 40 * lane)
        wanted[place_of(lane)][at : at + width] = registers(wave, 14, 4, lane)[taken]
    group = wave.group
    found = {"global": group.memory.contents("x"), "shared": group.lds.data, "private": group.private[0].data}
    assert {name: each.tobytes() for name, each in found.items()} == {name: bytes(each) for name, each in wanted.items()}
    assert kinds(wave) == []


Step = Callable[[int, int, int], int]
"""What is in memory, the data, what it is compared with: what is in memory then."""


def atomic(
    text: str, place: str, width: int, start: Sequence[int], data: Sequence[int], compared: Sequence[int], step: Step
) -> None:
    """A place of 8 bytes for each lane; lanes that are off do nothing. A cmpswap of memory has data and comparison in a row."""
    lanes = 0xFFFF7FFE
    wave, address = furnished(lanes, b"".join(value.to_bytes(8, "little") for value in _spread(start)))
    words, returns = width // 4, "glc" in text or "_rtn" in text
    old, new, other = _spread(start), _spread(data), _spread(compared)
    at = [8 * n for n in _LANES]
    vectors = {10: at} if place == "lds" else halves(10, [address + each for each in at])
    if place == "flat":
        execute(wave, _APERTURES)
        vectors = halves(10, [(wave.scalar[23] << 32 if n % 2 else address) + at[n] for n in _LANES])
    vectors |= split(new, 14, words) | split(other, 14 + words, words) | {i: [0x77777777] for i in range(words)}
    execute(wave, text, vectors=vectors)
    found = {"lds": wave.group.lds.data, "global": wave.group.memory.contents("x")}
    for lane in _LANES:
        active = lanes >> lane & 1
        where = ("lds" if lane % 2 else "global") if place == "flat" else place
        wanted = step(old[lane], new[lane], other[lane]) & (1 << 8 * width) - 1 if active else old[lane]
        memory = int.from_bytes(found[where].tobytes()[8 * lane : 8 * lane + width], "little")
        assert memory == wanted, (text, lane, hex(memory), hex(wanted))
        if returns:
            before = int.from_bytes(registers(wave, 0, words, lane), "little")
            assert before == (old[lane] if active else 0x77777777_77777777 & (1 << 8 * width) - 1), (text, lane)
    assert kinds(wave) == []


def _spread(values: Sequence[int]) -> list[int]:
    return [values[n % len(values)] for n in _LANES]


def inc(old: int, data: int, _: int) -> int:
    return 0 if old >= data else old + 1


def dec(old: int, data: int, _: int) -> int:
    return data if old == 0 or old > data else old - 1


def swapped(old: int, data: int, wanted: int) -> int:
    return data if old == wanted else old


def swapped_as_number(old: int, data: int, wanted: int) -> int:
    """-0 is 0, and a NaN nothing."""
    return data if SINGLE.value(old) == SINGLE.value(wanted) else old


def signed(n: int, bits: int) -> int:
    return n - (1 << bits) if n >> bits - 1 else n


def chosen(bits: int, greater: bool) -> Step:
    return lambda old, data, _: (max if greater else min)(old, data, key=lambda n: signed(n, bits))


def float_chosen(greater: bool) -> Step:
    """Of numbers."""
    return lambda old, data, _: (DOUBLE.greater(old, data) if greater else DOUBLE.lesser(old, data)) or 0


def summed(old: int, data: int, _: int) -> int:
    return SINGLE.add(old, data) or 0


def limits(bits: int) -> tuple[int, ...]:
    top = 1 << bits - 1
    return (0, 1, top - 1, top, 2 * top - 1, 2 * top - 2, 5)


_SINGLES = SINGLE.numbers("0.0 -0.0 1.0 -1.0 inf max qnan")
_FINITE = SINGLE.numbers("0x1p0 0x1p24 max 0x1p-24 -0x1p0 -inf 0.1")
_DOUBLES = DOUBLE.numbers("1.0 -1.0 tiny -tiny inf -max 0x1p-1022")


def _atomics() -> list[Procedure]:
    """Start, data and what is compared come from lists whose lengths have no divisor in common: many pairs."""
    found = []
    for bits in (32, 64):
        pair = "v[14:15]" if bits == 64 else "v14"
        two, to = ("v[14:17]", "v[0:1]") if bits == 64 else ("v[14:15]", "v0")
        other = "v[16:17]" if bits == 64 else "v15"
        steps: tuple[tuple[str, str, Step], ...] = (("inc", "u", inc), ("dec", "u", dec), ("max", "i", chosen(bits, True)),
            ("min", "i", chosen(bits, False)), ("sub", "u", lambda old, x, _: old - x),
                 ("xor", "b", lambda old, x, _: old ^ x))  # fmt: skip
        for name, kind, step in steps:
            for place, text in (
                ("global", f"global_atomic_{name}_{kind}{bits} {to}, v[10:11], {pair}, off glc"),
                ("flat", f"flat_atomic_{name}_{kind}{bits} {to}, v[10:11], {pair} glc"),
                ("lds", f"ds_{name}_rtn_{kind}{bits} {to}, v10, {pair}"),
            ):
                found.append(_atomic(text, place, bits, limits(bits), limits(bits)[:6], (0,), step))
        compared = (
            ("global", f"global_atomic_cmpswap_b{bits} {to}, v[10:11], {two}, off glc"),
            ("flat", f"flat_atomic_cmpswap_b{bits} {to}, v[10:11], {two} glc"),
            ("lds", f"ds_cmpstore_rtn_b{bits} {to}, v10, {pair}, {other}"),
        )
        for place, text in compared:
            found.append(_atomic(text, place, bits, limits(bits), (0x1234, 0x99), limits(bits)[:6], swapped))
    rsub = ("ds_rsub_rtn_u64 v[0:1], v10, v[14:15]", "lds", 64, limits(64), limits(64)[:6], (0,), lambda old, x, _: x - old)
    found.append(_atomic(*rsub))
    for place, text in (("global", "global_atomic_cmpswap_f32 v0, v[10:11], v[14:15], off glc"),
                        ("lds", "ds_cmpstore_rtn_f32 v0, v10, v14, v15")):  # fmt: skip
        found.append(_atomic(text, place, 32, _SINGLES, (0x1234, 0x40000000), _SINGLES[:6], swapped_as_number))
    for greater in (False, True):
        text = f"ds_{'max' if greater else 'min'}_rtn_f64 v[0:1], v10, v[14:15]"
        found.append(_atomic(text, "lds", 64, _DOUBLES, _DOUBLES[:6], (0,), float_chosen(greater)))
    found.append(_atomic("flat_atomic_add_f32 v0, v[10:11], v14 glc", "flat", 32, _FINITE, _FINITE[:5], (0,), summed))
    return found


def _atomic(
    text: str, place: str, bits: int, start: Sequence[int], data: Sequence[int], compared: Sequence[int], step: Step
) -> Procedure:
    return _of(text, partial(atomic, text, place, bits // 8, start, data, compared, step))


def _of(text: str, check: Callable[[], None]) -> Procedure:
    return Procedure(opcode=text.split()[0], text=text, check=check)


def extended(raw: bytes) -> bytes:
    return int.from_bytes(raw, "little", signed=True).to_bytes(4, "little", signed=True)


_ONE = "ds_load_b32 v0, v10 offset:16"
_TWO = "ds_load_2addr_b64 v[0:3], v10 offset0:1 offset1:255"
_FAR = "ds_load_b96 v[0:2], v10 offset:65532"
CASES = (
    _of(_ONE, partial(check_wrapped_lds, _ONE, lambda n: (4 * n,), lambda n: 4 * n - 16, 4)),
    _of(_TWO, partial(check_wrapped_lds, _TWO, lambda n: (4 * (n % 2), 2032 + 4 * (n % 2)), lambda n: 4 * (n % 2) - 8, 8)),
    _of(_FAR, partial(check_wrapped_lds, _FAR, lambda n: (4 * n + 12,), lambda n: 4 * n + 12 - 65532, 12)),
    *(_of(text, partial(check_global, text, base, index, offset, wide)) for text, base, index, offset, wide in (
        ("global_load_b32 v0, v10, s[20:21] offset:-4096", -0xFFFFE000, lambda n: 0xFFFFE000 + 4096 + 8 * n, -4096, False),
        ("global_load_b32 v0, v10, s[20:21] offset:4095", -4095, lambda n: 4 * n, 4095, False),
        ("global_load_b32 v0, v[10:11], off offset:-4", 0, lambda n: 4 * n + 4, -4, True))),
    _of("global_load_b32 v0, v[10:11], off", partial(check_inactive, "global_load_b32 v0, v[10:11], off")),
    _of("flat_load_b32 v0, v[10:11]", partial(check_inactive, "flat_load_b32 v0, v[10:11]")),
    *(_of(text, partial(check_scalar, text, base, scalars, at, words)) for text, base, scalars, at, words in (
        ("s_load_b64 s[0:1], s[20:21], -0x10", 32, {}, 16, 2),
        ("s_load_b32 s0, s[20:21], s26", -0xFFFFFFF0, {26: 0xFFFFFFF8}, 8, 1),
        ("s_load_b128 s[0:3], s[20:21], s26 offset:-0x8", 0, {26: 64}, 56, 4),
        ("s_load_b32 s0, s[20:21], null", 12, {}, 12, 1))),
    *(_of(text, partial(check_flat_load, text, width, offset, shown)) for text, width, offset, shown in (
        ("flat_load_b64 v[0:1], v[10:11] offset:4", 8, 4, bytes), ("flat_load_b128 v[0:3], v[10:11] offset:16", 16, 16, bytes),
        ("flat_load_i8 v0, v[10:11] offset:3", 1, 3, extended), ("flat_load_i16 v0, v[10:11] offset:1", 2, 1, extended),
        ("flat_load_d16_hi_u8 v0, v[10:11] offset:5", 1, 5, lambda raw: b"\xdf\x9b" + raw + b"\0"),
        ("flat_load_d16_i8 v0, v[10:11] offset:5", 1, 5, lambda raw: extended(raw)[:2] + b"\x57\x13"))),
    *(_of(text, partial(check_flat_store, text, width, offset, taken)) for text, width, offset, taken in (
        ("flat_store_b96 v[10:11], v[14:16] offset:4", 12, 4, slice(0, 12)),
             ("flat_store_b8 v[10:11], v14 offset:7", 1, 7, slice(0, 1)),
        ("flat_store_d16_hi_b16 v[10:11], v14 offset:6", 2, 6, slice(2, 4)))),
    *_atomics(),
)  # fmt: skip
