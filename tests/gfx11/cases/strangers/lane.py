"""Lanes that read one another while some are off, and masks of lanes: DPP, swizzles, v_permlane, v_dual, v_swap, movrel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.single_instruction import execute, fresh_wave
from expctl.gfx11.text.operand import M0, VCC
from tests.gfx11.cases.control_cases import ran
from tests.gfx11.cases.procedure import Procedure, kinds

_ALL, _LANES = 0xFFFFFFFF, range(32)
_HOLES = (0xFFFFFFFF, 0x00010001, 0x7FFE8001, 0xFFFF0000, 0x5A5AC33C, 0x80000000)
_OLD = [0xC0DE0000 + lane for lane in _LANES]
_VALUES = [0x100 + 3 * lane for lane in _LANES]
_ADDED = [lane << 20 for lane in _LANES]
Source = Callable[[int], int | None]


def in_row(place: Callable[[int], int]) -> Source:
    """A lane of the same row of 16, or none where `place` leaves it."""

    def source(lane: int) -> int | None:
        at = place(lane % 16)
        return lane - lane % 16 + at if 0 <= at < 16 else None

    return source


_CONTROLS: dict[str, Source] = {
    "row_share:0": in_row(lambda i: 0), "row_share:15": in_row(lambda i: 15),
    "row_xmask:1": in_row(lambda i: i ^ 1), "row_xmask:15": in_row(lambda i: i ^ 15), "row_xmask:0": in_row(lambda i: i),
    "row_mirror": in_row(lambda i: 15 - i), "row_half_mirror": in_row(lambda i: i ^ 7),
    "row_shl:8": in_row(lambda i: i + 8), "row_shr:15": in_row(lambda i: i - 15), "row_ror:15": in_row(lambda i: (i + 1) % 16),
    "row_ror:1": in_row(lambda i: (i - 1) % 16), "quad_perm:[3,3,0,0]": in_row(lambda i: i & 12 | (3, 3, 0, 0)[i & 3]),
}  # fmt: skip


def expect(wave: Wave, register: int, wanted: Sequence[int], what: str) -> None:
    found = wave.u32[register].tolist()
    wrong = [(lane, hex(found[lane]), hex(wanted[lane])) for lane in _LANES if found[lane] != wanted[lane]]
    assert wrong == [], f"{what}: (lane, found, expected) {wrong}"
    assert kinds(wave) == [], what


def check_dpp(text: str, control: str, rows: int, banks: int, bound: bool, inactive_too: bool) -> None:
    """A source that isn't there, or is switched off, gives 0 with bound_ctrl; without, nothing is written."""
    source = _CONTROLS[control]
    for active in _HOLES:
        wave = execute(fresh_wave(lanes=active), text, vectors={0: _OLD, 10: _VALUES, 12: _ADDED})
        wanted = list(_OLD)
        for lane in _LANES:
            enabled = active >> lane & rows >> lane // 16 & banks >> lane % 16 // 4 & 1
            other = source(lane)
            if other is not None and not (inactive_too or active >> other & 1):
                other = None
            if enabled and (bound or other is not None):
                wanted[lane] = (0 if other is None else _VALUES[other]) + (_ADDED[lane] if "add" in text else 0)
        expect(wave, 0, wanted, f"{text} of {active:x}")


def check_eight(inactive_too: bool) -> None:
    """DPP8 has no bound_ctrl: without fi, a lane that is off gives 0."""
    order = (6, 6, 0, 1, 7, 2, 3, 5)
    text = f"v_mov_b32_dpp v0, v10 dpp8:[{','.join(map(str, order))}]{' fi:1' if inactive_too else ''}"
    for active in _HOLES:
        wave = execute(fresh_wave(lanes=active), text, vectors={0: _OLD, 10: _VALUES})
        sources = [lane & ~7 | order[lane & 7] for lane in _LANES]
        moved = [_VALUES[n] if inactive_too or active >> n & 1 else 0 for n in sources]
        expect(wave, 0, [moved[n] if active >> n & 1 else _OLD[n] for n in _LANES], f"{text} of {active:x}")


def check_second_source() -> None:
    """Only the first source is moved, the modifiers go on after that; in place, all lanes read before any writes."""
    numbers = [0x3F800000 + (lane << 18) for lane in _LANES]
    text = "v_max_f32_dpp v10, -v10, |v12| row_mirror row_mask:0xf bank_mask:0xf"
    wave = execute(fresh_wave(), text, vectors={10: numbers, 12: [0xBF800000]})
    expect(wave, 10, [0x3F800000] * 32, text)
    shift = "v_add_nc_u32_dpp v10, v10, v10 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1"
    wave = execute(fresh_wave(), shift, vectors={10: _VALUES})
    expect(wave, 10, [_VALUES[n] + (_VALUES[n - 1] if n % 16 else 0) for n in _LANES], shift)


def check_swizzle(text: str, source: Callable[[int], int]) -> None:
    for active in _HOLES:
        wave = execute(fresh_wave(lanes=active), text, vectors={0: _OLD, 10: _VALUES})
        moved = [_VALUES[source(n)] if active >> source(n) & 1 else 0 for n in _LANES]
        expect(wave, 0, [moved[n] if active >> n & 1 else _OLD[n] for n in _LANES], f"{text} of {active:x}")


def check_permlane(text: str, crossed: bool, inactive_too: bool, bound: bool) -> None:
    """Hold v_permlane16 or v_permlanex16 to a table of lanes. v10 is both source and result; s20 selects for lanes 0 to 7 of
    each row of 16, s21 for lanes 8 to 15.
    """
    selectors = (0x01234567, 0xFEDC8899)
    which = [selectors[i // 8] >> 4 * (i % 8) & 15 for i in range(16)]
    for active in _HOLES:
        wave = execute(fresh_wave(lanes=active), text, vectors={10: _VALUES}, scalars={20: selectors[0], 21: selectors[1]})
        wanted = list(_VALUES)
        for lane in _LANES:
            other = (lane & 16 ^ (16 if crossed else 0)) + which[lane % 16]
            there = inactive_too or active >> other & 1
            if active >> lane & 1 and (there or bound):
                wanted[lane] = _VALUES[other] if there else 0
        expect(wave, 10, wanted, f"{text} of {active:x}")


def check_mask(text: str, register: int, holds: Callable[[int], bool]) -> None:
    """Bits of lanes that are off become 0, whatever they were."""
    for active in _HOLES:
        wave = execute(
            fresh_wave(lanes=active), text, vectors={10: _VALUES, 12: [_ALL] * 32}, scalars={20: _ALL, VCC: 0x0F0F0F0F}
        )
        assert wave.scalar[register] == sum(1 << n for n in _LANES if active >> n & 1 and holds(n)), f"{text} of {active:x}"
        assert kinds(wave) == []


def check_exec(text: str) -> None:
    """v_cmpx never switches a lane on."""
    for active in _HOLES:
        wave = execute(fresh_wave(lanes=active), text, vectors={10: _VALUES, 12: [0x120] * 32})
        assert int(wave.exec) == sum(1 << n for n in _LANES if active >> n & 1 and _VALUES[n] > 0x120)


def check_pair_reads_first() -> None:
    """Both halves of a dual instruction read before either writes: an exchange."""
    text = "v_dual_mov_b32 v10, v13 :: v_dual_mov_b32 v13, v10"
    wave = execute(fresh_wave(lanes=0x0FF0), text, vectors={10: _VALUES, 13: _OLD})
    active = [0x0FF0 >> n & 1 for n in _LANES]
    expect(wave, 10, [_OLD[n] if active[n] else _VALUES[n] for n in _LANES], text)
    expect(wave, 13, [_VALUES[n] if active[n] else _OLD[n] for n in _LANES], text)


def check_swap() -> None:
    for text, lanes in (("v_swap_b32 v10, v10", _ALL), ("v_swap_b32 v10, v12", 0), ("v_swap_b32 v12, v10", 0x80000001)):
        wave = execute(fresh_wave(lanes=lanes), text, vectors={10: _VALUES, 12: _OLD})
        swaps = [text[-3:] != "v10" or "v12" in text for _ in _LANES]
        swapped = [bool(lanes >> n & 1) and swaps[n] for n in _LANES]
        expect(wave, 10, [_OLD[n] if swapped[n] else _VALUES[n] for n in _LANES], text)
        expect(wave, 12, [_VALUES[n] if swapped[n] else _OLD[n] for n in _LANES], text)


def check_relative(text: str, to: int, source: int, count: int) -> None:
    """M0 changes one number alone; the other register of the instruction is as written."""
    vectors = {n: [(n << 8) + lane for lane in _LANES] for n in range(10, 20)}
    wave = execute(fresh_wave(lanes=0xF000000F), text, vectors=vectors, scalars={M0: count})
    for n in vectors:
        moved = [vectors[source][lane] if n == to and 0xF000000F >> lane & 1 else vectors[n][lane] for lane in _LANES]
        expect(wave, n, moved, text)


def check_read_lane() -> None:
    """From a lane that is off; the number modulo 32, from M0 and as a constant."""
    for number in (0, 17, 31, 32 + 5, 0x80000000 + 9):
        wave = execute(fresh_wave(lanes=2), "v_readlane_b32 s0, v10, m0", vectors={10: _VALUES}, scalars={M0: number})
        assert wave.scalar[0] == _VALUES[number % 32]
    wave = execute(fresh_wave(lanes=0), "v_writelane_b32 v10, 64, 31", vectors={10: _VALUES})
    expect(wave, 10, [*_VALUES[:31], 64], "v_writelane_b32")


def check_branch_on_mask(opcode: str, taken: bool) -> None:
    """In wave32 the upper half of VCC doesn't count."""
    text = f"s_mov_b32 vcc_hi, -1\ns_mov_b32 vcc_lo, 0\n{opcode} .L1\ns_add_u32 s0, s0, 1\n.L1:\ns_add_u32 s0, s0, 2\ns_endpgm"
    assert ran(text, {0: 0})[0].scalar[0] == (2 if taken else 3)


def rotated(by: int, kept: int) -> Callable[[int], int]:
    return lambda lane: lane & kept | (lane + by) % 32 & ~kept


def _of(text: str, check: Callable[[], None]) -> Procedure:
    return Procedure(opcode=text.split()[0].replace("_dpp", ""), text=text, check=check)


def _dpp() -> list[Procedure]:
    found = []
    for opcode, operands in (("v_mov_b32", "v0, v10"), ("v_add_nc_u32", "v0, v10, v12")):
        for i, control in enumerate(_CONTROLS):
            for bound, inactive_too, rows, banks in (
                (False, False, 15, 15),
                (True, False, 1 + i % 3, 9),
                (False, True, 15, 6),
                (True, True, 15, 15),
            ):
                words = [f"{opcode}_dpp {operands} {control} row_mask:0x{rows:x} bank_mask:0x{banks:x}"]
                text = " ".join([*words, *(["bound_ctrl:1"] * bound), *(["fi:1"] * inactive_too)])
                found.append(_of(text, partial(check_dpp, text, control, rows, banks, bound, inactive_too)))
    return found


_SWIZZLES: dict[str, Callable[[int], int]] = {
    "0x8000": lambda n: n & ~3, "0x80e4": lambda n: n, "0x801b": lambda n: n ^ 3, "0x0000": lambda n: 0, "0x03e0": lambda n: 31,
    "0x7c1f": lambda n: n ^ 31, "0x041e": lambda n: n & 30 ^ 1, "0x7fff": lambda n: 0, "0x0018": lambda n: n & 24,
    "0x0207": lambda n: n & 7 | 16, 'swizzle(BITMASK_PERM,"i10p0")': lambda n: n & 2 | 8 | 16 & ~n,
    "swizzle(BROADCAST,32,31)": lambda n: 31, "swizzle(REVERSE,32)": lambda n: 31 - n, "swizzle(SWAP,1)": lambda n: n ^ 1,
}  # fmt: skip
CASES = (
    *_dpp(),
    *(_of(f"v_mov_b32_dpp v0, v10 dpp8:[6,6,0,1,7,2,3,5]{tail}", partial(check_eight, bool(tail))) for tail in ("", " fi:1")),
    _of("v_max_f32_dpp v10, -v10, |v12| row_mirror row_mask:0xf bank_mask:0xf", check_second_source),
    *(_of(f"ds_swizzle_b32 v0, v10 offset:{pattern}",
         partial(check_swizzle, f"ds_swizzle_b32 v0, v10 offset:{pattern}", source))
      for pattern, source in _SWIZZLES.items()),
    *(_of(text, partial(check_permlane, text, "x16" in text, bool(fi), bool(bc)))
      for name in ("16", "x16") for fi in (0, 1) for bc in (0, 1)
      for text in (f"v_permlane{name}_b32 v10, v10, s20, s21 op_sel:[{fi},{bc}]",)),
    _of("v_cmp_lt_u32 vcc_lo, 0x120, v10",
         partial(check_mask, "v_cmp_lt_u32 vcc_lo, 0x120, v10", VCC, lambda n: _VALUES[n] > 0x120)),
    _of("v_cmp_class_f32 s20, v12, 3", partial(check_mask, "v_cmp_class_f32 s20, v12, 3", 20, lambda n: True)),
    _of("v_add_co_u32 v0, s20, v10, v12", partial(check_mask, "v_add_co_u32 v0, s20, v10, v12", 20, lambda n: True)),
    _of("v_sub_co_ci_u32 v0, s20, v12, v10, vcc_lo",
         partial(check_mask, "v_sub_co_ci_u32 v0, s20, v12, v10, vcc_lo", 20, lambda n: False)),
    _of("v_mad_u64_u32 v[0:1], s20, v12, v12, -1",
         partial(check_mask, "v_mad_u64_u32 v[0:1], s20, v12, v12, -1", 20, lambda n: True)),
    _of("v_cmpx_gt_u32 v10, v12", partial(check_exec, "v_cmpx_gt_u32 v10, v12")),
    _of("v_dual_mov_b32 v10, v13 :: v_dual_mov_b32 v13, v10", check_pair_reads_first),
    _of("v_swap_b32 v10, v12", check_swap),
    _of("v_movrels_b32 v10, v11", partial(check_relative, "v_movrels_b32 v10, v11", 10, 16, 5)),
    _of("v_movreld_b32 v11, v10", partial(check_relative, "v_movreld_b32 v11, v10", 19, 10, 8)),
    _of("v_readlane_b32 s0, v10, m0", check_read_lane),
    _of("v_writelane_b32 v10, 64, 31", check_read_lane),
    *(Procedure(opcode=opcode, text=f"s_mov_b32 vcc_hi, -1\n{opcode} .L1", check=partial(check_branch_on_mask, opcode, taken))
      for opcode, taken in (("s_cbranch_vccnz", False), ("s_cbranch_vccz", True))),
)  # fmt: skip
