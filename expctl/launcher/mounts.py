"""What is mounted in a mount namespace of child processes."""

import ctypes
import os
from pathlib import Path

from expctl.launcher.devices import DEVICES, gpus, plain_devices
from expctl.launcher.kernel import AT_FDCWD, MS_BIND, MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_RDONLY, MS_REC, mount, system_call

MOUNT_SETATTR, MOUNT_ATTR_RDONLY, AT_RECURSIVE = 442, 1, 0x8000


class _MountAttributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user"))


def make_devices(shared_memory: Path) -> None:
    """Replace /dev by one that has the plain devices, GPUs and the folder `shared_memory` of the old one alone: no terminal,
    disk or interface of the kernel's, which a descriptor that only reads can command. Raises OSError.
    """
    kept = [*plain_devices(), *gpus(), *([shared_memory] if shared_memory.is_dir() else [])]
    opened = [(path, os.open(path, os.O_PATH), path.is_dir()) for path in kept]
    mount("expctl", str(DEVICES), "tmpfs", MS_NOSUID | MS_NOEXEC, "size=64k,mode=755")
    for path, descriptor, is_folder in opened:
        path.parent.mkdir(exist_ok=True)
        path.mkdir() if is_folder else path.touch()
        mount(f"/proc/self/fd/{descriptor}", str(path), flags=MS_BIND | MS_REC)
        os.close(descriptor)
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        (DEVICES / name).symlink_to(f"/proc/self/fd{target}")


def hide(path: str) -> None:
    """Cover a file or folder by an empty one that nobody may read; do nothing if there is none. Raises OSError."""
    if os.path.isdir(path):
        mount("expctl", path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "size=4k,mode=000")
    elif os.path.exists(path):
        mount(os.devnull, path, flags=MS_BIND)


def set_writable(folder: Path, *, writable: bool, below: bool = True) -> None:
    """Make the mount at `folder`, with those `below` it, writable or read-only. Raises OSError."""
    wanted = _MountAttributes(set=0 if writable else MOUNT_ATTR_RDONLY, clear=MOUNT_ATTR_RDONLY if writable else 0)
    size = ctypes.sizeof(wanted)
    system_call(
        MOUNT_SETATTR, f"mount {folder}", AT_FDCWD, os.fsencode(folder), AT_RECURSIVE * below, ctypes.byref(wanted), size
    )
