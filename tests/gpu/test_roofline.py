"""Peaks against the makers' printed figures, positions against a real counter, bounds at their borders."""

import pytest

from expctl.profiles.roofline.ceilings import Bound, Work, position
from expctl.profiles.roofline.fill import fill_of, fill_text
from expctl.profiles.roofline.peaks import Peak, arch_of, peak_of

PRINTED_TFLOPS = (
    # product, units, clock the figure is stated at, type, TFLOP/s: data sheets, dense
    ("AMD Instinct MI300X", 304, 2100, "f16", 1307.4),
    ("AMD Instinct MI300X", 304, 2100, "f8", 2614.9),
    ("AMD Instinct MI210", 104, 1700, "f16", 181.0),
    ("AMD Instinct MI355X", 256, 2400, "f16", 2516.6),
    ("AMD Instinct MI355X", 256, 2400, "f64", 78.6),
    ("AMD Radeon RX 7900 XTX", 96, 2500, "f16", 122.8),
    ("AMD Radeon RX 9070 XT", 64, 2970, "f16", 194.6),
    ("NVIDIA H100 80GB HBM3", 132, 1830, "f16", 989.4),
    ("NVIDIA H200", 132, 1830, "f8", 1978.9),
    ("NVIDIA A100-SXM4-80GB", 108, 1410, "f16", 312.0),
)  # fmt: skip


@pytest.mark.parametrize(("product", "units", "clock", "kind", "tflops"), PRINTED_TFLOPS)
def test_peaks_are_the_printed_ones(product: str, units: int, clock: int, kind: str, tflops: float) -> None:
    peak = peak_of("", product, units, clock)
    assert peak is not None
    assert peak.tflops(kind) == pytest.approx(tflops, rel=2e-3)


def test_what_is_not_known_stays_unknown() -> None:
    assert peak_of("gfx999", "Card", 10, 1000) is None
    assert peak_of("gfx942", "AMD Radeon Graphics", None, None) is None
    nameless = peak_of("gfx942", "AMD Radeon Graphics", 304, 2100)
    assert nameless is not None
    assert nameless.bandwidth_gbs is None
    assert (arch_of("AMD Instinct MI210"), arch_of("AMD Radeon Graphics")) == ("gfx90a", "")


def test_a_sampled_clock_gives_what_the_tensor_pipes_counted() -> None:
    """Our capture: 4096^3 in 222.528 us at 1259.073 MHz; ncu counted the tensor pipes busy for 90.72 % of the cycles."""
    peak = peak_of("sm_90", "NVIDIA H200", 132, 1980)
    found = position(Work(duration_ns=222_528, flop=2 * 4096**3, kind="f16", clock_mhz=1259.073), peak)
    assert found.compute_percent_sampled == pytest.approx(90.72, abs=0.1)
    assert found.compute_percent == pytest.approx(57.7, abs=0.05)


PEAK = Peak(name="a card", clock_mhz=1000, bandwidth_gbs=1000.0, flops_per_cycle={"f16": 100_000})  # 100 TFLOP/s


@pytest.mark.parametrize(
    ("duration", "flop", "moved", "bound"),
    [
        (1e6, 80e9, 1e6, Bound.COMPUTE),
        (1e6, 1e9, 700e6, Bound.MEMORY),
        (1e6, 30e9, 300e6, Bound.LATENCY),
        (1e6, 30e9, None, Bound.UNKNOWN),
        (1e6, None, None, Bound.UNKNOWN),
        (4e3, 1e6, 1e3, Bound.LAUNCH),
        (4e3, 300e6, 1e3, Bound.COMPUTE),
    ],
)
def test_bounds(duration: float, flop: float | None, moved: float | None, bound: Bound) -> None:
    found = position(Work(duration_ns=duration, flop=flop, bytes_moved=moved), PEAK)
    assert (found.bound, bool(found.reason)) == (bound, True)


def test_few_workgroups_leave_units_empty() -> None:
    found = position(Work(duration_ns=1e6, fill=fill_of(3, 40, unit="CU")), PEAK)
    assert (found.bound, found.reason) == (Bound.LATENCY, "3 workgroups leave most of 40 CUs empty")


@pytest.mark.parametrize(("groups", "bound"), [(140, Bound.UNKNOWN), (74, Bound.UNKNOWN), (73, Bound.LATENCY)])
def test_units_of_which_half_have_work_are_not_called_empty(groups: int, bound: Bound) -> None:
    assert position(Work(duration_ns=1e6, fill=fill_of(groups, 148, unit="SM")), PEAK).bound is bound


def test_the_last_round_and_its_tail() -> None:
    found = fill_of(300, 132, unit="SM", per_unit=1, resident_percent=18.75)
    assert found is not None
    assert found.rounds == pytest.approx(2.2727, abs=1e-4)
    assert found.last_percent == pytest.approx(27.27, abs=0.01)
    assert found.tail_percent == pytest.approx(24.24, abs=0.01)
    assert found.waves_percent == 18.75
    assert fill_text(found) == (
        "300 workgroups for 132 SMs (100 % can have work); 1 fit on each: 2.27 rounds, the last 27 % full, a tail of 24 % of"
        " all slots; occupancy 19 % at most"
    )
    single = fill_of(140, 148, unit="SM", per_unit=2, resident_percent=100.0)
    assert single is not None
    assert single.tail_percent is None
    assert single.waves_percent == pytest.approx(47.3, abs=0.01)


@pytest.mark.parametrize(
    ("holds", "bound", "said"),
    [
        (True, Bound.MEMORY, ""),
        (None, Bound.MEMORY, "by uncalibrated counters"),
        (False, Bound.UNKNOWN, "counters that are wrong"),
    ],
)
def test_a_memory_bound_by_counters_says_whether_they_were_checked(holds: bool | None, bound: Bound, said: str) -> None:
    found = position(Work(duration_ns=1e6, bytes_moved=700e6, counters_hold=holds), PEAK)
    assert (found.bound, said in found.reason, "uncalibrated" in found.reason) == (bound, True, holds is None)


def test_the_roof_is_the_lower_limit() -> None:
    low = position(Work(duration_ns=1e6, flop=1e9, bytes_moved=1e9), PEAK)
    high = position(Work(duration_ns=1e6, flop=1e9, bytes_moved=1e6), PEAK)
    assert (low.roof_tflops, high.roof_tflops) == (1.0, 100.0)
