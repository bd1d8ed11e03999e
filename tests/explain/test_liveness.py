"""Registers that are live: by hand on a few statements, and on whole kernels by filling every dead one with rubbish."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from expctl.check.buffers import values_for
from expctl.check.case_file import read_case
from expctl.check.kernel_file import named, read_kernels
from expctl.check.resolved import resolve
from expctl.explain.liveness import live_halves
from expctl.explain.registers import registers_in
from expctl.gfx11.decode_program import decode
from expctl.gfx11.launch import Interpretation, Kernel, launch, load
from expctl.gfx11.machine.arrays import ALL_BITS, Words
from expctl.gfx11.machine.block import Block
from expctl.gfx11.machine.wave import Wave
from expctl.inspection.device_compiler import Options
from expctl.inspection.model.instruction_mix import Body
from expctl.inspection.readers.assembly_text import parse_assembly
from tests.explain.made import STATEMENTS, walk

STRANGERS = Path(__file__).parents[2] / "benchmarks/check/strangers_kernels"
RUBBISH = 0xDEADBEEF


def live(folder: Path, statements: str) -> list[int]:
    body = parse_assembly(walk(folder, statements).assembly, "here").bodies[0]
    return [registers_in(each) for each in live_halves(body)]


def test_a_loop_by_hand(tmp_path: Path) -> None:
    """v1 and v2 live all through the loop; v3 and v4 from their load to their use."""
    assert live(tmp_path, STATEMENTS) == [1, 1, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3, 2, 2, 2, 2, 0]


def test_what_is_masked_off_keeps_its_value(tmp_path: Path) -> None:
    """v2 is written before, and again for some lanes: the others need the first value where the mask is put back. Where some
    lanes alone are active, it isn't live: it may hold something else of theirs.
    """
    masked = (
        "v_mov_b32_e32 v2, 0\ns_and_saveexec_b32 s4, vcc_lo\nv_mov_b32_e32 v3, v0\nv_mov_b32_e32 v2, v3\n"
        "s_or_b32 exec_lo, exec_lo, s4\nv_mov_b32_e32 v1, v2\nglobal_store_b32 v0, v1, s[2:3]\ns_endpgm\n"
    )
    assert live(tmp_path, masked) == [1, 2, 1, 2, 2, 2, 2, 0]
    compared = masked.replace("s_and_saveexec_b32 s4, vcc_lo", "s_mov_b32 s4, exec_lo\nv_cmpx_gt_i32_e32 7, v0")
    assert live(tmp_path, compared) == [1, 2, 2, 1, 2, 2, 2, 2, 0]


def test_without_a_mask_the_first_value_is_dead(tmp_path: Path) -> None:
    plain = "v_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, v0\nv_mov_b32_e32 v2, v3\nglobal_store_b32 v0, v2, s[2:3]\ns_endpgm\n"
    assert live(tmp_path, plain) == [1, 1, 2, 2, 0]


def test_a_half_that_is_kept_stays_live(tmp_path: Path) -> None:
    halves = (
        "v_mov_b32_e32 v1, v0\nglobal_load_d16_hi_b16 v1, v0, s[2:3]\nv_mov_b32_e32 v2, 0\nglobal_load_d16_b16 v2, v0, s[2:3]\n"
        "v_mov_b32_e32 v3, v1\nglobal_store_b32 v0, v3, s[2:3]\ns_endpgm\n"
    )
    assert live(tmp_path, halves) == [1, 2, 2, 2, 2, 2, 0]


def poisoned(kernel: Kernel, live_before: list[int]) -> Kernel:
    """The kernel with rubbish before each instruction, in the active lanes of each half of a register that isn't live."""
    program = kernel.decoded.program
    labels = {**program.labels, **{f".Leach{index}": index for index in range(len(program.instructions))}}
    single = decode(replace(program, labels=labels), vector_registers=kernel.descriptor.vector_registers)
    blocks = tuple(_with_rubbish(block, live_before) for block in single.blocks)
    return replace(kernel, decoded=replace(single, blocks=blocks))


def _with_rubbish(block: Block, live_before: list[int]) -> Block:
    if block.first >= len(live_before):  # a function that the kernel calls
        return block
    needed = live_before[block.first]
    kept = [(needed >> 2 * n & 1) * 0xFFFF | (needed >> 2 * n + 1 & 1) * 0xFFFF0000 for n in range(256)]
    keep: Words = np.array(kept, dtype=np.uint32)[:, None]

    def fill(wave: Wave) -> None:
        mask = keep[: len(wave.vector)]
        filled = (wave.vector & mask) | (np.uint32(RUBBISH) & (mask ^ np.uint32(ALL_BITS)))
        np.copyto(wave.vector, filled, where=wave.lanes)

    return replace(block, steps=(fill, *block.steps))


def both_ways(folder: Path, level: str) -> tuple[Interpretation, Interpretation, Body]:
    """The launch of a stranger's kernel as it is, and with rubbish in every dead register."""
    file = read_kernels(folder / "kernel.hip", Options(arch="", level=level))
    description = read_case(folder / "case.py")
    symbol = named(file, description.case.kernel).symbol
    parsed = parse_assembly(file.assembly, "here")
    body = parsed.bodies[[each.name for each in parsed.kernels].index(symbol)]
    kernel, at = load(file.assembly, symbol), resolve(description.case, description.case.shapes)
    assert [each.line for each in kernel.decoded.program.instructions][: len(body.statements)] == [
        each.line for each in body.statements
    ]
    values = values_for(description.case, at, 0)
    plain, filled = (
        launch(each, at.grid, at.block, values, order_seed=0, dynamic_lds_bytes=at.dynamic_lds)
        for each in (kernel, poisoned(kernel, live_halves(body)))
    )
    return plain, filled, body


KERNELS = [
    "reduce_dpp",
    "sgemm_double_buffer",
    "levenshtein_diagonals",
    "gemm_wmma_iu8",
    "stencil2d_jacobi",
    "cholesky_batched",
]
LEFT_OUT = {"dot_f64", "jacobi_f64", "topk_block", "noinline_buckets"}
"""Three need what the interpreter doesn't know (double precision, v_swap). The last calls a function, as a note says then."""
OTHERS = sorted({folder.name for folder in STRANGERS.iterdir()} - {*KERNELS, *LEFT_OUT})


@pytest.mark.parametrize("level", ["-O1", "-O3"])
@pytest.mark.parametrize("name", [*KERNELS, *(pytest.param(each, marks=pytest.mark.long) for each in OTHERS)])
def test_nothing_that_is_called_dead_is_needed(name: str, level: str) -> None:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    plain, filled, _ = both_ways(STRANGERS / name, level)
    assert filled.faults == plain.faults
    for array, values in plain.outputs.items():
        assert filled.outputs[array].tobytes() == values.tobytes(), array


def test_rubbish_in_a_live_register_is_seen() -> None:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    file = read_kernels(STRANGERS / "gemv_float4/kernel.hip", Options(arch=""))
    description = read_case(STRANGERS / "gemv_float4/case.py")
    symbol = named(file, description.case.kernel).symbol
    parsed = parse_assembly(file.assembly, "here")
    kernel, at = load(file.assembly, symbol), resolve(description.case, description.case.shapes)
    values = values_for(description.case, at, 0)
    live_before = live_halves(parsed.bodies[0])
    most = max(range(len(live_before)), key=lambda index: registers_in(live_before[index]))
    live_before[most] &= live_before[most] - 1  # the lowest half is taken for dead
    plain, filled = (launch(each, at.grid, at.block, values, order_seed=0) for each in (kernel, poisoned(kernel, live_before)))
    assert (filled.faults, filled.outputs["y"].tobytes()) != (plain.faults, plain.outputs["y"].tobytes())
