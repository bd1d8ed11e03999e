"""nvcc is told the architecture so that instructions of one architecture alone compile; figures of the kernels in a build."""

from pathlib import Path

import pytest

from expctl.domain.protocol.model import Build, Toolchain
from expctl.targets.sm_90 import NVCC, device_facts
from tests.targets.test_rocm import library

CUBIN = Path(__file__).parents[1] / "inspection" / "specimens" / "tile_sm_90.cubin"


@pytest.mark.parametrize(
    ("arch", "option"),
    [("sm_90a", "-gencode=arch=compute_90a,code=sm_90a"), ("sm_86", "-arch=sm_86"), ("native", "-arch=native")],
)
def test_the_option_for_an_architecture(arch: str, option: str) -> None:
    build = Build(toolchain=Toolchain.NVCC, arch=arch, source="kernel.cu", artifact="kernel.so", flags=("-O3",))
    (argv,) = NVCC.commands(build, out=Path("out"))
    assert argv == ("nvcc", option, "-shared", "-Xcompiler", "-fPIC", "-no-compress", "-O3", "kernel.cu", "-o", "out/kernel.so")


def test_the_figures_of_the_kernels_in_a_library(tmp_path: Path) -> None:
    cubin, without_kernel = CUBIN.read_bytes(), CUBIN.read_bytes()[:64]
    facts = device_facts(
        library(tmp_path / "two", b"head" + without_kernel + bytes(64) + cubin + bytes(24) + cubin, ".nv_fatbin")
    )
    assert {fact.name: fact.value for fact in facts} == {"vgpr": 8, "lds": 2048, "scratch": 0, "code": 384}


@pytest.mark.parametrize("fat", [b"", b"compressed", CUBIN.read_bytes()[:3000]], ids=["empty", "compressed", "cut"])
def test_a_library_without_a_readable_cubin_has_no_facts(tmp_path: Path, fat: bytes) -> None:
    assert device_facts(library(tmp_path / "none", fat, ".nv_fatbin")) == ()
