"""Unusual operands: constants of every kind for every width, halves of registers, modifiers, a result over a source."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product

from expctl.gfx11.single_instruction import execute, fresh_wave
from expctl.gfx11.text.operand import VCC
from tests.gfx11.cases.case import Case, Row
from tests.gfx11.cases.procedure import Procedure, kinds, registers
from tests.gfx11.cases.strangers.form import hard
from tests.gfx11.cases.strangers.memory import furnished, halves, split
from tests.gfx11.cases.strangers.numbers import DOUBLE, HALF, SINGLE, Binary

ALL, _LANES = 0xFFFFFFFF, range(32)
_OLD_HIGH, _OLD_LOW = 0x5A5A0000, 0xA5A5
_HALVES = "0.5; -1.0; 0.0; -0.0; tiny; max; -inf; qnan; 0x1p-14; 3.0"
_SINGLES = "0.5; -1.0; 0.0; -0.0; tiny; max; -inf; snan; least; 3.0"
_WORDS: tuple[Row, ...] = tuple((a | b << 16,) for a, b in product((0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x3C00, 0xBC01), repeat=2))
_PAIRS: tuple[Row, ...] = tuple((a, b) for (a,), (b,) in zip(_WORDS, reversed(_WORDS), strict=True))


def constant(form: Binary, pattern: int, *, product_of: bool = False) -> Callable[[int], int | None]:
    return lambda a: form.multiply(pattern, a) if product_of else form.add(pattern, a)


def lanes(function: Callable[..., int], *words: int) -> int:
    low, high = (function(*(word >> shift & 0xFFFF for word in words)) & 0xFFFF for shift in (0, 16))
    return low | high << 16


def compared(a: int, b: int) -> int:
    """The upper half of a less than the lower of b, as halves."""
    x, y = HALF.value(a >> 16), HALF.value(b & 0xFFFF)
    return int(x < y)


def classes(form: Binary, wanted: int) -> Callable[[int], int]:
    """By the ten bits of v_cmp_class."""

    def evaluate(a: int) -> int:
        magnitude, negative = a & ~form.sign, bool(a & form.sign)
        if form.is_nan(a):
            return wanted >> (0 if form.is_signalling(a) else 1) & 1
        rank = 3 if magnitude == form.infinity else 2 if magnitude >> form.fraction else 1 if magnitude else 0
        return wanted >> (5 - rank if negative else 6 + rank) & 1

    return evaluate


def negated(form: Binary, function: Callable[[int], int]) -> Callable[[int], int]:
    return lambda a: function(a ^ form.sign)


def check_moved_then_combined(text: str, wanted: Callable[[int, int], int], masked: bool) -> None:
    """DPP in the long encoding and with comparisons: row_shr:1 of the first source. Lane 0 of a row has no source: without
    bound_ctrl it keeps its register, and its bit in a mask is 0."""
    a, b, old = [SINGLE.number(f"{n % 7 - 3}.0") for n in _LANES], [SINGLE.number(f"{n % 5 - 2}.5") for n in _LANES], 0x3E000000
    vectors = {0: [old], 10: a, 12: b, 14: [SINGLE.number("0.25")] * 32}
    wave = execute(fresh_wave(), text, vectors=vectors, scalars={20: 0xF0F0F0F0, VCC: 0x0FF00FF0})
    for n in _LANES:
        found = wave.scalar[20] >> n & 1 if masked else int(wave.u32[0][n])
        there = n % 16 or "bound_ctrl" in text
        first = a[n - 1] if n % 16 else 0
        assert found == (wanted(first, b[n]) if there else 0 if masked else old), f"{text}: lane {n} is {found:#x}"
    assert kinds(wave) == []


def check_over_address(text: str, place: str, words: int, first: int) -> None:
    """The result goes where the address was."""
    wave, address = furnished()
    at = [64 * (n % 24) for n in _LANES]
    vectors = {10: at} if place == "lds" else halves(10, [address + each for each in at])
    execute(wave, text, vectors=vectors)
    content = wave.group.lds.data if place == "lds" else wave.group.memory.contents("x")
    for n in _LANES:
        assert registers(wave, first, words, n) == content.tobytes()[at[n] : at[n] + 4 * words], (text, n)
    assert kinds(wave) == []


def check_scratch(text: str, vector: int, scalar: int, at: int) -> None:
    """Per lane: the sum of the two registers and the offset, of which each may be missing."""
    wave, _ = furnished(0x80008001)
    before = wave.group.private[0].data.copy()
    execute(wave, text, vectors={10: [vector], **split([0x11223344_55667788] * 32, 14, 2), 0: [9]}, scalars={20: scalar})
    for n in _LANES:
        active = 0x80008001 >> n & 1
        if "load" in text:
            assert registers(wave, 0, 1, n) == (before[n, at : at + 4].tobytes() if active else b"\x09\0\0\0"), (text, n)
        elif active:
            before[n, at : at + 8] = list((0x11223344_55667788).to_bytes(8, "little"))
    assert (wave.group.private[0].data == before).all()
    assert kinds(wave) == []


def _of(opcode: str, text: str, check: Callable[[], None]) -> Procedure:
    return Procedure(opcode=opcode, text=text, check=check)


def shifted(name: str, operands: str, wanted: Callable[[int, int], int], *, masked: bool = False, tail: str = "") -> Procedure:
    text = f"{name}_dpp {operands} row_shr:1 row_mask:0xf bank_mask:0xf{tail}"
    return _of(name.replace("_e64", ""), text, partial(check_moved_then_combined, text, wanted, masked))


def number(found: int | None) -> int:
    assert found is not None
    return found


_TENTH = 0x3FC45F306DC9C882
_SHIFTED = (
    shifted("v_sub_f32", "v0, v10, v12", lambda x, y: number(SINGLE.add(x, y ^ SINGLE.sign))),
    shifted("v_sub_f32_e64", "v0, |v10|, -v12", lambda x, y: number(SINGLE.add(x & ~SINGLE.sign, y))),
    shifted("v_fma_f32_e64", "v0, v10, v12, v14", lambda x, y: number(SINGLE.fma(x, y, SINGLE.number("0.25"))),
         tail=" bound_ctrl:1"),
    shifted("v_cmp_gt_f32_e64", "s20, v10, v12", lambda x, y: int(SINGLE.value(x) > SINGLE.value(y)), masked=True),
    shifted("v_cmp_gt_f32_e64", "s20, v10, v12", lambda x, y: int(SINGLE.value(x) > SINGLE.value(y)), masked=True,
         tail=" bound_ctrl:1"),
    shifted("v_max3_f32_e64", "v0, v10, -v12, v14", lambda x,
         y: number(SINGLE.greater(SINGLE.greater(x, y ^ SINGLE.sign), SINGLE.number("0.25")))),
)  # fmt: skip
CASES: tuple[Case | Procedure, ...] = (
    *(hard("v_add_f16", "f16", "f16", constant(HALF, pattern), _HALVES, f"v_add_f16 v0, {name}, {{0}}") for name, pattern in (
        ("1", 1), ("64", 64), ("-4.0", 0xC400), ("0.15915494", 0x3118), ("0x7bff", 0x7BFF))),
    hard("v_mul_f16", "f16", "f16", constant(HALF, 0x0040, product_of=True), _HALVES, "v_mul_f16 v0, 64, {0}"),
    *(hard("v_add_f32", "f32", "f32", constant(SINGLE, pattern), _SINGLES, f"v_add_f32 v0, {name}, {{0}}") for name,
         pattern in (
        ("64", 64), ("0.5", 0x3F000000), ("0x7f7fffff", 0x7F7FFFFF))),
    *(hard("v_add_f64", "f64", "f64", constant(DOUBLE, pattern), _SINGLES, f"v_add_f64 v[0:1], {name}, {{0}}") for name,
         pattern in (
        ("-1", (1 << 64) - 1), ("2.0", 0x4000000000000000), ("0x3ff00001", 0x3FF0000100000000),
             ("0.15915494309189532", _TENTH))),
    hard("v_mul_f64", "f64 f64", "f64", lambda a, b: DOUBLE.multiply(a, b & ~DOUBLE.sign ^ DOUBLE.sign),
         "1.5 -2.0; 0.0 1.0; inf -1.0; -0.0 2.0; max 2.0",
         "s_mov_b64 s[30:31], 0\nv_mul_f64 v[0:1], {0}, -|{1}|"),
    hard("v_pk_add_u16", "v2i16", "v2i16", lambda a: lanes(lambda x, y: x + y, a, ALL), _WORDS, "v_pk_add_u16 v0, {0}, -1"),
    hard("v_pk_add_u16", "v2i16", "v2i16", lambda a: lanes(lambda x, y: x + y, a, 0x00050005), _WORDS,
         "v_pk_add_u16 v0, {0}, 5 op_sel_hi:[1,0]"),
    hard("v_pk_sub_i16", "v2i16 v2i16", "v2i16", lambda a,
         b: (a >> 16) - (b & 0xFFFF) & 0xFFFF | (a - (b >> 16) & 0xFFFF) << 16, _PAIRS,
         "v_pk_sub_i16 v0, {0}, {1} op_sel:[1,0] op_sel_hi:[0,1]"),
    hard("v_pk_mad_i16", "v2i16 v2i16", "v2i16", lambda a, b: lanes(lambda x, y, z: x * y + z, a, b, 0xFFFFFFF0), _PAIRS,
         "v_pk_mad_i16 v0, {0}, {1}, -16"),
    hard("v_pk_max_i16", "v2i16 v2i16", "v2i16", lambda a, b: lanes(lambda x, y: max(x, y, key=lambda n: n ^ 0x8000), a, b),
         _PAIRS),
    hard("v_pk_min_u16", "v2i16 v2i16", "v2i16", lambda a, b: lanes(min, a, b), _PAIRS),
    hard("v_pk_mul_lo_u16", "v2i16 v2i16", "v2i16", lambda a, b: lanes(lambda x, y: x * y, a, b), _PAIRS),
    hard("v_add_nc_u16", "i32 i32", "i32", lambda a, b: _OLD_LOW | ((a >> 16) + b & 0xFFFF) << 16, _PAIRS,
         "v_add_nc_u16 v0.h, {0}.h, {1}.l"),
    hard("v_mul_lo_u16", "i32 i32", "i32", lambda a, b: _OLD_HIGH | a * (b >> 16) & 0xFFFF, _PAIRS,
         "v_mul_lo_u16 v0.l, {0}.l, {1}.h"),
    hard("v_mov_b16", "i32", "i32", lambda a: _OLD_LOW | (a & 0xFFFF) << 16, _WORDS, "v_mov_b16 v0.h, {0}.l"),
    hard("v_cndmask_b16", "i32 i32 mask", "i32", lambda a, b, m: _OLD_LOW | ((b >> 16 if m else a) & 0xFFFF) << 16,
         tuple((*row, n % 2) for n, row in enumerate(_PAIRS)), "v_cndmask_b16 v0.h, {0}.l, {1}.h, {2}"),
    hard("v_cmp_lt_f16", "i32 i32", "mask", compared, _PAIRS, "v_cmp_lt_f16 s0, {0}.h, {1}.l"),
    hard("v_cvt_f32_f16", "i32", "f32", lambda a: HALF.converted(a >> 16 ^ 0x8000, SINGLE), _WORDS,
         "v_cvt_f32_f16_e64 v0, -{0}.h"),
    hard("v_pack_b32_f16", "i32 i32", "i32", lambda a, b: a >> 16 | (b & 0xFFFF) << 16, _PAIRS,
         "v_pack_b32_f16 v0, {0}.h, {1}.l"),
    *(hard("v_cmp_class_f32", "f32", "mask", negated(SINGLE, classes(SINGLE, bits)),
         _SINGLES + "; qnan; -qnan; -tiny; -max; inf",
           f"v_cmp_class_f32 s0, -{{0}}, 0x{bits:x}") for bits in (0x201, 0x0A4)),
    hard("v_cmp_class_f64", "f64", "mask", classes(DOUBLE, 0x152), _SINGLES + "; qnan; -snan; -tiny; -max; inf; -least",
         "v_cmp_class_f64 s0, {0}, 0x152"),
    hard("v_cndmask_b32", "f32 f32 mask", "f32", lambda a, b, m: b & ~SINGLE.sign if m else a ^ SINGLE.sign,
         tuple((SINGLE.number(x), SINGLE.number(y), n % 2) for n,
              (x, y) in enumerate(product(("0.0", "-0.0", "1.0", "-inf"), repeat=2))),
         "v_cndmask_b32_e64 v0, -{0}, |{1}|, {2}"),
    hard("v_ldexp_f32", "f32", "f32", lambda a: SINGLE.multiply(a ^ SINGLE.sign, SINGLE.number("0x1p-2")),
         "0.5; -1.0; tiny; 0x3p-149; 0x6p-149; max; -inf",
         "v_ldexp_f32 v0, -{0}, -2"),
    hard("v_mad_u64_u32", "i32", "i64", lambda a: a * 0xFFFFFFF0 + (1 << 64) - 3 & (1 << 64) - 1,
         ((0,), (1,), (ALL,), (0x12345678,)),
         "v_mad_u64_u32 v[0:1], null, {0}, -16, -3"),
    hard("v_lshlrev_b64", "i32", "i64", lambda n: (1 << 64) - 16 << n % 64 & (1 << 64) - 1, ((0,), (4,), (63,), (64,)),
         "v_lshlrev_b64 v[0:1], {0}, -16"),
    hard("v_fmamk_f32", "f32 f32", "f32", lambda a, b: SINGLE.fma(a, 0x7F7FFFFF, b),
         "2.0 -max; 1.0 0x1p103; tiny 0.0; 0.0 -0.0; -0.0 -0.0",
         "v_fmamk_f32 v0, {0}, 0x7f7fffff, {1}"),
    hard("v_cvt_f64_u32", "i32", "f64", lambda n: DOUBLE.nearest(Fraction(n)), ((0,), (ALL,), (0x80000000,), (0x7FFFFFFF,))),
    *_SHIFTED,
    *(_of(text.split()[0], text, partial(check_over_address, text, place, words, 10)) for text, place, words in (
        ("ds_load_b128 v[10:13], v10", "lds", 4), ("ds_load_2addr_b32 v[10:11], v10 offset1:1", "lds", 2),
        ("global_load_b96 v[10:12], v[10:11], off", "global", 3), ("flat_load_b64 v[10:11], v[10:11]", "global", 2))),
    *(_of(text.split()[0], text, partial(check_scratch, text, *given)) for text, given in (
        ("scratch_load_b32 v0, v10, s20 offset:-8", (28, 12, 32)), ("scratch_load_b32 v0, off, s20 offset:4", (0, 40, 44)),
        ("scratch_load_b32 v0, off, off offset:60", (0, 0, 60)),
             ("scratch_store_b64 v10, v[14:15], off offset:-4", (20, 0, 16)),
        ("scratch_store_b64 off, v[14:15], s20 offset:8", (0, 40, 48)))),
)  # fmt: skip
