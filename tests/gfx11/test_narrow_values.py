"""16-bit instructions: their constants and modifiers, and that the half which they don't write matters only to who reads it."""

from __future__ import annotations

import pytest

from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.single_instruction import execute, fresh_wave

UPPER = 0xFFFF0000
ALL = 0xFFFFFFFF


def half_defined(value: int, *, scalar: bool = False) -> Wave:
    """A wave whose v1 (or s1) holds `value`, of which the upper half is undefined."""
    wave = fresh_wave()
    wave.vector[1], wave.scalar[1] = value, value
    if scalar:
        wave.mark_scalar(1, UPPER)
    else:
        wave.mark_vector(1, wave.vector[1] * 0 + UPPER)
        wave.define_scalar(1, value)
    return wave


@pytest.mark.parametrize(
    ("text", "given", "wanted"),
    [
        ("s_mul_f16 s0, s4, 4.0", 0x3C00, 0x4400),
        ("s_add_f16 s0, s4, -4.0", 0x4400, 0x0000),
        ("s_sub_f16 s0, 0.5, s4", 0x3800, 0x0000),
        ("s_cvt_f32_f16 s0, 2.0", 0, 0x40000000),
        ("s_mul_f32 s0, s4, 4.0", 0x3F800000, 0x40800000),
    ],
)
def test_scalar_constants_have_the_type_of_the_operation(text: str, given: int, wanted: int) -> None:
    wave = fresh_wave()
    execute(wave, text, scalars={4: given})
    assert wave.scalar[0] == wanted


@pytest.mark.parametrize(
    ("text", "given", "wanted"),
    [
        ("v_pk_sub_u16 v0, v4, v5 clamp", (0x00010005, 0x00020003), 0x00000002),
        ("v_pk_add_i16 v0, v4, v5 clamp", (0x7FFF8000, 0x0001FFFF), 0x7FFF8000),
        ("v_pk_add_u16 v0, v4, v5 clamp", (0xFFFF0001, 0x00020003), 0xFFFF0004),
        ("v_subrev_nc_u32_e64 v0, v4, v5 clamp", (7, 5), 0),
        ("v_pk_add_u16 v0, v4, 1.0", (0x00010001, 0), 0x3F810001),
        ("v_pk_add_u16 v0, v4, 1.0 op_sel:[0,1]", (0x00010001, 0), 0x3F813F81),
        ("v_pack_b32_f16 v0, -v4, v5", (0x3C00, 0x4000), 0x4000BC00),
        ("v_pack_b32_f16 v0, |v4|, -1.0", (0xBC00, 0), 0xBC003C00),
    ],
)
def test_packed_constants_and_modifiers(text: str, given: tuple[int, int], wanted: int) -> None:
    wave = fresh_wave()
    execute(wave, text, vectors={4: [given[0]], 5: [given[1]]})
    assert int(wave.u32[0][3]) == wanted


@pytest.mark.parametrize(
    ("text", "undefined"),
    [
        ("v_bfe_i32 v0, v1, 0, 16", 0),
        ("v_bfe_u32 v0, v1, 8, 8", 0),
        ("v_bfe_u32 v0, v1, 12, 8", 0xF0),
        ("v_bfe_i32 v0, v1, 12, 8", 0xFFFFFFF0),
        ("v_bfrev_b32_e32 v0, v1", 0xFFFF),
        ("v_bfi_b32 v0, 0xffff, v1, v2", 0),
        ("v_bfi_b32 v0, 0xff00, v2, v1", UPPER),
        ("v_cvt_f32_ubyte1_e32 v0, v1", 0),
        ("v_cvt_f32_ubyte2_e32 v0, v1", ALL),
        ("v_lshlrev_b32_e32 v0, v1, v2", 0),
        ("v_mul_u32_u24_e32 v0, v1, v2", UPPER),
        ("v_ctz_i32_b32_e32 v0, v1", 0),
        ("v_clz_i32_u32_e32 v0, v1", ALL),
        ("v_bfe_u32 v0, v2, v1, 4", 0),
    ],
)
def test_what_the_unwritten_half_of_a_vector_register_makes_undefined(text: str, undefined: int) -> None:
    wave = half_defined(0x00050018)
    wave.define_vector(2, wave.vector[1] * 0 + 0x1234)
    execute(wave, text)
    assert int(wave.vector_undefined[0][7]) == undefined


def test_no_one_below_what_is_undefined() -> None:
    wave = half_defined(0x00050000)
    execute(wave, "v_ctz_i32_b32_e32 v0, v1")
    assert int(wave.vector_undefined[0][7]) == ALL


@pytest.mark.parametrize(
    ("text", "undefined"),
    [
        ("s_add_f16 s0, s1, 1.0", 0),
        ("s_cvt_f32_f16 s0, s1", 0),
        ("s_add_f32 s0, s1, 1.0", ALL),
        ("s_bfe_i32 s0, s1, 0x80000", 0),
        ("s_bfe_u32 s0, s1, 0x8000c", 0xF0),
        ("s_sext_i32_i16 s0, s1", 0),
        ("s_lshl_b32 s0, s1, 4", 0xFFF00000),
        ("s_lshl_b32 s0, 4, s1", ALL),
        ("s_add_i32 s0, s1, 4", UPPER),
        ("s_pack_ll_b32_b16 s0, s1, s1", 0),
        ("s_pack_hh_b32_b16 s0, s1, 0", 0xFFFF),
        ("s_cselect_b32 s0, s1, 7", UPPER),
        ("s_cselect_b32 s0, 7, s1", 0),
    ],
)
def test_what_the_unwritten_half_of_a_scalar_register_makes_undefined(text: str, undefined: int) -> None:
    wave = half_defined(0x18, scalar=True)
    wave.define_scalar(253, 1)
    execute(wave, text)
    assert wave.scalar_undefined[0] == undefined
