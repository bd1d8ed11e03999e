"""The steps of a division, and the approximations that the interpreter rounds correctly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tests.gfx11 import exact
from tests.gfx11.cases.case import CORNERS, Row
from tests.gfx11.cases.tables import call, case
from tests.gfx11.exact import DOUBLE, HALF, SINGLE, Format

F3, D3 = "f32 f32 f32", "f64 f64 f64"
_NAN, _INFINITY, _SIGN = 0x7FC00000, 0x7F800000, 0x80000000
_NORMAL = tuple(
    x for x in (*CORNERS["f32"], 0x41200000, 0x3DCCCCCD, 0x447A0000, 0x00FFFFFF, 0x7E800000)
    if 0x00800000 <= x & 0x7FFFFFFF < 0x7E800001
)  # fmt: skip
_POSITIVE = tuple((x & 0x7FFFFFFF,) for x in _NORMAL)
_SMALL = tuple((x,) for x in (0, _SIGN, 0x3F800000, 0xC0200000, 0x42C80000, 0xC2C80000, 0x3EAAAAAB, 0xC2FC0000, 0x42FF0000))
_TURNS = tuple((x,) for x in (
    0, _SIGN, 0x3E800000, 0x3F000000, 0x3F400000, 0x3F800000, 0xBE800000, 0xBF000000, 0x3E000000, 0x3DCCCCCD, 0x40490FDB,
    0xC2F6E979,
))  # fmt: skip
_DENORMAL = (1, 0x80000001, 0x007FFFFF, 0x807FFFFF)


@dataclass(frozen=True, slots=True)
class Division:
    """A width with the manual's figures: the distance of exponents from which on is scaled, by which power, ..."""

    form: Format
    far: int
    power: int
    small: int
    vanishing: int

    def exponent(self, bits: int) -> int:
        return bits >> self.form.mantissa & (1 << self.form.exponent) - 1

    def is_denormal(self, number: Fraction) -> bool:
        return 0 < abs(number) < Fraction(2) ** (1 - self.form.bias)

    def scaled(self, bits: int, power: int) -> int:
        value = self.form.value(bits)
        if isinstance(value, Fraction):
            return self.form.nearest(value * Fraction(2) ** power, negative_zero=bool(bits & self.form.sign))
        return bits

    def scale(self, a: int, b: int, c: int) -> tuple[int | None, int]:
        """The manual's cases in its order. Where both 1/b and c/b are denormal it scales b up, which overflows; b must go down
        for v_div_fmas to undo it."""
        x, y = self.form.value(b), self.form.value(c)
        if x == 0 or y == 0:
            return None, 0
        if self.exponent(c) - self.exponent(b) >= self.far:
            return self.scaled(a, self.power) if a == b else a, 1
        if self.exponent(b) == 0:
            return self.scaled(a, self.power), 0
        inverse = isinstance(x, Fraction) and self.is_denormal(1 / x)
        quotient = isinstance(x, Fraction) and isinstance(y, Fraction) and self.is_denormal(y / x)
        if inverse and quotient:
            return self.scaled(a, -self.power) if a == b else a, 1
        if inverse:
            return self.scaled(a, -self.power), 0
        if quotient:
            return self.scaled(a, self.power) if a == c else a, 1
        return (self.scaled(a, self.power) if self.exponent(c) <= self.small else a), 0

    def fmas(self, a: int, b: int, c: int, undo: int) -> int | None:
        total = exact.fused(a, b, c, self.form)
        if total is None or not undo:
            return total
        return self.scaled(total, self.power if self.exponent(c) > self.form.bias else -self.power)

    def fixup(self, a: int, b: int, c: int) -> int | None:
        x, y, sign = self.form.value(b), self.form.value(c), (b ^ c) & self.form.sign
        if x is None or y is None or (x == 0 and y == 0) or (isinstance(x, float) and isinstance(y, float)):
            return None
        if x == 0 or isinstance(y, float):
            return self.form.infinity | sign
        if isinstance(x, float) or y == 0 or self.exponent(c) - self.exponent(b) < self.vanishing:
            return sign
        # a NaN here is a quotient that overflowed between the steps; halves are divided in single precision, and have none
        return self.form.infinity | sign if self.form.is_nan(a) and self.power else a & ~self.form.sign | sign


_SINGLE = Division(SINGLE, far=96, power=64, small=23, vanishing=-150)
_DOUBLE = Division(DOUBLE, far=768, power=128, small=53, vanishing=-1075)
_HALF = Division(HALF, far=99, power=0, small=0, vanishing=-99)


def inverse_root(a: int) -> int:
    """1 / sqrt(a), from 200 bits of it: no such number is a tie."""
    value = SINGLE.value(a)
    assert isinstance(value, Fraction)
    inverse = 1 / value
    return SINGLE.nearest(Fraction(math.isqrt(int(inverse * Fraction(2) ** 400)), 2**200))


_EXTREMES = (
    0x0010000000000001,
    0x8350000000000000,
    0x7FD1234567890123,
    0x7FEFFFFFFFFFFFFF,
    0x3FF8000000000000,
    0x0000000000000123,
    0xB00FEDCBA9876543,
    0x3005000000000000,
    0x0000000000000000,
    0x7FF0000000000000,
)
_WIDE = tuple((a, b, c) for b in _EXTREMES for c in (*_EXTREMES, 0xC024000000000000) for a in (b, c))
_NORMALIZED = tuple((a, b, c) for b in CORNERS["f32"][1::3] for c in CORNERS["f32"][::3] for a in (b, c))
_FLUSHED: dict[str, dict[int, int | None]] = {
    # into a denormal: what of a zero; out of one: a zero
    "rcp": {**{a: _INFINITY | a & _SIGN for a in (0, _SIGN, *_DENORMAL)}, 0x7F7FFFFF: 0, 0xFF7FFFFF: _SIGN,
    0x7F000000: 0x00000000,
            _INFINITY: 0, 0xFF800000: _SIGN, _NAN: None, 0x7E800000: 0x00800000},
    "rsq": {**{a: _INFINITY | a & _SIGN for a in (0, _SIGN, *_DENORMAL)}, _INFINITY: 0, 0xBF800000: None, 0xFF800000: None,
    _NAN: None},
    "sqrt": {**{a: a & _SIGN for a in (0, _SIGN, *_DENORMAL)}, _INFINITY: _INFINITY, 0xBF800000: None, 0xFF800000: None},
    "log": {**dict.fromkeys((0, _SIGN, *_DENORMAL), 4286578688), _INFINITY: _INFINITY, 0xBF800000: None, 0xFF800000: None},
    "exp": {**dict.fromkeys(_DENORMAL, 1065353216), 0xC2FC0000: 0x00800000, 0xC2FC8000: 0, 0xC3000000: 0, 0xC3160000: 0,
            0x43000000: _INFINITY, _INFINITY: _INFINITY, 0xFF800000: 0},
    # large numbers are whole turns
    "sin": {_INFINITY: None, 0xFF800000: None, _NAN: None, 0xFF7FFFFF: 0, 0x4B7FFFFF: 0},
    "cos": {_INFINITY: None, 0xFF800000: None, _NAN: None, 0xFF7FFFFF: 0x3F800000, 0x4B7FFFFF: 0x3F800000},
}  # fmt: skip
_IR: dict[str, tuple[str, tuple[Row, ...]]] = {
    "rcp": ("amdgcn.rcp.f32", tuple((x,) for x in _NORMAL)), "sqrt": ("sqrt.f32", _POSITIVE), "log": ("log2.f32", _POSITIVE),
    "exp": ("exp2.f32", _SMALL), "sin": ("amdgcn.sin.f32", _TURNS), "cos": ("amdgcn.cos.f32", _TURNS),
}  # fmt: skip
CASES = (
    case("v_div_scale_f32", F3, "f32 mask", exact=_SINGLE.scale, rows=_NORMALIZED),
    case("v_div_fmas_f32", f"{F3} mask", "f32", exact=_SINGLE.fmas, places="v4 v6 v8 vcc",
         text="v_div_fmas_f32 v0, v4, v6, v8"),
    case("v_div_fixup_f32", F3, "f32", exact=_SINGLE.fixup),
    case("v_div_fixup_f16", "f16 f16 f16", "f16", exact=_HALF.fixup),
    case("v_div_scale_f64", D3, "f64 mask", exact=_DOUBLE.scale, rows=_WIDE,
         text="v_div_scale_f64 v[0:1], s2, v[4:5], v[6:7], v[8:9]"),
    case("v_div_fmas_f64", f"{D3} mask", "f64", exact=_DOUBLE.fmas, places="v4 v6 v8 vcc",
         text="v_div_fmas_f64 v[0:1], v[4:5], v[6:7], v[8:9]"),
    case("v_div_fixup_f64", D3, "f64", exact=_DOUBLE.fixup),
    *(case(f"v_{name}_f32", "f32", "f32", call(function, "a", kind="f32"), rows=rows) for name,
      (function, rows) in _IR.items()),
    case("v_rcp_iflag_f32", "f32", "f32", call("amdgcn.rcp.f32", "a", kind="f32"), rows=_IR["rcp"][1]),
    case("v_rsq_f32", "f32", "f32", exact=inverse_root, rows=_POSITIVE),
    *(case(f"v_{name}_f32", "f32", "f32", exact=values.__getitem__, rows=tuple((a,) for a in values),
      text=f"v_{name}_f32_e64 v0, v4")
      for name, values in _FLUSHED.items()),
)  # fmt: skip
