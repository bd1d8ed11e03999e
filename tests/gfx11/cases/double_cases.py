"""Double-precision vector instructions, and the functions of halves."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from tests.gfx11.cases.case import CORNERS, Case
from tests.gfx11.cases.tables import call, case
from tests.gfx11.exact import DOUBLE, F64, HALF, Format

D2, D3 = "f64 f64", "f64 f64 f64"
_FINITE = tuple((x,) for x in F64 if x & ~DOUBLE.sign < DOUBLE.infinity)
_POSITIVE = tuple((x,) for x in F64 if 0x0010000000000000 <= x < 0x7FE0000000000000)
_HALVES = tuple((x,) for x in CORNERS["f16"] if HALF.value(x) is not None)
_ABOVE_ZERO = tuple((x,) for x in CORNERS["f16"] if 0 < x < HALF.infinity)
_TURNS = tuple((x,) for x in (0, 0x3400, 0x3800, 0x3A00, 0x3C00, 0xB400, 0xB800, 0x3000, 0x2E66, 0x4248))
_ROOTS = tuple((x,) for x in (
    0, 1 << 63, 0x3FF0000000000000, 0x4010000000000000, 0x3FD0000000000000, 0x4002000000000000, 0x7FF0000000000000,
    0xBFF0000000000000, 0x7FF8000000000000, 0x0010000000000000,
))  # fmt: skip
"""Of others the last bit may be wrong."""
_CLASSES = tuple((x, bits) for x in (*F64[::2], 0x7FF8000000000000) for bits in (0x3FF, 0x204, 0x060, 0x198, 0x003, 0x155))
_HALF_CLASSES = tuple((x, bits) for x in CORNERS["f16"] for bits in (0x3FF, 0x204, 0x060, 0x198, 0x003, 0x155))


def of_double(function: str) -> str:
    return call(f"{function}.f64", "a", kind="f64")


def of_half(function: str) -> str:
    return call(f"{function}.f16", "a", kind="f16")


def inverse(form: Format, *, root: bool) -> Callable[[int], int | None]:
    """1 / a or 1 / sqrt(a), from 400 bits of it."""

    def evaluate(a: int) -> int | None:
        value, sign = form.value(a), a & form.sign
        if value is None or (root and sign and value != 0):
            return None
        if value == 0:
            return form.infinity | sign
        if isinstance(value, float):
            return sign
        exactly = 1 / value
        return form.nearest(Fraction(math.isqrt(int(exactly * Fraction(2) ** 2400)), 2**1200) if root else exactly)

    return evaluate


def saturated(sign: str, bits: int, kind: str) -> str:
    return f"%r = call i{bits} @llvm.fpto{sign}i.sat.i{bits}.f{kind[1:]}({'double' if kind == 'f64' else 'half'} %a)"


def is_class(form: Format) -> Callable[[int, int], int]:
    def evaluate(a: int, wanted: int) -> int:
        value, negative = form.value(a), bool(a & form.sign)
        if value is None:
            return wanted >> (a >> form.mantissa - 1 & 1) & 1
        if isinstance(value, float):
            magnitude = 3
        else:
            magnitude = 0 if value == 0 else 2 if abs(value) >= Fraction(2) ** (1 - form.bias) else 1
        return wanted >> (5 - magnitude if negative else 6 + magnitude) & 1

    return evaluate


_DOUBLES: list[Case] = [
    case("v_add_f64", D2, "f64", "%r = fadd double %a, %b"),
    case("v_add_f64", D2, "f64", "%n = fneg double %b\n%m = call double @llvm.fabs.f64(double %a)\n%r = fadd double %m, %n",
         text="v_add_f64 v[0:1], |v[4:5]|, -v[6:7]"),
    case("v_mul_f64", D2, "f64", "%r = fmul double %a, %b"),
    case("v_mul_f64", "f64", "f64", "%r = fmul double %a, 10.0", text="v_mul_f64 v[0:1], v[4:5], 0x40240000"),
    case("v_mul_f64", "f64", "f64", "%r = fmul double %a, 0.5", text="v_mul_f64 v[0:1], 0.5, v[4:5]"),
    case("v_add_f64", "f64", "f64", "%r = fadd double %a, 0x0000000000000040", text="v_add_f64 v[0:1], 64, v[4:5]"),
    case("v_fma_f64", D3, "f64", call("fma.f64", "a", "b", "c", kind="f64")),
    case("v_fma_f64", D3, "f64", "%n = fneg double %c\n%r = call double @llvm.fma.f64(double %a, double %b, double %n)",
         text="v_fma_f64 v[0:1], v[4:5], v[6:7], -v[8:9]"),
    *(case(f"v_{name}_f64", D2, "f64", call(f"{name}num.f64", "a", "b", kind="f64")) for name in ("min", "max")),
    *(case(f"v_{name}_f64", "f64", "f64", of_double(of)) for name, of in
      (("trunc", "trunc"), ("ceil", "ceil"), ("floor", "floor"), ("rndne", "roundeven"), ("fract", "amdgcn.fract"))),
    case("v_ldexp_f64", "f64 i32", "f64", "%r = call double @llvm.ldexp.f64.i32(double %a, i32 %b)"),
    case("v_frexp_exp_i32_f64", "f64", "i32", "%r = call i32 @llvm.amdgcn.frexp.exp.i32.f64(double %a)"),
    case("v_frexp_mant_f64", "f64", "f64", of_double("amdgcn.frexp.mant")),
    case("v_cvt_f64_f32", "f32", "f64", "%r = fpext float %a to double"),
    case("v_cvt_f32_f64", "f64", "f32", "%r = fptrunc double %a to float"),
    case("v_cvt_f64_i32", "i32", "f64", "%r = sitofp i32 %a to double"),
    case("v_cvt_f64_u32", "i32", "f64", "%r = uitofp i32 %a to double"),
    case("v_cvt_i32_f64", "f64", "i32", saturated("s", 32, "f64")),
    case("v_cvt_u32_f64", "f64", "i32", saturated("u", 32, "f64")),
    case("v_rcp_f64", "f64", "f64", exact=inverse(DOUBLE, root=False)),
    case("v_rsq_f64", "f64", "f64", exact=inverse(DOUBLE, root=True),
         rows=_ROOTS),
    case("v_sqrt_f64", "f64", "f64", of_double("sqrt"), rows=_POSITIVE),
    case("v_cmp_class_f64", "f64 i32", "mask", exact=is_class(DOUBLE), rows=_CLASSES),
    case("v_cmp_class_f16", "f16 i32", "mask", exact=is_class(HALF), rows=_HALF_CLASSES),
]  # fmt: skip
_OF_HALVES: list[Case] = [
    case("v_rcp_f16", "f16", "f16", exact=inverse(HALF, root=False)),
    case("v_rsq_f16", "f16", "f16", exact=inverse(HALF, root=True)),
    *(case(f"v_{name}_f16", "f16", "f16", of_half(of), rows=_ABOVE_ZERO) for name, of in (("sqrt", "sqrt"), ("log", "log2"))),
    case("v_exp_f16", "f16", "f16", of_half("exp2"), rows=tuple((x,) for x, in _HALVES if x & 0x7FFF < 0x4C00)),
    *(case(f"v_{name}_f16", "f16", "f16", of_half(f"amdgcn.{name}"), rows=_TURNS) for name in ("sin", "cos")),
    *(case(f"v_{name}_f16", "f16", "f16", of_half(of)) for name, of in
      (("trunc", "trunc"), ("ceil", "ceil"), ("floor", "floor"), ("rndne", "roundeven"), ("fract", "amdgcn.fract"))),
    case("v_ldexp_f16", "f16 i16", "f16", "%x = sext i16 %b to i32\n%r = call half @llvm.ldexp.f16.i32(half %a, i32 %x)"),
    case("v_frexp_exp_i16_f16", "f16", "i16", "%r = call i16 @llvm.amdgcn.frexp.exp.i16.f16(half %a)"),
    case("v_frexp_mant_f16", "f16", "f16", of_half("amdgcn.frexp.mant")),
    case("v_cvt_i16_f16", "f16", "i16", saturated("s", 16, "f16")),
    case("v_cvt_u16_f16", "f16", "i16", saturated("u", 16, "f16")),
    case("v_fmamk_f16", "f16 f16", "f16", "%r = call half @llvm.fma.f16(half %a, half 0xH4248, half %b)",
         text="v_fmamk_f16 v0, v4, 0x4248, v6"),
    case("v_fmaak_f16", "f16 f16", "f16", "%r = call half @llvm.fma.f16(half %a, half %b, half 0xH4248)",
         text="v_fmaak_f16 v0, v4, v6, 0x4248"),
]  # fmt: skip
CASES = (*_DOUBLES, *_OF_HALVES)
