"""Integer vector instructions: what LLVM says they are."""

from tests.gfx11.cases.tables import call, case, lines

ALL = 0xFFFFFFFF
I2, I3 = "i32 i32", "i32 i32 i32"


def masked(name: str, bits: int = 31, kind: str = "i32") -> str:
    """%name.m is the shift amount modulo the width."""
    return f"%{name}.m = and {kind} %{name}, {bits}"


def low24(*names: str) -> str:
    return lines(*(f"%{n}.u = and i32 %{n}, 16777215" for n in names))


def signed24(*names: str) -> str:
    return lines(*(f"%{n}.h = shl i32 %{n}, 8\n%{n}.s = ashr i32 %{n}.h, 8" for n in names))


def wide(*names: str, sign: str = "z", to: str = "i64") -> str:
    return lines(*(f"%{n}.w = {sign}ext i32 %{n} to {to}" for n in names))


def high(*given: str, sign: str = "z") -> str:
    """The upper word of a product."""
    a, b = given
    return lines(
        f"%x.w = {sign}ext i32 %{a} to i64", f"%y.w = {sign}ext i32 %{b} to i64", "%p = mul i64 %x.w, %y.w",
        "%h = lshr i64 %p, 32", "%r = trunc i64 %h to i32",
    )  # fmt: skip


def carried(operation: str, first: str, second: str, *, carry_in: bool) -> str:
    """In 33 bits, whose highest is the carry or the borrow."""
    steps = [f"%x = zext i32 %{first} to i33", f"%y = zext i32 %{second} to i33", f"%t = {operation} i33 %x, %y"]
    steps += ["%c.w = zext i1 %c to i33", f"%u = {operation} i33 %t, %c.w"] if carry_in else ["%u = add i33 %t, 0"]
    return lines(*steps, "%r = trunc i33 %u to i32", "%v = lshr i33 %u, 32", "%s = trunc i33 %v to i1")


def multiplied(sign: str) -> str:
    """In 65 bits: the highest is what the manual's 65-bit sum has there."""
    return lines(
        wide("a", "b", sign=sign, to="i65"), f"%c.w = {sign}ext i64 %c to i65", "%p = mul i65 %a.w, %b.w",
        "%t = add i65 %p, %c.w", "%r = trunc i65 %t to i64", "%u = lshr i65 %t, 64", "%s = trunc i65 %u to i1",
    )  # fmt: skip


MASK = lines(masked("a"), masked("b"), "%x = shl i32 1, %a.m", "%y = sub i32 %x, 1", "%r = shl i32 %y, %b.m")


def counted(function: str, kind: str = "i32") -> str:
    """-1 where there is no one to find."""
    return lines(
        f"%n = call {kind} @llvm.{function}.{kind}({kind} %a, i1 false)",
        *((f"%n.t = trunc {kind} %n to i32",) if kind != "i32" else ("%n.t = add i32 %n, 0",)),
        f"%z = icmp eq {kind} %a, 0", "%r = select i1 %z, i32 -1, i32 %n.t",
    )  # fmt: skip


def median(least: str, most: str) -> str:
    return lines(
        call(least, "a", "b", name="l"), call(most, "a", "b", name="m"), call(least, "m", "c", name="n"), call(most, "l", "n")
    )


def below(mask: int, start: int, lane: int) -> int:
    return (mask & (1 << lane) - 1).bit_count() + start & ALL


_EACH_LANE = tuple((0xFFFFFFFF, 7, lane) for lane in range(32)) + tuple((0xDEADBEEF, ALL, lane) for lane in range(32))
_LOGIC = [
    case("v_mov_b32", "i32", "i32", "%r = or i32 %a, 0"),
    case("v_not_b32", "i32", "i32", "%r = xor i32 %a, -1"),
    *(case(f"v_{name}_b32", I2, "i32", f"%r = {name} i32 %a, %b") for name in ("and", "or", "xor")),
    case("v_xnor_b32", I2, "i32", "%x = xor i32 %a, %b\n%r = xor i32 %x, -1"),
    case("v_and_or_b32", I3, "i32", "%x = and i32 %a, %b\n%r = or i32 %x, %c"),
    *(case(f"v_{name}3_b32", I3, "i32", f"%x = {name} i32 %a, %b\n%r = {name} i32 %x, %c") for name in ("or", "xor")),
    case("v_bfi_b32", I3, "i32", "%x = and i32 %a, %b\n%n = xor i32 %a, -1\n%y = and i32 %n, %c\n%r = or i32 %x, %y"),
    case("v_cndmask_b32", "i32 i32 mask", "i32", "%r = select i1 %c, i32 %b, i32 %a"),
]  # fmt: skip
_SHIFTS = [
    *(case(f"v_{name}rev_{kind}", I2, "i32", f"{masked('a')}\n%r = {name[:4]} i32 %b, %a.m".replace("lshl ", "shl "))
      for name, kind in (("lshl", "b32"), ("lshr", "b32"), ("ashr", "i32"))),
    *(case(f"v_{name}rev_{kind}", "i32 i64", "i64",
           f"{masked('a', 63)}\n%m = zext i32 %a.m to i64\n%r = {name[:4]} i64 %b, %m".replace("lshl ", "shl "))
      for name, kind in (("lshl", "b64"), ("lshr", "b64"), ("ashr", "i64"))),
    case("v_lshl_or_b32", I3, "i32", f"{masked('b')}\n%x = shl i32 %a, %b.m\n%r = or i32 %x, %c"),
    case("v_lshl_add_u32", I3, "i32", f"{masked('b')}\n%x = shl i32 %a, %b.m\n%r = add i32 %x, %c"),
    case("v_add_lshl_u32", I3, "i32", f"{masked('c')}\n%x = add i32 %a, %b\n%r = shl i32 %x, %c.m"),
    case("v_bfe_u32", I3, "i32", f"{masked('b')}\n{masked('c')}\n" + call("amdgcn.ubfe.i32", "a", "b.m", "c.m")),
    case("v_bfe_i32", I3, "i32", f"{masked('b')}\n{masked('c')}\n" + call("amdgcn.sbfe.i32", "a", "b.m", "c.m")),
    case("v_bfm_b32", I2, "i32", MASK),
    case("v_alignbit_b32", I3, "i32", call("fshr.i32", "a", "b", "c")),
    case("v_alignbyte_b32", I3, "i32", f"{masked('c', 3)}\n%n = shl i32 %c.m, 3\n" + call("fshr.i32", "a", "b", "n")),
    case("v_perm_b32", I3, "i32", call("amdgcn.perm", "a", "b", "c")),
    *(case("v_perm_b32", I2, "i32", call("amdgcn.perm", "a", "b", f"i32 {n}"), text=f"v_perm_b32 v0, v4, v6, 0x{n:x}")
      for n in (0x050C040C, 0x0D0B0A09, 0x08FF0C07, 0x00010203)),
    case("v_bfrev_b32", "i32", "i32", call("bitreverse.i32", "a")),
    case("v_bcnt_u32_b32", I2, "i32", call("ctpop.i32", "a", name="n") + "\n%r = add i32 %n, %b"),
    case("v_clz_i32_u32", "i32", "i32", counted("ctlz")),
    case("v_ctz_i32_b32", "i32", "i32", counted("cttz")),
    case("v_mbcnt_lo_u32_b32", I3, "i32", exact=below, text="v_mbcnt_lo_u32_b32 v0, v4, v6", rows=_EACH_LANE),
    case("v_mbcnt_hi_u32_b32", I2, "i32", exact=lambda a, b: b),
]  # fmt: skip
_SUMS = [
    case("v_add_nc_u32", I2, "i32", "%r = add i32 %a, %b"),
    case("v_sub_nc_u32", I2, "i32", "%r = sub i32 %a, %b"),
    case("v_subrev_nc_u32", I2, "i32", "%r = sub i32 %b, %a"),
    case("v_add3_u32", I3, "i32", "%x = add i32 %a, %b\n%r = add i32 %x, %c"),
    case("v_xad_u32", I3, "i32", "%x = xor i32 %a, %b\n%r = add i32 %x, %c"),
    case("v_sad_u32", I3, "i32", lines(
        call("umax.i32", "a", "b", name="m"), call("umin.i32", "a", "b", name="l"), "%d = sub i32 %m, %l",
        "%r = add i32 %d, %c")),
    *(case(f"v_{name}_co_u32", I2, "i32 mask", carried(name[:3], *order, carry_in=False))
      for name, order in (("add", "ab"), ("sub", "ab"), ("subrev", "ba"))),
    *(case(f"v_{name}_co_ci_u32", "i32 i32 mask", "i32 mask", carried(name[:3], *order, carry_in=True))
      for name, order in (("add", "ab"), ("sub", "ab"), ("subrev", "ba"))),
]  # fmt: skip
_PRODUCTS = [
    case("v_mul_lo_u32", I2, "i32", "%r = mul i32 %a, %b"),
    case("v_mul_hi_u32", I2, "i32", high("a", "b")),
    case("v_mul_hi_i32", I2, "i32", high("a", "b", sign="s")),
    case("v_mul_u32_u24", I2, "i32", low24("a", "b") + "\n%r = mul i32 %a.u, %b.u"),
    case("v_mul_i32_i24", I2, "i32", signed24("a", "b") + "\n%r = mul i32 %a.s, %b.s"),
    case("v_mul_hi_u32_u24", I2, "i32", low24("a", "b") + "\n" + high("a.u", "b.u")),
    case("v_mad_u32_u24", I3, "i32", low24("a", "b") + "\n%p = mul i32 %a.u, %b.u\n%r = add i32 %p, %c"),
    case("v_mad_i32_i24", I3, "i32", signed24("a", "b") + "\n%p = mul i32 %a.s, %b.s\n%r = add i32 %p, %c"),
    case("v_mad_u64_u32", "i32 i32 i64", "i64 mask", multiplied("z")),
    case("v_mad_i64_i32", "i32 i32 i64", "i64 mask", multiplied("s")),
]
_CHOICES = [
    *(case(f"v_{name}_{kind}", I2, "i32", call(f"{kind[0].replace('i', 's')}{name}.i32", "a", "b"))
      for name in ("min", "max") for kind in ("u32", "i32")),
    *(case(f"v_{name}3_{kind}", I3, "i32", call(f"{kind[0].replace('i', 's')}{name}.i32", "a", "b", name="x") + "\n"
           + call(f"{kind[0].replace('i', 's')}{name}.i32", "x", "c")) for name in ("min", "max") for kind in ("u32", "i32")),
    case("v_med3_u32", I3, "i32", median("umin.i32", "umax.i32")),
    case("v_med3_i32", I3, "i32", median("smin.i32", "smax.i32")),
]  # fmt: skip
CASES = (*_LOGIC, *_SHIFTS, *_SUMS, *_PRODUCTS, *_CHOICES)
