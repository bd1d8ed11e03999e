"""Times of rivals: how many times as fast, how sure; which kernels cast; what lies near in a code object."""

from math import comb

import pytest

from expctl.domain.experiment.rivals import (
    CodeObject,
    Rival,
    RivalKernel,
    Rivals,
    RivalSize,
    Role,
    code_object,
    speed_ratio,
)
from expctl.domain.protocol.model import NumberKind


def rival(*ns: float, role: Role = Role.RIVAL, name: str = "naive") -> Rival:
    return Rival(name=name, role=role, ns=ns)


def kernel(name: str, calls: int = 10, mean_ns: float = 1e6) -> RivalKernel:
    return RivalKernel(name=name, calls=calls, mean_ns=mean_ns)


def test_the_ratio_is_the_median_over_turns_of_both() -> None:
    ours, other = rival(100.0, 200.0, 100.0, role=Role.OURS), rival(150.0, 310.0, 170.0)
    assert speed_ratio(ours, other) == (1.55, 1.5, 1.7)


@pytest.mark.parametrize("count", [1, 5, 6, 9, 21, 40])
def test_the_interval_misses_the_median_in_at_most_five_percent(count: int) -> None:
    ours, other = rival(*[1.0] * count, role=Role.OURS), rival(*map(float, range(1, count + 1)))
    _, low, high = speed_ratio(ours, other)
    below = int(low) - 1
    assert below == count - int(high)
    missed = [2 * sum(comb(count, i) for i in range(cut)) / 2**count for cut in (below, below + 1)]
    assert missed[0] <= 0.05 < missed[1]


@pytest.mark.parametrize(
    ("name", "casts"),
    [
        ("triton_poi_fused__to_copy_0", True),
        ("graph_0_cpp_fused__to_copy_0", True),
        ("aten::copy_", True),
        ("void at::native::unrolled_elementwise_kernel<at::native::float8_copy_kernel_cuda(at::TensorIteratorBase&)>", True),
        ("triton_poi_fused__to_copy_add_mul_1", False),
        ("graph_0_cpp_fused__to_copy_add_mul_1", False),
        ("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI16x16x16x1_SN_1LDSB1", False),
        ("aten::mm", False),
    ],
)
def test_a_kernel_that_only_converts_is_known_by_its_name(name: str, casts: bool) -> None:
    assert kernel(name).is_cast is casts


def test_the_seeds_figures_of_the_cast() -> None:
    """Seed 000: 23 calls of .952 ms move 201 MB each: 212 GB/s."""
    cast = kernel("triton_poi_fused__to_copy_0", 23, 951_516.0)
    product = kernel("Cijk_Ailk_Bljk", 23, 40_185_627.0)
    one = Rival(
        name="torch.compile", role=Role.RIVAL, ns=(42.2e6,), products=23, kernels=(product, cast), cast_bytes=201_326_592
    )
    assert round(one.cast_bytes / one.cast_ns) == 212
    assert Rival(name="fused", role=Role.RIVAL, ns=(1.0,), products=23, kernels=(product,), cast_bytes=7).cast_ns == 0


def test_the_quickest_of_a_role_is_found_and_absent_ones_are_not() -> None:
    slow, quick = rival(3.0), rival(2.0, name="compiled")
    size = RivalSize(
        name="n", entries=(rival(1.0, role=Role.OURS), slow, quick, Rival(name="x", role=Role.WALL, absent="no g++"))
    )
    assert (size.quickest(Role.RIVAL), size.quickest(Role.WALL)) == (quick, None)


def test_the_likest_names_differ_in_the_fewest_parts() -> None:
    names = ["Cijk_MT64_EPS0_GLVWA4", "Cijk_MT128_EPS0_GLVWA8", "Cijk_MT128_EPS1_GLVWA8", "copy", "Cijk_MT128_EPS1_GLVWA4"]
    found = code_object("Cijk_MT128_EPS1_GLVWA8", names)
    assert found == CodeObject(
        symbol="Cijk_MT128_EPS1_GLVWA8",
        count=5,
        nearest=("Cijk_MT128_EPS0_GLVWA8", "Cijk_MT128_EPS1_GLVWA4", "copy", "Cijk_MT64_EPS0_GLVWA4"),
    )


def test_each_run_has_a_file_of_its_own() -> None:
    made = Rivals(
        target="cpu", date="2026-11-24T03:18:09Z", head="a" * 40, artifact="b" * 64, number_kind=NumberKind.WALL_TIME, sizes=()
    )
    assert made.path == "experiments/rivals/cpu-20261124031809.json"
