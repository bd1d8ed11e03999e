from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.interpreter.launches import BASELINE, SMALL, scaled_mm
from expctl.gfx11.arguments import KERNARG, Unwritten, place
from expctl.gfx11.launch import interpret, launch, load
from expctl.gfx11.machine.counts import Class, Counts
from expctl.gfx11.text.descriptor import Argument, parse_descriptor
from expctl.gfx11.text.errors import BadLaunch, Runaway, Unsupported
from expctl.inspection.device_compiler import Options, assembly_with_lines
from kernel.runtime.formats import Fp8
from tests.explain.made import walk
from tests.refusals import refuses


@pytest.mark.parametrize("fp8", Fp8)
@pytest.mark.parametrize(("m", "n", "k"), [(128, 256, 64), (5, 7, 3), (130, 40, 45)])
def test_baseline_config(baseline: str, fp8: Fp8, m: int, n: int, k: int) -> None:
    run = scaled_mm(baseline, BASELINE, fp8, m, n, k)
    assert run.faults == []
    assert run.failure is None
    assert run.result.written["c"].all()


def test_counts_of_a_whole_tile(baseline: str) -> None:
    summary = scaled_mm(baseline, BASELINE, Fp8.E5M2, 128, 256, 64).result.counts.summary()
    assert summary.matrix == 128 * 256 * 64 // 4096
    assert summary.lds_passes == summary.lds_least > 0
    assert summary.scratch_bytes == 0
    assert sum(summary.by_class.values()) == summary.instructions <= summary.operations


def test_hot_loop_per_matrix_instruction(baseline: str) -> None:
    """The figures of the KPI's config, as a person counted them in clang's text: 32 v_wmma a turn and wave, 2 turns of 3."""
    loop = scaled_mm(baseline, BASELINE, Fp8.E5M2, 128, 256, 96).result.counts.hot_loop()
    assert loop is not None
    assert loop.matrix == 512
    assert loop.by_class[Class.LDS_LOAD] / loop.matrix == 1.125
    assert loop.by_class[Class.LDS_STORE] / loop.matrix == 0.125
    assert loop.lds_passes / loop.matrix == 5.0
    assert loop.lines_least / loop.matrix == 0.5


@pytest.mark.parametrize("k", [(96, 160), (160, 352)])
def test_the_hot_loop_is_what_more_of_k_costs(baseline: str, k: tuple[int, int]) -> None:
    """Found without the control flow: what the longer product executes more, per matrix instruction more."""
    short, long = (scaled_mm(baseline, BASELINE, Fp8.E5M2, 128, 256, each).result.counts for each in k)
    less, more, loop = short.summary(), long.summary(), long.hot_loop()
    assert loop is not None
    for kind, times in loop.by_class.items():
        grown = more.by_class[kind] - less.by_class.get(kind, 0)
        assert grown / (more.matrix - less.matrix) == times / loop.matrix, kind
    assert (more.instructions - less.instructions) / (more.matrix - less.matrix) == loop.instructions / loop.matrix


BRANCHY = """
#include <hip/hip_runtime.h>
__global__ void branchy(const int *x, int *out, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    int value = x[i];
    if (__builtin_expect(value > 100, 0)) sum = __builtin_popcount(sum) * value + i;
    else sum += value;
  }
  out[threadIdx.x] = sum;
}
"""


def test_a_loop_of_several_blocks_is_counted_whole(tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    source = tmp_path / "branchy.hip"
    source.write_text(BRANCHY)
    text = assembly_with_lines(source, Options(arch="gfx1151"))[1]

    def counts(n: int) -> Counts:
        x = np.arange(n, dtype=np.int32) * 30
        arguments = {"x": x, "out": np.zeros(32, dtype=np.int32), "n": np.int32(n)}
        return interpret(text, "_Z7branchyPKiPii", (1, 1, 1), (32, 1, 1), arguments, order_seed=0).counts

    short, long = counts(64), counts(128)
    loop = long.hot_loop()
    assert loop is not None
    before = short.hot_loop()
    assert before is not None
    assert long.summary().instructions - short.summary().instructions == loop.instructions - before.instructions > 0


FAR = """\
	s_load_b32 s4, s[0:1], 0x8
	s_waitcnt lgkmcnt(0)
.Lturn:
	s_and_b32 s5, s4, 1
	s_cmp_lg_u32 s5, 0
	s_cbranch_scc1 .Lodd
.Lback:
	s_add_i32 s4, s4, -1
	s_cmp_lg_u32 s4, 0
	s_cbranch_scc1 .Lturn
	s_endpgm
.Lodd:
	v_mov_b32_e32 v1, 0
	s_branch .Lback
"""


def test_a_block_of_the_loop_that_lies_behind_the_end_is_counted(tmp_path: Path) -> None:
    arguments = {"x": np.zeros(64, dtype=np.float32), "n": 10}
    loop = interpret(walk(tmp_path, FAR).assembly, "walk", (1, 1, 1), (32, 1, 1), arguments, order_seed=0).counts.hot_loop()
    assert loop is not None
    assert loop.instructions == 10 * 6 + 5 * 2, "five turns of ten are odd"


def test_order_of_waves_changes_nothing(small: str) -> None:
    runs = [scaled_mm(small, SMALL, Fp8.E4M3FN, 70, 75, 77, seed=seed) for seed in range(5)]
    for run in runs:
        assert run.faults == []
        assert run.failure is None
        assert run.result.counts.executed == runs[0].result.counts.executed
        assert run.result.outputs["c"].tobytes() == runs[0].result.outputs["c"].tobytes()


def test_a_null_bias_and_a_launch_after_another(small: str) -> None:
    first = scaled_mm(small, SMALL, Fp8.E5M2, 16, 16, 32, bias=False)
    scaled_mm(small, SMALL, Fp8.E5M2, 64, 64, 64)
    again = scaled_mm(small, SMALL, Fp8.E5M2, 16, 16, 32, bias=False)
    assert first.failure is None
    assert first.faults == again.faults == []
    assert first.result.outputs["c"].tobytes() == again.result.outputs["c"].tobytes()
    assert first.result.counts.executed == again.result.counts.executed


def test_what_nothing_wrote_is_poison_and_known(small: str) -> None:
    run = scaled_mm(small, SMALL, Fp8.E5M2, 65, 64, 32, more_blocks=(0, -1))
    assert "never written" in str(run.failure) or "nan" in str(run.failure)
    assert run.result.written["c"][:64].all()
    assert not run.result.written["c"][64].any()


def test_unknown_instructions_name_their_line(small: str) -> None:
    lines = small.splitlines()
    at = next(i for i, line in enumerate(lines) if "v_wmma" in line)
    for text in (
        "v_wmma_f16_16x16x16_f16 v[0:7], v[0:7], v[0:7], v[0:3]",
        "v_add_f32_dpp v0, v1, v2 row_bcast:15",
        "v_foo v1",
    ):
        broken = "\n".join([*lines[:at], f"\t{text}", *lines[at + 1 :]])
        with pytest.raises(Unsupported) as refusal:
            scaled_mm(broken, SMALL, Fp8.E5M2, 16, 16, 16) and scaled_mm(broken, SMALL, Fp8.E4M3FN, 16, 16, 16)
        assert refusal.value.line == at + 1


def test_wrong_launches_are_refused(small: str) -> None:
    name = "scaled_mm_e5m2_2_2_2_2_2_2"
    with refuses("kernel-arguments-differ", BadLaunch):
        interpret(small, name, (1, 1, 1), (128, 1, 1), {}, order_seed=0)
    with refuses("grid-or-block-unfit", BadLaunch):
        interpret(small, name, (1, 1, 1), (256, 1, 1), {}, order_seed=0)
    with refuses("assembly-has-no-kernel", BadLaunch):
        interpret(small, "scaled_mm", (1, 1, 1), (128, 1, 1), {}, order_seed=0)


@pytest.mark.parametrize(
    ("value", "size", "wanted"),
    [
        (np.float16(-1.5), 2, "00be"), (1.5, 2, "003e"), (np.float32(1.5), 4, "0000c03f"), (np.float16(1.5), 4, "0000c03f"),
        (np.float64(1.5), 8, "000000000000f83f"), (-2, 2, "feff"), (np.int8(-2), 4, "feffffff"), (np.bool_(True), 1, "01"),
    ],
)  # fmt: skip
def test_numbers_are_laid_out_as_their_type_and_size_say(small: str, value: object, size: int, wanted: str) -> None:
    descriptor = replace(
        parse_descriptor(small, "scaled_mm_e5m2_2_2_2_2_2_2"), arguments=(Argument(offset=8, size=size, kind="by_value"),)
    )
    memory = place(descriptor, {"x": value}, (1, 1, 1), (32, 1, 1))
    assert memory.contents(KERNARG).tobytes()[8 : 8 + size].hex() == wanted


def test_an_endless_loop_is_stopped(small: str) -> None:
    endless = small.replace("\ts_endpgm", "\ts_branch .Lhere", 1).replace("\ts_clause", ".Lhere:\n\ts_clause", 1)
    arguments = {"a": np.zeros(4, "e"), "b": np.zeros(16, "u1"), "bias": None, "c": Unwritten(shape=(1,), dtype="e")}
    with pytest.raises(Runaway):
        interpret(
            endless, "scaled_mm_e5m2_2_2_2_2_2_2", (1, 1, 1), (128, 1, 1),
            {**arguments, "scale": 1.0, "m": 1, "n": 1, "k": 1}, order_seed=0, most_instructions=50_000,
        )  # fmt: skip


def test_more_lds_than_a_workgroup_has_is_refused(small: str) -> None:
    kernel = load(small, "scaled_mm_e5m2_2_2_2_2_2_2")
    with refuses("lds-too-large", BadLaunch):
        launch(kernel, (1, 1, 1), (128, 1, 1), {}, order_seed=0, dynamic_lds_bytes=65536)
