"""Half-precision and 16-bit instructions: plain, packed, mixed."""

from tests.gfx11.cases.tables import call, case, lines

H2, H3, S2, S3 = "f16 f16", "f16 f16 f16", "i16 i16", "i16 i16 i16"
V2, V3, W2, W3 = "v2f16 v2f16", "v2f16 v2f16 v2f16", "v2i16 v2i16", "v2i16 v2i16 v2i16"
_VECTOR = {"f16": "<2 x half>", "i16": "<2 x i16>"}
_FIFTEEN = {"i16": "15", "v2i16": "<i16 15, i16 15>"}


def shifted(operation: str, kind: str) -> str:
    """%b by %a modulo 16."""
    of = {"v2i16": "<2 x i16>"}.get(kind, kind)
    return f"%m = and {of} %a, {_FIFTEEN[kind]}\n%r = {operation} {of} %b, %m"


def halves(name: str) -> str:
    """%name.l and %name.h of a packed pair, as floats."""
    return lines(*(
        f"%{name}.{half}.x = extractelement <2 x half> %{name}, i32 {i}\n%{name}.{half} = fpext half %{name}.{half}.x to float"
        for i, half in enumerate("lh")
    ))  # fmt: skip


_MULTIPLY_ADD = call("fma.f32", "a.l", "b.h", "c", kind="f32", name="t")
_ROUNDED = "%h = fptrunc float %t to half"
_PLAIN = [
    case("v_add_f16", H2, "f16", "%r = fadd half %a, %b"),
    case("v_sub_f16", H2, "f16", "%r = fsub half %a, %b"),
    case("v_subrev_f16", H2, "f16", "%r = fsub half %b, %a"),
    case("v_mul_f16", H2, "f16", "%r = fmul half %a, %b"),
    case("v_fma_f16", H3, "f16", call("fma.f16", "a", "b", "c", kind="f16")),
    case("v_fmac_f16", "f16 f16 f16", "f16", call("fma.f16", "a", "b", "c", kind="f16"), text="v_mov_b32 v0, v8\n"
         "v_and_b32 v0, 0xffff, v0\nv_or_b32 v0, 0x5a5a0000, v0\nv_fmac_f16 v0, v4, v6"),
    *(case(f"v_{name}_f16", H2, "f16", call(f"{name}num.f16", "a", "b", kind="f16")) for name in ("min", "max")),
    case("v_mov_b16", "i16", "i16", "%r = or i16 %a, 0", text="v_mov_b16 v0.l, v4.l"),
    case("v_mov_b16", "i32", "i32", "%x = lshr i32 %a, 16\n%r = or i32 %x, 1515847680", text="v_mov_b16 v0.l, v4.h"),
    *(case(f"v_{name}_b16", S2, "i16", f"%r = {name} i16 %a, %b", text=f"v_{name}_b16 v0.l, v4.l, v6.l") for name in
      ("and", "or", "xor")),
    case("v_add_nc_u16", S2, "i16", "%r = add i16 %a, %b"),
    case("v_sub_nc_u16", S2, "i16", "%r = sub i16 %a, %b"),
    case("v_mul_lo_u16", S2, "i16", "%r = mul i16 %a, %b"),
    case("v_mad_u16", S3, "i16", "%x = mul i16 %a, %b\n%r = add i16 %x, %c"),
    case("v_lshlrev_b16", S2, "i16", shifted("shl", "i16")),
    case("v_lshrrev_b16", S2, "i16", shifted("lshr", "i16")),
    case("v_ashrrev_i16", S2, "i16", shifted("ashr", "i16")),
    *(case(f"v_{name}_{kind}16", S2, "i16", call(f"{kind.replace('i', 's')}{name}.i16", "a", "b", kind="i16"))
      for name in ("min", "max") for kind in "ui"),
    case("v_cvt_f16_u16", "i16", "f16", "%r = uitofp i16 %a to half"),
    case("v_cvt_f16_i16", "i16", "f16", "%r = sitofp i16 %a to half"),
    case("v_cvt_i32_i16", "i16", "i32", "%r = sext i16 %a to i32"),
    case("v_cvt_u32_u16", "i16", "i32", "%r = zext i16 %a to i32"),
    case("v_pack_b32_f16", H2, "v2f16",
         "%x = insertelement <2 x half> poison, half %a, i32 0\n%r = insertelement <2 x half> %x, half %b, i32 1"),
]  # fmt: skip
_PACKED = [
    case("v_pk_add_f16", V2, "v2f16", "%r = fadd <2 x half> %a, %b"),
    case("v_pk_mul_f16", V2, "v2f16", "%r = fmul <2 x half> %a, %b"),
    case("v_pk_fma_f16", V3, "v2f16", "%r = call <2 x half> @llvm.fma.v2f16(<2 x half> %a, <2 x half> %b, <2 x half> %c)"),
    *(case(f"v_pk_{name}_f16", V2, "v2f16", f"%r = call <2 x half> @llvm.{name}num.v2f16(<2 x half> %a, <2 x half> %b)")
      for name in ("min", "max")),
    case("v_pk_add_f16", V2, "v2f16", "%n = fneg <2 x half> %b\n%x = shufflevector <2 x half> %n, <2 x half> poison, "
         "<2 x i32> <i32 1, i32 0>\n%r = fadd <2 x half> %a, %x",
         modifiers="op_sel:[0,1] op_sel_hi:[1,0] neg_lo:[0,1] neg_hi:[0,1]"),
    case("v_pk_mul_f16", "v2f16", "v2f16", "%r = fmul <2 x half> %a, <half 0xH5C00, half 0xH5C00>",
         text="v_pk_mul_f16 v0, 0x5c00, v4 op_sel_hi:[0,1]"),
    *(case(f"v_pk_{name}_{kind}16", W2, "v2i16", f"%r = {name} <2 x i16> %a, %b") for name in ("add", "sub") for kind in "ui"),
    case("v_pk_mul_lo_u16", W2, "v2i16", "%r = mul <2 x i16> %a, %b"),
    case("v_pk_mad_u16", W3, "v2i16", "%x = mul <2 x i16> %a, %b\n%r = add <2 x i16> %x, %c"),
    *(case(f"v_pk_{name}rev_{kind}16", W2, "v2i16", shifted(operation, "v2i16"))
      for name, kind, operation in (("lshl", "b", "shl"), ("lshr", "b", "lshr"), ("ashr", "i", "ashr"))),
    *(case(f"v_pk_{name}_{kind}16", W2, "v2i16",
           f"%r = call <2 x i16> @llvm.{kind.replace('i', 's')}{name}.v2i16(<2 x i16> %a, <2 x i16> %b)")
      for name in ("min", "max") for kind in "ui"),
]  # fmt: skip
_MIXED = [
    case("v_fma_mix_f32", "v2f16 v2f16 f32", "f32", lines(
        halves("a"), halves("b"), call("fma.f32", "a.l", "b.h", "c", kind="f32")),
        modifiers="op_sel:[0,1,0] op_sel_hi:[1,1,0]"),
    case("v_fma_mix_f32", "f32 f32 f32", "f32", call("fma.f32", "a", "b", "c", kind="f32")),
    case("v_fma_mixlo_f16", "v2f16 v2f16 f32", "f16", lines(
        halves("a"), halves("b"), _MULTIPLY_ADD, "%r = fptrunc float %t to half"),
        modifiers="op_sel:[0,1,0] op_sel_hi:[1,1,0]"),
    case("v_fma_mixhi_f16", "v2f16 v2f16 f32 v2f16", "v2f16", lines(
        halves("a"), halves("b"), _MULTIPLY_ADD, _ROUNDED, "%r = insertelement <2 x half> %d, half %h, i32 1"),
        text="v_fma_mixhi_f16 v0, v4, v6, v8 op_sel:[0,1,0] op_sel_hi:[1,1,0]", places="v4 v6 v8 v0"),
]  # fmt: skip
CASES = (*_PLAIN, *_PACKED, *_MIXED)
