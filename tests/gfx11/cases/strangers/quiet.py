"""A signalling NaN that goes into arithmetic comes out as a quiet one, which a class test can tell."""

from tests.gfx11.cases.case import Case
from tests.gfx11.cases.strangers.form import hard

_ONE = ("trunc", "ceil", "floor", "rndne", "fract", "rcp", "rsq", "sqrt")
_FORMS = {
    "f64": ("v[2:3]", (*_ONE, "add", "mul", "min", "max", "fma", "ldexp", "div_fixup")),
    "f32": ("v2", (*_ONE, "add", "mul", "min", "max", "fma", "ldexp", "div_fixup", "exp", "log", "sin", "sub")),
    "f16": ("v2", (*_ONE, "add", "mul", "min", "max", "fma", "ldexp", "div_fixup", "exp", "log", "sub")),
}
_OTHERS = {"add": ", 1.0", "sub": ", 1.0", "mul": ", 1.0", "min": ", 1.0", "max": ", 1.0", "fma": ", 1.0, 1.0", "ldexp": ", 0"}
_CONVERSIONS = (("f64", "f32", "v2"), ("f32", "f64", "v[2:3]"), ("f32", "f16", "v2"), ("f16", "f32", "v2"))


def _quiet(opcode: str, kind: str, to: str, result: str, operands: str) -> Case:
    text = f"{opcode} {to}, {operands}\nv_cmp_class_{result} s0, {to}, 2"
    return hard(opcode, kind, "mask", lambda a: 1, "snan; -snan", text)


CASES: tuple[Case, ...] = (
    *(_quiet(f"v_{name}_{kind}", kind, to, kind, "{0}, 1.0, {0}" if name == "div_fixup" else f"{{0}}{_OTHERS.get(name, '')}")
      for kind, (to, names) in _FORMS.items() for name in names),
    *(_quiet(f"v_cvt_{result}_{kind}", kind, to, result, "{0}") for kind, result, to in _CONVERSIONS),
)  # fmt: skip
