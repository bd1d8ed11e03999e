"""What moves between lanes, works on all of them at once, or is two instructions in one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from expctl.gfx11.single_instruction import execute, fresh_wave
from expctl.gfx11.text.operand import M0
from tests.gfx11.cases.case import Case
from tests.gfx11.cases.float_cases import CASES as FLOATS
from tests.gfx11.cases.integer_cases import CASES as INTEGERS
from tests.gfx11.cases.procedure import Procedure, kinds
from tests.gfx11.cases.tables import case
from tests.gfx11.exact import HALF, SINGLE

_LANES = range(32)
_VALUES = [0x1000 + 7 * lane for lane in _LANES]
_ACTIVE = 0x0F0F_FF3C


def is_active(lane: int) -> bool:
    return bool(_ACTIVE >> lane & 1)


def check_exchange(text: str, offset: int, pull: bool) -> None:
    """Addresses count bytes and go around; inactive lanes send nothing and get nothing; of two senders the higher wins."""
    addresses = [4 * (5 * lane % 29) + lane % 4 + (128 if lane % 3 else 0) for lane in _LANES]
    wave = execute(fresh_wave(lanes=_ACTIVE), text, vectors={0: [0xBAD], 1: addresses, 2: _VALUES})
    named = [(address + offset) // 4 % 32 for address in addresses]
    if pull:
        wanted = [_VALUES[n] if is_active(n) else 0 for n in named]
    else:
        wanted = [0] * 32
        for lane in filter(is_active, _LANES):
            wanted[named[lane]] = _VALUES[lane]
    assert wave.u32[0].tolist() == [value if is_active(lane) else 0xBAD for lane, value in enumerate(wanted)]
    assert kinds(wave) == []


def check_first_lane() -> None:
    for lanes, wanted in ((0b1100, 2), (0x8000_0000, 31), (0, 0), (0xFFFF_FFFF, 0)):
        wave = execute(fresh_wave(lanes=lanes), "v_readfirstlane_b32 s0, v1", vectors={1: _VALUES})
        assert wave.scalar[0] == _VALUES[wanted]


def check_read_lane() -> None:
    """An inactive lane too; the number is taken modulo 32."""
    for number in (0, 5, 31, 32, 37, 0xFFFFFFFF):
        wave = execute(fresh_wave(lanes=1), "v_readlane_b32 s0, v1, s2", vectors={1: _VALUES}, scalars={2: number})
        assert wave.scalar[0] == _VALUES[number % 32]


def check_write_lane() -> None:
    for number in (0, 5, 31, 33):
        wave = fresh_wave(lanes=1)
        execute(wave, "v_writelane_b32 v1, s3, s2", vectors={1: _VALUES}, scalars={2: number, 3: 0xBEEF})
        assert wave.u32[1].tolist() == [0xBEEF if lane == number % 32 else _VALUES[lane] for lane in _LANES]


def check_moved_register() -> None:
    for m0 in (0, 1, 3):
        vectors = {0: [9], **{4 + i: [100 * i + lane for lane in _LANES] for i in range(4)}}
        wave = execute(fresh_wave(lanes=0xFFFF), "v_movrels_b32 v0, v4", vectors=vectors, scalars={M0: m0})
        assert wave.u32[0].tolist() == [100 * m0 + lane if lane < 16 else 9 for lane in _LANES]


def check_register_moved_to() -> None:
    for m0 in (0, 1, 3):
        vectors = {9: [lane * 3 for lane in _LANES], **{4 + i: [100 * i] for i in range(4)}}
        wave = execute(fresh_wave(lanes=0xFFFF), "v_movreld_b32 v4, v9", vectors=vectors, scalars={M0: m0})
        for i in range(4):
            moved = [lane * 3 if i == m0 and lane < 16 else 100 * i for lane in _LANES]
            assert wave.u32[4 + i].tolist() == moved


def check_swap() -> None:
    vectors = {3: list(_LANES), 5: [1000 + lane for lane in _LANES]}
    wave = execute(fresh_wave(lanes=0xFF00FF), "v_swap_b32 v3, v5", vectors=vectors)
    active = [bool(0xFF00FF >> lane & 1) for lane in _LANES]
    assert wave.u32[3].tolist() == [1000 + n if active[n] else n for n in _LANES]
    assert wave.u32[5].tolist() == [n if active[n] else 1000 + n for n in _LANES]


def check_scalar_relative(which: str, count: int) -> None:
    """M0 is added to the number of the register that is read (s) or written (d)."""
    to, given = ("s8", "s20") if count == 1 else ("s[8:9]", "s[20:21]")
    for m0 in (0, 2, 4):
        scalars = {M0: m0, **{8 + i: 7 * i for i in range(8)}, **{20 + i: 1000 + i for i in range(8)}}
        wave = execute(fresh_wave(), f"s_movrel{which}_b{32 * count} {to}, {given}", scalars=scalars)
        at, source = (8, 20 + m0) if which == "s" else (8 + m0, 20)
        wanted = {**scalars, **{at + i: scalars[source + i] for i in range(count)}}
        assert {n: wave.scalar[n] for n in scalars} == wanted


def check_swizzle(text: str, source: Callable[[int], int]) -> None:
    """An inactive lane gives 0, and keeps its own."""
    lanes = 0x7FFF_FFFE
    wave = execute(fresh_wave(lanes=lanes), text, vectors={0: [7], 1: [50 + lane for lane in _LANES]})
    wanted = [50 + source(n) if lanes >> source(n) & 1 else 0 for n in _LANES]
    assert wave.u32[0].tolist() == [wanted[n] if lanes >> n & 1 else 7 for n in _LANES]


_SWIZZLES: dict[str, Callable[[int], int]] = {
    "swizzle(SWAP,16)": lambda n: n ^ 16,
    "swizzle(REVERSE,8)": lambda n: n ^ 7,
    "swizzle(QUAD_PERM,3,0,1,1)": lambda n: n & ~3 | (3, 0, 1, 1)[n & 3],
    "swizzle(BROADCAST,4,2)": lambda n: n & ~3 | 2,
    'swizzle(BITMASK_PERM,"01pip")': lambda n: 8 | n & 5 | 2 & ~n,
    "0x401f": lambda n: n ^ 16,
}


def check_narrow_matrix(text: str, kind: str, upper: int) -> None:
    """Sums of 16 bits in one half of each register; the other half stays. Whole numbers, and halves of them."""
    form, scale = (HALF, Fraction(1, 4)) if kind == "f16" else (SINGLE, Fraction(1))

    def bits(number: Fraction) -> int:
        return form.nearest(number) >> (0 if kind == "f16" else 16)

    a = [[scale * ((5 * i + 3 * k) % 7 - 3) for k in range(16)] for i in range(16)]
    b = [[Fraction((7 * j + k) % 5 - 2) for k in range(16)] for j in range(16)]
    c = [[scale * ((3 * i + j) % 9 - 4) for j in range(16)] for i in range(16)]
    vectors: dict[int, list[int]] = {}
    for first, matrix in ((8, a), (16, b)):
        for r in range(8):
            vectors[first + r] = [bits(matrix[n % 16][2 * r]) | bits(matrix[n % 16][2 * r + 1]) << 16 for n in _LANES]
    for r in range(8):
        vectors[r] = [bits(c[2 * r + n // 16][n % 16]) << 16 * upper | 0xABCD << 16 * (1 - upper) for n in _LANES]
    wave = execute(fresh_wave(lanes=0x1), text, vectors=vectors)
    for r in range(8):
        for n in _LANES:
            i, j = 2 * r + n // 16, n % 16
            total = c[i][j] + sum(x * y for x, y in zip(a[i], b[j], strict=True))
            found = int(wave.u32[r][n])
            assert found >> 16 * upper & 0xFFFF == bits(total), (text, i, j)
            assert found >> 16 * (1 - upper) & 0xFFFF == 0xABCD
    assert kinds(wave) == []


def half_of(number: Fraction) -> int:
    return HALF.nearest(number)


def check_matrix(text: str, corner: Callable[[int, int], Fraction], *, zero: bool) -> None:
    """Row i of A in lanes i and i + 16, two k in a register; register r of lane l has C at row 2 r + l / 16, column l % 16."""
    a = [[corner(i, k) for k in range(16)] for i in range(16)]
    b = [[corner(3 * j + 1, 5 * k + 2) for k in range(16)] for j in range(16)]
    c = [[Fraction(0) if zero else Fraction(7 * i - 3 * j, 4) for j in range(16)] for i in range(16)]
    vectors = {}
    for r in range(8):
        for first, matrix in ((8, a), (16, b)):
            vectors[first + r] = [half_of(matrix[n % 16][2 * r]) | half_of(matrix[n % 16][2 * r + 1]) << 16 for n in _LANES]
        vectors[r] = [SINGLE.nearest(c[2 * r + n // 16][n % 16]) for n in _LANES]
    wave = execute(fresh_wave(lanes=0x1), text, vectors=vectors)  # whatever EXEC says
    for r in range(8):
        for n in _LANES:
            i, j = 2 * r + n // 16, n % 16
            exact = c[i][j] + sum(x * y for x, y in zip(a[i], b[j], strict=True))
            assert int(wave.u32[r][n]) == SINGLE.nearest(exact), (i, j)
    assert kinds(wave) == []


def _packed(numbers: list[int], bits: int) -> list[int]:
    """Numbers of `bits` bits as words, the first in the lowest."""
    count, mask = 32 // bits, (1 << bits) - 1
    return [
        sum((number & mask) << bits * i for i, number in enumerate(numbers[first : first + count]))
        for first in range(0, 16, count)
    ]


def check_integer_matrix(text: str, bits: int, signs: tuple[int, int], clamps: bool) -> None:
    """v_wmma on integers of 8 or 4 bits against Python's; C is so large that some sums don't fit in 32 bits."""
    ranges = [(-(1 << bits - 1), 1 << bits - 1) if sign else (0, 1 << bits) for sign in signs]
    a = [[ranges[0][0] + (7 * i + 3 * k) % (ranges[0][1] - ranges[0][0]) for k in range(16)] for i in range(16)]
    b = [[ranges[1][0] + (5 * j + 11 * k + 1) % (ranges[1][1] - ranges[1][0]) for k in range(16)] for j in range(16)]
    c = [[(1 << 31) - 1 - 9 * i if j % 2 else 1000 * i - 77 * j for j in range(16)] for i in range(16)]
    vectors: dict[int, list[int]] = {}
    for first, matrix in ((8, a), (16, b)):
        for r in range(bits // 2):
            vectors[first + r] = [_packed(matrix[n % 16], bits)[r] for n in _LANES]
    for r in range(8):
        vectors[r] = [c[2 * r + n // 16][n % 16] & 0xFFFFFFFF for n in _LANES]
    wave = execute(fresh_wave(lanes=0x1), text, vectors=vectors)
    for r in range(8):
        for n in _LANES:
            i, j = 2 * r + n // 16, n % 16
            exact = c[i][j] + sum(x * y for x, y in zip(a[i], b[j], strict=True))
            wanted = min(max(exact, -(1 << 31)), (1 << 31) - 1) if clamps else exact
            assert int(wave.u32[r][n]) == wanted & 0xFFFFFFFF, (text, i, j)
    assert kinds(wave) == []


def check_bfloat_matrix(text: str) -> None:
    """Whole numbers of at most 8 bits, which bfloat16 holds: the upper half of a float."""
    a = [[(5 * i + 3 * k) % 31 - 15 for k in range(16)] for i in range(16)]
    b = [[(7 * j + k) % 29 - 14 for k in range(16)] for j in range(16)]
    vectors: dict[int, list[int]] = {}
    for first, matrix in ((8, a), (16, b)):
        rows = [_packed([SINGLE.nearest(Fraction(x)) >> 16 for x in row], 16) for row in matrix]
        for r in range(8):
            vectors[first + r] = [rows[n % 16][r] for n in _LANES]
    wave = execute(fresh_wave(lanes=0x1), text, vectors=vectors)
    for r in range(8):
        for n in _LANES:
            i, j = 2 * r + n // 16, n % 16
            assert int(wave.u32[r][n]) == SINGLE.nearest(Fraction(sum(x * y for x, y in zip(a[i], b[j], strict=True)))), (i, j)
    assert kinds(wave) == []


def _integer_matrices() -> list[Procedure]:
    found = []
    for bits in (8, 4):
        count = bits // 2
        for signs in ((1, 1), (0, 0), (1, 0)):
            for clamp in (False, True):
                opcode = f"v_wmma_i32_16x16x16_iu{bits}"
                operands = f"v[0:7], v[8:{7 + count}], v[16:{15 + count}], v[0:7]"
                text = f"{opcode} {operands} neg_lo:[{signs[0]},{signs[1]},0]{' clamp' if clamp else ''}"
                check = partial(check_integer_matrix, text, bits, signs, clamp)
                found.append(Procedure(opcode=opcode, text=text, check=check))
    return found


def small(i: int, k: int) -> Fraction:
    return Fraction((5 * i + 3 * k) % 17 - 8, 4)


def large(i: int, k: int) -> Fraction:
    """65504 and the smallest denormal meet nothing but zeros and ones."""
    return Fraction((65504, 1, 0, Fraction(1, 1 << 24), -2)[(i + k) % 5]) if k in (i % 16, 5) else Fraction(0)


def dot(a: int, b: int, c: int) -> int | None:
    total = Fraction(0)
    for s in (0, 16):
        x, y = HALF.value(a >> s & 0xFFFF), HALF.value(b >> s & 0xFFFF)
        if not isinstance(x, Fraction) or not isinstance(y, Fraction):
            return None
        total += x * y
    value = SINGLE.value(c)
    assert isinstance(value, Fraction)
    return SINGLE.nearest(total + value)


_HALVES = (0x3C00, 0xBC01, 0x3555, 0x4900, 0xC2FF, 0x2C01)
_DOTS = tuple((x | y << 16, y | z << 16, c) for x in _HALVES for y in _HALVES[::2] for z in _HALVES[1::2]
              for c in (0, 0x3F800001, 0xC2F6E979))  # fmt: skip
_Y_ALONE = ("add_nc_u32", "lshlrev_b32", "and_b32")
_DUAL = ("fmac_f32", "fmaak_f32", "fmamk_f32", "mul_f32", "add_f32", "sub_f32", "subrev_f32", "mov_b32", "cndmask_b32",
"max_f32",
         "min_f32", *_Y_ALONE)  # fmt: skip


def duals() -> list[Case]:
    """The same IR as the plain instruction's, beside a move; as the second operation, and as the first where that may be."""
    plain: dict[str, Case] = {}
    for each in (*INTEGERS, *FLOATS):
        if each.ir:
            plain.setdefault(each.opcode, each)
    found = []
    for name in _DUAL:
        of = plain[f"v_{name}"]
        half = of.text.replace("v_", "v_dual_", 1).removesuffix(", s8")
        move = "v_dual_mov_b32 v1, v5"
        places = " ".join(("v4", "v6", "vcc")) if name == "cndmask_b32" else " ".join(of.places)
        for text in (f"{move} :: {half}", f"{half} :: {move}")[: 1 if name in _Y_ALONE else 2]:
            setup = text if "v5" not in of.places else ""
            found.append(case(f"v_dual_{name}", " ".join(of.sources), "".join(of.results), of.ir, text=setup, places=places))
    return found


CASES: tuple[Case | Procedure, ...] = (
    *(Procedure(opcode=opcode, text=f"{opcode} v0, v1, v2{tail}",
      check=partial(check_exchange, f"{opcode} v0, v1, v2{tail}", offset, pull))
      for opcode, pull in (("ds_bpermute_b32", True), ("ds_permute_b32", False)) for tail,
      offset in (("", 0), (" offset:12", 12), (" offset:65532", 65532))),
    Procedure(opcode="v_readfirstlane_b32", text="v_readfirstlane_b32 s0, v1", check=check_first_lane),
    Procedure(opcode="v_readlane_b32", text="v_readlane_b32 s0, v1, s2", check=check_read_lane),
    Procedure(opcode="v_writelane_b32", text="v_writelane_b32 v1, s3, s2", check=check_write_lane),
    Procedure(opcode="v_movrels_b32", text="v_movrels_b32 v0, v4", check=check_moved_register),
    *(Procedure(opcode="v_wmma_f32_16x16x16_f16", text=f"v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], {c}",
                check=partial(check_matrix, f"v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], {c}", corner, zero=c == "0"))
      for c, corner in (("v[0:7]", small), ("0", large))),
    Procedure(opcode="v_movreld_b32", text="v_movreld_b32 v4, v9", check=check_register_moved_to),
    Procedure(opcode="v_swap_b32", text="v_swap_b32 v3, v5", check=check_swap),
    *(Procedure(opcode=f"s_movrel{which}_b{32 * count}", text=f"s_movrel{which}_b{32 * count} {operands}",
                check=partial(check_scalar_relative, which, count))
      for which in "sd" for count, operands in ((1, "s8, s20"), (2, "s[8:9], s[20:21]"))),
    *(Procedure(opcode="ds_swizzle_b32", text=f"ds_swizzle_b32 v0, v1 offset:{pattern}",
                check=partial(check_swizzle, f"ds_swizzle_b32 v0, v1 offset:{pattern}", source))
      for pattern, source in _SWIZZLES.items()),
    *(Procedure(opcode=f"v_wmma_{kind}_16x16x16_{kind}", text=f"v_wmma_{kind}_16x16x16_{kind} {operands}{selected}",
                check=partial(check_narrow_matrix, f"v_wmma_{kind}_16x16x16_{kind} {operands}{selected}", kind, upper))
      for kind in ("f16", "bf16") for operands in ("v[0:7], v[8:15], v[16:23], v[0:7]",)
      for upper, selected in ((0, ""), (1, " op_sel:[0,0,1]"))),
    *_integer_matrices(),
    Procedure(opcode="v_wmma_f32_16x16x16_bf16", text="v_wmma_f32_16x16x16_bf16 v[0:7], v[8:15], v[16:23], 0",
              check=partial(check_bfloat_matrix, "v_wmma_f32_16x16x16_bf16 v[0:7], v[8:15], v[16:23], 0")),
    case("v_dot2_f32_f16", "v2f16 v2f16 f32", "f32", exact=dot, rows=_DOTS),
    case("v_dot2acc_f32_f16", "v2f16 v2f16 f32", "f32", exact=dot, rows=_DOTS, text="v_dot2acc_f32_f16 v0, v4, v6",
        places="v4 v6 v0"),
    *duals(),
)  # fmt: skip
