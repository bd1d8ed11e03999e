"""Builds a library of this checkout, for the torch operator and for scripts without --artifact.

expctl builds by protocol.yaml instead.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from kernel.runtime.library import Config, format_config

SOURCE = Path(__file__).resolve().parents[1] / "hip"

ZIG_CPP = (
    sys.executable,
    "-m",
    "ziglang",
    "cc",
    "-x",
    "c++",
    "-std=c++17",
    "-O3",
    "-fno-exceptions",
    "-fno-rtti",
    "-nostdinc++",
    "-shared",
    "-fPIC",
)

ZIG_GFX1151 = (
    sys.executable,
    "-m",
    "ziglang",
    "clang",
    "-x",
    "hip",
    "-std=c++17",
    "--offload-arch=gfx1151",
    "--cuda-device-only",
    "--no-gpu-bundle-output",
    "-nogpuinc",
    "-nogpulib",
    "-fuse-cuid=none",
)


class BuildError(Exception):
    """A compiler is missing or refused the source."""


def command(target: str, library: Path, source: Path = SOURCE, march: str = "native") -> list[str]:
    """Return the argv of a build. Raises BuildError if the compiler is missing."""
    if target == "cpu":
        return [*ZIG_CPP, f"-march={march}", str(source / "host_cpu.cpp"), "-o", str(library)]
    tool = "nvcc" if target == "sm_90" else "hipcc"
    compiler = shutil.which(tool)
    if compiler is None:
        raise BuildError(
            f"{tool} is not on PATH: install {'the CUDA toolkit' if tool == 'nvcc' else 'ROCm'}, "
            "or name a build (scripts: --artifact; the operator: EXPCTL_KERNEL_LIBRARY)"
        )
    if target == "sm_90":
        flags = ["-gencode=arch=compute_90a,code=sm_90a", "-std=c++17", "-O3", "-Xcompiler", "-fPIC", "-shared"]
        return [compiler, *flags, str(source / "host_cuda.cu"), "-o", str(library)]
    flags = ["--offload-arch=gfx1151", "-std=c++17", "-O3", "-fPIC", "-shared"]
    return [compiler, *flags, str(source / "host_hip.hip"), "-o", str(library)]


def assembly(config: Config, folder: Path, source: Path = SOURCE) -> Path:
    """Compile to gfx1151 assembly, `folder`/scaled_mm.s, with the ziglang wheel's clang. Raises BuildError with its message."""
    text = folder / "scaled_mm.s"
    flags = ("-O3", "-gline-tables-only", f"-DSCALED_MM_CONFIG={format_config(config)}")
    argv = [*ZIG_GFX1151, *flags, "-S", str(source / "scaled_mm.hip"), "-o", str(text)]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise BuildError(f"the gfx1151 build failed:\n{ran.stderr[-4000:]}")
    return text


def build(target: str, folder: Path, source: Path = SOURCE, march: str = "native") -> Path:
    """Build `folder`/scaled_mm.so for `target` and return its path. Raises BuildError with the compiler's message."""
    library = folder / "scaled_mm.so"
    ran = subprocess.run(command(target, library, source, march), capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise BuildError(f"the {target} build failed:\n{ran.stderr[-4000:]}")
    return library
