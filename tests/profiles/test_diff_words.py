"""What `profile diff` says of pairs that earlier versions got wrong, on files as the profilers write them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from expctl.profiles.diff.figures import percent_text
from expctl.profiles.diff.replacement import split_of, tile_of
from tests.profiles.torch_traces import H100, Launched, write_trace

Diff = Callable[..., Any]


def pairs(diff: Diff, before: Path, after: Path) -> dict[str, str]:
    return {each["before"]: each["after"] for each in json.loads(diff(before, after, "--json").out)["pairs"]}


def test_a_product_is_never_crossed_with_an_activation(tmp_path: Path, diff: Diff) -> None:
    """Both took most of a run, and neither had a partner of its class."""
    before = write_trace(
        tmp_path / "a.json", [Launched(name="_matmul_ogs_NNT_bf16", us=90), Launched(name="norm_kernel", us=9)]
    )
    after = write_trace(tmp_path / "b.json", [Launched(name="_swiglu", us=90), Launched(name="norm_kernel", us=9)])
    assert pairs(diff, before, after) == {"norm_kernel": "norm_kernel"}


def test_long_names_are_folded_to_what_tells_them_apart(tmp_path: Path, diff: Diff) -> None:
    """With their middles cut out all kernels of torch that launch a functor looked alike."""
    frame = "void at::native::vectorized_elementwise_kernel<4, at::native::{}<float>, std::array<char*, 3ul> >(int, X, Y)"
    runs = [Launched(name=frame.format(functor), us=us) for functor, us in (("CUDAFunctor_add", 90), ("AbsFunctor", 40))]
    before, after = write_trace(tmp_path / "a.json", runs), write_trace(tmp_path / "b.json", runs)
    lines = diff(before, after).out.splitlines()
    assert "  vectorized_elementwise_kernel<CUDAFunctor_add>" in lines
    assert "  vectorized_elementwise_kernel<AbsFunctor>" in lines


def test_long_names_of_one_side_are_folded(tmp_path: Path, diff: Diff) -> None:
    frame = "void at::native::vectorized_elementwise_kernel<4, at::native::{}<float>, std::array<char*, 3ul> >(int, X, Y)"
    both = Launched(name="gemm", us=90)
    before = write_trace(tmp_path / "a.json", [both, Launched(name=frame.format("FillFunctor"), us=4)])
    lines = diff(before, write_trace(tmp_path / "b.json", [both])).out.splitlines()
    assert "  only before  vectorized_elementwise_kernel<FillFunctor> (copy): 1 call, 4.000 us" in lines


def test_names_and_places_pair_before_times_do(tmp_path: Path, diff: Diff) -> None:
    """By time alone the gate would be paired with the projection, and the other way round."""
    names = ("_matmul_ogs_gate_bf16", "_swiglu_fused_bf16", "_matmul_ogs_down_bf16")
    others = ("_matmul_ogs_gate_fp8", "_swiglu_fused_fp8", "_matmul_ogs_down_fp8")
    before = write_trace(tmp_path / "a.json", [Launched(name=name, us=us) for name, us in zip(names, (90, 5, 60), strict=True)])
    after = write_trace(tmp_path / "b.json", [Launched(name=name, us=us) for name, us in zip(others, (40, 5, 70), strict=True)])
    assert pairs(diff, before, after) == dict(zip(names, others, strict=True))


def test_the_place_in_the_stream_pairs_what_names_do_not(tmp_path: Path, diff: Diff) -> None:
    def run(path: str, first: str, second: str, times: tuple[float, float]) -> Path:
        chain = (("norm_a", 5.0), (first, times[0]), ("silu_b", 5.0), (second, times[1]), ("norm_c", 5.0))
        return write_trace(tmp_path / path, [Launched(name=name, us=us, operators=[]) for name, us in chain])

    before, after = run("a.json", "gemm_one", "matmul_two", (80, 20)), run("b.json", "xmma_gemm_x", "nvjet_y", (20, 80))
    assert pairs(diff, before, after)["gemm_one"] == "xmma_gemm_x"
    assert pairs(diff, before, after)["matmul_two"] == "nvjet_y"


def test_ours_against_the_library_in_figures(tmp_path: Path, diff: Diff) -> None:
    ours = Launched(name="scaled_mm_kernel", us=400, grid=(64, 64, 1), block=(128, 1, 1), registers=168, shared=16384)
    library = Launched(
        name="nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_NNT", us=200, grid=(2, 66, 1), block=(384, 1, 1), registers=168,
        shared=213188,
    )  # fmt: skip
    words = [Launched(**{**_fields(each), "us": each.us + step}) for each in (ours, library) for step in (0.1, 0.2, 0.3)]
    before, after = write_trace(tmp_path / "a.json", words[:3], H100), write_trace(tmp_path / "b.json", words[3:], H100)
    found = json.loads(diff(before, after, "--size", "4096", "--types", "f16,f16,f16", "--json").out)
    sentence = found["why"]["sentence"]
    assert "results per workgroup 4096 -> 127 k, per work-item 32 -> 331" in sentence
    assert "occupancy" not in sentence, "both are 19 %"
    flop, peak = 2 * 4096**3, 132 * 4096 * 1980e6
    assert (
        f"share of the arithmetic peak {100 * flop / 400.2e-6 / peak:.1f} % -> {100 * flop / 200.2e-6 / peak:.1f} %" in sentence
    )
    assert found["why"]["cause"] == "another kernel"


def _fields(kernel: Launched) -> dict[str, Any]:
    return {name: getattr(kernel, name) for name in Launched.__slots__}


@pytest.mark.parametrize(
    ("name", "tile", "split"),
    [
        ("Cijk_Ailk_Bljk_HHS_BH_MT128x96x32_MI16x16x16x1_SN_GSU4_LDSB0", "128x96x32", "4"),
        ("nvjet_sm90_hsh_256x128_64x4_1x2_h_bz_coopA_NNT", "256x128x64", ""),
        ("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x96_64x6_tn_align8>(int)", "64x96x64", ""),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x128x64_warpgroupsize1x1x1_kernel", "64x128x64", ""),
        ("scaled_mm_kernel", "", ""),
    ],
)
def test_tiles_and_splits_of_generated_names(name: str, tile: str, split: str) -> None:
    assert (tile_of(name), split_of(name)) == (tile, split)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.052, "+5.2 %"), (0.5, "-50.0 %"), (4.0, "4.00 times"), (0.25, "1/4.00 times"), (0.0003, "1/3.33e+03 times")],
)
def test_small_ratios_are_not_zero_times(value: float, text: str) -> None:
    assert percent_text(value) == text


def test_widely_spread_calls_cannot_be_told_apart(tmp_path: Path, diff: Diff) -> None:
    """+140 %, of two calls of 1 and 199 us each side."""
    before = write_trace(tmp_path / "a.json", [Launched(name="gemm", us=us) for us in (1, 199)])
    after = write_trace(tmp_path / "b.json", [Launched(name="gemm", us=us) for us in (1, 479)])
    shown = diff(before, after).out
    assert "the times can't be told apart: +140.0 %, but that is within 3 standard errors of the calls' spread" in shown
    assert "the time is the same" not in shown


COUNTERS = (
    "Correlation_Id,Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Thread_Id,Grid_Size,Kernel_Id,Kernel_Name,Workgroup_Size,LDS_Block_Size,"
    "Scratch_Size,VGPR_Count,Accum_VGPR_Count,SGPR_Count,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n"
)


def test_grids_known_as_one_number_are_shown(tmp_path: Path, diff: Diff) -> None:
    """Counter collections give the work-items of grid and workgroup as products: no `?` where JSON has the figure."""
    for name, group in (("a.csv", 128), ("b.csv", 256)):
        cells = (1, 1, "Agent 1", 1, 9, 9, 65536, 1, "gemm", group, 0, 0, 32, 0, 48, "SQ_WAVES", "1024.0", 1000, 90000)
        (tmp_path / name).write_text(COUNTERS + ",".join(map(str, cells)) + "\n")
    shown = diff(tmp_path / "a.csv", tmp_path / "b.csv", "--arch", "gfx942").out
    assert "?" not in shown
    assert "512 groups -> 256 groups" in shown
    assert "128 -> 256" in shown


def test_more_calls_of_a_small_kernel_are_no_cause(tmp_path: Path, diff: Diff) -> None:
    """Twice the calls of half a percent of the pass: below the documented 1 %."""

    def run(path: str, calls: int) -> Path:
        kernels = [
            each for _ in range(10) for each in (Launched(name="gemm", us=990), *[Launched(name="copy_k", us=4)] * calls)
        ]
        return write_trace(tmp_path / path, kernels)

    assert json.loads(diff(run("a.json", 1), run("b.json", 2), "--json").out)["why"] is None
    found = json.loads(diff(run("c.json", 1), run("d.json", 5), "--json").out)["why"]
    assert (found["cause"], "1 -> 5 times in a pass" in found["sentence"]) == ("calls", True)
