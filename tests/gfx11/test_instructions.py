"""Forms that instructions take: signs, halves, pairs, constants, inactive lanes; what is refused. And rational arithmetic as a
second opinion of the float operations, on more operands than test_cases.py has (which covers every opcode)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product

import pytest

from expctl.gfx11.single_instruction import execute, fresh_wave
from expctl.gfx11.text.errors import Unsupported
from tests.gfx11 import exact
from tests.gfx11.exact import F16, F32, HALF, SINGLE, Format

ALL = 0xFFFFFFFF


def tuples(values: Sequence[int], count: int) -> list[tuple[int, ...]]:
    if count == 3:
        return [(a, b, c) for a, b in product(values[::2], values[1::2]) for c in values[::3]]
    return list(product(values, repeat=count))


def rows(cases: Sequence[tuple[int, ...]]) -> Iterable[Sequence[tuple[int, ...]]]:
    for first in range(0, len(cases), 32):
        yield cases[first : first + 32]


def computed(text: str, cases: Sequence[tuple[int, ...]], *, before: int = 0, registers: int = 1) -> list[int]:
    """v0 (and v1) after `text`, whose sources are v4, v5, ... as 32-bit words, for every case."""
    found: list[int] = []
    wave = fresh_wave()
    for row in rows(cases):
        vectors = {4 + i: [case[i] for case in row] for i in range(len(row[0]))}
        execute(wave, text, vectors={**vectors, 0: [before], 1: [before]})
        for lane in range(len(row)):
            found.append(sum(int(wave.u32[n][lane]) << 32 * n for n in range(registers)))
        assert not wave.group.faults.all()
    return found


def same(found: int, wanted: int | None, form: Format) -> bool:
    return form.is_nan(found) if wanted is None else found == wanted


FLOAT: dict[str, tuple[int, Callable[..., int | None]]] = {
    "v_add_f32_e32": (2, exact.add),
    "v_sub_f32_e32": (2, lambda a, b, form: exact.add(a, b ^ form.sign, form)),
    "v_subrev_f32_e32": (2, lambda a, b, form: exact.add(b, a ^ form.sign, form)),
    "v_mul_f32_e32": (2, exact.multiply),
    "v_fma_f32": (3, exact.fused),
    "v_add_f16_e32": (2, exact.add),
    "v_mul_f16_e32": (2, exact.multiply),
    "v_fma_f16": (3, exact.fused),
}


@pytest.mark.parametrize("name", FLOAT)
def test_float(name: str) -> None:
    count, function = FLOAT[name]
    form, values = (HALF, F16) if "f16" in name else (SINGLE, F32)
    cases = tuples(values, count)
    found = computed(f"{name} v0, {', '.join(f'v{4 + i}' for i in range(count))}", cases, before=0xABCD0000)
    for case, bits in zip(cases, found, strict=True):
        if form is HALF:
            assert bits >> 16 == 0xABCD  # the high half stays
        assert same(bits & 2 * form.sign - 1, function(*case, form), form), [hex(x) for x in case]


def test_sign_modifiers_and_fused_sign() -> None:
    cases = tuples(F32, 3)
    found = computed("v_fma_f32 v0, -v4, |v5|, -|v6|", cases)
    for (a, b, c), bits in zip(cases, found, strict=True):
        assert same(bits, exact.fused(a ^ 0x80000000, b & 0x7FFFFFFF, c | 0x80000000, SINGLE), SINGLE)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # A literal has 32 bits. The manual extends it by zeros for unsigned 64-bit operands, by its sign for signed ones.
        ("v_mad_u64_u32 v[0:1], null, v4, v5, 0xffffffffe38e38e3", 6 + 0xE38E38E3),
        ("v_mad_u64_u32 v[0:1], null, v4, v5, 0xe38e38e3", 6 + 0xE38E38E3),
        ("v_mad_i64_i32 v[0:1], null, v4, v5, 0xffffffffe38e38e3", (6 - 0x1C71C71D) % 2**64),
        ("v_mad_i64_i32 v[0:1], null, v4, v5, 0xe38e38e3", (6 - 0x1C71C71D) % 2**64),
        ("v_mad_u64_u32 v[0:1], null, v4, v5, -7", 2**64 - 1),  # an inline constant has its sign in all 64 bits
    ],
)
def test_literals_of_wide_operands(text: str, wanted: int) -> None:
    assert computed(text, [(2, 3)], registers=2) == [wanted]


def test_numbers_of_more_than_32_bits_are_refused() -> None:
    for number in ("0xffffffff7fffffff", "0x100000000"):
        with pytest.raises(Unsupported, match="more than 32 bits"):
            computed(f"v_mad_u64_u32 v[0:1], null, v4, v5, {number}", [(2, 3)], registers=2)
    with pytest.raises(Unsupported, match="more than 32 bits"):
        computed("v_add_nc_u32_e32 v0, 0xffffffffe38e38e3, v4", [(2, 3)])


def test_a_number_with_a_sign_modifier() -> None:
    assert computed("v_max3_f32 v0, neg(0x41d00000), v4, v5", [(0xC2000000, 0xC2000000)]) == [0xC1D00000]
    assert computed("v_max3_f32 v0, neg(0xc1d00000), v4, v5", [(0xC2000000, 0xC2000000)]) == [0x41D00000]
    for text in ("v_add_nc_u32_e32 v0, neg(0x41d00000), v4", "v_max3_f32 v0, neg(neg(0x41d00000)), v4, v5"):
        with pytest.raises(Unsupported):
            computed(text, [(1, 1)])


def test_fmac_accumulates_and_clamp_holds() -> None:
    assert computed("v_fmac_f32_e32 v0, v4, v5", [(0x40000000, 0x40400000)], before=0x3F800000) == [0x40E00000]  # 2 * 3 + 1
    cases = [(0x40000000, 0x3F000000), (0xBF800000, 0x3F000000), (0x3F000000, 0x3F000000), (0x7FC00000, 0)]
    assert computed("v_add_f32_e64 v0, v4, v5 clamp", cases) == [0x3F800000, 0, 0x3F800000, 0]


def test_division_is_correctly_rounded() -> None:
    """The sequence that clang emits for a / b, around a reciprocal."""
    text = """
        v_div_scale_f32 v8, null, v5, v5, v4
        v_rcp_f32_e32 v9, v8
        v_fma_f32 v10, -v8, v9, 1.0
        v_fmac_f32_e32 v9, v10, v9
        v_div_scale_f32 v11, vcc_lo, v4, v5, v4
        v_mul_f32_e32 v12, v11, v9
        v_fma_f32 v13, -v8, v12, v11
        v_fmac_f32_e32 v12, v13, v9
        v_fma_f32 v8, -v8, v12, v11
        v_div_fmas_f32 v8, v8, v9, v12
        v_div_fixup_f32 v0, v8, v5, v4
    """
    cases = tuples(F32, 2)
    for (a, b), found in zip(cases, computed(text, cases), strict=True):
        x, y = SINGLE.value(a), SINGLE.value(b)
        if isinstance(x, Fraction) and isinstance(y, Fraction) and y != 0:
            assert found == SINGLE.nearest(x / y, negative_zero=bool((a ^ b) >> 31)), (hex(a), hex(b))


def test_exec_is_saved_and_narrowed() -> None:
    wave = execute(fresh_wave(lanes=0xFF00FF), "s_and_saveexec_b32 s0, vcc_lo", scalars={106: 0x0F0F0F})
    assert (wave.scalar[0], wave.exec, wave.scalar[253]) == (0xFF00FF, 0x0F000F, 1)
    wave = execute(wave, "v_mov_b32_e32 v1, 7\ns_or_b32 exec_lo, exec_lo, s0", vectors={1: [3]})
    assert [int(x) for x in wave.u32[1][:8]] == [7, 7, 7, 7, 3, 3, 3, 3]
    assert wave.exec == 0xFF00FF
    wave = execute(fresh_wave(lanes=0b1100), "v_readfirstlane_b32 s0, v1", vectors={1: range(32)})
    assert wave.scalar[0] == 2


def test_comparisons_of_inactive_lanes_are_zeros() -> None:
    vectors = {4: range(32), 5: [16]}
    wave = execute(fresh_wave(lanes=0x0FF0_0FF7), "v_cmp_lt_u32_e64 s4, v4, v5", vectors=vectors, scalars={4: ALL})
    assert wave.scalar[4] == 0x0FF7
    wave = execute(fresh_wave(lanes=0x0FF0_0FF7), "v_cmpx_ge_u32_e32 v4, v5", vectors=vectors)
    assert wave.exec == 0x0FF0_0000


def test_halves_of_registers() -> None:
    cases = [(a | b << 16,) for a, b in product(F16, F16[::3])]
    found = computed("v_mul_f16_e32 v0.h, v4.h, -v4.l", cases, before=0x1234ABCD)
    for (x,), bits in zip(cases, found, strict=True):
        assert bits & 0xFFFF == 0xABCD
        assert same(bits >> 16, exact.multiply(x >> 16, x & 0xFFFF ^ 0x8000, HALF), HALF)
    assert computed("v_mov_b16_e32 v0.h, v4.l\nv_lshlrev_b16 v0.l, 8, v4.h", [(0x12345678,)]) == [0x56783400]
    assert computed("v_cvt_f32_f16_e32 v0, v4.h", [(0x3C000000,)]) == [0x3F800000]


def test_dual_reads_both_before_it_writes() -> None:
    wave = execute(fresh_wave(), "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0", vectors={0: [10], 1: [20]})
    assert (int(wave.u32[0][3]), int(wave.u32[1][3])) == (20, 10)


def test_constants_are_bits_of_the_operands_type() -> None:
    assert computed("v_add_f32_e32 v0, 1.0, v4", [(0,)]) == [0x3F800000]
    assert computed("v_add_f32_e32 v0, 2, v4", [(0,)]) == [2]  # a denormal
    assert computed("v_add_f16_e32 v0, 1.0, v4", [(0,)]) == [0x3C00]
    assert computed("v_mov_b32_e32 v0, -1", [(0,)]) == [ALL]
    assert computed("v_mov_b32_e32 v0, 0.5", [(0,)]) == [0x3F000000]
    assert computed("v_lshlrev_b64 v[0:1], 4, -1", [(0,)], registers=2) == [(1 << 64) - 16]


REJECTED = (
    "v_add_f32_dpp v0, v1, v2 row_bcast:15 row_mask:0xf bank_mask:0xf",
    "v_add_f32_dpp v0, v1, v2 row_shr:16 row_mask:0xf bank_mask:0xf",
    "v_add_f32_sdwa v0, v1, v2 dst_sel:DWORD",
    "v_add_f32_e64 v0, v1, v2 foo",
    "v_mul_f32_e64 v0, v4, v5 mul:2",
    "global_load_u8_d16 v0, v1, s[0:1]",
    "ds_load_d16_b16 v0, v1",
    "ds_bpermute_b32 v0, v1, v2 offset:65536",
    "ds_permute_b32 v0, v1, v2 gds",
    "s_cbranch_scc0 .L1",
    "v_add3_u32 v0, v1, v2, v3 clamp",
    "v_and_b32_e32 v0, -v1, v2",
    "v_mov_b32_e32 v0, |v1|",
    "v_add_f32_e32 v0, v1.l, v2",
    "v_mov_b32_e32 v0.l, v1",
    "v_pk_add_f16 v0, v1.h, v2",
    "global_load_d16_b16 v0.l, v1, s[0:1]",
    "v_mov_b32_e32 v0, sext(v1)",
    "v_add_f16_e64 v0, v1, v2 op_sel:[1,0,0]",
    "v_pk_fma_f16 v0, v1, v2, v3 clamp",
    "v_fma_mix_f32 v0, v1, v2, v3 op_sel:[1,0,0]",
    "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7] neg_lo:[1,0,0]",
    "v_mov_b64 v[0:1], v[2:3]",
    "global_atomic_add_u32 v0, v1, v2, s[0:1]",
    "global_atomic_pk_add_f16 v0, v1, s[0:1]",
    "global_load_b32 v0, v1, s[0:1] lds",
    "flat_load_b32 v0, v[1:2], s[0:1]",
    "buffer_load_b32 v0, v1, s[0:3], 0 idxen",
    "ds_load_b32 v0, v1 gds",
    "ds_add_u32 v0, v1 gds",
    "ds_add_rtn_u32 v0, v1",
    "ds_load_2addr_b32 v[0:1], v2 offset0:256",
    "s_waitcnt 0x3f7",
    "s_waitcnt_vscnt s0, 0x0",
    "s_sendmsg sendmsg(MSG_INTERRUPT)",
    "s_trap 2",
    "s_mov_b32 exec_hi, 0",
    "s_load_b32 s0, s[2:3], 0x0 foo",
    "v_cndmask_b16 v0.l, -v1.l, v2.l, s0",
)


@pytest.mark.parametrize("text", REJECTED)
def test_what_is_not_implemented_is_an_error(text: str) -> None:
    with pytest.raises(Unsupported) as refusal:
        execute(fresh_wave(), f"s_nop 0\n{text}")
    assert refusal.value.line == 2


def test_a_floating_point_number_of_64_bits_is_a_double() -> None:
    wave = execute(fresh_wave(), "s_mov_b64 s[2:3], 0.5")
    assert (wave.scalar[2], wave.scalar[3]) == (0, 0x3FE00000)
