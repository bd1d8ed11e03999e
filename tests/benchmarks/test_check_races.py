"""Strangers' programs that race do so in every order, those that don't in none: a sample; all of them with --long."""

import pytest

from benchmarks.check.races import FOLDER, answer, expected

SAMPLE = (
    "07_sload_war_bar",  # a scalar load and a store of one workgroup, apart by a barrier
    "08_sload_war_nobar",  # and without it
    "10_sload_wg_writer0",  # a scalar load and a store of two workgroups
    "11_sload_wg_apart",  # and of other words
    "16_stencil_inplace",  # vector accesses of two workgroups
    "39_three_readers_writer",  # more readers of a byte than one
)
PROGRAMS = [
    pytest.param(each.name, marks=[] if each.name in SAMPLE else [pytest.mark.long]) for each in sorted(FOLDER.iterdir())
]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_told_right_in_every_order(name: str) -> None:
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    assert answer(FOLDER / name) == expected(FOLDER / name)
