from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from gfx11.cases.folding import Folded, folded
from gfx11.cases.table import FOLDED

ROOT = Path(__file__).parents[2]
Compile = Callable[..., str]


@pytest.fixture(scope="session")
def compile_hip(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """(source, *flags) -> clang's gfx1151 assembly, each built once."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the ziglang wheel (extra `cpu`) is not installed")
    include = Path(spec.submodule_search_locations[0]) / "lib" / "include"
    folder = tmp_path_factory.mktemp("gfx11")

    @cache
    def build(source: Path, *flags: str) -> str:
        out = folder / f"{len(list(folder.iterdir()))}.s"
        argv = [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output"]
        argv += ["-nogpuinc", "-nogpulib", "-fuse-cuid=none", "-std=c++17", "--offload-arch=gfx1151"]
        argv += ["-isystem", str(include), *flags, "-S", str(source), "-o", str(out)]
        subprocess.run(argv, check=True, capture_output=True)
        return out.read_text()

    return build


@pytest.fixture(scope="session")
def constants(tmp_path_factory: pytest.TempPathFactory) -> Folded:
    """What LLVM folds the cases to."""
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    return folded(FOLDED, tmp_path_factory.mktemp("folding"))


@pytest.fixture(scope="session")
def baseline(compile_hip: Compile) -> str:
    """The KPI's config, as the protocol builds it."""
    return compile_hip(ROOT / "kernel/hip/scaled_mm.hip", "-O3", "-DSCALED_MM_CONFIG=1,8,2,2,8,2")


@pytest.fixture(scope="session")
def small(compile_hip: Compile) -> str:
    """A config of four waves and 64 x 64 tiles: the one that mutants are made of."""
    return compile_hip(ROOT / "kernel/hip/scaled_mm.hip", "-O3", "-DSCALED_MM_CONFIG=2,2,2,2,2,2")
