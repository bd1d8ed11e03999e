"""CUDA sources as clang compiles their device code, with headers of a toolkit that are made up here."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from expctl.domain.protocol.model import Build, Toolchain
from expctl.domain.rules.meaning import View
from expctl.inspection.readers.compiled_functions import read_functions
from expctl.targets import sm_90

API = """#pragma once
#define CUDART_VERSION 13000
enum cudaError_t { cudaSuccess };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaFuncCache { cudaFuncCachePreferNone };
enum cudaMemcpyKind { cudaMemcpyHostToDevice };
struct cudaFuncAttributes { int registers; };
struct cudaLaunchConfig_t { int grid; };
typedef struct CUstream_st *cudaStream_t;
struct uint3 { unsigned x, y, z; };
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
#define cudaMemAttachGlobal 1
extern "C" {
cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int);
cudaError_t cudaFuncSetCacheConfig(const void *, cudaFuncCache);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, const void *);
cudaError_t cudaOccupancyMaxActiveClusters(int *, const void *, const cudaLaunchConfig_t *);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);
cudaError_t cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaHostAlloc(void **, size_t, unsigned);
cudaError_t cudaMallocManaged(void **, size_t, unsigned);
cudaError_t cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, cudaMemcpyKind);
}
"""
KERNEL = """__global__ void __launch_bounds__(128, 2) scale(const float *from, float *to, float by, int count) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < count) to[at] = __ldg(from + at) * by + __shfl_xor_sync(0xffffffff, by, 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(to, min(1, count));
}
void launch(const float *from, float *to) { scale<<<dim3(4), 128>>>(from, to, 2, 512); }
"""


@pytest.fixture
def toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A program nvcc that says where its headers are."""
    headers = tmp_path / "toolkit" / "include"
    headers.mkdir(parents=True)
    (headers / "cuda_runtime_api.h").write_text(API)
    (headers / "vector_functions.h").write_text("")
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(f'#!/bin/sh\necho \'#$ INCLUDES="-I{tmp_path}/none" "-I{headers}"\' >&2\n')
    nvcc.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    sm_90.toolkit_headers.cache_clear()
    yield headers
    sm_90.toolkit_headers.cache_clear()


def compiled(folder: Path, text: str, *flags: str) -> tuple[int, str]:
    """The status of clang, and what it wrote."""
    (folder / "kernel.cu").write_text(text)
    build = Build(toolchain=Toolchain.NVCC, arch="sm_90a", source="kernel.cu", flags=("-O3", "-std=c++17", *flags))
    command = sm_90.NVCC.listing(build, out=folder / "listing", view=View.MEANING)
    ran = subprocess.run([each.replace("{python}", sys.executable) for each in command], cwd=folder, check=False)
    return ran.returncode, (folder / "listing").read_text() if ran.returncode == 0 else ""


def meaning(folder: Path, text: str) -> dict[str, str]:
    status, written = compiled(folder, text)
    assert status == 0
    return dict(read_functions("meaning", written)[0])


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        ("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x + blockDim.x * blockIdx.x", True),
        ("if (at < count) to", "if (!(count <= at)) to", True),
        ("void launch", "__device__ int more(int value) { return value + 1; }\nvoid launch", True),
        ("(128, 2)", "(128, 3)", False),
        ("(128, 2)", "(128)", False),
        ("threadIdx.x == 0", "threadIdx.y == 0", False),
        ("__ldg(from + at)", "__ldcg(from + at)", False),
        ("by, 1);", "by, 2);", False),
        ("__syncthreads();", "__syncwarp();", False),
        ("min(1, count)", "max(1, count)", False),
    ],
)
@pytest.mark.usefixtures("toolkit")
def test_the_same_in_other_words_is_the_same(tmp_path: Path, old: str, new: str, is_same: bool) -> None:
    assert KERNEL.count(old) == 1
    before = meaning(tmp_path, KERNEL)
    assert [name for name in before if "scale" in name]
    assert (meaning(tmp_path, KERNEL.replace(old, new)) == before) is is_same


@pytest.mark.usefixtures("toolkit")
def test_what_clang_has_no_word_for_does_not_compile(tmp_path: Path) -> None:
    assert compiled(tmp_path, KERNEL.replace("__launch_bounds__(128, 2)", "__maxnreg__(64)"))[0] != 0


@pytest.mark.usefixtures("toolkit")
def test_flags_of_the_language_are_kept(tmp_path: Path) -> None:
    build = Build(
        toolchain=Toolchain.NVCC,
        arch="sm_90a",
        source="kernel.cu",
        flags=("-O3", "-DA=1", "-I", "more", "-Xptxas", "-v", "--use_fast_math", "-Xcompiler", "-fPIC", "-std=c++20"),
    )
    command = sm_90.NVCC.listing(build, out=tmp_path / "out", view=View.MEANING)
    given = [each for each in command if each in build.flags]
    assert given == ["-O3", "-DA=1", "-I", "more", "-std=c++20"]


def test_without_a_toolkit_nvcc_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    sm_90.toolkit_headers.cache_clear()
    build = Build(toolchain=Toolchain.NVCC, arch="sm_90", source="kernel.cu")
    command = sm_90.NVCC.listing(build, out=tmp_path / "out", view=View.MEANING)
    sm_90.toolkit_headers.cache_clear()
    assert command[:3] == ("nvcc", "-arch=sm_90", "-ptx")
