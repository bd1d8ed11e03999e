"""What rocprofv3 prints of registers, against what the kernel descriptors of those kernels say."""

import pytest

from expctl.profiles.roofline.reported_registers import corrected, register_rules


def one(
    arch: str, vgpr: int, accum: int, sgpr: int, *others: tuple[int, int, int]
) -> tuple[int | None, int | None, int | None]:
    found = corrected(register_rules(arch, [(vgpr, accum, sgpr), *others]), vgpr, accum, sgpr)
    return found.vgpr, found.agpr, found.sgpr


def test_the_sum_is_right_where_the_split_wraps() -> None:
    # 160 arch + 96 accumulation: the five bits that are read make 160 into 32, and the rest of 256 is called accumulation
    assert one("gfx90a", 32, 224, 112) == (256, None, 112)
    assert one("gfx942", 20, 0, 32) == (20, None, 32)


@pytest.mark.parametrize("other", [(12, 0, 16), (20, 0, 48)])
def test_gfx950_is_doubled_only_on_evidence(other: tuple[int, int, int]) -> None:
    assert one("gfx950", 192, 0, 112, other) == (384, None, 112)
    assert one("gfx950", 192, 0, 112) == (192, 0, 112)
    assert "nothing in this file shows" in register_rules("gfx950", [(192, 0, 112)]).notes[0]
    assert register_rules("gfx950", [(192, 8, 112)]).notes == ()


@pytest.mark.parametrize("arch", ["gfx1030", "gfx1100", "gfx1151", "gfx1201", "gfx1250"])
def test_a_constant_is_no_count(arch: str) -> None:
    assert one(arch, 256, 0, 128) == (256, 0, None)
    assert register_rules(arch, [(256, 0, 128)]).notes


def test_gfx908s_accumulation_registers_are_a_copy_of_the_others() -> None:
    assert one("gfx908", 64, 64, 48) == (64, None, 48)
    assert "prints VGPR_Count again" in register_rules("gfx908", [(64, 64, 48)]).notes[0]


def test_gfx906_is_left_alone() -> None:
    assert one("gfx906", 64, 0, 48) == (64, 0, 48)
    assert register_rules("gfx906", [(64, 0, 48)]).notes == ()


def test_without_a_name_the_constant_still_shows() -> None:
    assert one("", 16, 0, 128) == (16, 0, None)
    assert one("", 16, 0, 32) == (16, 0, 32)
    assert register_rules("", [(None, None, None)]).notes == ()
