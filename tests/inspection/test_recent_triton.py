"""Kernels of Triton's cache: code objects of the wheel's clang with the file that Triton writes beside them."""

import json
import os
from pathlib import Path

import pytest

from expctl.domain.environment.snapshot import TritonKernel
from expctl.inspection.device_compiler import Options, compile_source
from expctl.inspection.readers.recent_triton import FOLDERS_MOST, triton_kernels

SOURCE = '#include <hip/hip_runtime.h>\nextern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2.0f; }\n'


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    source = tmp_path_factory.mktemp("code") / "twice.hip"
    source.write_text(SOURCE)
    return {arch: compile_source(source, Options(arch=arch)).code_object for arch in ("gfx942", "gfx1151")}


def cached(cache: Path, name: str, binary: bytes, **facts: object) -> Path:
    folder = cache / name
    folder.mkdir(parents=True)
    (folder / "twice.json").write_text(json.dumps({"name": "twice", "num_warps": 2, "warp_size": 64, "shared": 40000, **facts}))
    (folder / "twice.hsaco").write_bytes(binary)
    return folder


def test_a_kernel_is_described_with_what_its_gpu_has(code: dict[str, bytes], tmp_path: Path) -> None:
    cached(tmp_path / "cache", "one", code["gfx942"])
    (found,) = triton_kernels({"TRITON_CACHE_DIR": str(tmp_path / "cache")})
    assert 0 < found.vgpr < 16
    assert found == TritonKernel(
        name="twice",
        arch="gfx942",
        warps=2,
        vgpr=found.vgpr,
        lds=40000,
        vgpr_total=512,
        vgpr_granule=8,
        waves_most=8,
        lds_unit=65536,
    )


def test_what_the_formula_is_not_for_is_left_out(code: dict[str, bytes], tmp_path: Path) -> None:
    cache = tmp_path / ".triton/cache"
    cached(cache, "two SIMDs", code["gfx1151"], warp_size=32)
    cached(cache, "torn", code["gfx942"][:90])
    cached(cache, "no code", b"")
    cached(cache, "good", code["gfx942"], shared=0)
    assert [(each.name, each.lds) for each in triton_kernels({"HOME": str(tmp_path)})] == [("twice", 0)]


def test_without_a_cache_there_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert triton_kernels({}) == ()
    assert triton_kernels({"TRITON_CACHE_DIR": str(tmp_path / "none")}) == ()
    assert triton_kernels({"TRITON_CACHE_DIR": str(tmp_path / "file")}) == ()


def test_of_a_long_cache_the_newest_are_looked_at(code: dict[str, bytes], tmp_path: Path) -> None:
    for number in range(FOLDERS_MOST + 3):
        folder = cached(tmp_path / "cache", f"{number}", code["gfx942"], shared=number)
        os.utime(folder, (1e9 + number, 1e9 + number))
    found = triton_kernels({"TRITON_CACHE_DIR": str(tmp_path / "cache")})
    assert [each.lds for each in found] == list(range(FOLDERS_MOST + 2, 2, -1))
