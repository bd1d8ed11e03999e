"""nvcc is told the architecture so that instructions of one architecture alone compile."""

from pathlib import Path

import pytest

from expctl.domain.protocol.model import Build, Toolchain
from expctl.targets.sm_90 import NVCC


@pytest.mark.parametrize(
    ("arch", "option"),
    [("sm_90a", "-gencode=arch=compute_90a,code=sm_90a"), ("sm_86", "-arch=sm_86"), ("native", "-arch=native")],
)
def test_the_option_for_an_architecture(arch: str, option: str) -> None:
    build = Build(toolchain=Toolchain.NVCC, arch=arch, source="kernel.cu", artifact="kernel.so", flags=("-O3",))
    (argv,) = NVCC.commands(build, out=Path("out"))
    assert argv == ("nvcc", option, "-shared", "-Xcompiler", "-fPIC", "-O3", "kernel.cu", "-o", "out/kernel.so")
