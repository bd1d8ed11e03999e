"""Scalar integers: SCC by overflow, carry and borrow, fields wider than the word, literals for 64 bits."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from tests.gfx11.cases.case import Case, Row
from tests.gfx11.cases.strangers.form import hard

ALL, TOP, WIDE = 0xFFFFFFFF, 0x80000000, (1 << 64) - 1
_WORDS = (0, 1, 2, 0x7FFFFFFF, TOP, TOP + 1, ALL - 1, ALL, 0x12345678)
_LONG = (0, 1, ALL, 1 << 32, (1 << 63) - 1, 1 << 63, WIDE, 0xFEDCBA9876543210, 0x80000000_80000000)
_TWO: tuple[Row, ...] = tuple(product(_WORDS, repeat=2))
_COUNTS = (0, 1, 31, 32, 33, 63, 64, 95, TOP, ALL)
_FIELDS = tuple(offset | size << 16 for offset in (0, 4, 31, 32, 60, 63) for size in (0, 1, 4, 31, 32, 33, 60, 64, 100, 127))
_FIELDS += (0xFF80FFC4 | 8 << 16,)  # bits beyond both are ignored


def signed(n: int, bits: int = 32) -> int:
    return n - (1 << bits) if n >> bits - 1 & 1 else n


def tested(result: int) -> tuple[int, int]:
    return result, int(result != 0)


def shifted(bits: int, how: str) -> Callable[[int, int], tuple[int, int]]:
    def evaluate(a: int, b: int) -> tuple[int, int]:
        n = b % bits
        return tested(((a << n) if how == "lshl" else (signed(a, bits) if how == "ashr" else a) >> n) & (1 << bits) - 1)

    return evaluate


def field(bits: int, *, sign: bool) -> Callable[[int, int], tuple[int, int]]:
    """Offset modulo the width, size in 7 bits; beyond the word lie zeros, or its sign."""

    def evaluate(a: int, b: int) -> tuple[int, int]:
        offset, size = b % bits, b >> 16 & 127
        part = (signed(a, bits) if sign else a) >> offset
        part &= (1 << size) - 1
        if sign and size:
            part = signed(part, size)
        return tested(part & (1 << bits) - 1)

    return evaluate


def overflowing(exact: Callable[[int, int], int]) -> Callable[[int, int], tuple[int, int]]:
    def evaluate(a: int, b: int) -> tuple[int, int]:
        total = exact(signed(a), signed(b))
        return total & ALL, int(not -(1 << 31) <= total < 1 << 31)

    return evaluate


def distance(a: int, b: int) -> tuple[int, int]:
    """The manual: 32 bits of the difference, negated if they are negative. 0x80000000, 1 gives 0x7fffffff."""
    difference = signed(a - b & ALL)
    return tested(abs(difference) & ALL)


def short(word: int) -> int:
    return signed(word, 16)


def sign_bits(bits: int) -> Callable[[int, int], tuple[int, int]]:
    def evaluate(a: int, scc: int) -> tuple[int, int]:
        return next((i for i in range(1, bits) if (a >> bits - 1 - i ^ a >> bits - 1) & 1), ALL), scc

    return evaluate


def kept(exact: Callable[..., int]) -> Callable[..., tuple[int, int]]:
    """SCC comes last, and stays."""
    return lambda *given: (exact(*given[:-1]), given[-1])


def long_sum(a: int, b: int, x: int, y: int) -> tuple[int, int, int]:
    total = (a | b << 32) + (x | y << 32)
    return total & ALL, total >> 32 & ALL, total >> 64


def long_difference(a: int, b: int, x: int, y: int) -> tuple[int, int, int]:
    total = (a | b << 32) - (x | y << 32)
    return total & ALL, total >> 32 & ALL, int(total < 0)


_I2 = "i32 i32"
_EACH: tuple[Row, ...] = tuple((n,) for n in (*_WORDS, 0x7FFF8000, TOP + 0x7FFF, TOP + 0x8000, 0x7FFF8001, 0x7FFF7FFF))
_BOTH: tuple[Row, ...] = tuple((n, scc) for n in _LONG for scc in (0, 1))
_CHAINS: tuple[Row, ...] = tuple((a & ALL, a >> 32, b & ALL, b >> 32) for a, b in product(_LONG, repeat=2))
CASES: tuple[Case, ...] = (
    *(hard(f"s_{how}_{kind}{bits}", f"i{bits} i32", f"i{bits} scc", shifted(bits, how), tuple(product(values, _COUNTS)))
      for how, kind in (("lshl", "b"), ("lshr", "b"), ("ashr", "i")) for bits, values in ((32, _WORDS), (64, _LONG))),
    *(hard(f"s_bfe_{sign}{bits}", f"i{bits} i32", f"i{bits} scc", field(bits, sign=sign == "i"),
         tuple(product(values, _FIELDS)))
      for sign in "ui" for bits, values in ((32, (0x76543210, 0xFEDCBA98, TOP)), (64, _LONG[4:]))),
    hard("s_add_i32", _I2, "i32 scc", overflowing(lambda a, b: a + b), _TWO),
    hard("s_sub_i32", _I2, "i32 scc", overflowing(lambda a, b: a - b), _TWO),
    *(hard("s_addk_i32", "i32", "i32 scc", lambda a, k=k: overflowing(lambda x, y: x + y)(a, short(k) & ALL), _EACH,
           f"s_mov_b32 s0, {{0}}\ns_addk_i32 s0, 0x{k:x}") for k in (0x7FFF, 0x8000, 0xFFFF)),
    hard("s_mulk_i32", "i32 scc", "i32 scc", kept(lambda a: a * -32768 & ALL), tuple((n, 1) for n in _WORDS),
         "s_mov_b32 s0, {0}\ns_mulk_i32 s0, 0x8000"),
    *(hard(f"s_cmpk_{name}_{kind}32", "i32", "scc", lambda a, k=k, holds=holds, kind=kind: int(holds(
        signed(a), short(k)) if kind == "i" else holds(a, k)), _EACH, f"s_cmpk_{name}_{kind}32 {{0}}, 0x{k:x}")
      for name, holds in (("lt", lambda x, y: x < y), ("ge", lambda x, y: x >= y)) for kind in "iu" for k in (0x7FFF, 0xFFFF)),
    hard("s_absdiff_i32", _I2, "i32 scc", distance, (*_TWO, (ALL, 0), (TOP, 0xFFFFFFFE), (2, 5))),
    hard("s_abs_i32", "i32", "i32 scc", lambda a: tested(abs(signed(a)) & ALL), _EACH),
    hard("s_mul_hi_i32", f"{_I2} scc", "i32 scc", kept(lambda a, b: signed(a) * signed(b) >> 32 & ALL),
         tuple((*row, 1) for row in _TWO)),
    *(hard(f"s_lshl{n}_add_u32", _I2, "i32 scc", lambda a, b, n=n: ((a << n) + b & ALL, int((a << n) + b > ALL)),
         _TWO) for n in (1, 4)),
    hard("s_addc_u32", " ".join(["i32"] * 4), "i32 i32 scc", long_sum, _CHAINS,
         "s_add_u32 s0, {0}, {2}\ns_addc_u32 s2, {1}, {3}"),
    hard("s_subb_u32", " ".join(["i32"] * 4), "i32 i32 scc", long_difference, _CHAINS,
         "s_sub_u32 s0, {0}, {2}\ns_subb_u32 s2, {1}, {3}"),
    hard("s_cls_i32", "i32 scc", "i32 scc", sign_bits(32),
         tuple((n, 1) for n in (*_WORDS, 0x40000000, 0xC0000000, 0xFFFF3333))),
    hard("s_cls_i32_i64", "i64 scc", "i32 scc", sign_bits(64), _BOTH),
    hard("s_bcnt0_i32_b64", "i64", "i32 scc", lambda a: tested(64 - a.bit_count()), tuple((n,) for n in _LONG)),
    hard("s_brev_b64", "i64 scc", "i64 scc", kept(lambda a: int(f"{a:064b}"[::-1], 2)), _BOTH),
    hard("s_bitset0_b64", "i32 i64 scc", "i64 scc", kept(lambda n, a: a & ~(1 << n % 64)), tuple((n, WIDE, 1) for n in _COUNTS),
         "s_mov_b64 s[0:1], {1}\ns_bitset0_b64 s[0:1], {0}"),
    hard("s_bitset1_b32", "i32 i32 scc", "i32 scc", kept(lambda n, a: a | 1 << n % 32), tuple((n, 0, 0) for n in _COUNTS),
         "s_mov_b32 s0, {1}\ns_bitset1_b32 s0, {0}"),
    hard("s_bitcmp1_b64", "i64 i32", "scc", lambda a, n: a >> n % 64 & 1, tuple(product(_LONG, _COUNTS))),
    hard("s_bfm_b64", f"{_I2} scc", "i64 scc", kept(lambda n, at: ((1 << n % 64) - 1) << at % 64 & WIDE),
         tuple((n, at, 1) for n, at in product(_COUNTS, repeat=2))),
    hard("s_and_b64", "i64", "i64 scc", lambda a: tested(a & TOP), tuple((n,) for n in _LONG),
         "s_and_b64 s[0:1], {0}, 0x80000000"),
    hard("s_and_b64", "i64", "i64 scc", lambda a: tested(a & WIDE - 15), tuple((n,) for n in _LONG),
         "s_and_b64 s[0:1], {0}, -16"),
    hard("s_xor_b64", "i64", "i64 scc", lambda a: tested(a ^ 0x3FF0000000000000), tuple((n,) for n in _LONG),
         "s_xor_b64 s[0:1], {0}, 1.0"),
    hard("s_max_i32", _I2, "i32 scc", lambda a, b: (max(a, b, key=signed), int(signed(a) >= signed(b))), _TWO),
    hard("s_min_u32", _I2, "i32 scc", lambda a, b: (min(a, b), int(a < b)), _TWO),
    hard("s_cselect_b64", "i64 i64 scc", "i64 scc", lambda a, b, scc: (a if scc else b, scc), tuple((*row, scc)
         for row in product(_LONG[:3], _LONG[4:6]) for scc in (0, 1))),
    hard("s_cmov_b64", "i64 i64 scc", "i64 scc", lambda a, old, scc: (a if scc else old, scc),
         tuple((WIDE, 5, scc) for scc in (0, 1)),
         "s_mov_b64 s[0:1], {1}\ns_cmov_b64 s[0:1], {0}"),
)  # fmt: skip
