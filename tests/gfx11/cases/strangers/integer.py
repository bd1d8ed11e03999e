"""Vector integers at their edges: shifts and fields that are too wide, carries over several words, sums that saturate."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from tests.gfx11.cases.case import Case, Row
from tests.gfx11.cases.strangers.form import hard

ALL, TOP = 0xFFFFFFFF, 0x80000000
_WORDS = (0, 1, 0x7FFFFFFF, TOP, ALL, 0x00FF8001, 0x12345678, 0xDEADBEEF)
_TWO: tuple[Row, ...] = tuple(product(_WORDS, repeat=2))
_THREE: tuple[Row, ...] = tuple(product((0, 1, 0x7FFFFFFF, TOP, ALL, 0x00800000), repeat=3))
_SHIFTS = (0, 1, 7, 15, 16, 31, 32, 33, 63, 64, 65, TOP, ALL)
_FIELDS: tuple[Row, ...] = tuple(
    product((0x76543210, 0xFEDCBA98, TOP | 1), (0, 1, 4, 28, 31, 32, 36), (0, 1, 4, 5, 31, 32, 37))
)
_SHORTS = (0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x1234, 0xABCD)
_PACKED: tuple[Row, ...] = tuple((a | b << 16, b | c << 16) for a, b, c in product(_SHORTS, repeat=3))[::5]
_LONG = (
    0,
    1,
    ALL,
    1 << 32,
    (1 << 63) - 1,
    1 << 63,
    (1 << 64) - 1,
    (1 << 64) - ALL * ALL,
    (1 << 64) - 1 - ALL * ALL,
    0xFEDCBA9876543210,
)
_PRODUCTS: tuple[Row, ...] = tuple((a, b, c) for a,
     b in ((0, 0), (1, 1), (ALL, ALL), (TOP, TOP), (TOP, ALL), (TOP, 0x7FFFFFFF), (ALL, 1),
                                   (0x12345678, 0x9ABCDEF0)) for c in _LONG)  # fmt: skip


def signed(n: int, bits: int = 32) -> int:
    n &= (1 << bits) - 1
    return n - (1 << bits) if n >> bits - 1 else n


def held(n: int, bits: int, *, sign: bool) -> int:
    """Saturated, as a pattern."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if sign else (0, (1 << bits) - 1)
    return max(low, min(high, n)) & ((1 << bits) - 1)


def field(a: int, offset: int, size: int) -> int:
    """Unsigned; what lies beyond the word is 0."""
    return (a >> offset % 32) & (1 << size % 32) - 1


def signed_field(a: int, offset: int, size: int) -> int:
    """Bit by bit: what lies beyond the word is its sign."""
    size %= 32
    bits = [a >> min(31, offset % 32 + i) & 1 for i in range(size)]
    return sum(bit << i for i, bit in enumerate(bits)) + (-(1 << size) if bits and bits[-1] else 0) & ALL


def selected(a: int, b: int, selectors: int) -> int:
    """v_perm_b32: bytes 0 to 3 of b, 4 to 7 of a; 8 to 11 the signs of its bytes 1, 3, 5, 7; 12 is 0, and beyond are ones."""
    data, found = (b | a << 32).to_bytes(8, "little"), 0
    for i, which in enumerate(selectors.to_bytes(4, "little")):
        byte = data[which] if which < 8 else 255 if which > 12 else 0 if which == 12 else 255 * (data[2 * which - 15] >> 7)
        found |= byte << 8 * i
    return found


def multiplied(a: int, b: int, c: int) -> tuple[int, int]:
    total = a * b + c
    return total & (1 << 64) - 1, total >> 64


def multiplied_signed(a: int, b: int, c: int) -> tuple[int, int]:
    """In 65 bits, the last of which goes to the mask."""
    total = signed(a) * signed(b) + signed(c, 64)
    return total & (1 << 64) - 1, total >> 64 & 1


def lanes(function: Callable[..., int], *words: int) -> int:
    """Of the low halves and of the high ones."""
    low, high = (function(*(word >> shift & 0xFFFF for word in words)) & 0xFFFF for shift in (0, 16))
    return low | high << 16


def absolute(a: int, b: int, bits: int) -> list[int]:
    mask = (1 << bits) - 1
    return [abs((a >> s & mask) - (b >> s & mask)) for s in range(0, 32, bits)]


def long_sum(a: int, b: int, c: int, x: int, y: int, z: int) -> tuple[int, int]:
    """The upper two words of a sum of three."""
    total = (a | b << 32 | c << 64) + (x | y << 32 | z << 64)
    return total >> 32 & ALL, total >> 64 & ALL


def long_difference(a: int, b: int, c: int, x: int, y: int, z: int) -> tuple[int, int]:
    total = (a | b << 32 | c << 64) - (x | y << 32 | z << 64)
    return total >> 32 & ALL, total >> 64 & ALL


_CHAINS: tuple[Row, ...] = tuple((*left, *right) for left, right in product(
    ((0, 0, 0), (1, 0, 0), (ALL, ALL, ALL), (ALL, 0, 1), (0, ALL, 0), (TOP, TOP, TOP), (5, ALL, 0x7FFFFFFF)),
         repeat=2))  # fmt: skip
_CHAIN = "v_{0}_co_u32 v2, vcc_lo, {{0}}, {{3}}\nv_{0}_co_ci_u32 v0, vcc_lo, {{1}}, {{4}}, vcc_lo\n"
_CHAIN += "v_{0}_co_ci_u32 v2, vcc_lo, {{2}}, {{5}}, vcc_lo"
_SELECTORS = tuple(
    x | y << 8 | z << 16 | w << 24
    for x, y, z, w in (
        (8, 9, 10, 11),
        (11, 10, 9, 8),
        (12, 13, 14, 15),
        (0, 7, 3, 4),
        (255, 128, 12, 16),
        (4, 8, 0, 13),
        (1, 1, 6, 6),
        (9, 2, 11, 5),
    )
)
_SOURCES = ((0x80402010, 0x7F008001), (0x007F0080, 0x00FF8000), (ALL, 0), (0x01234567, 0x89ABCDEF), (0x80000000, 0x00008000))
_I2, _I3 = "i32 i32", "i32 i32 i32"


def clamped(name: str, bits: int, exact: Callable[[int, int], int]) -> Case:
    def evaluate(a: int, b: int) -> int:
        return held(exact(signed(a, bits), signed(b, bits)), bits, sign=True)

    given = tuple(product(_WORDS if bits == 32 else _SHORTS, repeat=2))
    return hard(
        f"v_{name}_nc_i{bits}", f"i{bits} i{bits}", f"i{bits}", evaluate, given, f"v_{name}_nc_i{bits} v0, {{0}}, {{1}} clamp"
    )


CASES: tuple[Case, ...] = (
    hard("v_perm_b32", _I3, "i32", selected, tuple((a, b, s) for a, b in _SOURCES for s in _SELECTORS)),
    hard("v_bfe_u32", _I3, "i32", field, _FIELDS),
    hard("v_bfe_i32", _I3, "i32", signed_field, _FIELDS),
    hard("v_bfi_b32", _I3, "i32", lambda a, b, c: int("".join(
        y if x == "1" else z for x, y, z in zip(f"{a:032b}", f"{b:032b}", f"{c:032b}", strict=True)), 2), _THREE),
    hard("v_alignbit_b32", _I3, "i32", lambda a, b, c: (a << 32 | b) >> c % 32 & ALL,
         tuple((0x89ABCDEF, 0x01234567, n) for n in _SHIFTS)),
    hard("v_alignbyte_b32", _I3, "i32", lambda a, b, c: (a << 32 | b) >> 8 * (c % 4) & ALL,
         tuple((0x89ABCDEF, 0x01234567, n) for n in (*range(9), *_SHIFTS[5:]))),
    hard("v_lshlrev_b64", "i32 i64", "i64", lambda n, a: a << n % 64 & (1 << 64) - 1, tuple(product(_SHIFTS, _LONG))),
    hard("v_ashrrev_i64", "i32 i64", "i64", lambda n, a: signed(a, 64) >> n % 64 & (1 << 64) - 1,
         tuple(product(_SHIFTS, _LONG))),
    hard("v_ashrrev_i16", "i16 i16", "i16", lambda n, a: signed(a, 16) >> n % 16 & 0xFFFF,
         tuple(product((0, 1, 15, 16, 17, 0xFFFF), _SHORTS))),
    hard("v_pk_ashrrev_i16", "v2i16 v2i16", "v2i16", lambda a, b: lanes(lambda n, x: signed(x, 16) >> n % 16, a, b), _PACKED),
    hard("v_pk_lshlrev_b16", "v2i16 v2i16", "v2i16", lambda a, b: lanes(lambda n, x: x << n % 16, a, b), _PACKED),
    hard("v_bfm_b32", _I2, "i32", lambda a, b: ((1 << a % 32) - 1) << b % 32 & ALL, tuple(product(_SHIFTS, repeat=2))),
    hard("v_lshl_add_u32", _I3, "i32", lambda a, b, c: (a << b % 32) + c & ALL,
         tuple(product((ALL, 0x12345678), _SHIFTS, (0, ALL)))),
    hard("v_add_lshl_u32", _I3, "i32", lambda a, b, c: (a + b & ALL) << c % 32 & ALL,
         tuple(product((ALL, 1), (1, TOP), _SHIFTS))),
    hard("v_mad_u64_u32", "i32 i32 i64", "i64 mask", multiplied, _PRODUCTS),
    hard("v_mad_i64_i32", "i32 i32 i64", "i64 mask", multiplied_signed, _PRODUCTS),
    hard("v_mul_hi_u32", _I2, "i32", lambda a, b: a * b >> 32, _TWO),
    hard("v_mul_hi_i32", _I2, "i32", lambda a, b: signed(a) * signed(b) >> 32 & ALL, _TWO),
    hard("v_mul_hi_i32_i24", _I2, "i32", lambda a, b: signed(a, 24) * signed(b, 24) >> 32 & ALL, _TWO),
    hard("v_mul_hi_u32_u24", _I2, "i32", lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 32, _TWO),
    hard("v_mul_i32_i24", _I2, "i32", lambda a, b: signed(a, 24) * signed(b, 24) & ALL, _TWO),
    hard("v_mad_i32_i24", _I3, "i32", lambda a, b, c: signed(a, 24) * signed(b, 24) + c & ALL, _THREE),
    hard("v_mad_i32_i16", "i16 i16 i32", "i32", lambda a, b, c: signed(a, 16) * signed(b, 16) + c & ALL,
         tuple(product((0x7FFF, 0x8000, 0xFFFF), (0x8000, 0xFFFF, 3), (0, ALL, TOP)))),
    hard("v_sad_u8", _I3, "i32", lambda a, b, c: sum(absolute(a, b, 8)) + c & ALL,
         (*_THREE, (0xFF00FF00, 0x00FF00FF, ALL - 1019))),
    hard("v_sad_hi_u8", _I3, "i32", lambda a, b, c: (sum(absolute(a, b, 8)) << 16) + c & ALL, (*_THREE, (ALL, 0, 0xFC040000))),
    hard("v_sad_u16", _I3, "i32", lambda a, b, c: sum(absolute(a, b, 16)) + c & ALL,
         (*_THREE, (0xFFFF0000, 0x0000FFFF, ALL - 131069))),
    hard("v_sad_u32", _I3, "i32", lambda a, b, c: abs(a - b) + c & ALL, _THREE),
    hard("v_msad_u8", _I3, "i32", lambda a, b, c: sum(
        d for i, d in enumerate(absolute(a, b, 8)) if b >> 8 * i & 0xFF) + c & ALL, (*_THREE, (0x10FF2030, 0x00FE0001, ALL))),
    hard("v_lerp_u8", _I3, "i32", lambda a, b, c: sum(
        ((a >> s & 255) + (b >> s & 255) + (c >> s & 1) >> 1) << s for s in (0, 8, 16, 24)), _THREE),
    hard("v_sat_pk_u8_i16", "v2i16", "i16",
         lambda a: sum(held(signed(a >> 16 * i, 16), 8, sign=False) << 8 * i for i in (0, 1)),
         tuple((a | b << 16,) for a, b in product((0, 1, 254, 255, 256, 0x7FFF, 0x8000, 0xFFFF), repeat=2))),
    hard("v_cvt_pk_i16_i32", _I2, "i32", lambda a, b: held(signed(a), 16, sign=True) | held(signed(b), 16, sign=True) << 16,
         tuple(product((0x7FFF, 0x8000, 0xFFFF8000, 0xFFFF7FFF, TOP, ALL), repeat=2))),
    hard("v_bcnt_u32_b32", _I2, "i32", lambda a, b: a.bit_count() + b & ALL,
         tuple(product((ALL, TOP, 0, 0x55555555), (0, 1, ALL, ALL - 31)))),
    hard("v_cls_i32", "i32", "i32", lambda a: next((i for i in range(1, 32) if (a >> 31 - i ^ a >> 31) & 1), ALL),
         tuple((n,) for n in (0, ALL, 1, TOP, 0x7FFFFFFF, 0xC0000000, 0x40000000, 0xFFFFFFFE, 0xFFFF3333, 0x0000CCCC))),
    hard("v_clz_i32_u32", "i32", "i32", lambda a: 32 - a.bit_length() if a else ALL,
         tuple((n,) for n in (0, 1, ALL, TOP, 0x00010000, 0x7FFFFFFF))),
    hard("v_add_co_ci_u32", " ".join(["i32"] * 6), _I2, long_sum, _CHAINS, _CHAIN.format("add")),
    hard("v_sub_co_ci_u32", " ".join(["i32"] * 6), _I2, long_difference, _CHAINS, _CHAIN.format("sub")),
    *(clamped("add", bits, lambda a, b: a + b) for bits in (32, 16)),
    *(clamped("sub", bits, lambda a, b: a - b) for bits in (32, 16)),
)  # fmt: skip
