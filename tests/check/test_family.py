"""Targets beside gfx1151, and waves of 64 lanes."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from expctl import check
from expctl.check.family import DIFFERENCES
from expctl.check.kernel_file import read_kernels
from expctl.check.terminal import kernel_lines
from expctl.inspection.device_compiler import Options, compile_source, wheel_flags
from tests.check.made import SUM
from tests.refusals import refuses

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
CASE: dict[str, Any] = {
    "kernel": "block_sum",
    "grid": [2, 3],
    "block": [256],
    "arguments": [
        {"name": "x", "dtype": "f32", "shape": [1536], "values": [1, 2]},
        {"name": "out", "dtype": "f32", "shape": [6], "role": "out"},
        {"name": "n", "dtype": "i32", "value": 1500},
    ],
}
GRID_OF_TWO_AXES = SUM.replace("blockIdx.x * 256", "(blockIdx.y * 2 + blockIdx.x) * 256").replace(
    "out[blockIdx.x]", "out[blockIdx.y * 2 + blockIdx.x]"
)
SUMS = [384.0] * 5 + [330.0]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "sum.hip").write_text(GRID_OF_TWO_AXES)
    return tmp_path / "sum.hip"


@pytest.mark.parametrize("arch", DIFFERENCES)
def test_targets_of_the_family(source: Path, arch: str) -> None:
    assert check.launch(source, CASE, arch=arch, orders=1)["out"].tolist() == SUMS
    text = source.with_suffix(".s")
    text.write_text(compile_source(source, Options(arch=arch)).assembly)
    assert check.launch(text, CASE, orders=1)["out"].tolist() == SUMS
    code = source.with_suffix(".hsaco")
    code.write_bytes(compile_source(source, Options(arch=arch)).code_object)
    read = read_kernels(code, Options(arch=""))
    assert read.arch == arch
    said = [line for line in kernel_lines(read, read.kernels[0], "") if line.startswith("# note: ")]
    assert [arch in line for line in said] == ([True] if arch != "gfx1151" else [])


def test_scalar_floats_on_a_gpu_that_has_none_are_refused_in_the_words_of_llvm(source: Path) -> None:
    text = source.with_suffix(".s")
    for arch, is_there in (("gfx1150", True), ("gfx1100", False)):
        assembly = compile_source(source, Options(arch=arch)).assembly
        text.write_text(assembly.replace("\ts_endpgm", "\ts_add_f32 s0, s0, s0\n\ts_endpgm"))
        if is_there:
            assert read_kernels(text, Options(arch="")).arch == arch
        else:
            with refuses("does-not-compile") as caught:
                read_kernels(text, Options(arch=""))
            assert "instruction not supported on this GPU" in caught.value.found


@pytest.mark.parametrize("arch", ["gfx1170", "gfx1200", "gfx90a", "gfx1030", "sm_90"])
def test_other_targets_are_refused_by_name(source: Path, arch: str) -> None:
    with refuses("gpu-not-interpreted") as caught:
        check.launch(source, CASE, arch=arch)
    assert arch in caught.value.message
    assert "gfx1100" in caught.value.expected


def test_a_text_for_another_target_than_that_of_arch_is_refused(source: Path) -> None:
    text = source.with_suffix(".s")
    text.write_text(compile_source(source, Options(arch="gfx1151")).assembly)
    with refuses("file-for-another-gpu"):
        check.launch(text, CASE, arch="gfx1100")


def test_waves_of_64_lanes_are_refused_by_name(source: Path) -> None:
    text, code = source.with_suffix(".s"), source.with_suffix(".hsaco")
    clang = [sys.executable, "-m", "ziglang", "clang"]
    subprocess.run(
        [*clang, *wheel_flags("gfx1151"), "-O3", "-mwavefrontsize64", "-S", str(source), "-o", str(text)], check=True
    )
    with refuses("wave-size-not-interpreted") as caught:
        check.launch(text, CASE)
    assert "waves of 64 lanes" in caught.value.message
    assert "-mwavefrontsize64" in caught.value.hint
    target = ["--target=amdgcn-amd-amdhsa", "-mcpu=gfx1151", "-mwavefrontsize64", "-x", "assembler", "-c"]
    subprocess.run([*clang, *target, str(text), "-o", str(code)], check=True)
    text.unlink()
    with refuses("wave-size-not-interpreted"):
        read_kernels(code, Options(arch=""))
