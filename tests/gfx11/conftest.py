from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from benchmarks.interpreter.compiler import Compiler
from tests.gfx11.cases.folding import Folded, folded
from tests.gfx11.cases.table import FOLDED

ROOT = Path(__file__).parents[2]
Compile = Callable[..., str]


@pytest.fixture(scope="session")
def clang() -> Compiler:
    """The pinned one."""
    compiler = Compiler.installed()
    if compiler is None:
        pytest.skip("the ziglang wheel (extra `cpu`) is not installed")
    return compiler


@pytest.fixture(scope="session")
def compile_hip(clang: Compiler) -> Compile:
    """(source, *flags) -> clang's gfx1151 assembly, each built once."""

    @cache
    def build(source: Path, *flags: str) -> str:
        return clang.assembly(source, *flags)

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
