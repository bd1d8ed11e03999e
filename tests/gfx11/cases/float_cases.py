"""Single-precision vector instructions and conversions."""

import math
from fractions import Fraction
from functools import partial
from itertools import product

from tests.gfx11.cases.tables import call, case, lines
from tests.gfx11.exact import HALF, SINGLE, Format

F2, F3 = "f32 f32", "f32 f32 f32"
_FMA = call("fma.f32", "a", "b", "c", kind="f32")


def unary(function: str) -> str:
    return call(f"{function}.f32", "a", kind="f32")


def saturated(sign: str, of: str = "a") -> str:
    return f"%r = call i32 @llvm.fpto{sign}i.sat.i32.f32(float %{of})"


def of_three(function: str) -> str:
    return lines(call(function, "a", "b", kind="f32", name="x"), call(function, "x", "c", kind="f32"))


def nearest_integer(a: int) -> int:
    """Ties up, and held within the integers. The manual says floor(a + 0.5) and not what rounds that sum: nothing, here."""
    value = SINGLE.value(a)
    if not isinstance(value, Fraction):
        return 0 if value is None else 0x7FFFFFFF if value > 0 else 0x80000000
    return min(max(math.floor(value + Fraction(1, 2)), -(1 << 31)), (1 << 31) - 1) & 0xFFFFFFFF


def quieted(greater: bool, form: Format, a: int, b: int) -> int | None:
    """v_max or v_min in IEEE mode: a signalling NaN makes a NaN, a quiet one loses against a number."""
    if any(form.is_nan(x) and not x & 1 << form.mantissa - 1 for x in (a, b)):
        return None
    x, y = form.value(a), form.value(b)
    if x is None or y is None:
        return b if x is None else a
    if x == y:
        return a if bool(a & form.sign) != greater else b
    return a if (x > y) == greater else b


_SUMS = [
    case("v_add_f32", F2, "f32", "%r = fadd float %a, %b"),
    case("v_sub_f32", F2, "f32", "%r = fsub float %a, %b"),
    case("v_subrev_f32", F2, "f32", "%r = fsub float %b, %a"),
    case("v_mul_f32", F2, "f32", "%r = fmul float %a, %b"),
    case("v_add_f32", F2, "f32", "%n = fneg float %b\n%m = call float @llvm.fabs.f32(float %a)\n%r = fadd float %m, %n",
         text="v_add_f32_e64 v0, |v4|, -v6"),
    case("v_mul_f32", "f32", "f32", "%m = call float @llvm.fabs.f32(float %a)\n%n = fneg float %m\n%r = fmul float %n, 4.0",
         text="v_mul_f32_e64 v0, -|v4|, 4.0"),
    case("v_fma_f32", F3, "f32", _FMA),
    case("v_fmac_f32", F3, "f32", _FMA, text="v_fmac_f32 v0, v4, v6", places="v4 v6 v0"),
    case("v_fmamk_f32", F2, "f32", "%r = call float @llvm.fma.f32(float %a, float 0x4009212DE0000000, float %b)",
         text="v_fmamk_f32 v0, v4, 0x4049096f, v6"),
    case("v_fmaak_f32", F2, "f32", "%r = call float @llvm.fma.f32(float %a, float %b, float 0x4009212DE0000000)",
         text="v_fmaak_f32 v0, v4, v6, 0x4049096f"),
    *(case(f"v_{name}_f32", F2, "f32", call(f"{name}num.f32", "a", "b", kind="f32")) for name in ("min", "max")),
    *(case(f"v_{name}3_f32", F3, "f32", of_three(f"{name}num.f32")) for name in ("min", "max")),
]  # fmt: skip
_ROUNDINGS = [
    *(case(f"v_{name}_f32", "f32", "f32", unary(of)) for name, of in
      (("trunc", "trunc"), ("ceil", "ceil"), ("floor", "floor"), ("rndne", "roundeven"), ("fract", "amdgcn.fract"))),
    case("v_ldexp_f32", "f32 i32", "f32", "%r = call float @llvm.ldexp.f32.i32(float %a, i32 %b)"),
    case("v_ldexp_f32", "f32 i32", "f32", "%r = call float @llvm.ldexp.f32.i32(float %a, i32 %b)",
        text="v_ldexp_f32_e64 v0, v4, v6",
         rows=tuple((a, n & 0xFFFFFFFF) for a in (0x3F800001, 0x00000003, 0xFF7FFFFF, 0x3FC00000) for n in
                    (0, 1, -1, 23, -24, 127, 128, -126, -127, -149, -150, 276, 278))),
    case("v_frexp_exp_i32_f32", "f32", "i32", "%r = call i32 @llvm.amdgcn.frexp.exp.i32.f32(float %a)"),
    case("v_frexp_mant_f32", "f32", "f32", unary("amdgcn.frexp.mant")),
]  # fmt: skip
_CONVERSIONS = [
    case("v_cvt_f32_f16", "f16", "f32", "%r = fpext half %a to float"),
    case("v_cvt_f16_f32", "f32", "f16", "%r = fptrunc float %a to half"),
    case("v_cvt_f32_i32", "i32", "f32", "%r = sitofp i32 %a to float"),
    case("v_cvt_f32_u32", "i32", "f32", "%r = uitofp i32 %a to float"),
    case("v_cvt_i32_f32", "f32", "i32", saturated("s")),
    case("v_cvt_u32_f32", "f32", "i32", saturated("u")),
    case("v_cvt_floor_i32_f32", "f32", "i32", call("floor.f32", "a", kind="f32", name="x") + "\n" + saturated("s", "x")),
    case("v_cvt_nearest_i32_f32", "f32", "i32", exact=nearest_integer),
    *(case(f"v_cvt_f32_ubyte{i}", "i32", "f32", f"%x = lshr i32 %a, {8 * i}\n%y = and i32 %x, 255\n%r = uitofp i32 %y to float")
      for i in range(4)),
    case("v_cvt_pk_rtz_f16_f32", F2, "v2f16", "%r = call <2 x half> @llvm.amdgcn.cvt.pkrtz(float %a, float %b)"),
]  # fmt: skip
_SIGNALS = {"f32": (0x7F800001, 0xFFBFFFFF, 0x7FC00000, 0x3F800000, 0xFF800000, 0, 0x80000000),
            "f16": (0x7C01, 0xFDFF, 0x7E00, 0x3C00, 0xFC00, 0, 0x8000)}  # fmt: skip
_SIGNALLING = [
    case(f"v_{name}_{kind}", f"{kind} {kind}", kind, exact=partial(quieted, name == "max", form),
        rows=tuple(product(_SIGNALS[kind], repeat=2)),
         text=f"v_{name}_{kind}_e64 v0, v4, v6")
    for name in ("min", "max") for kind, form in (("f32", SINGLE), ("f16", HALF))
]  # fmt: skip
_CLASSES = tuple((a, 1 << bit) for a in (
    0x7F800001, 0xFFC00000, 0xFF800000, 0xC0490FDB, 0x80000001, 0x80000000, 0, 0x007FFFFF, 0x00800000, 0x7F800000
) for bit in range(10))  # fmt: skip
_CLASS = case("v_cmp_class_f32", "f32 i32", "mask", "%r = call i1 @llvm.amdgcn.class.f32(float %a, i32 %b)", rows=_CLASSES)
CASES = (*_SUMS, *_ROUNDINGS, *_CONVERSIONS, _CLASS, *_SIGNALLING)
