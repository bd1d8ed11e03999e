"""The smallest, middle and greatest of three; sums that saturate; sums of products of bytes and nibbles."""

from functools import partial

from tests.gfx11.cases.case import Case
from tests.gfx11.cases.tables import call, case, lines

_FLOATS = (("f32", "f32", "minnum.f32", "maxnum.f32"), ("f16", "f16", "minnum.f16", "maxnum.f16"))
_INTEGERS = (
    ("i32", "i32", "smin.i32", "smax.i32"), ("u32", "i32", "umin.i32", "umax.i32"),
    ("i16", "i16", "smin.i16", "smax.i16"), ("u16", "i16", "umin.i16", "umax.i16"),
)  # fmt: skip
_KINDS = (*_FLOATS, *_INTEGERS)


def _then(kind: str, first: str, second: str) -> str:
    return lines(call(first, "a", "b", kind=kind, name="x"), call(second, "x", "c", kind=kind))


def _median(kind: str, low: str, high: str) -> str:
    return lines(
        call(low, "a", "b", kind=kind, name="l"), call(high, "a", "b", kind=kind, name="h"),
        call(low, "h", "c", kind=kind, name="m"), call(high, "l", "m", kind=kind),
    )  # fmt: skip


def _part(word: int, i: int, bits: int, is_signed: bool) -> int:
    part = word >> bits * i & ((1 << bits) - 1)
    return part - (1 << bits) if is_signed and part >> bits - 1 else part


def dotted(bits: int, signs: tuple[int, int], clamps: str, a: int, b: int, c: int) -> int:
    """Over integers. `clamps` is i or u: the limits of the sum; empty: it wraps."""
    signed_sum = c - (1 << 32) if clamps == "i" and c >> 31 else c
    total = signed_sum + sum(_part(a, i, bits, bool(signs[0])) * _part(b, i, bits, bool(signs[1])) for i in range(32 // bits))
    low, high = {"i": (-(1 << 31), (1 << 31) - 1), "u": (0, (1 << 32) - 1), "": (total, total)}[clamps]
    return min(max(total, low), high) & 0xFFFFFFFF


def _dots() -> list[Case]:
    found: list[Case] = []
    for bits, opcode in ((8, "v_dot4_i32_iu8"), (4, "v_dot8_i32_iu4")):
        for signs in ((0, 0), (1, 1), (1, 0)):
            for clamp in ("", "i"):
                text = f"{opcode} v0, v4, v6, v8 neg_lo:[{signs[0]},{signs[1]},0]{' clamp' if clamp else ''}"
                found.append(case(opcode, "i32 i32 i32", "i32", exact=partial(dotted, bits, signs, clamp), text=text))
    for bits, opcode in ((8, "v_dot4_u32_u8"), (4, "v_dot8_u32_u4")):
        for clamp in ("", "u"):
            text = f"{opcode} v0, v4, v6, v8{' clamp' if clamp else ''}"
            found.append(case(opcode, "i32 i32 i32", "i32", exact=partial(dotted, bits, (0, 0), clamp), text=text))
    return found


CASES = (
    *(case(f"v_{name}3_{kind}", f"{of} {of} {of}", of, _then(of, function, function))
      for kind, of, low, high in _KINDS if kind not in ("f32", "i32", "u32")
      for name, function in (("min", low), ("max", high))),
    *(case(f"v_{name}_{kind}", f"{of} {of} {of}", of, _then(of, first, second))
      for kind, of, low, high in _KINDS if kind[1:] == "32" or kind == "f16"
      for name, first, second in (("minmax", low, high), ("maxmin", high, low))),
    *(case(f"v_med3_{kind}", f"{of} {of} {of}", of, _median(of, low, high))
      for kind, of, low, high in _INTEGERS if of == "i16"),
    *(case(f"v_med3_{kind}", f"{kind} {kind} {kind}", kind, call(f"amdgcn.fmed3.{kind}", "a", "b", "c", kind=kind))
      for kind in ("f32", "f16")),
    *(case(f"v_{name}_nc_u32", "i32 i32", "i32", call(f"u{name}.sat.i32", "a", "b"),
           text=f"v_{name}_nc_u32_e64 v0, v4, v6 clamp") for name in ("add", "sub")),
    *(case(f"v_{name}_nc_u16", "i16 i16", "i16", call(f"u{name}.sat.i16", "a", "b", kind="i16"),
           text=f"v_{name}_nc_u16_e64 v0, v4, v6 clamp") for name in ("add", "sub")),
    case("v_cndmask_b32", "f32 f32 mask", "f32", lines(
        "%n = fneg float %a", "%m = call float @llvm.fabs.f32(float %b)", "%r = select i1 %c, float %m, float %n"),
        text="v_cndmask_b32_e64 v0, -v4, |v6|, s4", places="v4 v6 s4"),
    *_dots(),
)  # fmt: skip
