"""Finds what Triton compiled last for AMD's GPUs, in the user's cache."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from expctl.domain.environment.snapshot import TritonKernel
from expctl.domain.errors import Refused
from expctl.domain.run.step_result import DamagedFile
from expctl.gpu.architectures import ARCHITECTURES
from expctl.inspection.readers.triton_cache import CompiledKernel, compiled_kernels

FOLDERS_MOST = 64
"""Folders of the cache that are looked at, the newest first: a cache grows for as long as nobody clears it."""


def triton_kernels(variables: Mapping[str, str]) -> tuple[TritonKernel, ...]:
    """Return the kernels in the cache of a program with these `variables`, but for those that can't be read."""
    named = variables.get("TRITON_CACHE_DIR", "")
    home = variables.get("TRITON_HOME") or variables.get("HOME", "")
    cache = Path(named) if named else Path(home) / ".triton/cache"
    try:
        folders = [each for each in cache.iterdir() if each.is_dir()] if named or home else []
        newest = sorted(folders, key=lambda each: each.stat().st_mtime, reverse=True)[:FOLDERS_MOST]
    except OSError:
        return ()
    return tuple(found for folder in newest for kernel in _compiled(folder) if (found := _described(kernel)) is not None)


def _compiled(folder: Path) -> Iterator[CompiledKernel]:
    try:
        yield from (each for each in compiled_kernels(folder) if each.binary.suffix == ".hsaco")
    except (OSError, Refused, DamagedFile):  # damaged, or being written
        return


def _described(kernel: CompiledKernel) -> TritonKernel | None:
    try:
        code, figures = kernel.parsed(), kernel.figures
    except (OSError, Refused, DamagedFile, IndexError):
        return None
    gpu = ARCHITECTURES.get(code.arch)
    if gpu is None or gpu.wave != 64:  # the formula is for compute units of four SIMDs
        return None
    return TritonKernel(
        name=kernel.name,
        arch=code.arch,
        warps=max(kernel.threads // gpu.wave, 1),
        vgpr=figures["vgpr"],
        lds=kernel.shared_bytes,
        vgpr_total=gpu.vgpr_total,
        vgpr_granule=gpu.vgpr_granule,
        waves_most=gpu.waves_per_simd,
        lds_unit=gpu.modes[0].lds_bytes,
    )
