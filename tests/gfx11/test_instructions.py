"""Single vector and scalar instructions against Python integers and rationals, over corner values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product

import pytest
from gfx11 import exact
from gfx11.exact import F16, F32, HALF, SINGLE, U32, Format

from expctl.gfx11.errors import Unsupported
from expctl.gfx11.single import execute, fresh_wave

ALL = 0xFFFFFFFF


def s32(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def s24(value: int) -> int:
    value &= 0xFFFFFF
    return value - (1 << 24) if value >> 23 else value


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


def clz(a: int) -> int:
    return 32 - a.bit_length() if a else ALL


def ctz(a: int) -> int:
    return (a & -a).bit_length() - 1 if a else ALL


def perm(a: int, b: int, selector: int) -> int:
    pool = b.to_bytes(4, "little") + a.to_bytes(4, "little")
    out = 0
    for i in range(4):
        name = selector >> 8 * i & 255
        sign = 255 if name < 12 and name >= 8 and pool[2 * (name - 8) + 1] & 128 else 0
        byte = pool[name] if name < 8 else sign if name < 12 else 0 if name == 12 else 255
        out |= byte << 8 * i
    return out


INTEGER: dict[str, Callable[..., int]] = {
    "v_mov_b32_e32": lambda a: a,
    "v_not_b32_e32": lambda a: ~a,
    "v_bfrev_b32_e32": lambda a: int(f"{a:032b}"[::-1], 2),
    "v_clz_i32_u32_e32": clz,
    "v_ctz_i32_b32_e32": ctz,
    "v_and_b32_e32": lambda a, b: a & b,
    "v_or_b32_e32": lambda a, b: a | b,
    "v_xor_b32_e32": lambda a, b: a ^ b,
    "v_xnor_b32_e32": lambda a, b: ~(a ^ b),
    "v_lshlrev_b32_e32": lambda a, b: b << (a % 32),
    "v_lshrrev_b32_e32": lambda a, b: b >> (a % 32),
    "v_ashrrev_i32_e32": lambda a, b: s32(b) >> (a % 32),
    "v_add_nc_u32_e32": lambda a, b: a + b,
    "v_sub_nc_u32_e32": lambda a, b: a - b,
    "v_subrev_nc_u32_e32": lambda a, b: b - a,
    "v_mul_lo_u32": lambda a, b: a * b,
    "v_mul_hi_u32": lambda a, b: a * b >> 32,
    "v_mul_hi_i32": lambda a, b: s32(a) * s32(b) >> 32,
    "v_mul_u32_u24_e32": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "v_mul_i32_i24_e32": lambda a, b: s24(a) * s24(b),
    "v_mul_hi_u32_u24_e32": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 32,
    "v_min_u32_e32": min,
    "v_max_u32_e32": max,
    "v_min_i32_e32": lambda a, b: min(a, b, key=s32),
    "v_max_i32_e32": lambda a, b: max(a, b, key=s32),
    "v_bcnt_u32_b32": lambda a, b: a.bit_count() + b,
    "v_bfm_b32": lambda a, b: ((1 << a % 32) - 1) << b % 32,
    "v_and_or_b32": lambda a, b, c: a & b | c,
    "v_or3_b32": lambda a, b, c: a | b | c,
    "v_xor3_b32": lambda a, b, c: a ^ b ^ c,
    "v_bfi_b32": lambda a, b, c: a & b | ~a & c,
    "v_bfe_u32": lambda a, b, c: a >> b % 32 & (1 << c % 32) - 1,
    "v_bfe_i32": lambda a, b, c: (lambda w, f: f - (1 << w) if w and f >> (w - 1) & 1 else f)(
        c % 32, s32(a) >> b % 32 & (1 << c % 32) - 1
    ),
    "v_lshl_or_b32": lambda a, b, c: a << b % 32 | c,
    "v_lshl_add_u32": lambda a, b, c: (a << b % 32) + c,
    "v_add_lshl_u32": lambda a, b, c: (a + b & ALL) << c % 32,
    "v_xad_u32": lambda a, b, c: (a ^ b) + c,
    "v_add3_u32": lambda a, b, c: a + b + c,
    "v_mad_u32_u24": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c,
    "v_mad_i32_i24": lambda a, b, c: s24(a) * s24(b) + c,
    "v_alignbit_b32": lambda a, b, c: (a << 32 | b) >> c % 32,
    "v_alignbyte_b32": lambda a, b, c: (a << 32 | b) >> 8 * (c % 4),
    "v_sad_u32": lambda a, b, c: abs(a - b) + c,
    "v_min3_u32": min,
    "v_max3_i32": lambda a, b, c: max(a, b, c, key=s32),
    "v_med3_u32": lambda a, b, c: sorted((a, b, c))[1],
    "v_med3_i32": lambda a, b, c: sorted((a, b, c), key=s32)[1],
}


def arity(function: Callable[..., int]) -> int:
    return 3 if function is min or function is max else function.__code__.co_argcount


@pytest.mark.parametrize("name", INTEGER)
def test_integer(name: str) -> None:
    function = INTEGER[name]
    count = 2 if name in ("v_min_u32_e32", "v_max_u32_e32") else arity(function)
    cases = tuples(U32, count)
    wanted = [function(*case) & ALL for case in cases]
    assert computed(f"{name} v0, {', '.join(f'v{4 + i}' for i in range(count))}", cases) == wanted


@pytest.mark.parametrize("selector", [0x050C040C, 0x070C060C, 0x03020100, 0x0D0B0A09, 0x08FF0C07, 0x00010203])
def test_permute(selector: int) -> None:
    cases = tuples(U32, 2)
    wanted = [perm(a, b, selector) for a, b in cases]
    assert computed(f"v_perm_b32 v0, v4, v5, 0x{selector:x}", cases) == wanted


def test_permute_with_selectors_in_a_register() -> None:
    cases = [(0x12F45678, 0x9ABCDEF0, selector * 0x01010101) for selector in range(16)]
    assert computed("v_perm_b32 v0, v4, v5, v6", cases) == [perm(*case) for case in cases]


WIDE: dict[str, tuple[str, Callable[..., int]]] = {
    "v_mad_u64_u32": ("v[0:1], null, v4, v5, v[6:7]", lambda a, b, c, d: a * b + (c | d << 32)),
    "v_mad_i64_i32": ("v[0:1], null, v4, v5, v[6:7]", lambda a, b, c, d: s32(a) * s32(b) + (c | d << 32)),
    "v_lshlrev_b64": ("v[0:1], v4, v[6:7]", lambda a, b, c, d: (c | d << 32) << a % 64),
    "v_lshrrev_b64": ("v[0:1], v4, v[6:7]", lambda a, b, c, d: (c | d << 32) >> a % 64),
    "v_ashrrev_i64": ("v[0:1], v4, v[6:7]", lambda a, b, c, d: (c | s32(d) << 32) >> a % 64),
}


@pytest.mark.parametrize("name", WIDE)
def test_64_bits(name: str) -> None:
    operands, function = WIDE[name]
    cases = [(a, b, c, d) for a, b in product(U32, U32[::3]) for c, d in product(U32[1::6], U32[2::6])]
    assert computed(f"{name} {operands}", cases, registers=2) == [function(*case) & (1 << 64) - 1 for case in cases]


CARRY = {
    "v_add_co_u32 v0, s4, v4, v5": lambda a, b, c: a + b,
    "v_sub_co_u32 v0, s4, v4, v5": lambda a, b, c: a - b,
    "v_subrev_co_u32 v0, s4, v4, v5": lambda a, b, c: b - a,
    "v_add_co_ci_u32_e64 v0, s4, v4, v5, s6": lambda a, b, c: a + b + c,
    "v_sub_co_ci_u32_e64 v0, s4, v4, v5, s6": lambda a, b, c: a - b - c,
    "v_subrev_co_ci_u32_e64 v0, s4, v4, v5, s6": lambda a, b, c: b - a - c,
}


@pytest.mark.parametrize("text", CARRY)
def test_carries(text: str) -> None:
    mask, wave = 0xA5A5_0FF0, fresh_wave()
    for row in rows(tuples(U32, 2)):
        execute(wave, text, vectors={4: [a for a, _ in row], 5: [b for _, b in row]}, scalars={6: mask})
        for lane, (a, b) in enumerate(row):
            total = CARRY[text](a, b, mask >> lane & 1)
            assert int(wave.u32[0][lane]) == total & ALL
            assert wave.scalar[4] >> lane & 1 == (not 0 <= total <= ALL)


COMPARISONS = {
    "lt": lambda a, b: a < b, "eq": lambda a, b: a == b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ne": lambda a, b: a != b, "ge": lambda a, b: a >= b,
}  # fmt: skip


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("kind", ["u32", "i32"])
def test_integer_comparisons(name: str, kind: str) -> None:
    view = s32 if kind == "i32" else int
    for row in rows(tuples(U32, 2)):
        vectors = {4: [a for a, _ in row], 5: [b for _, b in row]}
        wanted = sum(COMPARISONS[name](view(a), view(b)) << i for i, (a, b) in enumerate(row))
        live = (1 << len(row)) - 1
        wave = execute(fresh_wave(lanes=live & 0x0FFFFFF7), f"v_cmp_{name}_{kind}_e64 s4, v4, v5", vectors=vectors)
        assert wave.scalar[4] == wanted & 0x0FFFFFF7
        wave = execute(fresh_wave(lanes=live), f"v_cmpx_{name}_{kind}_e32 v4, v5", vectors=vectors)
        assert wave.exec == wanted


def same(found: int, wanted: int | None, form: Format) -> bool:
    return form.is_nan(found) if wanted is None else found == wanted


FLOAT = {
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


def test_fmac_accumulates_and_clamp_holds() -> None:
    assert computed("v_fmac_f32_e32 v0, v4, v5", [(0x40000000, 0x40400000)], before=0x3F800000) == [0x40E00000]  # 2 * 3 + 1
    cases = [(0x40000000, 0x3F000000), (0xBF800000, 0x3F000000), (0x3F000000, 0x3F000000), (0x7FC00000, 0)]
    assert computed("v_add_f32_e64 v0, v4, v5 clamp", cases) == [0x3F800000, 0, 0x3F800000, 0]
    assert computed("v_mul_f32_e64 v0, v4, v5 mul:2", [(0x3F800000, 0x3F000000)]) == [0x3F800000]


def test_conversions() -> None:
    every = list(range(0, 0x10000, 23))
    for bits, found in zip(every, computed("v_cvt_f32_f16_e32 v0, v4", [(b | 0xFFFF0000,) for b in every]), strict=True):
        value = HALF.value(bits)
        if value is None:
            assert SINGLE.is_nan(found)
        else:
            wanted = SINGLE.infinity if isinstance(value, float) else SINGLE.nearest(abs(value))
            assert found == wanted | (bits & 0x8000) << 16
    for a, found in zip(F32, computed("v_cvt_f16_f32_e32 v0, v4", [(a,) for a in F32]), strict=True):
        value = SINGLE.value(a)
        if isinstance(value, Fraction):
            assert found == HALF.nearest(value, negative_zero=a == 0x80000000)
    for a, found in zip(U32, computed("v_cvt_f32_u32_e32 v0, v4", [(a,) for a in U32]), strict=True):
        assert found == SINGLE.nearest(Fraction(a))
    for a, found in zip(U32, computed("v_cvt_f32_i32_e32 v0, v4", [(a,) for a in U32]), strict=True):
        assert found == SINGLE.nearest(Fraction(s32(a)))
    for kind, low, high in (("i32", -(1 << 31), (1 << 31) - 1), ("u32", 0, ALL)):
        for a, found in zip(F32, computed(f"v_cvt_{kind}_f32_e32 v0, v4", [(a,) for a in F32]), strict=True):
            value = SINGLE.value(a)
            whole = 0 if value is None else high if value == math.inf else low if value == -math.inf else math.trunc(value)
            assert found == min(max(whole, low), high) & ALL


def test_packed_halves() -> None:
    cases = [(a | b << 16, b | a << 16) for a, b in product(F16, F16[::2])]
    plain = computed("v_pk_mul_f16 v0, v4, v5", cases)
    crossed = computed("v_pk_add_f16 v0, v4, v5 op_sel:[0,1] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[1,0]", cases)
    for (x, y), product_bits, sum_bits in zip(cases, plain, crossed, strict=True):
        low, high = (x & 0xFFFF, x >> 16), (y & 0xFFFF, y >> 16)
        assert same(product_bits & 0xFFFF, exact.multiply(low[0], high[0], HALF), HALF)
        assert same(product_bits >> 16, exact.multiply(low[1], high[1], HALF), HALF)
        assert same(sum_bits & 0xFFFF, exact.add(low[0], high[1] ^ 0x8000, HALF), HALF)
        assert same(sum_bits >> 16, exact.add(low[1] ^ 0x8000, high[0], HALF), HALF)


def test_packed_with_a_literal_takes_its_low_half_twice() -> None:
    cases = [(a | b << 16,) for a, b in product(F16, F16[::3])]
    for (x,), found in zip(cases, computed("v_pk_mul_f16 v0, 0x5c00, v4 op_sel_hi:[0,1]", cases), strict=True):
        assert same(found & 0xFFFF, exact.multiply(0x5C00, x & 0xFFFF, HALF), HALF)
        assert same(found >> 16, exact.multiply(0x5C00, x >> 16, HALF), HALF)


def test_mixed_precision() -> None:
    """Rounded to single, then to half: what LLVM selects the instruction for."""
    cases = [(a, b, c) for a, b in product(F32[:16], F32[::3]) for c in F16[::3]]
    text = "v_fma_mixlo_f16 v0, v4, v5, v6 op_sel:[0,0,1] op_sel_hi:[0,0,1]"
    found = computed(text, [(a, b, c << 16) for a, b, c in cases], before=0x7777FFFF)
    for (a, b, c), bits in zip(cases, found, strict=True):
        half = HALF.value(c)
        wide = 0x7FC00000 if half is None else (
            SINGLE.infinity | (c & 0x8000) << 16 if isinstance(half, float) else SINGLE.nearest(half, negative_zero=c == 0x8000)
        )  # fmt: skip
        single = exact.fused(a, b, wide, SINGLE)
        value = None if single is None else SINGLE.value(single)
        assert bits >> 16 == 0x7777
        if value is None:
            assert HALF.is_nan(bits & 0xFFFF)
        elif isinstance(value, float):
            assert bits & 0x7FFF == HALF.infinity
        else:
            assert bits & 0xFFFF == HALF.nearest(value, negative_zero=bool(single and single >> 31))


def test_minimum_and_maximum_prefer_numbers() -> None:
    nan, one, minus = 0x7FC00000, 0x3F800000, 0x80000000
    assert computed("v_max_f32_e32 v0, v4, v5", [(nan, one), (one, nan), (0, minus), (minus, 0)]) == [one, one, 0, 0]
    assert computed("v_min_f32_e32 v0, v4, v5", [(nan, one), (one, nan), (0, minus), (minus, 0)]) == [one, one, minus, minus]


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


SCALAR: dict[str, tuple[Callable[[int, int], int], Callable[[int, int], bool] | None]] = {
    "s_add_u32": (lambda a, b: a + b, lambda a, b: a + b > ALL),
    "s_sub_u32": (lambda a, b: a - b, lambda a, b: a < b),
    "s_add_i32": (lambda a, b: a + b, lambda a, b: not -(1 << 31) <= s32(a) + s32(b) < 1 << 31),
    "s_sub_i32": (lambda a, b: a - b, lambda a, b: not -(1 << 31) <= s32(a) - s32(b) < 1 << 31),
    "s_mul_i32": (lambda a, b: a * b, None),
    "s_mul_hi_u32": (lambda a, b: a * b >> 32, None),
    "s_mul_hi_i32": (lambda a, b: s32(a) * s32(b) >> 32, None),
    "s_and_b32": (lambda a, b: a & b, lambda a, b: a & b != 0),
    "s_or_b32": (lambda a, b: a | b, lambda a, b: a | b != 0),
    "s_xor_b32": (lambda a, b: a ^ b, lambda a, b: a ^ b != 0),
    "s_nor_b32": (lambda a, b: ~(a | b), lambda a, b: a | b != ALL),
    "s_nand_b32": (lambda a, b: ~(a & b), lambda a, b: a & b != ALL),
    "s_and_not1_b32": (lambda a, b: a & ~b, lambda a, b: a & ~b != 0),
    "s_or_not1_b32": (lambda a, b: a | ~b, lambda a, b: (a | ~b) & ALL != 0),
    "s_lshl_b32": (lambda a, b: a << b % 32, lambda a, b: (a << b % 32) & ALL != 0),
    "s_lshr_b32": (lambda a, b: a >> b % 32, lambda a, b: a >> b % 32 != 0),
    "s_ashr_i32": (lambda a, b: s32(a) >> b % 32, lambda a, b: s32(a) >> b % 32 != 0),
    "s_min_i32": (lambda a, b: min(a, b, key=s32), lambda a, b: s32(a) < s32(b)),
    "s_max_i32": (lambda a, b: max(a, b, key=s32), lambda a, b: s32(a) >= s32(b)),
    "s_min_u32": (min, lambda a, b: a < b),
    "s_bfe_u32": (lambda a, b: a >> b % 32 & (1 << (b >> 16 & 127)) - 1, None),
    "s_lshl2_add_u32": (lambda a, b: (a << 2) + b, lambda a, b: (a << 2) + b > ALL),
    "s_pack_ll_b32_b16": (lambda a, b: a & 0xFFFF | b << 16, None),
    "s_cselect_b32": (lambda a, b: a, None),
}


@pytest.mark.parametrize("name", SCALAR)
def test_scalar(name: str) -> None:
    function, flag = SCALAR[name]
    wave = fresh_wave()
    for a, b in tuples(U32, 2):
        execute(wave, f"{name} s0, s1, s2", scalars={1: a, 2: b, 253: 1})
        assert wave.scalar[0] == function(a, b) & ALL, (hex(a), hex(b))
        if flag is not None:
            assert wave.scalar[253] == flag(a, b), (hex(a), hex(b))


def test_scalar_64_bits_carry_and_short_constants() -> None:
    wave = execute(fresh_wave(), "s_lshl_b64 s[0:1], s[2:3], 33", scalars={2: 0x80000003, 3: 5})
    assert wave.scalar[:2] == [0, 6]
    wave = execute(fresh_wave(), "s_add_u32 s0, s2, s4\ns_addc_u32 s1, s3, s5", scalars={2: ALL, 3: 1, 4: 1, 5: 2})
    assert wave.scalar[:2] == [0, 4]
    wave = execute(fresh_wave(), "s_movk_i32 s0, 0x8000\ns_addk_i32 s0, 0x1\ns_mulk_i32 s0, 0x2")
    assert wave.scalar[0] == (2 * (0xFFFF8000 + 1)) & ALL
    wave = execute(fresh_wave(), "s_cmp_eq_u64 s[0:1], 0", scalars={0: 0, 1: 1})
    assert wave.scalar[253] == 0


def test_exec_is_saved_and_narrowed() -> None:
    wave = execute(fresh_wave(lanes=0xFF00FF), "s_and_saveexec_b32 s0, vcc_lo", scalars={106: 0x0F0F0F})
    assert (wave.scalar[0], wave.exec, wave.scalar[253]) == (0xFF00FF, 0x0F000F, 1)
    wave = execute(wave, "v_mov_b32_e32 v1, 7\ns_or_b32 exec_lo, exec_lo, s0", vectors={1: [3]})
    assert [int(x) for x in wave.u32[1][:8]] == [7, 7, 7, 7, 3, 3, 3, 3]
    assert wave.exec == 0xFF00FF
    wave = execute(fresh_wave(lanes=0b1100), "v_readfirstlane_b32 s0, v1", vectors={1: range(32)})
    assert wave.scalar[0] == 2


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
    "v_add_f32_dpp v0, v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf",
    "v_add_f32_sdwa v0, v1, v2 dst_sel:DWORD",
    "v_add_f32_e64 v0, v1, v2 foo",
    "v_add_nc_u32_e64 v0, v1, v2 clamp",
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
    "global_atomic_add_u32 v0, v1, s[0:1]",
    "global_load_b32 v0, v1, s[0:1] lds",
    "flat_load_b32 v0, v[1:2]",
    "buffer_load_b32 v0, v1, s[0:3], 0 offen",
    "ds_load_b32 v0, v1 gds",
    "ds_add_u32 v0, v1",
    "ds_load_2addr_b32 v[0:1], v2 offset0:256",
    "s_waitcnt 0x3f7",
    "s_waitcnt_vscnt s0, 0x0",
    "s_sendmsg sendmsg(MSG_INTERRUPT)",
    "s_trap 2",
    "s_mov_b32 exec_hi, 0",
    "s_load_b32 s0, s[2:3], 0x0 foo",
    "v_cndmask_b32_e64 v0, -v1, v2, s0",
)


@pytest.mark.parametrize("text", REJECTED)
def test_what_is_not_implemented_is_an_error(text: str) -> None:
    with pytest.raises(Unsupported) as refusal:
        execute(fresh_wave(), f"s_nop 0\n{text}")
    assert refusal.value.line == 2
