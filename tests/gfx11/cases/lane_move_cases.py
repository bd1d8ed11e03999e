"""DPP and v_permlane: each lane's value by the manual's definition, with all lanes active and with some."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from expctl.gfx11.single_instruction import execute, fresh_wave
from tests.gfx11.cases.procedure import Procedure, kinds

_OLD, _LANES = 0xABCD, range(32)
_ALL, _SOME = 0xFFFF_FFFF, 0xF0F1_8FFE
_CONTROLS: dict[str, Callable[[int], int | None]] = {
    "quad_perm:[1,3,0,2]": lambda lane: lane // 4 * 4 + (1, 3, 0, 2)[lane % 4],
    "row_shl:1": lambda lane: lane + 1 if lane % 16 + 1 < 16 else None,
    "row_shl:15": lambda lane: lane + 15 if lane % 16 + 15 < 16 else None,
    "row_shr:3": lambda lane: lane - 3 if lane % 16 >= 3 else None,
    "row_ror:5": lambda lane: lane // 16 * 16 + (lane % 16 + 16 - 5) % 16,
    "row_mirror": lambda lane: lane // 16 * 16 + 15 - lane % 16,
    "row_half_mirror": lambda lane: lane // 8 * 8 + 7 - lane % 8,
    "row_share:7": lambda lane: lane // 16 * 16 + 7,
    "row_xmask:6": lambda lane: lane ^ 6,
    "dpp8:[7,0,6,1,5,2,4,3]": lambda lane: lane // 8 * 8 + (7, 0, 6, 1, 5, 2, 4, 3)[lane % 8],
}


def _value(lane: int) -> int:
    return 1000 + 7 * lane


def check_dpp(text: str, control: str, rows: int, banks: int, zeros: bool, inactive_too: bool) -> None:
    # dpp8 has neither masks nor bound_ctrl
    for active in (_ALL,) if control.startswith("dpp8") else (_ALL, _SOME):
        _check_dpp(text, control, rows, banks, zeros, inactive_too, active)


def _check_dpp(text: str, control: str, rows: int, banks: int, zeros: bool, inactive_too: bool, active: int) -> None:
    wave = fresh_wave(lanes=active)
    execute(wave, text, vectors={0: [_OLD], 4: [_value(lane) for lane in _LANES], 6: [lane << 16 for lane in _LANES]})
    for lane in _LANES:
        other = _CONTROLS[control](lane)
        readable = other is not None and (inactive_too or bool(active >> other & 1))
        written = active >> lane & 1 and rows >> lane // 16 & 1 and banks >> lane % 16 // 4 & 1 and (readable or zeros)
        moved = _value(other) if readable and other is not None else 0
        wanted = (moved + (lane << 16 if "add" in text else 0)) if written else _OLD
        assert int(wave.u32[0][lane]) == wanted, f"{text}: lane {lane} of {active:x}"
    assert kinds(wave) == []


def check_permlane(text: str, crossed: bool, zeros: bool, inactive_too: bool) -> None:
    for active in (_ALL, _SOME):
        _check_permlane(text, crossed, zeros, inactive_too, active)


def _check_permlane(text: str, crossed: bool, zeros: bool, inactive_too: bool, active: int) -> None:
    wave, which = fresh_wave(lanes=active), [(5 * i + 3) % 16 for i in range(16)]
    words = [sum(number << 4 * i for i, number in enumerate(which[half : half + 8])) for half in (0, 8)]
    execute(wave, text, vectors={0: [_OLD], 4: [_value(lane) for lane in _LANES]}, scalars={2: words[0], 3: words[1]})
    for lane in _LANES:
        other = (lane // 16 ^ crossed) * 16 + which[lane % 16]
        readable = inactive_too or bool(active >> other & 1)
        wanted = _OLD if not active >> lane & 1 or not (readable or zeros) else _value(other) if readable else 0
        assert int(wave.u32[0][lane]) == wanted, f"{text}: lane {lane} of {active:x}"
    assert kinds(wave) == []


def _dpp() -> list[Procedure]:
    found = []
    for opcode, operands in (("v_mov_b32", "v0, v4"), ("v_add_nc_u32", "v0, v4, v6")):
        for control in _CONTROLS:
            short = control.startswith("dpp8")
            for rows, banks in ((15, 15),) if short else ((15, 15), (2, 6)):
                for zeros, inactive_too in ((False, False),) if short else ((False, False), (True, False), (True, True)):
                    words = [f"row_mask:0x{rows:x} bank_mask:0x{banks:x}"] if not short else []
                    words += ["bound_ctrl:1"] if zeros else []
                    words += ["fi:1"] if inactive_too else []
                    text = " ".join([f"{opcode}_dpp", operands, control, *words])
                    check = partial(check_dpp, text, control, rows, banks, zeros, inactive_too)
                    found.append(Procedure(opcode=opcode, text=text, check=check))
    return found


def _permlane() -> list[Procedure]:
    found = []
    for opcode in ("v_permlane16_b32", "v_permlanex16_b32"):
        for inactive_too, zeros in ((0, 0), (1, 0), (0, 1)):
            text = f"{opcode} v0, v4, s2, s3 op_sel:[{inactive_too},{zeros}]"
            check = partial(check_permlane, text, "x16" in opcode, bool(zeros), bool(inactive_too))
            found.append(Procedure(opcode=opcode, text=text, check=check))
    return found


CASES = (*_dpp(), *_permlane())
