"""Loads and stores, one by one: parts of registers, offsets, bounds, what is defined."""

from __future__ import annotations

import numpy as np
import pytest

from expctl.gfx11.machine.banks import passes
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.single_instruction import execute, fresh_wave

LANES = range(32)


def kinds(wave: Wave) -> list[str]:
    return [fault.kind.value for fault in wave.group.faults.all()]


def with_buffer(name: str = "x", size: int = 4096) -> tuple[Wave, int]:
    wave = fresh_wave(buffers={name: size}, lds_bytes=4096, private_bytes=64)
    memory = wave.group.memory
    memory.fill(name, np.arange(size, dtype=np.uint32).astype(np.uint8))
    return wave, memory.buffer(name).address


def pair(address: int) -> dict[int, int]:
    return {2: address & 0xFFFFFFFF, 3: address >> 32}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("global_load_u8", 0x000000FD), ("global_load_i8", 0xFFFFFFFD), ("global_load_u16", 0x0000FEFD),
        ("global_load_i16", 0xFFFFFEFD), ("global_load_b32", 0x00FFFEFD), ("global_load_d16_b16", 0x1111FEFD),
        ("global_load_d16_hi_b16", 0xFEFD1111), ("global_load_d16_u8", 0x111100FD), ("global_load_d16_i8", 0x1111FFFD),
        ("global_load_d16_hi_u8", 0x00FD1111), ("global_load_d16_hi_i8", 0xFFFD1111),
    ],
)  # fmt: skip
def test_parts_of_a_register(name: str, wanted: int) -> None:
    wave, address = with_buffer()
    execute(wave, f"{name} v1, v0, s[2:3] offset:-3", vectors={0: [256], 1: [0x11111111]}, scalars=pair(address))
    assert int(wave.u32[1][5]) == wanted
    name = name.replace("global", "ds")
    if "d16" in name:
        kind = name.rsplit("_", 1)[1].replace("b16", "u16")
        name = f"ds_load_{kind}_d16{'_hi' if '_hi' in name else ''}"
    wave, _ = with_buffer()
    wave.group.lds.data[:] = np.arange(4096).astype(np.uint8)
    wave.group.lds.undefined[:] = 0
    execute(wave, f"{name} v1, v0 offset:3", vectors={0: [250], 1: [0x11111111]})
    assert int(wave.u32[1][5]) == wanted
    assert kinds(wave) == []


def test_wide_loads_take_lane_addresses_apart() -> None:
    wave, address = with_buffer()
    execute(wave, "global_load_b128 v[4:7], v0, s[2:3] offset:16", vectors={0: [64 * i for i in LANES]}, scalars=pair(address))
    for lane in (0, 3, 31):
        raw = bytes((64 * lane + 16 + i) % 256 for i in range(16))
        assert b"".join(int(wave.u32[4 + i][lane]).to_bytes(4, "little") for i in range(4)) == raw


def test_stores_of_halves_and_bytes() -> None:
    wave, address = with_buffer()
    vectors = {0: [16 * i for i in LANES], 1: [0xAABBCCDD]}
    execute(
        wave,
        "global_store_d16_hi_b16 v0, v1, s[2:3]\nglobal_store_b8 v0, v1, s[2:3] offset:2",
        vectors=vectors,
        scalars=pair(address),
    )
    execute(wave, "ds_store_b16_d16_hi v0, v1\nds_store_b8 v0, v1 offset:2", vectors=vectors)
    for data in (wave.group.memory.contents("x"), wave.group.lds.data):
        assert data[16:19].tobytes() == b"\xbb\xaa\xdd"


def test_two_addresses_count_elements() -> None:
    wave, _ = with_buffer()
    vectors = {0: [8 * i for i in LANES], 4: list(LANES), 5: [100 + i for i in LANES]}
    execute(
        wave,
        "ds_store_2addr_b32 v0, v4, v5 offset1:1\nds_store_2addr_stride64_b32 v0, v5, v4 offset0:1 offset1:3",
        vectors=vectors,
    )
    words = wave.group.lds.data.view(np.uint32)
    assert words[:4].tolist() == [0, 100, 1, 101]
    assert (words[64], words[192]) == (100, 0)
    execute(wave, "ds_load_2addr_b64 v[8:11], v0 offset0:1 offset1:2", vectors={0: [0]})
    assert [int(wave.u32[8 + i][0]) for i in range(4)] == [1, 101, 2, 102]


def test_the_pair_is_the_address_when_there_is_no_base() -> None:
    wave, address = with_buffer()
    execute(wave, "global_load_u8 v9, v[4:5], off offset:7", vectors={4: [address & 0xFFFFFFFF], 5: [address >> 32]})
    assert int(wave.u32[9][0]) == 7


def test_scalar_loads() -> None:
    wave, address = with_buffer()
    execute(wave, "s_load_b64 s[4:5], s[2:3], 0x8\ns_load_b32 s6, s[2:3], s7 offset:0x4", scalars={**pair(address), 7: 8})
    assert wave.scalar[4:7] == [0x0B0A0908, 0x0F0E0D0C, 0x0F0E0D0C]
    execute(wave, "s_load_b32 s4, s[2:3], 0x2000", scalars=pair(address))
    assert "out of bounds" in kinds(wave)


def test_out_of_bounds_names_the_buffer() -> None:
    for offset, words in ((4095, "byte"), (4096, "0 bytes after the end of x"), (-4, "4 bytes before x")):
        wave, address = with_buffer()
        execute(wave, "global_load_b32 v1, v0, s[2:3]", vectors={0: [0]}, scalars=pair(address + offset))
        (fault,) = wave.group.faults.all()
        assert fault.kind == "out of bounds"
        assert words in fault.what
    wave, _ = with_buffer()
    execute(wave, "global_load_b32 v1, v[2:3], off", vectors={2: [16], 3: [0]})
    assert [fault.what for fault in wave.group.faults.all()] == ["reads 4 bytes at 0x10, far from every array"]
    wave, _ = with_buffer()
    execute(wave, "ds_store_b32 v0, v1", vectors={0: [4096], 1: [0]})
    execute(wave, "s_nop 0\nscratch_store_b32 off, v1, off offset:64", vectors={1: [0]})
    assert kinds(wave) == ["out of bounds"] * 2


def test_private_memory_is_each_lanes_own() -> None:
    wave, _ = with_buffer()
    execute(
        wave, "scratch_store_b32 off, v1, off offset:8\nscratch_load_b32 v2, v0, off offset:4", vectors={0: [4], 1: list(LANES)}
    )
    assert [int(x) for x in wave.u32[2]] == list(LANES)
    assert kinds(wave) == []


@pytest.mark.parametrize("does", ["store_b32", "atomic_add_u32"])
def test_the_place_of_a_value_that_nothing_wrote_is_that_of_its_lane(does: str) -> None:
    wave, address = with_buffer()
    execute(wave, "s_nop 0", vectors={0: [4 * i for i in LANES], 1: list(LANES)}, scalars=pair(address))
    wave.mark_vector(1, np.array([0xFF if i == 13 else 0 for i in LANES], dtype=np.uint32))
    execute(wave, f"global_{does} v0, v1, s[2:3]")
    assert [fault.what for fault in wave.group.faults.all()] == ["a value that nothing wrote goes to memory, at byte 52 of x"]


def test_values_that_nothing_wrote() -> None:
    wave, address = with_buffer()
    execute(wave, "v_add_nc_u32_e32 v1, v9, v9\nv_mov_b32_e32 v2, v1")
    assert kinds(wave) == []  # nothing depends on it yet
    execute(wave, "global_store_b32 v0, v2, s[2:3]", vectors={0: [0]}, scalars=pair(address))
    assert kinds(wave) == ["uninitialised"]
    wave, address = with_buffer()
    execute(wave, "global_atomic_add_u32 v0, v9, s[2:3]", vectors={0: [8]}, scalars=pair(address))
    assert [fault.what for fault in wave.group.faults.all()] == ["a value that nothing wrote goes to memory, at byte 8 of x"]
    for text in (
        "global_load_b32 v3, v9, s[2:3]",
        "ds_load_b32 v3, v9",
        "s_and_saveexec_b32 s5, s20",
        "v_cmpx_eq_u32_e32 v9, v9",
    ):
        wave, address = with_buffer()
        execute(wave, text, scalars=pair(address))
        assert kinds(wave) == ["uninitialised"], text


def test_a_half_that_was_loaded_is_defined_and_the_other_is_not() -> None:
    wave, address = with_buffer()
    load = "ds_store_b16 v0, v0\nds_load_u16_d16 v1, v0\ns_waitcnt lgkmcnt(0)\n"
    execute(
        wave, load + "v_and_b32_e32 v2, 0xffff, v1\nglobal_store_b32 v0, v2, s[2:3]", vectors={0: [0]}, scalars=pair(address)
    )
    assert kinds(wave) == []
    execute(
        wave, load + "v_lshrrev_b32_e32 v2, 8, v1\nglobal_store_b32 v0, v2, s[2:3]", vectors={0: [0]}, scalars=pair(address)
    )
    assert kinds(wave) == ["uninitialised"]


def test_lds_that_nothing_wrote() -> None:
    wave, address = with_buffer()
    text = "ds_load_b32 v1, v0\ns_waitcnt lgkmcnt(0)\nglobal_store_b32 v0, v1, s[2:3]"
    execute(wave, text, vectors={0: [0]}, scalars=pair(address))
    assert kinds(wave) == ["uninitialised"]


def test_inactive_lanes_stay_as_they_are() -> None:
    wave = fresh_wave(lanes=1, buffers={"x": 64})
    wave.group.memory.fill("x", np.full(64, 7, dtype=np.uint8))
    address = wave.group.memory.buffer("x").address
    vectors = {0: [0, 1 << 30], 1: [5]}
    execute(wave, "global_load_u8 v1, v0, s[2:3]\nglobal_store_b8 v0, v1, s[2:3]", vectors=vectors, scalars=pair(address))
    assert [int(x) for x in wave.u32[1][:2]] == [7, 5]


def test_lanes_of_one_store_that_disagree() -> None:
    wave, address = with_buffer()
    execute(wave, "global_store_b32 v0, v1, s[2:3]", vectors={0: [0], 1: [5]}, scalars=pair(address))
    assert kinds(wave) == []
    execute(wave, "global_store_b32 v0, v1, s[2:3]", vectors={0: [0], 1: list(LANES)}, scalars=pair(address))
    execute(wave, "s_nop 0\nds_store_b32 v0, v1", vectors={0: [0], 1: list(LANES)})
    assert kinds(wave) == ["race", "race"]


@pytest.mark.parametrize(
    ("stride", "width", "wanted"),
    [
        (4, 4, (1, 1)), (8, 4, (2, 1)), (128, 4, (32, 1)), (0, 4, (1, 1)), (132, 4, (1, 1)), (1, 1, (1, 1)), (64, 1, (16, 1)),
        (8, 8, (2, 2)), (16, 8, (4, 2)), (16, 16, (4, 4)), (32, 16, (8, 4)), (128, 16, (32, 4)), (0, 16, (4, 4)),
    ],
)  # fmt: skip
def test_bank_passes(stride: int, width: int, wanted: tuple[int, int]) -> None:
    assert passes(np.arange(32) * stride, np.ones(32, dtype=bool), width) == wanted


def test_bank_passes_of_the_active_lanes_alone() -> None:
    lanes = np.arange(32) < 8
    assert passes(np.arange(32) * 128, lanes, 4) == (8, 1)
    assert passes(np.arange(32) * 128, lanes & False, 4) == (0, 0)


def test_lines_of_128_bytes() -> None:
    wave, address = with_buffer()
    text = "global_load_b32 v1, v0, s[2:3]"
    execute(wave, text, vectors={0: [4 * i for i in LANES]}, scalars=pair(address))
    assert (wave.group.tally.of_line(1).lines, wave.group.tally.of_line(1).lines_least) == (1, 1)
    execute(wave, text, vectors={0: [64 + 4 * i for i in LANES]}, scalars=pair(address))
    execute(wave, text, vectors={0: [126]}, scalars=pair(address))
    traffic = wave.group.tally.of_line(1)
    assert (traffic.lines, traffic.lines_least, traffic.bytes) == (1 + 2 + 2, 3, 3 * 128)
