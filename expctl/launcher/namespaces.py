"""Namespaces for children: no network but their own loopback, and every mount read-only but those that they may write.

They are made once for the same folders and entered by each launch: that takes a tenth of the time, and no kernel thread clears
up after a launch while the next is timed. Root takes them directly; everybody else within a user namespace, where the kernel
allows that. Numbers are those of linux/sched.h, linux/mount.h and linux/sockios.h.
"""

import contextlib
import ctypes
import fcntl
import os
import signal
import struct
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NoReturn

from expctl.launcher.kernel import AT_FDCWD, mount, prctl, setns, system_call, unshare

NEW_MOUNTS, NEW_USER, NEW_NETWORK = 0x00020000, 0x10000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 1 << 12, 1 << 14, 1 << 18
MOUNT_SETATTR, MOUNT_ATTR_RDONLY, AT_RECURSIVE = 442, 1, 0x8000
GET_FLAGS, SET_FLAGS, IFF_UP = 0x8913, 0x8914, 1
INTERFACE = "16sh22x"  # struct ifreq: name, flags
PR_SET_PDEATHSIG = 1

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  children get one of their own
SHARED_MEMORY_SIZE = "25%"
PROCESSES = Path("/proc")
SETTINGS = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi")
"""In /proc: what belongs to the machine and not to a process."""
DOORS = ("user", "dbus", "systemd/private", "docker.sock", "podman", "containerd", "snapd.socket")
"""In /run: sockets of services that act for whoever asks, outside all walls. A read-only mount doesn't stop a connection."""


class Entry(StrEnum):
    """How children get namespaces of their own here."""

    PRIVILEGED = "privileged"
    AS_USER = "as user"
    NONE = "none"


class _MountAttributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user"))


class WritableMounts:
    """A view of the machine in which only `writable` folders can be changed; with an entry of NONE the machine as it is.

    `gpu`: processes may write what /proc has of them, for CUDA names its threads there and doesn't start where it can't.
    Raises OSError where the kernel doesn't let us. The folders must stay: one that is made again is another one.
    `has_own_memory`: shared memory is its own, unless the folders themselves lie there.
    """

    def __init__(self, entry: Entry, writable: Sequence[Path], *, gpu: bool = False) -> None:
        self.entry = entry
        self.has_own_memory = entry is not Entry.NONE and not any(each.is_relative_to(SHARED_MEMORY) for each in writable)
        kinds = {Entry.PRIVILEGED: ("net", "mnt"), Entry.AS_USER: ("user", "net", "mnt"), Entry.NONE: ()}[entry]
        self._doors = _made(lambda: _build(entry, writable, gpu=gpu, own_memory=self.has_own_memory), kinds) if kinds else ()

    def enter(self) -> None:
        """For a process that is about to exec. It is at the root of the file system then."""
        for door in self._doors:
            setns(door)

    def close(self) -> None:
        """The kernel drops the rooms when nobody is in them any more."""
        for door in self._doors:
            os.close(door)
        self._doors = ()


def entry_here(folder: Path) -> Entry:
    """What works, found out by doing it. `folder` is an empty one of ours."""
    for entry in (Entry.PRIVILEGED, Entry.AS_USER):
        with contextlib.suppress(OSError), contextlib.closing(WritableMounts(entry, (folder,))) as rooms:
            if _works(rooms.enter):
                return entry
    return Entry.NONE


def _made(build: Callable[[], None], kinds: Sequence[str]) -> tuple[int, ...]:
    """Descriptors of the namespaces that `build` makes, in a process that ends as soon as we have them."""
    answers, answer = os.pipe2(os.O_CLOEXEC)
    maker = os.fork()
    if maker == 0:
        _make(build, answer)
    os.close(answer)
    try:
        with open(answers, "rb", closefd=False) as pipe:
            said = pipe.read(4)
        if said != bytes(4):
            number = int.from_bytes(said, "little")
            raise OSError(number, f"namespaces: {os.strerror(number)}")
        return tuple(os.open(f"/proc/{maker}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC) for kind in kinds)
    finally:
        os.close(answers)
        os.kill(maker, signal.SIGKILL)
        os.waitpid(maker, 0)


def _make(build: Callable[[], None], answer: int) -> NoReturn:
    """In the maker: build, say the error's number (0: none), and stay until the end."""
    number = 5  # EIO: something that is no error of the kernel's
    try:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        build()
        number = 0
    except OSError as error:
        number = error.errno or number
    finally:
        os.write(answer, number.to_bytes(4, "little"))
        signal.pause()
        os._exit(0)


def _works(act: Callable[[], None]) -> bool:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            act()
            status = 0
        finally:
            os._exit(status)  # nothing of the parent's runs on the way out
    return os.waitpid(child, 0)[1] == 0


def _build(entry: Entry, writable: Sequence[Path], *, gpu: bool, own_memory: bool) -> None:
    user, group = os.geteuid(), os.getegid()
    unshare(NEW_MOUNTS | NEW_NETWORK | (NEW_USER if entry is Entry.AS_USER else 0))
    if entry is Entry.AS_USER:  # the same user and group inside as outside; nobody else exists there
        for file, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", file).write_text(text)
    _raise_loopback()
    mount("", "/", flags=MS_REC | MS_PRIVATE)
    if own_memory:
        mount("expctl", str(SHARED_MEMORY), "tmpfs", MS_NOSUID | MS_NODEV, f"size={SHARED_MEMORY_SIZE},mode=1777")
    for name in DOORS:
        _shut(f"/run/{name}")
    settings = [path for name in SETTINGS if (path := PROCESSES / name).exists()] if gpu else []
    for folder in (*writable, *settings):
        mount(str(folder), str(folder), flags=MS_BIND | MS_REC)
    _set_writable(Path("/"), writable=False)
    for folder in (*writable, *([SHARED_MEMORY] if own_memory else [])):
        _set_writable(folder, writable=True)
    if gpu:
        _set_writable(PROCESSES, writable=True, below=False)


def _shut(door: str) -> None:
    if os.path.isdir(door):
        mount("expctl", door, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "size=4k,mode=000")
    elif os.path.exists(door):
        mount(os.devnull, door, flags=MS_BIND)


def _raise_loopback() -> None:
    """Profilers talk to the program that they watch over it."""
    import socket  # takes longer to load than the rest of this floor

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        flags = struct.unpack(INTERFACE, fcntl.ioctl(any_socket, GET_FLAGS, struct.pack(INTERFACE, b"lo", 0)))[1]
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack(INTERFACE, b"lo", flags | IFF_UP))


def _set_writable(folder: Path, *, writable: bool, below: bool = True) -> None:
    """The mount at `folder`, and those below it."""
    wanted = _MountAttributes(set=0 if writable else MOUNT_ATTR_RDONLY, clear=MOUNT_ATTR_RDONLY if writable else 0)
    size = ctypes.sizeof(wanted)
    system_call(
        MOUNT_SETATTR, f"mount {folder}", AT_FDCWD, os.fsencode(folder), AT_RECURSIVE * below, ctypes.byref(wanted), size
    )
