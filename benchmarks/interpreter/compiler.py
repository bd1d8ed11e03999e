"""Clang for gfx1151 out of the ziglang wheel, in the version that one asks for."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HIP = Path(__file__).parents[2] / "kernel/hip"
KERNEL = HIP / "scaled_mm.hip"
FLAGS = ("-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib", "-fuse-cuid=none", "-std=c++17",
         "--offload-arch=gfx1151")  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiler:
    """`package` is the folder of the ziglang package; it need not be one that this Python can import."""

    version: str
    package: Path

    @staticmethod
    def installed() -> Compiler | None:
        """The wheel of this environment: the pinned one."""
        spec = importlib.util.find_spec("ziglang")
        if spec is None or not spec.submodule_search_locations:
            return None
        version = importlib.metadata.version("ziglang")
        return Compiler(version=version, package=Path(spec.submodule_search_locations[0]))

    @staticmethod
    def of(version: str, folder: Path) -> Compiler:
        """The installed one if it is of that version, else one that pip puts into `folder`/ziglang-<version>, once."""
        here = Compiler.installed()
        if here is not None and here.version == version:
            return here
        target = folder / f"ziglang-{version}"
        if not (target / "ziglang").is_dir():
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target)]
            subprocess.run([*pip, f"ziglang=={version}"], check=True)
        return Compiler(version=version, package=target / "ziglang")

    def assembly(self, source: Path, *flags: str) -> str:
        """What -S writes. Raises CalledProcessError with clang's words in its stderr."""
        return self._clang(*flags, "-S", str(source), "-o", "-")

    def kernel(self, config: Sequence[int], level: str, hip: Path = HIP) -> str:
        """The assembly for one config, both fp8 formats, of the kernel in folder `hip`."""
        return self.assembly(hip / KERNEL.name, level, f"-DSCALED_MM_CONFIG={','.join(map(str, config))}")

    def kernel_hash(self) -> str:
        """Of what clang makes code from: no comment, no static_assert, no header of another machine."""
        text = re.sub(r"static_assert\(.*?\);", "", self._clang("-E", "-P", str(KERNEL)), flags=re.DOTALL)
        return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]

    def _clang(self, *flags: str) -> str:
        argv = [sys.executable, "-m", "ziglang", "clang", *FLAGS, "-isystem", str(self.package / "lib/include"), *flags]
        environment = os.environ | {"PYTHONPATH": str(self.package.parent)}
        return subprocess.run(argv, check=True, capture_output=True, text=True, env=environment).stdout
