"""Raw kernel files compile with the wheel's clang alone, and with our HIP declarations they compute the right thing."""

from __future__ import annotations

import re
from functools import cache
from math import erf
from pathlib import Path
from typing import Any

import pytest

from expctl.inspection.device_compiler import Compiled, Options, compile_source

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
np = pytest.importorskip("numpy")

from expctl.gfx11.arguments import Unwritten  # noqa: E402  needs numpy
from expctl.gfx11.launch import interpret  # noqa: E402

Extent = tuple[int, int, int]
SPECIMENS = Path(__file__).with_name("specimens")
GEMM = "_Z4gemmI6__halfLb1EEvPKT_S3_S3_PS1_iii"


@cache
def compiled(name: str, level: str = "-O3") -> Compiled:
    return compile_source(SPECIMENS / name, Options(arch="gfx1151", level=level))


# The interpreter has no v_mbcnt. In a block of one axis v0 is the thread until something is written to it, and the results show
# that nothing was.
LANE = (r"v_mbcnt_lo_u32_b32 (v\d+), -1, 0", r"v_and_b32_e32 \1, 31, v0")


def run(
    file: str, kernel: str, grid: Extent, block: Extent, arguments: dict[str, Any], *, level: str = "-O3", lds: int = 0
) -> dict[str, Any]:
    text = re.sub(*LANE, compiled(file, level).assembly)
    result = interpret(text, kernel, grid, block, arguments, order_seed=1, dynamic_lds_bytes=lds)
    assert [str(fault) for fault in result.faults] == []
    return result.outputs


def empty(shape: tuple[int, ...], dtype: str) -> Unwritten:
    return Unwritten(shape=shape, dtype=dtype)


@pytest.mark.parametrize("level", [pytest.param("-O1", marks=pytest.mark.long), "-O3"])
def test_a_templated_product_of_halves(level: str) -> None:
    m, n, k = 20, 33, 37
    rng = np.random.default_rng(1)
    a, b, bias = (rng.standard_normal(shape).astype("e") for shape in ((m, k), (k, n), (n,)))
    arguments = {"a": a, "b": b, "bias": bias, "c": empty((m, n), "e"), "m": m, "n": n, "k": k}
    c = run("gemm_half.hip", GEMM, (3, 2, 1), (16, 16, 1), arguments, level=level)["c"]
    np.testing.assert_allclose(c.astype("d"), a.astype("d") @ b.astype("d") + bias, rtol=2e-3, atol=2e-3)


def test_halves_in_pairs_through_a_wider_type() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal(200).astype("e"), rng.standard_normal(200).astype("e")
    out = run("gemm_half.hip", "axpy_half8", (1, 1, 1), (64, 1, 1), {"x": x, "y": y, "alpha": 0.75, "n8": 25})["y"]
    np.testing.assert_allclose(out.astype("d"), y.astype("d") + 0.75 * x.astype("d"), rtol=1e-3, atol=1e-3)


def test_shuffles_of_a_cuda_file() -> None:
    x = np.random.default_rng(3).standard_normal(1000).astype("f")
    arguments = {"x": x, "sums": empty((2,), "f"), "tops": empty((2,), "i4"), "up": empty((256,), "i4"), "n": 1000}
    out = run("reduce.cu", "reduce", (2, 1, 1), (128, 1, 1), arguments)
    for block in range(2):
        mine = np.concatenate([x[start : start + 128] for start in range(128 * block, 1000, 256)])
        assert out["sums"][block] == pytest.approx((mine.astype("d") ** 2).sum(), rel=1e-5)
        assert out["tops"][block] == np.rint(mine * np.float32(100)).astype("i4").max()
    lanes = np.arange(256) % 32
    np.testing.assert_array_equal(out["up"], np.where(lanes < 3, lanes, lanes - 3) + 100 * (lanes // 8 * 8 + 5))


def test_fp8_through_vectors() -> None:
    codes = np.arange(256, dtype="u1")
    codes = np.where((codes & 0x7C) == 0x7C, 0x3C, codes).astype("u1")  # no infinities and NaNs
    scale = np.array([0.5], "f")
    arguments = {"in": codes, "out": empty((256,), "f"), "scale": scale, "vectors": 16}
    out = run("dequant_fp8.hip", "dequant_e5m2", (1, 1, 1), (128, 1, 1), arguments)["out"]
    exact = (codes.astype("u2") << 8).view("e").astype("f")
    np.testing.assert_array_equal(out, exact * np.float32(0.5) * np.float32(2) + np.float32(1))


def test_mathematics_of_the_device() -> None:
    rng = np.random.default_rng(4)
    n = 100
    x = (rng.standard_normal((2, n)).astype("f").view("u4") >> 16).astype("u2")
    arguments = {"x": x, "y": empty((2, n), "u2"), "extra": empty((2, 8), "f"), "n": n, "epsilon": 1e-5}
    out = run("layer_norm.cpp", "layer_norm", (2, 1, 1), (64, 1, 1), arguments, lds=2 * 64 * 4)
    values = (x.astype("u4") << 16).view("f").astype("d")
    normal = (values - values.mean(1, keepdims=True)) / np.sqrt(values.var(1, keepdims=True) + 1e-5)
    gelu = 0.5 * normal * (1 + np.tanh(0.7978845608 * (normal + 0.044715 * normal**3)))
    np.testing.assert_allclose((out["y"].astype("u4") << 16).view("f"), gelu, rtol=4.5e-3, atol=1e-4)
    v = 0.25 + np.arange(8)
    exact = v**1.5 + 2 * np.exp(-v) + np.log(v) + [erf(each) for each in v] + np.sqrt(v)
    np.testing.assert_allclose(out["extra"][0], exact, rtol=2e-5)


def test_an_atomic_is_one_instruction_and_a_printf_leaves_no_call() -> None:
    text = compiled("reduce.cu").assembly
    assert "global_atomic_add" in text
    assert "s_swappc" not in text
    assert "printf" not in text


OF_CLANG = (
    "__clang_cuda_math_forward_declares.h",
    "__clang_cuda_runtime_wrapper.h",
    "__clang_hip_cmath.h",
    "__clang_hip_libdevice_declares.h",
    "__clang_hip_math.h",
    "__clang_hip_runtime_wrapper.h",
)


@pytest.mark.parametrize("header", OF_CLANG)
def test_a_source_may_name_the_headers_that_clang_brings(header: str, tmp_path: Path) -> None:
    source = tmp_path / "named.hip"
    source.write_text(
        f'#include "{header}"\n__global__ void k(float *x) {{ x[0] = sqrtf(x[1]) + __fmaf_rn(x[2], x[3], x[4]); }}\n'
    )
    assert "v_sqrt_f32" in compile_source(source, Options(arch="gfx1151")).assembly


@pytest.mark.parametrize(("name", "prefix"), [("streams.hip", "hip"), ("streams.cu", "cuda")])
def test_the_default_stream_is_flag_and_stream(name: str, prefix: str, tmp_path: Path) -> None:
    source = tmp_path / name
    source.write_text(
        f"#include <{prefix}{'/hip' * (prefix == 'hip')}_runtime.h>\n__global__ void k(float *x) {{ x[0] = 1.0f; }}\n"
        f"void run(float *x, {prefix}Stream_t stream) {{\n    {prefix}StreamCreateWithFlags(&stream, {prefix}StreamDefault);\n"
        f"    k<<<1, 32, 0, {prefix}StreamDefault>>>(x);\n}}\n"
    )
    assert "global_store" in compile_source(source, Options(arch="gfx1151")).assembly


def test_a_launch_by_a_function_takes_template_arguments_with_commas(tmp_path: Path) -> None:
    source = tmp_path / "launch.hip"
    source.write_text(
        "#define HIP_TEMPLATE_KERNEL_LAUNCH\n#include <hip/hip_runtime.h>\n"
        "template <int A, int B, typename T> __global__ void k(T *x) { x[A] = B; }\n"
        "void run(float *x) { hipLaunchKernelGGL(k<3, 4>, dim3(1), dim3(32), 0, hipStreamDefault, x); }\n"
    )
    assert "_Z1kILi3ELi4EfEvPT1_" in compile_source(source, Options(arch="gfx1151")).assembly
