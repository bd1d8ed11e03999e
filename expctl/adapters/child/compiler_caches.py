"""Folders in which compilers that a step starts keep what they compile: each build has its own, below its scratch folder."""

import os
from pathlib import Path

from expctl.adapters.child.scratch import make_below

FOLDERS = {
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
    "TRITON_CACHE_DIR": "triton",
    "TORCH_EXTENSIONS_DIR": "extensions",
    "CUPY_CACHE_DIR": "cupy",
    "NUMBA_CACHE_DIR": "numba",
    "CUDA_CACHE_PATH": "cuda",
    "AMD_COMGR_CACHE_DIR": "comgr",
    "MIOPEN_CUSTOM_CACHE_DIR": "miopen",
    "MIOPEN_USER_DB_PATH": "miopen-db",
}
"""Variables by which compilers and their tuners find their caches, and the name of the folder that each gets."""
TUNED = {"PYTORCH_TUNABLEOP_FILENAME": "tunableop/results%d.csv"}
"""Files of tuning results; `%d` becomes the number of the device."""
CACHES = "caches"
BESIDES = (".lock", ".pyc", ".tmp")
"""Endings of files that come and go without anything being compiled."""


def cache_variables(scratch: Path) -> dict[str, str]:
    """Return the variables that put all caches below `scratch`; create their folder."""
    make_below(scratch, CACHES, "tunableop")
    caches = scratch / CACHES
    return {name: str(caches / place) for name, place in (FOLDERS | TUNED).items()}


def cached_files(scratch: Path) -> frozenset[str]:
    """Return the paths of what compilers have kept below `scratch`."""
    caches = scratch / CACHES
    found = () if os.path.islink(caches) else os.walk(caches)  # neither raises where a launch has closed its folder
    return frozenset(os.path.join(at, name) for at, _, names in found for name in names if not name.endswith(BESIDES))
