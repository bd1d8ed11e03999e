"""Integers in parts of a word, and what the scalar unit does with single bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.gfx11.cases.case import CORNERS, Case
from tests.gfx11.cases.scalar_cases import silent, tested
from tests.gfx11.cases.tables import call, case
from tests.gfx11.exact import SINGLE

I2, I3 = "i32 i32", "i32 i32 i32"
_ALL = 0xFFFFFFFF


def pieces(word: int, bits: int) -> list[int]:
    return [word >> s & (1 << bits) - 1 for s in range(0, 32, bits)]


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 else value


def limited(value: Any, low: int, high: int) -> Any:
    return min(max(value, low), high)


def distance(a: int, b: int, bits: int) -> int:
    return sum(abs(x - y) for x, y in zip(pieces(a, bits), pieces(b, bits), strict=True))


def masked_distance(a: int, b: int, c: int) -> int:
    return (sum(abs(x - y) for x, y in zip(pieces(a, 8), pieces(b, 8), strict=True) if y) + c) & _ALL


def means(a: int, b: int, c: int) -> int:
    parts = zip(pieces(a, 8), pieces(b, 8), pieces(c, 8), strict=True)
    return sum((x + y + (z & 1) >> 1) << 8 * i for i, (x, y, z) in enumerate(parts))


def sign_bits(a: int, bits: int = 32) -> int:
    digits = f"{a:0{bits}b}"
    same = len(digits) - len(digits.lstrip(digits[0]))
    return _ALL if same == bits else same


def packed(low: int, high: int) -> int:
    return low & 0xFFFF | (high & 0xFFFF) << 16


def truncated(bits: int, low: int, high: int) -> int:
    value = SINGLE.value(bits)
    if value is None:
        return 0
    return int(limited(value, low, high))


def byte_into(a: int, place: int, c: int) -> int:
    value = SINGLE.value(a)
    byte = 0 if value is None else round(limited(value, 0, 255))
    shift = 8 * (place & 3)
    return c & ~(0xFF << shift) | byte << shift


def with_bit(bit: int, bits: int) -> Callable[[int, int, int], tuple[int, int]]:
    def evaluate(a: int, old: int, scc: int) -> tuple[int, int]:
        mask = 1 << a % bits
        return (old | mask if bit else old & ~mask), scc

    return evaluate


def _shorts(low: int, high: int, of: Callable[[int], int]) -> Callable[[int, int], int]:
    return lambda a, b: packed(limited(of(a), low, high), limited(of(b), low, high))


_S16, _U16 = (-(1 << 15), (1 << 15) - 1), (0, 0xFFFF)
_VECTOR: list[Case] = [
    case("v_cls_i32", "i32", "i32", exact=sign_bits, rows=tuple((x,) for x in (*CORNERS["i32"], 0xFFFF0000, 0xFFFFFFFE))),
    case("v_sad_u8", I3, "i32", exact=lambda a, b, c: (distance(a, b, 8) + c) & _ALL),
    case("v_sad_hi_u8", I3, "i32", exact=lambda a, b, c: ((distance(a, b, 8) << 16) + c) & _ALL),
    case("v_sad_u16", I3, "i32", exact=lambda a, b, c: (distance(a, b, 16) + c) & _ALL),
    case("v_msad_u8", I3, "i32", exact=masked_distance),
    case("v_lerp_u8", I3, "i32", exact=means),
    case("v_sat_pk_u8_i16", "v2i16", "i16",
         exact=lambda a: sum(limited(signed(x, 16), 0, 255) << 8 * i for i, x in enumerate(pieces(a, 16)))),
    case("v_cvt_pk_i16_i32", I2, "i32", exact=_shorts(*_S16, lambda x: signed(x, 32))),
    case("v_cvt_pk_u16_u32", I2, "i32", exact=_shorts(*_U16, lambda x: x)),
    case("v_cvt_pk_i16_f32", "f32 f32", "i32", exact=lambda a, b: packed(truncated(a, *_S16), truncated(b, *_S16))),
    case("v_cvt_pk_u16_f32", "f32 f32", "i32", exact=lambda a, b: packed(truncated(a, *_U16), truncated(b, *_U16))),
    case("v_cvt_pk_u8_f32", "f32 i32 i32", "i32", exact=byte_into),
    case("v_mad_u32_u16", "i16 i16 i32", "i32", exact=lambda a, b, c: a * b + c & _ALL),
    case("v_mad_i32_i16", "i16 i16 i32", "i32", exact=lambda a, b, c: signed(a, 16) * signed(b, 16) + c & _ALL),
    case("v_mad_i16", "i16 i16 i16", "i16", exact=lambda a, b, c: a * b + c & 0xFFFF),
    case("v_mul_hi_i32_i24", I2, "i32",
         exact=lambda a, b: signed(a & 0xFFFFFF, 24) * signed(b & 0xFFFFFF, 24) >> 32 & _ALL),
    case("v_add_nc_i32", I2, "i32", exact=lambda a, b: a + b & _ALL),
    case("v_sub_nc_i32", I2, "i32", exact=lambda a, b: a - b & _ALL),
    case("v_add_nc_i16", "i16 i16", "i16", exact=lambda a, b: a + b & 0xFFFF),
    case("v_sub_nc_i16", "i16 i16", "i16", exact=lambda a, b: a - b & 0xFFFF),
    case("v_not_b16", "i16", "i16", exact=lambda a: a ^ 0xFFFF),
    case("v_cndmask_b16", "i16 i16 mask", "i16", exact=lambda a, b, mask: b if mask else a),
    case("v_pk_mad_i16", "v2i16 v2i16 v2i16", "v2i16",
         exact=lambda a, b, c: packed(*(x * y + z for x, y, z in zip(*(pieces(n, 16) for n in (a, b, c)), strict=True)))),
]  # fmt: skip


def kept(opcode: str, sources: str, result: str, exact: Callable[..., Any], **given: Any) -> Case:
    """SCC comes last and stays."""
    return case(opcode, f"{sources} scc", f"{result} scc", exact=lambda *x: (exact(*x[:-1]), x[-1]), **given)


_SCALAR: list[Case] = [
    silent("s_brev_b64", "i64", "i64", call("bitreverse.i64", "a", kind="i64")),
    kept("s_cls_i32", "i32", "i32", sign_bits),
    kept("s_cls_i32_i64", "i64", "i32", lambda a: sign_bits(a, 64)),
    tested("s_bcnt0_i32_b64", "i64", "i32", "%n = xor i64 %a, -1\n%c = call i64 @llvm.ctpop.i64(i64 %n)\n"
           "%r = trunc i64 %c to i32"),
    case("s_absdiff_i32", I2, "i32 scc", exact=lambda a, b: (
        abs(signed(a - b & _ALL, 32)), int(a != b))),
    *(case(f"s_bitset{bit}_b32", f"{I2} scc", "i32 scc", exact=with_bit(bit, 32), places="s4 s0 scc",
           text=f"s_bitset{bit}_b32 s0, s4") for bit in (0, 1)),
    *(case(f"s_bitset{bit}_b64", "i32 i64 scc", "i64 scc", exact=with_bit(bit, 64), places="s4 s0 scc",
           text=f"s_bitset{bit}_b64 s[0:1], s4") for bit in (0, 1)),
    *(case(f"s_bitcmp{bit}_b64", "i64 i32", "scc", exact=lambda a, b, bit=bit: int((a >> b % 64 & 1) == bit))
      for bit in (0, 1)),
    *(case(f"s_cmov_b{n}", f"i{n} i{n} scc", f"i{n} scc", exact=lambda a, old, scc: (a if scc else old, scc),
           places="s4 s0 scc", text=f"s_cmov_b{n} {to}, {given}") for n, to, given in
      ((32, "s0", "s4"), (64, "s[0:1]", "s[4:5]"))),
    case("s_cmovk_i32", "i32 scc", "i32 scc", exact=lambda old, scc: (0xFFFF8001 if scc else old, scc), places="s0 scc",
         text="s_cmovk_i32 s0, 0x8001"),
]  # fmt: skip
CASES = (*_VECTOR, *_SCALAR)
