"""Reasons from what a trace alone holds (ROCm's), and when there is none: times, registers, LDS, scratch, grids."""

from dataclasses import replace
from typing import Any

import pytest

from expctl.gpu.headroom import Usage
from expctl.gpu.occupancy import architecture, occupancy
from expctl.profiles.diff.cause import CauseKind
from expctl.profiles.diff.comparable import why_incomparable
from expctl.profiles.diff.run_change import RunChange, compare_runs
from expctl.profiles.model.kernel_profile import Device, GridUnit, Kernel, KernelClass, Launch, Profile, Source

BASE = Launch(
    vgpr=192, lds_bytes=16896, scratch_bytes=0, grid=(4096, 128, 1), workgroup=(64, 2, 1), workgroup_size=128, groups=4096
)


def kernel(
    mean_ms: float, launch: Launch = BASE, *, name: str = "scaled_mm", kind: KernelClass = KernelClass.GEMM, **more: Any
) -> Kernel:
    calls = int(more.pop("calls", 10))
    usage = Usage(vgpr=launch.vgpr or 0, sgpr=0, lds_bytes=launch.lds_bytes or 0, workgroup=launch.workgroup_size or 1)
    return Kernel(
        name=name,
        kind=kind,
        calls=calls,
        total_ns=round(mean_ms * 1e6 * calls),
        mean_ns=mean_ms * 1e6,
        sd_ns=more.pop("sd_ms", 0.01) * 1e6,
        share_percent=more.pop("share", 100.0),
        launches=(launch,),
        occupancy=occupancy(architecture("gfx1151"), usage),
        counters=more,
    )


def kind(before: Kernel, after: Kernel) -> CauseKind | None:
    why = compare_runs([before], [after]).why
    return why.kind if why else None


def test_the_seeds_launch_shape() -> None:
    after = replace(BASE, grid=(8192, 64, 1), workgroup=(128, 1, 1))
    found = compare_runs([kernel(40.272)], [kernel(41.082, after)]).why
    assert found is not None
    assert found.sentence == (
        "scaled_mm takes 2.0 % longer: another launch shape: workgroups of 64x2 -> 128; registers, LDS and the number of"
        " work-items are the same."
    )


@pytest.mark.parametrize("mean", [40.272, 40.5, 40.85])
def test_within_the_noise_nothing_is_said(mean: float) -> None:
    assert kind(kernel(40.272), kernel(mean, replace(BASE, scratch_bytes=64))) is None


def test_calls_that_spread_widely_need_a_larger_difference() -> None:
    assert kind(kernel(40.0), kernel(42.0, replace(BASE, scratch_bytes=64))) is CauseKind.SPILL
    assert kind(kernel(40.0, sd_ms=5.0), kernel(42.0, replace(BASE, scratch_bytes=64), sd_ms=5.0)) is None


def test_two_problem_sizes_in_one_profile_are_no_noise() -> None:
    def mixed(mean: float, repeat_sd_ms: float, calls: tuple[int, int], **of_launch: Any) -> Kernel:
        launches = [replace(BASE, groups=4096 // (1 + n), calls=each, **of_launch) for n, each in enumerate(calls)]
        one = kernel(mean, sd_ms=20.0, calls=sum(calls))
        return replace(one, launches=tuple(launches), repeat_sd_ns=1e6 * repeat_sd_ms)

    assert kind(mixed(40.0, 0.1, (3, 3)), mixed(48.0, 0.1, (3, 3), scratch_bytes=64)) is CauseKind.SPILL
    assert kind(mixed(40.0, 9.0, (3, 3)), mixed(48.0, 9.0, (3, 3), scratch_bytes=64)) is None  # noisy by itself
    assert kind(mixed(40.0, 0.1, (3, 3)), mixed(48.0, 0.1, (2, 4), scratch_bytes=64)) is None  # another mix
    assert kind(mixed(40.0, 0.1, (2, 2)), mixed(48.0, 0.1, (2, 2), scratch_bytes=64)) is None  # too few to know


def test_scratch_explains_what_is_slower_and_not_what_is_faster() -> None:
    spilling = replace(BASE, scratch_bytes=128, vgpr=96)
    assert kind(kernel(40.0), kernel(48.0, spilling)) is CauseKind.SPILL
    assert kind(kernel(48.0), kernel(40.0, spilling)) is None


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("more", [{"lds_bytes": 60000}, {"vgpr": 256}])
def test_scratch_beside_fewer_workgroups_that_fit_is_two_things(more: dict[str, Any], known: bool) -> None:
    """Registers or LDS may have taken the time as well; where the GPU isn't named nobody knows how many fit."""
    small, large = replace(BASE, vgpr=96), replace(BASE, **({"vgpr": 96, "scratch_bytes": 64} | more))
    sides = [kernel(40.0, small), kernel(48.0, large)]
    sides = sides if known else [replace(each, occupancy=None) for each in sides]
    assert kind(*sides) is None
    assert kind(sides[1], sides[0]) is None
    assert kind(sides[0], replace(sides[1], launches=(replace(small, scratch_bytes=64),), occupancy=sides[0].occupancy)) is (
        CauseKind.SPILL
    )


def test_lds_that_lowers_occupancy() -> None:
    large = replace(BASE, vgpr=96, lds_bytes=60000)
    small = replace(large, lds_bytes=8192)
    assert kind(kernel(40.0, small), kernel(48.0, large)) is CauseKind.OCCUPANCY
    assert kind(kernel(48.0, small), kernel(40.0, large)) is None


def test_occupancy_of_a_grid_that_fits_at_once_is_no_reason() -> None:
    """20 WGPs hold 40 of these workgroups even at the lower occupancy."""
    large = replace(BASE, vgpr=96, lds_bytes=60000, groups=40)
    small = replace(large, lds_bytes=8192)
    sides = [replace(kernel(mean, launch), units=40) for mean, launch in ((40.0, small), (48.0, large))]
    assert kind(*sides) is None
    more = [replace(each, launches=(replace(each.launch, groups=41),)) for each in sides]
    assert kind(*more) is CauseKind.OCCUPANCY


def test_scratch_beside_much_more_arithmetic_is_two_things() -> None:
    spilling = replace(BASE, scratch_bytes=64)
    counted: dict[str, Any] = {"SQ_INSTS_VALU": 1e6, "SQ_INSTS": 2e6}
    assert kind(kernel(40.0, **counted), kernel(80.0, spilling, SQ_INSTS_VALU=2e6, SQ_INSTS=3e6)) is None
    assert kind(kernel(40.0, **counted), kernel(80.0, spilling, SQ_INSTS_VALU=1e6, SQ_INSTS=3e6)) is CauseKind.SPILL


def test_registers_alone_are_other_code_and_no_reason() -> None:
    assert kind(kernel(40.0, replace(BASE, vgpr=96)), kernel(48.0, replace(BASE, vgpr=256))) is None


def test_more_groups_of_the_same_code_are_a_larger_problem_only_if_time_grows_with_them() -> None:
    larger = replace(BASE, grid=(8192, 128, 1), groups=8192)
    assert kind(kernel(40.0), kernel(80.0, larger)) is CauseKind.SIZE
    assert kind(kernel(40.0), kernel(42.0, larger)) is None
    assert kind(kernel(40.0), kernel(20.0, larger)) is None


@pytest.mark.parametrize(
    ("groups", "times", "found"), [(2, 3.5, None), (2, 10, None), (2, 2.8, CauseKind.SIZE), (4, 8, CauseKind.SIZE)]
)
def test_a_larger_problem_takes_no_longer_than_its_products(groups: int, times: float, found: CauseKind | None) -> None:
    """A cube of twice the edge has four times the workgroups and eight times the products."""
    larger = replace(BASE, grid=(4096 * groups, 128, 1), groups=4096 * groups)
    assert kind(kernel(40.0), kernel(40.0 * times, larger)) is found
    counted: dict[str, Any] = {"SQ_INSTS": 2e6 * groups}
    assert kind(kernel(40.0, SQ_INSTS=2e6), kernel(40.0 * times, larger, **counted)) is found


def test_a_tile_moves_groups_and_resources_in_opposite_directions() -> None:
    smaller = replace(BASE, grid=(8192, 256, 1), groups=16384, lds_bytes=4608)
    assert kind(kernel(40.0), kernel(60.0, smaller)) is CauseKind.TILE
    assert kind(kernel(40.0), kernel(60.0, replace(smaller, lds_bytes=40000))) is None


def test_a_smaller_problem_on_more_registers_is_no_larger_tile() -> None:
    """A quarter of the workgroups in an eighth of the time: a trace holds nothing that tells tile from problem."""
    larger = replace(BASE, grid=(2048, 64, 1), groups=1024, vgpr=256)
    assert kind(kernel(40.0), kernel(5.0, larger)) is None
    assert kind(kernel(40.0), kernel(36.0, larger)) is CauseKind.TILE


def test_a_few_bytes_of_scratch_are_no_reason() -> None:
    assert kind(kernel(40.0), kernel(48.0, replace(BASE, scratch_bytes=8))) is None


def test_conflicts_too_few_for_the_time() -> None:
    counted: dict[str, Any] = {"SQ_INSTS_LDS": 1e6, "SQ_LDS_IDX_ACTIVE": 4e6, "SQ_LDS_BANK_CONFLICT": 1e5}
    worse = counted | {"SQ_LDS_IDX_ACTIVE": 4.2e6, "SQ_LDS_BANK_CONFLICT": 3e5}
    assert kind(kernel(40.0, **counted), kernel(80.0, **worse)) is None


def test_conflicts_of_rocm_counters() -> None:
    counted: dict[str, Any] = {"SQ_INSTS_LDS": 1e6, "SQ_LDS_IDX_ACTIVE": 4e6, "SQ_LDS_BANK_CONFLICT": 1e5}
    worse = counted | {"SQ_LDS_IDX_ACTIVE": 6e6, "SQ_LDS_BANK_CONFLICT": 2.1e6}
    assert kind(kernel(40.0, **counted), kernel(44.0, **worse)) is CauseKind.CONFLICTS
    assert kind(kernel(44.0, **counted), kernel(40.0, **worse)) is None


def cast(mean_ms: float, **more: float) -> Kernel:
    return kernel(mean_ms, replace(BASE, vgpr=16, lds_bytes=0), name="to_copy", kind=KernelClass.COPY, **more)


def why(before: list[Kernel], after: list[Kernel]) -> CauseKind | None:
    found: RunChange = compare_runs(before, after)
    return found.why.kind if found.why else None


def test_extra_missing_and_more_calls() -> None:
    assert why([kernel(40.0)], [kernel(40.1), cast(1.0)]) is CauseKind.EXTRA
    assert why([kernel(40.0), cast(1.0)], [kernel(40.1)]) is CauseKind.MISSING
    assert why([kernel(40.0), cast(1.0)], [kernel(40.1), cast(1.0, calls=30)]) is CauseKind.CALLS
    assert why([kernel(40.0)], [kernel(40.1), cast(0.2)]) is None  # half a percent


def test_more_passes_are_no_difference() -> None:
    before, after = [kernel(40.0), cast(1.0)], [kernel(40.0, calls=20), cast(1.0, calls=20)]
    found = compare_runs(before, after)
    assert (found.before_ns, found.after_ns, found.why) == (41e6, 41e6, None)


def test_two_programs_have_no_common_pass() -> None:
    small = kernel(0.01, replace(BASE, vgpr=8), name="copy", kind=KernelClass.COPY, calls=733)
    fewer = kernel(0.01, replace(BASE, vgpr=8), name="copy", kind=KernelClass.COPY, calls=4)
    other = kernel(80.0, name="attend", kind=KernelClass.ATTENTION, share=40.0)
    found = compare_runs([kernel(40.0), small], [fewer, other])
    assert (found.before_ns, found.why) == (None, None)


def test_changes_that_outweigh_each_other_have_no_single_reason() -> None:
    spilling = replace(BASE, scratch_bytes=64)
    assert why([kernel(40.0), cast(5.0)], [kernel(44.0, spilling), cast(1.0)]) is None
    assert why([kernel(40.0)], [kernel(39.1), cast(1.0)]) is None


def test_of_several_changes_one_must_be_most() -> None:
    spilling = replace(BASE, scratch_bytes=64)
    others = [kernel(5.0, name="a", kind=KernelClass.REDUCTION), kernel(5.0, name="b", kind=KernelClass.ATTENTION)]
    slower = [kernel(6.9, name="a", kind=KernelClass.REDUCTION), kernel(6.9, name="b", kind=KernelClass.ATTENTION)]
    assert why([kernel(40.0), *others], [kernel(42.0, spilling), *slower]) is None
    assert why([kernel(40.0), *others], [kernel(42.0, spilling), *others]) is CauseKind.SPILL


def test_what_every_kernel_suffers_has_no_reason_in_one() -> None:
    """A clock, or another user of the machine: a trace has no cycles to tell."""
    spilling = replace(BASE, scratch_bytes=64)
    assert why([kernel(40.0), cast(5.0)], [kernel(48.0, spilling), cast(6.0)]) is None
    assert why([kernel(40.0), cast(5.0)], [kernel(48.0, spilling), cast(5.1)]) is CauseKind.SPILL


def test_a_kernel_that_runs_once_is_no_part_of_a_pass() -> None:
    assert why([kernel(40.0)], [kernel(40.1), cast(10.0, calls=1)]) is None
    assert why([kernel(40.0), cast(10.0, calls=1)], [kernel(40.1)]) is None


def test_a_larger_problem_on_other_registers_is_no_spill() -> None:
    larger = replace(BASE, grid=(8192, 128, 1), groups=8192, vgpr=200, scratch_bytes=64)
    assert kind(kernel(40.0), kernel(80.0, larger)) is None


def test_single_calls_need_a_larger_difference() -> None:
    spilling = replace(BASE, scratch_bytes=64)
    assert kind(kernel(40.0, calls=1), kernel(42.0, spilling, calls=1)) is None
    assert kind(kernel(40.0, calls=1), kernel(48.0, spilling, calls=1)) is CauseKind.SPILL


def test_a_kernel_of_another_name_that_spills_is_another_kernel() -> None:
    assert kind(kernel(40.0, name="a"), kernel(48.0, replace(BASE, scratch_bytes=64), name="b")) is CauseKind.KERNEL


def profile(source: Source = Source.ROCPROF_CSV, **facts: Any) -> Profile:
    return Profile(
        path="x", source=source, files=("x",), grid_unit=GridUnit.WORK_ITEMS, devices=(Device(name="agent 1", **facts),),
        kernels=(), total_ns=0, calls=0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (profile(arch="gfx90a"), "before ran on gfx942, after on gfx90a"),
        (profile(arch="gfx942", product="MI325X"), "before ran on MI300X, after on MI325X"),
        (profile(arch="gfx942", product="MI300X", units=38), "before ran on 304 units, after on 38 units"),
        (profile(Source.ROCPROF_COUNTERS, arch="gfx942"), "different ways"),
        (profile(arch="gfx942", product="MI300X", units=304), ""),
        (profile(), ""),
    ],
)
def test_profiles_that_do_not_compare(after: Profile, said: str) -> None:
    found = why_incomparable(profile(arch="gfx942", product="MI300X", units=304), after)
    assert said in found if said else found == ""
    change = compare_runs([kernel(40.0)], [kernel(48.0, replace(BASE, scratch_bytes=64))], incomparable=found)
    assert (change.why is None, change.changes[0].cause is None) == (bool(said), bool(said))


def test_two_pages_of_one_report_compare() -> None:
    assert why_incomparable(profile(Source.NCU_RAW), profile(Source.NCU_DETAILS)) == ""


def test_another_kernel_in_its_place() -> None:
    after = kernel(41.0, replace(BASE, vgpr=256, lds_bytes=17408), name="Cijk_Ailk_Bljk")
    found = compare_runs([kernel(40.0)], [after])
    assert [each.pair.by for each in found.changes] == ["role"]
    assert found.why is not None
    assert found.why.kind is CauseKind.KERNEL


def test_untimed_profiles_have_no_reason() -> None:
    bare = replace(kernel(1.0), total_ns=None, mean_ns=None, sd_ns=None)
    assert compare_runs([bare], [bare]).why is None
