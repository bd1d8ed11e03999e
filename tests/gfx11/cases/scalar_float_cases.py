"""Scalar float instructions of gfx11.5. All leave SCC alone but comparisons, which write nothing else."""

from tests.gfx11.cases.scalar_cases import silent
from tests.gfx11.cases.tables import call, case

_TYPES = (("f32", "float"), ("f16", "half"))
_ROUNDINGS = (("trunc", "trunc"), ("ceil", "ceil"), ("floor", "floor"), ("rndne", "roundeven"))
_ORDERS = {
    "lt": "olt", "eq": "oeq", "le": "ole", "gt": "ogt", "lg": "one", "ge": "oge", "o": "ord", "u": "uno",
    "nge": "ult", "nlg": "ueq", "ngt": "ule", "nle": "ugt", "neq": "une", "nlt": "uge",
}  # fmt: skip
_FMA = "%r = call float @llvm.fma.f32(float "
_TYPED = [
    found
    for kind, of in _TYPES
    for found in (
        *(silent(f"s_{name}_{kind}", f"{kind} {kind}", kind, f"%r = f{name} {of} %a, %b") for name in ("add", "sub", "mul")),
        *(silent(f"s_{name}_{kind}", f"{kind} {kind}", kind, call(f"{name}num.{kind}", "a", "b", kind=kind))
          for name in ("min", "max")),
        *(silent(f"s_{name}_{kind}", kind, kind, call(f"{function}.{kind}", "a", kind=kind)) for name, function in _ROUNDINGS),
        *(case(f"s_cmp_{name}_{kind}", f"{kind} {kind}", "scc", f"%r = fcmp {order} {of} %a, %b")
          for name, order in _ORDERS.items()),
        silent(f"s_fmac_{kind}", f"{kind} {kind} {kind}", kind, call(f"fma.{kind}", "a", "b", "c", kind=kind),
               text=f"s_fmac_{kind} s0, s4, s6", places="s4 s6 s0 scc"),
    )
]  # fmt: skip
CASES = (
    *_TYPED,
    silent("s_fmamk_f32", "f32 f32", "f32", f"{_FMA}%a, float 0x4009212DE0000000, float %b)",
           text="s_fmamk_f32 s0, s4, 0x4049096f, s6"),
    silent("s_fmaak_f32", "f32 f32", "f32", f"{_FMA}%a, float %b, float 0x4009212DE0000000)",
           text="s_fmaak_f32 s0, s4, s6, 0x4049096f"),
    silent("s_cvt_f16_f32", "f32", "f16", "%r = fptrunc float %a to half"),
    silent("s_cvt_f32_f16", "f16", "f32", "%r = fpext half %a to float"),
    silent("s_cvt_hi_f32_f16", "v2f16", "f32", "%h = extractelement <2 x half> %a, i32 1\n%r = fpext half %h to float"),
    silent("s_cvt_pk_rtz_f16_f32", "f32 f32", "v2f16", "%r = call <2 x half> @llvm.amdgcn.cvt.pkrtz(float %a, float %b)"),
)  # fmt: skip
