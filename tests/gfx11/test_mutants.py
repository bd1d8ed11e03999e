"""A kernel that is broken on purpose, in its assembly or its source, and what the interpreter says of it."""

from __future__ import annotations

import re
import shutil
from functools import cache
from pathlib import Path

import pytest
from gfx11.scaled_mm import SMALL, Run, scaled_mm

from expctl.gfx11.faults import FaultKind
from kernel.harness.formats import Fp8

HIP = Path(__file__).parents[2] / "kernel/hip"
WHOLE, EDGE = (64, 64, 64), (64, 64, 75)
"""K in whole chunks: the hot loop; K that leaves rows of A unaligned: the loop for the edge, three turns of it."""


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


@pytest.mark.parametrize("shape", [WHOLE, EDGE])
def test_every_barrier_is_missed_in_every_order(small: str, shape: tuple[int, int, int]) -> None:
    barriers = executed(small, shape, "s_barrier")
    assert len(barriers) == (4 if shape is WHOLE else 2)  # the last whole chunk is peeled off its loop
    lines = small.splitlines()
    for line in barriers:
        for seed in range(3):
            races = [
                f for f in run(with_line(small, line, "s_nop 0"), shape, seed=seed).result.faults if f.kind == FaultKind.RACE
            ]
            assert races, f"barrier of line {line}, order {seed}"
            for race in races:
                assert {lines[x - 1].split()[0][:8] for x in (race.line, race.other_line)} <= {"ds_load_", "ds_store"}
                assert "ds_store" in lines[race.line - 1] + lines[race.other_line - 1]


def weaker(text: str) -> list[str]:
    """The waits that prove a little less: each counter on its own, one higher."""
    parts = re.findall(r"(vmcnt|lgkmcnt)\((\d+)\)", text)
    return [
        "s_waitcnt " + " ".join(f"{name}({int(n) + (i == j)})" for j, (name, n) in enumerate(parts)) for i in range(len(parts))
    ]


def test_every_wait_in_the_loop_is_missed(small: str) -> None:
    """But for lgkmcnt(0) before the barriers of the last chunk: what they wait for is used, and waited for, after them."""
    lines, silent, tried = small.splitlines(), [], 0
    for line in executed(small, WHOLE, "s_waitcnt"):
        for text in weaker(lines[line - 1]):
            tried += 1
            if FaultKind.MISSING_WAIT not in run(with_line(small, line, text)).kinds:
                silent.append(lines[line].strip())
    assert tried >= 15
    assert len(silent) <= 2
    assert all(after == "s_barrier" for after in silent)


def test_a_store_that_is_not_waited_for_before_its_barrier(small: str) -> None:
    lines = small.splitlines()
    barrier = executed(small, WHOLE, "s_barrier")[0]
    wait = max(x for x in executed(small, WHOLE, "s_waitcnt") if x < barrier)
    faults = run(with_line(small, wait, "s_nop 0")).result.faults
    assert any(
        f.kind == FaultKind.MISSING_WAIT and "outlast the barrier" in f.what and "ds_store" in lines[f.other_line - 1]
        for f in faults
    )


def test_swapped_bytes_of_a_permute_are_wrong(small: str) -> None:
    line = executed(small, WHOLE, "v_perm_b32")[0]
    text = small.splitlines()[line - 1]
    mutant = text.replace("0x50c040c", "0x40c050c") if "0x50c040c" in text else text.replace("0x70c060c", "0x60c070c")
    assert mutant != text
    result = run(with_line(small, line, mutant.strip()))
    assert result.failure is not None
    assert result.faults == []


@pytest.mark.parametrize("more", [(1, 0), (0, 1)])
def test_one_workgroup_too_many(small: str, more: tuple[int, int]) -> None:
    faults = run(small, (64, 64, 64), more_blocks=more).result.faults
    assert {fault.kind for fault in faults} == {FaultKind.OUT_OF_BOUNDS}
    assert any(re.search(rf"of {'b' if more[0] else 'a'}\b", fault.what) for fault in faults)


@pytest.mark.parametrize(
    ("file", "old", "new", "kind"),
    [
        ("wave_tile_gpu.h", "row <= corner.last_m", "row <= corner.last_m + 1", FaultKind.OUT_OF_BOUNDS),
        ("wave_tile_gpu.h", "column <= corner.last_n", "column <= corner.last_n + 1", FaultKind.OUT_OF_BOUNDS),
        ("slices_gfx11.h", "slice[k8 / planes]", "slice[0]", FaultKind.RACE),
        ("stage.h", "at_most(S::a_row(piece), corner.last_m)", "S::a_row(piece)", FaultKind.OUT_OF_BOUNDS),
    ],
)
def test_mistakes_in_the_source(compile_hip, tmp_path: Path, file: str, old: str, new: str, kind: FaultKind) -> None:  # type: ignore[no-untyped-def]
    shutil.copytree(HIP, tmp_path / "hip")
    source = tmp_path / "hip" / file
    text = source.read_text()
    assert old in text
    source.write_text(text.replace(old, new))
    mutant = compile_hip(tmp_path / "hip/scaled_mm.hip", "-O1", "-DSCALED_MM_CONFIG=2,2,2,2,2,2")
    result = run(mutant, (60, 50, 72))
    assert kind in result.kinds


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
