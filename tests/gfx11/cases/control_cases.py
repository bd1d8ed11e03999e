"""Branches, barriers, waits and advice."""

from __future__ import annotations

import random
from functools import partial

import numpy as np

from expctl.gfx11.decode_program import decode
from expctl.gfx11.machine.schedule import run_waves
from expctl.gfx11.machine.waits import Counter
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.machine.workgroup import Workgroup
from expctl.gfx11.single_instruction import execute, fresh_wave
from expctl.gfx11.text.operand import SCC, VCC
from expctl.gfx11.text.program import parse_program
from tests.gfx11.cases.procedure import Procedure, kinds

_HINTS = (
    "s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)", "s_clause 0x1", "s_nop 0",
    "s_set_inst_prefetch_distance 0x1", "s_inst_prefetch 0x1", "s_sleep 1",
    "s_setprio 1", "s_code_end", "buffer_gl0_inv", "buffer_gl1_inv",
    "v_nop",
    "s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)",
)  # fmt: skip


def ran(text: str, scalars: dict[int, int], *, lanes: int = 0xFFFFFFFF, waves: int = 1) -> list[Wave]:
    """The waves of one workgroup after the function `k`, in which v0 is the wave's number."""
    program = decode(parse_program(f"k:\n{text}\n", "k"))
    device = fresh_wave().group.device
    device.tally.executions.extend([0] * len(program.blocks))
    device.memory.functions = program.functions
    group = Workgroup(0, device, lds_bytes=256, private_bytes=0, most_waves=waves)
    each = [Wave(i, group, vector_registers=8, lanes=lanes) for i in range(waves)]
    for i, wave in enumerate(each):
        wave.define_vector(0, np.full(32, i, dtype=np.uint32))
        for n, value in {0: 0, **scalars}.items():
            wave.define_scalar(n, value)
    run_waves(group, list(each), list(program.blocks), random.Random(1))
    return each


def check_branch(opcode: str, register: str, when: str) -> None:
    """Taken past an addition, or not."""
    text = f"{opcode} .L1\ns_add_u32 s0, s0, 1\n.L1:\ns_add_u32 s0, s0, 2\ns_endpgm"
    for value in (0, 1) if register == "scc" else (0, 1, 0x80000000, 0xFFFFFFFF):
        registers = {} if register == "exec" else {{"scc": SCC, "vcc": VCC}[register]: value}
        (wave,) = ran(text, registers, lanes=value if register == "exec" else 0xFFFFFFFF)
        taken = (value != 0) == (when in ("1", "nz"))
        assert wave.scalar[0] == (2 if taken else 3), value
        assert kinds(wave) == []


def check_jump() -> None:
    text = "s_branch .L2\n.L1:\ns_add_u32 s0, s0, 4\ns_endpgm\n.L2:\ns_add_u32 s0, s0, 1\ns_branch .L1\ns_endpgm"
    assert ran(text, {})[0].scalar[0] == 5


def check_call() -> None:
    """The function adds to s0 and returns; the caller goes on behind each call."""
    text = "\n".join((
        "s_getpc_b64 s[4:5]", "s_add_u32 s4, s4, three@rel32@lo+4", "s_addc_u32 s5, s5, three@rel32@hi+12",
        "s_swappc_b64 s[30:31], s[4:5]", "s_lshl_b32 s0, s0, 4", "s_swappc_b64 s[30:31], s[4:5]", "s_endpgm",
        "three:", "s_add_u32 s0, s0, 3", "s_setpc_b64 s[30:31]",
    ))  # fmt: skip
    (wave,) = ran(text, {0: 1})
    assert wave.scalar[0] == (1 + 3) * 16 + 3
    assert kinds(wave) == []
    (lost,) = ran("s_mov_b64 s[30:31], 64\ns_setpc_b64 s[30:31]\ns_endpgm", {})
    assert kinds(lost) == ["out of bounds"]


def check_end() -> None:
    assert ran("s_mov_b32 s0, 7\ns_endpgm\ns_mov_b32 s0, 8\ns_endpgm", {})[0].scalar[0] == 7


def check_barrier() -> None:
    """Each wave reads what the other wrote: in order with the barrier, a race without."""
    text = """
        v_lshlrev_b32 v1, 2, v0
        v_add_nc_u32 v2, 40, v0
        ds_store_b32 v1, v2
        s_waitcnt lgkmcnt(0)
        {}
        v_xor_b32 v1, 4, v1
        ds_load_b32 v3, v1
        s_waitcnt lgkmcnt(0)
        s_endpgm
    """
    waves = ran(text.format("s_barrier"), {}, waves=2)
    assert [int(wave.u32[3][0]) for wave in waves] == [41, 40]
    assert kinds(waves[0]) == []
    assert "race" in kinds(ran(text.format(""), {}, waves=2)[0])


def check_trap() -> None:
    """The wave ends, and its first active thread is named; the code after it up to a label may be anything."""
    text = "v_cmp_gt_u32 vcc_lo, 7, v1\ns_and_b32 exec_lo, exec_lo, vcc_lo\ns_trap 2\ns_sendmsg_rtn_b32 s0, 128\n.L1:\ns_endpgm"
    wave = ran(f"v_mbcnt_lo_u32_b32 v1, -1, 0\nv_xor_b32 v1, 3, v1\n{text}", {}, waves=2, lanes=0xFFFFFFFC)[1]
    assert kinds(wave) == ["trap"]
    assert "thread 34 of workgroup 0 and 4 more of its wave" in wave.group.faults.all()[0].what
    assert kinds(ran("s_sethalt 5\ns_endpgm", {})[0]) == []


def faults(text: str) -> list[str]:
    wave = fresh_wave(buffers={"x": 64}, lds_bytes=64)
    memory, lds = wave.group.memory, wave.group.lds
    memory.fill("x", np.zeros(64, dtype=np.uint8))
    lds.undefined[:] = 0
    address = memory.buffer("x").address
    execute(wave, text, vectors={0: [0]}, scalars={2: address & 0xFFFFFFFF, 3: address >> 32})
    return kinds(wave)


_GLOBAL, _LDS, _SCALAR = "global_load_b32 v1, v0, s[2:3]", "ds_load_b32 v1, v0", "s_load_b32 s4, s[2:3], 0x0"


def check_wait(text: str, proven: tuple[str, ...]) -> None:
    """It proves that these loads have returned, and no other."""
    for load, use in ((_GLOBAL, "v1"), (_LDS, "v1"), (_SCALAR, "s4")):
        wanted = [] if load in proven else ["missing wait"]
        assert faults(f"{load}\n{text}\nv_mov_b32 v2, {use}") == wanted, load


def check_store_wait() -> None:
    check_wait("s_waitcnt_vscnt null, 0x0", ())
    wave = fresh_wave(buffers={"x": 64})
    address = wave.group.memory.buffer("x").address
    store = "global_store_b32 v0, v0, s[2:3]\n"
    execute(wave, store * 2, vectors={0: [0]}, scalars={2: address & 0xFFFFFFFF, 3: address >> 32})
    for most in (1, 0):
        execute(wave, f"s_waitcnt_vscnt null, {most}")
        assert len(wave.waits.under_way[Counter.VS]) == most


def check_advice(text: str) -> None:
    """Nothing changes."""
    wave = execute(fresh_wave(lanes=0xFF), "s_nop 0", vectors={0: range(32)}, scalars={0: 5, SCC: 1, VCC: 9})
    before = wave.vector.tobytes(), list(wave.scalar), wave.exec, wave.vector_undefined.tobytes()
    execute(wave, text)
    assert (wave.vector.tobytes(), list(wave.scalar), wave.exec, wave.vector_undefined.tobytes()) == before
    assert kinds(wave) == []


def _of(text: str, check: object) -> Procedure:
    return Procedure(opcode=text.split()[0], text=text, check=check)  # type: ignore[arg-type]


CASES = (
    *(_of(f"s_cbranch_{register}{when} .L1", partial(check_branch, f"s_cbranch_{register}{when}", register, when))
      for register, whens in (("scc", "01"), ("vcc", ("z", "nz")), ("exec", ("z", "nz"))) for when in whens),
    _of("s_branch .L1", check_jump),
    _of("s_swappc_b64 s[30:31], s[4:5]", check_call),
    _of("s_setpc_b64 s[30:31]", check_call),
    _of("s_endpgm", check_end),
    _of("s_barrier", check_barrier),
    _of("s_trap 2", check_trap),
    _of("s_sethalt 5", check_trap),
    *(_of(text, partial(check_wait, text, proven)) for text, proven in (
        ("s_waitcnt vmcnt(0)", (_GLOBAL,)), ("s_waitcnt lgkmcnt(0)", (_LDS, _SCALAR)),
        ("s_waitcnt vmcnt(0) lgkmcnt(0)", (_GLOBAL, _LDS, _SCALAR)),
        ("s_waitcnt vmcnt(1) expcnt(0)", ()), ("s_waitcnt_vmcnt null, 0x0", (_GLOBAL,)),
        ("s_waitcnt_lgkmcnt null, 0x0", (_LDS, _SCALAR)),
        ("s_waitcnt_expcnt null, 0x0", ()), ("s_waitcnt_depctr 0xfff", ()),
    )),
    _of("s_waitcnt_vscnt null, 0x0", check_store_wait),
    *(_of(text, partial(check_advice, text)) for text in _HINTS),
)  # fmt: skip
