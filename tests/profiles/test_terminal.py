"""A profile in the terminal letter by letter, as data key by key, as a picture by what a viewer must find in it."""

import csv
import io
import xml.etree.ElementTree as ET
from dataclasses import replace
from importlib.util import find_spec

import pytest

from expctl.domain.experiment.figures import time_text
from expctl.profiles.model.kernel_profile import Copy, Device, GridUnit, Kernel, KernelClass, Launch, Profile, Source, Timeline
from expctl.profiles.model.pipeline import pipeline
from expctl.profiles.roofline.ceilings import Work, position
from expctl.profiles.roofline.peaks import peak_of
from expctl.profiles.views.data import profile_csv, profile_data
from expctl.profiles.views.figure import figure_bytes
from expctl.profiles.views.terminal import profile_lines

GEMM = Kernel(
    name="gemm\x1b[2J<float>", kind=KernelClass.GEMM, calls=2, total_ns=3_000_000, mean_ns=1.5e6, share_percent=75.0,
    min_ns=1_000_000,
    median_ns=1.5e6, max_ns=2_000_000, sd_ns=707106.8,
    launches=(
        Launch(vgpr=128, agpr=64, lds_bytes=8192, scratch_bytes=0, grid=(8192, 64, 1), workgroup=(128, 1, 1),
        workgroup_size=128,
               groups=4096, calls=1, total_ns=2_000_000),
        Launch(vgpr=128, grid=(64, 1, 1), calls=1, total_ns=1_000_000),
    ),
)  # fmt: skip
CAST = Kernel(
    name="cast", kind=KernelClass.COPY, calls=2, total_ns=1_000_000, mean_ns=5e5, share_percent=25.0, min_ns=500_000,
    median_ns=5e5,
    max_ns=500_000, sd_ns=0.0, launches=(Launch(workgroup_size=256, calls=2, total_ns=1_000_000),),
)  # fmt: skip
PROFILE = Profile(
    path="run.db", source=Source.ROCPD, files=("run.db",), grid_unit=GridUnit.WORK_ITEMS,
    devices=(Device(name="agent 1", arch="gfx942", product="AMD Instinct MI300X", units=304, clock_mhz=2100),),
    kernels=(GEMM, CAST), total_ns=4_000_000, calls=4,
    timelines=(
        Timeline(device="agent 1", dispatches=4, span_ns=5_000_000, busy_ns=4_000_000, gaps=3, launch_gaps=2,
        launch_gap_ns=20_000,
                 longest_gap_ns=980_000, launch_gap_most_ns=100_000),
    ),
    copies=(Copy(name="HOST_TO_DEVICE", calls=1, total_ns=1000, total_bytes=4000),),
    notes=("times: long",), missing=("counters",),
)  # fmt: skip
PEAK = peak_of("gfx942", "AMD Instinct MI300X", 304, 2100)
POSITIONS = {
    GEMM.name: position(
        Work(duration_ns=1.5e6, flop=1.2e12, bytes_moved=4e8, clock_mhz=1500.0, from_what=("FLOP: stated",)), PEAK
    ),
    "cast": position(Work(duration_ns=5e5), PEAK),
}
TEXT = """\
run.db
  rocpd database, 1 file
  agent 1: gfx942 (AMD Instinct MI300X, 304 CUs, 2100 MHz at most)
  4 calls of 2 kernels, 4.000 ms
  agent 1: 4 dispatches in 5.000 ms, idle 20.0 % (1.000 ms in 3 gaps, longest 980.0 us); launch gaps up to 100.0 us: 2, together 20.00 us

  unidentified: 0.00 % of the time
  class           kernels    calls       time    share
  GEMM                  1        2   3.000 ms  75.00 %
  copy                  1        2   1.000 ms  25.00 %
  launch gap                     2   20.00 us   0.50 % of kernels and gaps

  calls     total    share       sum      mean        sd       min    median       max          vgpr  sgpr   lds  scratch        grid  workgroup  occup.  class  bound    kernel  (grid in work-items)
      2  3.000 ms  75.00 %   75.00 %  1.500 ms  707.1 us  1.000 ms  1.500 ms  2.000 ms  128 (64 acc)     -  8192        0  8192x64 +1        128       -  GEMM   compute  gemm<float>
      2  1.000 ms  25.00 %  100.00 %  500.0 us  0.000 ns  500.0 us  500.0 us  500.0 us             -     -     -        -           -        256       -  copy   -        cast

  gemm<float>
    compute-bound: 61 % of the arithmetic and 5 % of the memory bandwidth used
    800.000 TFLOP/s (61.2 % of f16 at the highest clock, 85.7 % at 1500 MHz), 266.7 GB/s (5.0 % of the memory's), 3000.0 FLOP per byte, roof 1307.4 TFLOP/s
    FLOP: stated

  one pass of M, N, K = 10, 10, 10, mean of 2 (the calls of the GEMM with the most time)
          1.5000 ms  75.00 %  GEMM  gemm<float>
          0.5000 ms  25.00 %  copy  cast
          2.0000 ms  in all, 0.000 TFLOP/s
          1.5000 ms  the GEMM alone, 0.000 TFLOP/s

  copies (no kernels, not in the shares)
    HOST_TO_DEVICE: 1 call, 1.000 us, 4000 B, 4.00 GB/s

  note     times: long
  missing  counters
"""  # noqa: E501  as printed


def test_in_the_terminal() -> None:
    found = pipeline(PROFILE.kernels, (10, 10, 10), None)
    assert "\n".join(profile_lines(PROFILE, PROFILE.kernels, POSITIONS, found, PROFILE.kernels)) + "\n" == TEXT


def test_a_wider_terminal_shows_more_of_a_name() -> None:
    """Columns took all of the room, and 24 letters were left of a name, fewer than on a narrow terminal."""
    kernels = tuple(replace(GEMM, name=f"gemm_{'long_' * 20}{each}") for each in "ab")
    profile = replace(PROFILE, kernels=kernels)
    for width, least in ((80, 24), (120, 34), (160, 44), (200, 54)):
        assert _name_shown(profile, width) >= least


def _name_shown(profile: Profile, width: int) -> int:
    lines = profile_lines(profile, profile.kernels, {}, None, profile.kernels, 0, width)
    head = next(number for number, line in enumerate(lines) if line.lstrip().startswith("calls"))
    return max(len(line) for line in lines[head + 1 : head + 3]) - lines[head].rindex("kernel")


def test_one_of_a_thing_is_no_plural() -> None:
    alone = replace(CAST, calls=1, launches=(Launch(calls=1, total_ns=1_000_000),))
    line = Timeline(
        device="agent 1", dispatches=1, span_ns=2, busy_ns=1, gaps=1, launch_gaps=0, launch_gap_ns=0, longest_gap_ns=1,
        launch_gap_most_ns=100_000,
    )  # fmt: skip
    found = "\n".join(
        profile_lines(replace(PROFILE, kernels=(alone,), calls=1, timelines=(line,)), (alone,), {}, None, (alone,))
    )
    assert "1 call of 1 kernel," in found
    assert "1 dispatch in 2.000 ns" in found
    assert "in 1 gap, longest" in found


def test_a_long_run_keeps_its_columns_apart() -> None:
    year_ns = 365 * 86_400 * 10**9
    kernels = (replace(PROFILE.kernels[0], total_ns=year_ns, calls=10**12), *PROFILE.kernels[1:])
    found = replace(PROFILE, kernels=kernels, total_ns=year_ns)
    rows = [line.split() for line in profile_lines(found, kernels, POSITIONS, None, kernels) if line.startswith("  GEMM  ")]
    assert rows[0][:5] == ["GEMM", "1", "1000000000000", *time_text(year_ns).split()]


def test_what_top_cuts_is_said() -> None:
    assert "  ... and 1 more (--top 0 lists all)" in profile_lines(
        PROFILE, PROFILE.kernels[:1], POSITIONS, None, PROFILE.kernels
    )


def test_data_has_every_key_even_of_what_is_not_known() -> None:
    bare = Kernel(name="k", kind=KernelClass.OTHER, calls=1)
    profile = Profile(
        path="c.csv", source=Source.ROCPROF_COUNTERS, files=("c.csv",), grid_unit=GridUnit.WORK_ITEMS, devices=(),
        kernels=(bare,),
        total_ns=0, calls=1,
    )  # fmt: skip
    facts = profile_data(profile, profile.kernels, {}, None, profile.kernels)
    full = profile_data(PROFILE, PROFILE.kernels, POSITIONS, None, PROFILE.kernels)
    assert facts.keys() == full.keys()
    assert facts["kernels"][0].keys() == full["kernels"][0].keys()
    assert (facts["total_ns"], facts["kernels"][0]["total_ns"], full["total_ns"]) == (None, None, 4_000_000)
    assert full["timelines"][0]["idle_percent"] == 20.0
    assert full["kernels"][0]["roofline"]["bound"] == "compute-bound"


def test_csv_is_one_row_per_kernel() -> None:
    rows = list(csv.DictReader(io.StringIO(profile_csv(PROFILE.kernels, POSITIONS))))
    assert [(row["name"], row["calls"], row["grid"], row["workgroup"], row["launches"]) for row in rows] == [
        (GEMM.name, "2", "8192x64x1", "128x1x1", "2"), ("cast", "2", "", "256", "1"),
    ]  # fmt: skip


def test_a_line_end_of_any_kind_in_a_name_is_quoted() -> None:
    kernel = replace(PROFILE.kernels[1], name="first\rsecond\nthird")
    text = profile_csv([kernel], {})
    assert [row["name"] for row in csv.DictReader(io.StringIO(text, newline=""))] == [kernel.name]
    assert "\r\n" not in text


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs matplotlib: pip install -e '.[plot]'")
def test_a_picture_shows_roof_points_and_times() -> None:
    svg = figure_bytes("run $x^2$", PROFILE.kernels, POSITIONS, PEAK, "svg")
    assert svg == figure_bytes("run $x^2$", PROFILE.kernels, POSITIONS, PEAK, "svg")
    said = ["".join(each.itertext()) for each in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    for words in (
        "run $x^2$", "roofline", "FLOP per byte", "TFLOP/s", "time by kernel", "1", "1  gemm", "2  cast", "GEMM", "copy",
        "AMD Instinct MI300X, f16: 1307 TFLOP/s at 2100 MHz, 5300 GB/s",
        "AMD Instinct MI300X, f16: 934 TFLOP/s at 1500 MHz, 5300 GB/s",
    ):  # fmt: skip
        assert words in said, words
    assert figure_bytes("run", PROFILE.kernels, POSITIONS, PEAK, "png").startswith(b"\x89PNG")


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs matplotlib: pip install -e '.[plot]'")
def test_without_points_the_picture_says_what_would_give_them() -> None:
    svg = figure_bytes("run", (CAST,), {}, None, "svg")
    assert b"no kernel with known FLOP and bytes" in svg


def test_the_unit_of_the_grid_stays_within_the_width() -> None:
    """It was printed behind the headings, and wrapped."""
    bare = Kernel(name="gemm_of_a_long_name", kind=KernelClass.GEMM, calls=1, launches=(Launch(grid=(64, 2, 1), calls=1),))
    profile = replace(PROFILE, kernels=(bare,), total_ns=0, calls=1, timelines=(), copies=(), notes=(), missing=())
    lines = profile_lines(profile, (bare,), {}, None, (bare,), 0, 60)
    assert max(map(len, lines[3:])) <= 60
    assert "  (grid in work-items)" in lines
