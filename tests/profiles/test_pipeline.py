"""The recorded pipeline of torch.compile on gfx1151 (cast, GEMM, epilogue), from its printed means and launch."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from expctl.profiles.read_profile import read_profile

PASSES = 23
Show = Callable[..., Any]


@pytest.fixture
def trace() -> Path:
    """Twenty-three passes at the recorded means, and one kernel that runs once before them."""
    return Path(__file__).parent / "golden" / "constructed_gfx1151_pipeline_kernel_trace.csv"


def test_one_pass(trace: Path, show: Show) -> None:
    facts = json.loads(show(trace, "--size", "8192", "--types", "f16,f16,f16", "--json").out)
    found = facts["pipeline"]
    assert (found["passes"], [step["kind"] for step in found["steps"]]) == (PASSES, ["GEMM", "elementwise", "copy"])
    assert round(found["total_ns"] / 1e6, 4) == 42.1765
    assert (round(found["tflops"], 3), round(found["gemm_tflops"], 3)) == (26.069, 27.361)
    assert found["outside"] == ["fill_random"]


def test_in_words_with_the_naive_occupancy_under_its_label(trace: Path, show: Show) -> None:
    shown = show(trace, "--size", "8192,8192,8192", "--moves", "to_copy_0=201326592").out
    for words in (
        "42.1765 ms  in all, 26.069 TFLOP/s", "the GEMM alone, 27.361 TFLOP/s",
        "5 of 16 waves per SIMD (LLVM), limited by vgpr; 264 registers allocated", "31.25 % (WGP)", "25.00 % (CU)",
        "naive     37.50 % (no granules, no whole workgroups: not what fits)",
        "GPU: gfx1151, by the name of a Tensile kernel", "SGPR 128 is a constant",
    ):  # fmt: skip
        assert words in shown, words
    cast = show(trace, "--kernel", "to_copy_0", "--moves", "to_copy_0=201326592").out
    assert "211.6 GB/s (82.7 % of the memory's)" in cast
    assert "memory-bound: 83 % of the memory bandwidth used" in cast


def test_launch_gaps_and_the_idle_gpu(trace: Path) -> None:
    (timeline,) = read_profile(trace).timelines
    assert (timeline.gaps, timeline.idle_ns) == (3 * PASSES, 100 + (3 * PASSES - 1) * 4000)
    assert (timeline.launch_gaps, timeline.launch_gap_ns) == (timeline.gaps, timeline.idle_ns)


def test_the_gemm_under_the_roof(trace: Path, show: Show) -> None:
    words = ("--size", "8192", "--types", "f16,f16,f16", "--kernel", "Cijk", "--clock", "2600", "--json")
    (kernel,) = json.loads(show(trace, "--arch", "gfx1151", *words).out)["kernels"]
    place = kernel["roofline"]
    most = 40 * 512 * 2900e6
    achieved = 2 * 8192**3 / 40_185_627e-9
    assert place["compute_percent"] == pytest.approx(100 * achieved / most)
    assert place["compute_percent_sampled"] == pytest.approx(100 * achieved / (most * 2600 / 2900))
    assert place["flop_per_byte"] == pytest.approx(2 * 8192**3 / (3 * 8192**2 * 2))
    assert place["bound"] == "unknown"  # 46 % of the arithmetic, and memory traffic of which only the least is known
    assert "at least 4 % of the memory bandwidth used; how much more moved isn't known" in place["reason"]
    moved = ("--moves", f"Cijk={3 * 8192**2 * 2}")
    (kernel,) = json.loads(show(trace, "--arch", "gfx1151", *words, *moved).out)["kernels"]
    assert kernel["roofline"]["bound"] == "latency-bound"
