"""Strangers' kernels pass `expctl check`, and what they planted is found: a sample; all of them with --long."""

import pytest

from benchmarks.check.kernels import FOLDER, LEAST_FOUND, LEVELS, judged

SAMPLE = ("embedding_scatter", "segmented_sum_sorted", "strided_map_switch")
DOUBLES = ("dot_f64", "jacobi_f64")  # double precision is not interpreted
KERNELS = [
    pytest.param(each.name, marks=[] if each.name in SAMPLE else [pytest.mark.long])
    for each in sorted(FOLDER.iterdir())
    if each.name not in DOUBLES
]


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_passes_at_every_level_and_its_planted_faults_are_found(name: str) -> None:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    found = judged(FOLDER / name, LEVELS)
    assert not any(found.said.values()), found.said
    assert found.found >= LEAST_FOUND, found.planted
