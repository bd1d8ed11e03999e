"""What a fault says of a kernel that is broken on purpose. The long list of mutants is in benchmarks/interpreter."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest

from benchmarks.interpreter.launches import SMALL, Run, scaled_mm
from expctl.gfx11.machine.faults import FaultKind
from kernel.runtime.formats import Fp8

HIP = Path(__file__).parents[2] / "kernel/hip"
WHOLE = (64, 64, 64)
"""K in whole chunks: the hot loop."""


@cache
def executed(assembly: str, shape: tuple[int, int, int], mnemonic: str) -> list[int]:
    """Lines, from 1, of the instructions that the launch executes."""
    counts = scaled_mm(assembly, SMALL, Fp8.E5M2, *shape).result.counts
    pairs = zip(counts.program.instructions, counts.executed, strict=True)
    return [x.line for x, times in pairs if times and x.mnemonic == mnemonic]


def with_line(assembly: str, line: int, text: str) -> str:
    lines = assembly.splitlines()
    lines[line - 1] = f"\t{text}"
    return "\n".join(lines)


def run(assembly: str, shape: tuple[int, int, int] = WHOLE, **launch: object) -> Run:
    return scaled_mm(assembly, SMALL, Fp8.E5M2, *shape, **launch)  # type: ignore[arg-type]


def test_the_race_names_both_accesses(small: str) -> None:
    lines = small.splitlines()
    for line in executed(small, WHOLE, "s_barrier"):
        races = [f for f in run(with_line(small, line, "s_nop 0")).result.faults if f.kind == FaultKind.RACE]
        assert races, f"barrier of line {line}"
        for race in races:
            assert {lines[x - 1].split()[0][:8] for x in (race.line, race.other_line)} <= {"ds_load_", "ds_store"}
            assert "ds_store" in lines[race.line - 1] + lines[race.other_line - 1]


def test_a_store_that_is_not_waited_for_before_its_barrier(small: str) -> None:
    lines = small.splitlines()
    barrier = executed(small, WHOLE, "s_barrier")[0]
    wait = max(x for x in executed(small, WHOLE, "s_waitcnt") if x < barrier)
    faults = run(with_line(small, wait, "s_nop 0")).result.faults
    assert any(
        f.kind == FaultKind.MISSING_WAIT and "outlast the barrier" in f.what and "ds_store" in lines[f.other_line - 1]
        for f in faults
    )


def test_without_the_swizzle_the_loads_meet_in_a_bank(compile_hip, tmp_path: Path, small: str) -> None:  # type: ignore[no-untyped-def]
    shutil.copytree(HIP, tmp_path / "hip")
    source = tmp_path / "hip/slices_gfx11.h"
    source.write_text(source.read_text().replace("plane ^ row / rows_per_swap % planes", "plane"))
    mutant = compile_hip(tmp_path / "hip/scaled_mm.hip", "-O3", "-DSCALED_MM_CONFIG=2,2,2,2,2,2")
    worse, good = (run(text).result.counts.summary() for text in (mutant, small))
    assert good.lds_passes == good.lds_least == worse.lds_least < worse.lds_passes


def with_body(assembly: str, code: str) -> str:
    """The small kernel's frame around other code."""
    begin = assembly.index("scaled_mm_e5m2_2_2_2_2_2_2:")
    end = assembly.index("\t.section", begin)
    return f"{assembly[:begin]}scaled_mm_e5m2_2_2_2_2_2_2:\n{code}\n\ts_endpgm\n{assembly[end:]}"


def test_a_barrier_that_only_one_wave_reaches(small: str) -> None:
    text = with_body(small, "\tv_cmp_gt_u32_e32 vcc_lo, 32, v0\n\ts_cbranch_vccz .Lend\n\ts_barrier\n.Lend:")
    for seed in range(3):
        (fault,) = run(text, (1, 1, 1), seed=seed).result.faults
        assert fault.kind == FaultKind.DIVERGED
        assert text.splitlines()[fault.line - 1].strip() == "s_barrier"


@pytest.mark.parametrize("seed", range(5))
def test_neighbours_that_share_a_word_but_no_byte_do_not_race(small: str, seed: int) -> None:
    apart = "\tds_store_b8 v0, v0\n\ts_waitcnt lgkmcnt(0)"
    assert run(with_body(small, apart), (1, 1, 1), seed=seed).faults == []
    shared = "\tv_and_b32_e32 v1, 31, v0\n\tds_store_b8 v1, v0\n\ts_waitcnt lgkmcnt(0)"
    (fault,) = run(with_body(small, shared), (1, 1, 1), seed=seed).result.faults
    assert fault.kind == FaultKind.RACE
    assert fault.line == fault.other_line


@pytest.mark.parametrize(("wait", "kinds"), [("s_waitcnt_vscnt null, 0x0", set()), ("s_nop 0", {"missing wait"})])
def test_a_store_to_memory_is_waited_for_before_the_barrier(small: str, wait: str, kinds: set[str]) -> None:
    """Thread t writes element t of C and reads that of thread t ^ 32, another wave's."""
    begin = "\ts_load_b64 s[4:5], s[0:1], 0x18\n\tv_lshlrev_b32_e32 v1, 1, v0\n\ts_waitcnt lgkmcnt(0)\n"
    text = f"{begin}\tglobal_store_b16 v1, v0, s[4:5]\n\t{wait}\n\ts_barrier\n\tv_xor_b32_e32 v1, 64, v1\n"
    text += "\tglobal_load_u16 v2, v1, s[4:5]\n\ts_waitcnt vmcnt(0)"
    for seed in range(3):
        assert run(with_body(small, text), (2, 64, 1), seed=seed).kinds == kinds


@pytest.mark.parametrize(("wait", "kinds"), [("s_waitcnt vmcnt(0)", set()), ("s_nop 0", {"missing wait"})])
def test_a_load_from_memory_is_waited_for_before_it_is_overwritten(small: str, wait: str, kinds: set[str]) -> None:
    """Thread t reads halves of A (which the launch wrote), then thread t ^ 32 overwrites them."""
    begin = "\ts_load_b64 s[4:5], s[0:1], 0x0\n\tv_lshlrev_b32_e32 v1, 1, v0\n\ts_waitcnt lgkmcnt(0)\n"
    text = f"{begin}\tglobal_load_u16 v2, v1, s[4:5]\n\t{wait}\n\ts_barrier\n\tv_xor_b32_e32 v1, 64, v1\n"
    text += "\tglobal_store_b16 v1, v0, s[4:5]"
    for seed in range(3):
        assert run(with_body(small, text), (2, 64, 64), seed=seed).kinds == kinds
