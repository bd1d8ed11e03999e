"""Device files that confined children have: the plain ones, and those of a GPU."""

import functools
from pathlib import Path

DEVICES = Path("/dev")
PLAIN_DEVICES = ("null", "zero", "full", "random", "urandom")
GPU_DEVICES = ("kfd", "dri/*", "nvidia*", "nvidia-caps/*")


@functools.cache
def plain_devices() -> tuple[Path, ...]:
    """Return the device files that every program may need and that exist here. The result is cached."""
    return tuple(path for name in PLAIN_DEVICES if (path := DEVICES / name).exists())


@functools.cache
def gpus() -> tuple[Path, ...]:
    """Return the device files of GPUs here; () without one. The result is cached."""
    return tuple(path for pattern in GPU_DEVICES for path in sorted(DEVICES.glob(pattern)) if not path.is_dir())


def has_gpu() -> bool:
    """Return whether this machine has the device files of a GPU, beside which children may write and call a little more."""
    return bool(gpus())
