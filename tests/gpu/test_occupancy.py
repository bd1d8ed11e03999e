"""Occupancy against what LLVM printed, the figures of our own kernels' notes, and the meaning of headroom."""

import csv
import gzip
import io
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.domain.errors import Refused
from expctl.gpu.architectures import ARCHITECTURES, ModeName
from expctl.gpu.headroom import Usage
from expctl.gpu.occupancy import architecture, llvm_waves, occupancy

COPY = Path(__file__).with_name("llvm_19_occupancy.csv.gz")
SHARED = Path(__file__).parents[3] / "shared" / "data" / "occupancy" / "llvm_oracle.csv"
POINTS = 6272
AMD = sorted(name for name in ARCHITECTURES if name.startswith("gfx"))


def oracle() -> list[dict[str, str]]:
    """Our own capture: compiled kernels whose registers, LDS and workgroup were forced, and LLVM's `; Occupancy:`."""
    return list(csv.DictReader(io.StringIO(gzip.decompress(COPY.read_bytes()).decode())))


def test_the_copy_is_the_capture() -> None:
    if not SHARED.is_file():
        pytest.skip("the shared data are not beside this checkout")
    assert gzip.decompress(COPY.read_bytes()) == SHARED.read_bytes()


def test_every_point_of_llvm() -> None:
    rows = oracle()
    assert len(rows) == POINTS
    wrong = []
    for row in rows:
        gpu = architecture(row["arch"], int(row["wave"]))
        mode = next((each for each in gpu.modes if each.name is ModeName.CU), None) if row["cumode"] == "True" else gpu.modes[0]
        assert mode is not None
        agpr, vgpr = int(row["agpr"]), int(row["NumVgprs"])
        total = -(-vgpr // 4) * 4 + agpr if agpr else vgpr
        assert str(total) == (row["TotalNumVgprs"] or row["NumVgprs"])
        usage = Usage(vgpr=total, sgpr=0, lds_bytes=int(row["LDSByteSize"]), workgroup=int(row["workgroup_size"]))
        if llvm_waves(gpu, mode, usage) != int(row["occupancy_waves_per_eu"]):
            wrong.append(row)
    assert wrong == []


def test_the_rocblas_kernel_of_the_notes() -> None:
    found = occupancy(architecture("gfx1151"), Usage(vgpr=256, sgpr=128, lds_bytes=17408, workgroup=128))
    assert [(each.mode, each.percent) for each in found.resident] == [(ModeName.WGP, 31.25), (ModeName.CU, 25.0)]
    assert found.naive_percent == 37.5
    assert (found.waves_per_simd, found.vgpr_allocated, found.limiter) == (5, 264, "vgpr")
    assert (found.headroom.vgpr_fewer, found.headroom.vgpr_fewer_gives) == (16, 6)
    assert (found.headroom.lds_bytes_fewer, found.headroom.vgpr_more) == (None, None)
    assert (found.headroom.vgpr_left, found.headroom.lds_bytes_left) == (0, 65536 - 17408)


# Limiters, by hand: (arch, vgpr, lds, workgroup) -> LLVM's figure and what limits it.
LIMITERS = {
    ("gfx1151", 24, 0, 256): (16, "wave slots"),
    ("gfx1151", 97, 0, 256): (12, "vgpr"),
    ("gfx1151", 24, 65536, 256): (4, "lds"),
    ("gfx1151", 24, 0, 1024): (16, "wave slots"),
    ("gfx1151", 24, 0, 768): (12, "workgroup size"),
    ("gfx1151", 24, 0, 33): (16, "wave slots"),
    ("gfx1030", 256, 0, 256): (4, "vgpr"),
    ("gfx90a", 512, 0, 256): (1, "vgpr"),
    ("gfx90a", 24, 0, 128): (8, "wave slots"),
    ("gfx90a", 24, 32768, 256): (2, "lds"),
    ("gfx950", 24, 32768, 256): (5, "lds"),
    ("gfx942", 128, 32768, 512): (4, "vgpr, lds"),
}


@pytest.mark.parametrize("case", LIMITERS)
def test_limiters(case: tuple[str, int, int, int]) -> None:
    arch, vgpr, lds_bytes, workgroup = case
    found = occupancy(architecture(arch), Usage(vgpr=vgpr, sgpr=0, lds_bytes=lds_bytes, workgroup=workgroup))
    assert (found.waves_per_simd, found.limiter) == LIMITERS[case]


def test_barrier_slots_limit_small_workgroups() -> None:
    """64 slots of a compute unit, two waves each: sixteen barriers hold half of them."""
    found = occupancy(architecture("gfx1151"), Usage(vgpr=8, sgpr=0, lds_bytes=0, workgroup=64))
    assert [(each.workgroups, each.limiter) for each in found.resident] == [(32, "wave slots"), (16, "wave slots")]
    cdna = occupancy(architecture("gfx90a"), Usage(vgpr=8, sgpr=0, lds_bytes=0, workgroup=64))
    assert cdna.resident[0].workgroups == 32  # one wave each: no barrier


def test_lds_is_rounded_up_for_what_is_resident_and_not_for_llvm() -> None:
    """43,690 B: three fit into 131,072 as LLVM divides, and as 43 KiB blocks of 44,032 B only two."""
    found = occupancy(architecture("gfx1151"), Usage(vgpr=24, sgpr=0, lds_bytes=43_690, workgroup=128))
    assert found.waves_per_simd == 3
    assert found.resident[0].workgroups == 2


def test_many_scalar_registers_cost_a_wave_on_cdna_alone() -> None:
    """As clang prints it for a kernel that touches s99: 7 on gfx90a, 16 on gfx1151."""
    usage = Usage(vgpr=8, sgpr=104, lds_bytes=0, workgroup=256)
    assert occupancy(architecture("gfx90a"), usage).waves_per_simd == 7
    assert occupancy(architecture("gfx90a"), usage).limiter == "sgpr"
    assert occupancy(architecture("gfx90a"), replace(usage, sgpr=100)).waves_per_simd == 8
    assert occupancy(architecture("gfx1151"), usage).waves_per_simd == 16


# By CUDA's rules, worked by hand: (registers, shared bytes, block) -> resident blocks, limiter.
SM_90 = {
    (32, 0, 256): (8, "wave slots"),
    (168, 0, 128): (3, "vgpr"),  # 168 x 32 = 5376; three warps to each quarter of 16384
    (40, 0, 32): (32, "barrier slots"),
    (64, 232448, 256): (1, "lds"),
    (64, 116000, 256): (1, "lds"),  # 116000 and the reserved 1024 are 117120 in blocks of 128
    (64, 115712, 256): (2, "lds"),  # with 1024 reserved, exactly half of 233472
    (255, 0, 1024): (0, "vgpr"),
}


@pytest.mark.parametrize("case", SM_90)
def test_hopper(case: tuple[int, int, int]) -> None:
    registers, shared_bytes, block = case
    (found,) = occupancy(architecture("sm_90"), Usage(vgpr=registers, sgpr=0, lds_bytes=shared_bytes, workgroup=block)).resident
    assert (found.workgroups, found.limiter) == SM_90[case]
    assert found.percent == 100 * found.waves / 64


# By the same rules: (GPU, registers, shared bytes, block) -> resident blocks, limiter.
NVIDIA = {
    ("sm_70", 32, 0, 256): (8, "wave slots"),
    ("sm_70", 32, 49152, 256): (2, "lds"),  # 96 KiB, nothing reserved
    ("sm_80", 32, 49152, 256): (3, "lds"),  # 49152 + 1024, three times, within 167936
    ("sm_80", 40, 0, 32): (32, "barrier slots"),
    ("sm_86", 32, 0, 256): (6, "wave slots"),  # 48 warps
    ("sm_86", 40, 0, 32): (16, "barrier slots"),
    ("sm_89", 40, 0, 32): (24, "barrier slots"),
    ("sm_89", 64, 49152, 256): (2, "lds"),  # twice 50176 within 102400
    ("sm_100", 168, 0, 128): (3, "vgpr"),
}


@pytest.mark.parametrize("case", NVIDIA)
def test_other_generations_of_nvidia(case: tuple[str, int, int, int]) -> None:
    arch, registers, shared_bytes, block = case
    (found,) = occupancy(architecture(arch), Usage(vgpr=registers, sgpr=0, lds_bytes=shared_bytes, workgroup=block)).resident
    assert (found.workgroups, found.limiter) == NVIDIA[case]


usages = st.builds(
    Usage,
    vgpr=st.integers(0, 255),
    sgpr=st.integers(0, 108),
    lds_bytes=st.integers(0, 65536),
    workgroup=st.integers(1, 1024),
)


@given(arch=st.sampled_from(sorted(ARCHITECTURES)), usage=usages)
def test_headroom_is_exact(arch: str, usage: Usage) -> None:
    gpu = architecture(arch)
    found = occupancy(gpu, usage)
    room, figure = found.headroom, found.waves_per_simd

    def with_vgpr(vgpr: int) -> int:
        return occupancy(gpu, replace(usage, vgpr=vgpr)).waves_per_simd

    def with_lds(lds_bytes: int) -> int:
        return occupancy(gpu, replace(usage, lds_bytes=lds_bytes)).waves_per_simd

    for now, most, more, fewer, gives, again in (
        (usage.vgpr, gpu.vgpr_most, room.vgpr_more, room.vgpr_fewer, room.vgpr_fewer_gives, with_vgpr),
        (usage.lds_bytes, gpu.lds_most, room.lds_bytes_more, room.lds_bytes_fewer, room.lds_bytes_fewer_gives, with_lds),
    ):
        if more is None:
            assert again(most) == figure
        else:
            assert again(now + more) == figure > again(now + more + 1)
        if fewer is None:
            assert again(0) == figure
        else:
            assert gives is not None
            assert again(now - fewer) == gives > again(now - fewer + 1) == figure


@given(arch=st.sampled_from(AMD), usage=usages)
def test_what_is_resident_fits(arch: str, usage: Usage) -> None:
    gpu = architecture(arch)
    for mode, found in zip(gpu.modes, occupancy(gpu, usage).resident, strict=True):
        waves = -(-usage.workgroup // gpu.wave)
        assert found.waves == found.workgroups * waves <= gpu.waves_per_simd * mode.simds
        assert found.workgroups * usage.lds_bytes <= mode.lds_bytes
        assert found.waves * usage.vgpr <= gpu.vgpr_total * mode.simds
        assert found.percent <= 100


@pytest.mark.parametrize(
    ("arch", "wave", "usage"),
    [
        ("gfx1250", None, Usage(vgpr=1, sgpr=0, lds_bytes=0, workgroup=1)),
        ("gfx90a", 32, Usage(vgpr=1, sgpr=0, lds_bytes=0, workgroup=1)),
        ("sm_90", 64, Usage(vgpr=1, sgpr=0, lds_bytes=0, workgroup=1)),
        ("gfx1151", None, Usage(vgpr=257, sgpr=0, lds_bytes=0, workgroup=1)),
        ("gfx1151", None, Usage(vgpr=1, sgpr=0, lds_bytes=65537, workgroup=1)),
        ("gfx1151", None, Usage(vgpr=1, sgpr=0, lds_bytes=0, workgroup=0)),
        ("gfx1151", None, Usage(vgpr=1, sgpr=0, lds_bytes=0, workgroup=1025)),
    ],
)
def test_what_cannot_be_is_refused(arch: str, wave: int | None, usage: Usage) -> None:
    with pytest.raises(Refused) as refusal:
        occupancy(architecture(arch, wave), usage)
    assert refusal.value.expected
    assert refusal.value.found


def test_a_workgroup_that_fits_nowhere_says_why() -> None:
    gpu = architecture("gfx1151")
    wgp, cu = occupancy(gpu, Usage(vgpr=256, sgpr=0, lds_bytes=0, workgroup=1024)).resident
    assert (wgp.workgroups, cu.workgroups) == (0, 0)
    assert wgp.obstacle == "its 32 waves need 264 VGPRs each, and one WGP has registers for 20 such waves"
    assert "one CU has registers for 10 such waves" in cu.obstacle
    wgp, cu = occupancy(gpu, Usage(vgpr=200, sgpr=0, lds_bytes=0, workgroup=768)).resident
    assert (wgp.workgroups, wgp.obstacle, cu.workgroups, bool(cu.obstacle)) == (1, "", 0, True)


@given(arch=st.sampled_from(AMD), vgpr=st.integers(0, 256), lds=st.integers(0, 65536), workgroup=st.integers(1, 1024))
def test_registers_are_the_only_obstacle(arch: str, vgpr: int, lds: int, workgroup: int) -> None:
    for each in occupancy(architecture(arch), Usage(vgpr=vgpr, sgpr=128, lds_bytes=lds, workgroup=workgroup)).resident:
        assert bool(each.obstacle) == (each.workgroups == 0)
        assert each.workgroups or (each.limiter == "vgpr" and each.headroom.vgpr_fewer)
