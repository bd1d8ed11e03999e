"""Scalar instructions: the result, and SCC. One that leaves SCC alone gets it as a source, and must hand it through."""

from expctl.gfx11.machine.memory import PROGRAM_COUNTER
from tests.gfx11.cases.case import Case
from tests.gfx11.cases.integer_cases import MASK, carried, counted, high, masked
from tests.gfx11.cases.tables import call, case, lines

I2 = "i32 i32"
_FIELDS = tuple(offset | size << 16 for offset in (0, 1, 31, 32, 63) for size in (0, 1, 5, 31, 32, 33, 63, 64, 127))
_KEEPS = "%s = or i1 %keep, false"


def silent(opcode: str, sources: str, result: str, ir: str, **given: object) -> Case:
    """SCC comes last, whatever its name in the IR."""
    name = "abcd"[len(sources.split())]
    return case(opcode, f"{sources} scc", f"{result} scc", lines(ir, _KEEPS.replace("keep", name)), **given)  # type: ignore[arg-type]


def tested(opcode: str, sources: str, result: str, ir: str) -> Case:
    """SCC says whether the result is not zero."""
    return case(opcode, sources, f"{result} scc", lines(ir, f"%s = icmp ne {result} %r, 0"))


def field(bits: int, sign: str) -> str:
    """Offset in the low bits of %b, size in bits 16 to 22; in 256 bits, so that no shift goes too far."""
    extend = "sext" if sign == "i" else "zext"
    return lines(
        f"%o = and i32 %b, {bits - 1}", "%o.w = zext i32 %o to i256", "%n.u = lshr i32 %b, 16", "%n.m = and i32 %n.u, 127",
        "%n = zext i32 %n.m to i256", f"%w = {extend} i{bits} %a to i256", "%x = lshr i256 %w, %o.w", "%up = sub i256 256, %n",
        "%y = shl i256 %x, %up", f"%z = {'ashr' if sign == 'i' else 'lshr'} i256 %y, %up", "%e = icmp eq i256 %n, 0",
        "%f = select i1 %e, i256 0, i256 %z", f"%r = trunc i256 %f to i{bits}",
    )  # fmt: skip


def overflowing(operation: str, second: str = "i32 %b") -> str:
    return lines(
        f"%t = call {{i32, i1}} @llvm.s{operation}.with.overflow.i32(i32 %a, {second})",
        "%r = extractvalue {i32, i1} %t, 0", "%s = extractvalue {i32, i1} %t, 1",
    )  # fmt: skip


def added(shift: int) -> str:
    return lines(
        "%a.w = zext i32 %a to i64", "%b.w = zext i32 %b to i64", f"%x = shl i64 %a.w, {shift}", "%t = add i64 %x, %b.w",
        "%r = trunc i64 %t to i32", "%s = icmp ugt i64 %t, 4294967295",
    )  # fmt: skip


def shift(operation: str, bits: int) -> str:
    amount = masked("b", bits - 1)
    return f"{amount}\n%m = {'zext i32 %b.m to i64' if bits == 64 else 'or i32 %b.m, 0'}\n%r = {operation} i{bits} %a, %m"


def logic(name: str, kind: str, a: str = "%a", b: str = "%b", to: str = "%r") -> str:
    """`and`, `nand`, `and_not1`, ..."""
    plain = {"nand": "and", "nor": "or", "xnor": "xor"}.get(name, name.removesuffix("_not1"))
    flip_b, flip_all = -int(name.endswith("_not1")), -int(name in ("nand", "nor", "xnor"))
    return lines(f"%n = xor {kind} {b}, {flip_b}", f"%x = {plain} {kind} {a}, %n", f"{to} = xor {kind} %x, {flip_all}")


def saved(name: str) -> str:
    """%a is the mask, %b EXEC: before it %r, after it %s. `not0` inverts the mask, `not1` EXEC."""
    order = ("%b", "%a") if name.endswith("_not0") else ("%a", "%b")
    return lines(logic(name.replace("not0", "not1"), "i32", *order, to="%s"), "%r = or i32 %b, 0", "%t = icmp ne i32 %s, 0")


def bit_is(wanted: int) -> str:
    return lines(masked("b"), "%x = lshr i32 %a, %b.m", "%y = and i32 %x, 1", f"%r = icmp eq i32 %y, {wanted}")


def packed(first: str, second: str) -> str:
    low = "%x = and i32 %a, 65535" if first == "l" else "%x = lshr i32 %a, 16"
    return lines(low, "%y = shl i32 %b, 16" if second == "l" else "%y = and i32 %b, -65536", "%r = or i32 %x, %y")


_LOGIC = ("and", "or", "xor", "nand", "nor", "xnor", "and_not1", "or_not1")
_SHIFTS = [
    *(tested(f"s_{name}_{kind}{bits}", f"i{bits} i32", f"i{bits}", shift(operation, bits)) for name, kind, operation in
      (("lshl", "b", "shl"), ("lshr", "b", "lshr"), ("ashr", "i", "ashr")) for bits in (32, 64)),
    *(case(f"s_bfe_{sign}{bits}", f"i{bits} i32", f"i{bits} scc", field(bits, sign) + f"\n%s = icmp ne i{bits} %r, 0",
           rows=tuple((a, b) for a in (0xFEDCBA98_76543210, 0x80000001_80000001, (1 << 64) - 1, 0x12345678_9ABCDEF0)
           for b in _FIELDS)
           if bits == 64 else tuple((a, b) for a in (0x76543210, 0xFEDCBA98, 0x80000001, 0xFFFFFFFF) for b in _FIELDS))
      for sign in "ui" for bits in (32, 64)),
    silent("s_bfm_b32", I2, "i32", MASK),
    silent("s_bfm_b64", I2, "i64", lines(
        masked("a", 63), masked("b", 63), "%a.w = zext i32 %a.m to i64", "%b.w = zext i32 %b.m to i64", "%x = shl i64 1, %a.w",
        "%y = sub i64 %x, 1", "%r = shl i64 %y, %b.w")),
    silent("s_brev_b32", "i32", "i32", call("bitreverse.i32", "a")),
    *(case(f"s_lshl{n}_add_u32", I2, "i32 scc", added(n)) for n in (1, 2, 3, 4)),
]  # fmt: skip
_SUMS = [
    *(case(f"s_{name}_u32", I2, "i32 scc", carried(name, "a", "b", carry_in=False)) for name in ("add", "sub")),
    *(case(f"s_{name}_u32", f"{I2} scc", "i32 scc", carried(name[:3], "a", "b", carry_in=True)) for name in ("addc", "subb")),
    *(case(f"s_{name}_i32", I2, "i32 scc", overflowing(name)) for name in ("add", "sub")),
    silent("s_mul_i32", I2, "i32", "%r = mul i32 %a, %b"),
    silent("s_mul_hi_u32", I2, "i32", high("a", "b")),
    silent("s_mul_hi_i32", I2, "i32", high("a", "b", sign="s")),
    tested("s_abs_i32", "i32", "i32", call("abs.i32", "a", "i1 false")),
    *(case(f"s_{name}_{kind}", I2, "i32 scc", lines(
        f"%s = icmp {sign}{order} i32 %a, %b", "%r = select i1 %s, i32 %a, i32 %b"))
      for name, order in (("min", "lt"), ("max", "ge")) for kind, sign in (("u32", "u"), ("i32", "s"))),
]  # fmt: skip
_BITS = [
    *(silent(f"s_sext_i32_i{n}", "i32", "i32", f"%x = trunc i32 %a to i{n}\n%r = sext i{n} %x to i32") for n in (8, 16)),
    tested("s_bcnt1_i32_b32", "i32", "i32", call("ctpop.i32", "a")),
    tested("s_bcnt0_i32_b32", "i32", "i32", "%n = xor i32 %a, -1\n" + call("ctpop.i32", "n")),
    tested("s_bcnt1_i32_b64", "i64", "i32", "%n = call i64 @llvm.ctpop.i64(i64 %a)\n%r = trunc i64 %n to i32"),
    *(silent(f"s_{name}_i32_{kind}{bits}", f"i{bits}", "i32", counted(function, f"i{bits}"))
      for name, kind, function in (("ctz", "b", "cttz"), ("clz", "u", "ctlz")) for bits in (32, 64)),
    *(silent(f"s_pack_{x}{y}_b32_b16", I2, "i32", packed(x, y)) for x in "lh" for y in "lh"),
    *(silent(f"s_mov_b{n}", f"i{n}", f"i{n}", f"%r = or i{n} %a, 0") for n in (32, 64)),
    *(case(f"s_cselect_b{n}", f"i{n} i{n} scc", f"i{n} scc", f"%r = select i1 %c, i{n} %a, i{n} %b\n%s = or i1 %c, false")
      for n in (32, 64)),
    *(case(f"s_bitcmp{n}_b32", I2, "scc", bit_is(n)) for n in (0, 1)),
    *(tested(f"s_not_b{n}", f"i{n}", f"i{n}", f"%r = xor i{n} %a, -1") for n in (32, 64)),
    *(tested(f"s_{name}_b{n}", f"i{n} i{n}", f"i{n}", logic(name, f"i{n}")) for name in _LOGIC for n in (32, 64)),
]  # fmt: skip
_FLOATS = [
    *(silent(f"s_cvt_f32_{kind}32", "i32", "f32", f"%r = {sign}itofp i32 %a to float") for kind,
      sign in (("u", "u"), ("i", "s"))),
    *(silent(f"s_cvt_{kind}32_f32", "f32", "i32", f"%r = call i32 @llvm.fpto{sign}i.sat.i32.f32(float %a)")
      for kind, sign in (("u", "u"), ("i", "s"))),
]  # fmt: skip
_ORDERS = {"eq": "eq", "lg": "ne", "gt": "gt", "ge": "ge", "lt": "lt", "le": "le"}


def ordered(name: str, sign: str) -> str:
    return _ORDERS[name] if name in ("eq", "lg") else sign + _ORDERS[name]


_COMPARISONS = [
    *(case(f"s_cmp_{name}_{kind}32", I2, "scc", f"%r = icmp {ordered(name, sign)} i32 %a, %b")
      for name in _ORDERS for kind, sign in (("u", "u"), ("i", "s"))),
    *(case(f"s_cmp_{name}_u64", "i64 i64", "scc", f"%r = icmp {_ORDERS[name]} i64 %a, %b") for name in ("eq", "lg")),
    *(case(f"s_cmpk_{name}_{kind}32", "i32", "scc", f"%r = icmp {ordered(name, sign)} i32 %a, {short}",
      text=f"s_cmpk_{name}_{kind}32 s4, 0x8000",
           rows=tuple((x,) for x in (0, 0x7FFF, 0x8000, 0x8001, 0xFFFF7FFF, 0xFFFF8000, 0xFFFF8001, 0xFFFFFFFF)))
      for name in _ORDERS for kind, sign, short in (("u", "u", 0x8000), ("i", "s", -0x8000))),
]  # fmt: skip
_SHORT = [
    silent("s_movk_i32", "i32", "i32", "%r = or i32 -32768, 0", text="s_movk_i32 s0, 0x8000"),
    case("s_addk_i32", "i32", "i32 scc", overflowing("add", "i32 -2"), text="s_addk_i32 s0, 0xfffe", places="s0"),
    silent("s_mulk_i32", "i32", "i32", "%r = mul i32 %a, -3", text="s_mulk_i32 s0, 0xfffd", places="s0 scc"),
]
_SAVED = [
    case(f"s_{name}_saveexec_b32", I2, "i32 active scc", saved(name), text=f"s_{name}_saveexec_b32 s0, s4", places="s4 exec")
    for name in (*_LOGIC, "and_not0", "or_not0")
]
_COUNTER = case("s_getpc_b64", "scc", "i64 scc", exact=lambda keep: (PROGRAM_COUNTER, keep))
CASES = (_COUNTER, *_SHIFTS, *_SUMS, *_BITS, *_FLOATS, *_COMPARISONS, *_SHORT, *_SAVED)
