"""Linux namespaces for child processes: no network but a loopback of their own, every mount read-only but given folders, shared
memory of their own, by path and of System V.

They are made once for a set of folders, and each child process enters them. Entering takes a tenth of the time of making them,
and no kernel thread cleans up after one child while the next is timed. Root makes them directly, other users within a user
namespace, if the kernel permits that. Numbers are those of linux/sched.h, linux/mount.h and linux/sockios.h.
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

NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_NETWORK = 0x00020000, 0x08000000, 0x10000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 1 << 12, 1 << 14, 1 << 18
MOUNT_SETATTR, MOUNT_ATTR_RDONLY, AT_RECURSIVE = 442, 1, 0x8000
GET_FLAGS, SET_FLAGS, IFF_UP = 0x8913, 0x8914, 1
INTERFACE = "16sh22x"  # struct ifreq: name, flags
PR_SET_PDEATHSIG = 1
NO_RUNNER = 127

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  children get one of their own
SHARED_MEMORY_SIZE = "25%"
PROCESSES = Path("/proc")
SETTINGS = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi")
"""Names in /proc of settings of the machine, as opposed to those of a process."""
SERVICE_SOCKETS = ("user", "dbus", "systemd/private", "docker.sock", "podman", "containerd", "snapd.socket")
"""Sockets in /run of services that act outside the namespaces for any caller. A read-only mount doesn't stop a connection."""


class Entry(StrEnum):
    """How Linux namespaces are made for child processes: directly as root, in a user namespace, or not at all."""

    PRIVILEGED = "privileged"
    AS_USER = "as user"
    NONE = "none"


class _MountAttributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user"))


class WritableMounts:
    """Namespaces in which only the folders `writable` can be changed; if `entry` is NONE, none are made and nothing changes.

    With `gpu`, processes may also write their own files in /proc: CUDA names its threads there and fails if it can't.
    `has_own_memory` tells whether /dev/shm is private; it isn't if a folder lies there. A folder must not be removed: one made
    again at the same path can't be written. Raises OSError if the kernel doesn't permit namespaces.
    """

    def __init__(self, entry: Entry, writable: Sequence[Path], *, gpu: bool = False) -> None:
        self.entry = entry
        self.has_own_memory = entry is not Entry.NONE and not any(each.is_relative_to(SHARED_MEMORY) for each in writable)
        ipc = ("ipc",) if _has_ipc() else ()
        kinds = {Entry.PRIVILEGED: ("net", *ipc, "mnt"), Entry.AS_USER: ("user", "net", *ipc, "mnt"), Entry.NONE: ()}[entry]
        self._descriptors = (
            _made(lambda: _build(entry, writable, gpu=gpu, own_memory=self.has_own_memory), kinds) if kinds else ()
        )
        # While a folder is open, one that is made after its removal can't get its inode, by which these mounts would be taken
        # for the new folder's: removal unmounts, and the new one is read-only.
        self._folders = tuple(os.open(each, os.O_PATH) for each in writable) if kinds else ()

    def enter(self) -> None:
        """Move the calling process, a child before exec, into the namespaces. Its working directory is / afterwards."""
        for descriptor in self._descriptors:
            setns(descriptor)

    def close(self) -> None:
        """Close the descriptors; the kernel removes the namespaces when no process is left in them."""
        for descriptor in (*self._descriptors, *self._folders):
            os.close(descriptor)
        self._descriptors = self._folders = ()


def entry_here(folder: Path) -> Entry:
    """Return how namespaces can be made on this machine; this is tried with the empty folder `folder`."""
    for entry in (Entry.PRIVILEGED, Entry.AS_USER):
        with contextlib.suppress(OSError), contextlib.closing(WritableMounts(entry, (folder,))) as mounts:
            if works_in_a_child(mounts.enter):
                return entry
    return Entry.NONE


def _made(build: Callable[[], None], kinds: Sequence[str]) -> tuple[int, ...]:
    """Make namespaces by running `build` in a forked process, and return descriptors of those of the given kinds. A kind is a
    name in /proc/PID/ns, e.g. `mnt`. Raises OSError if `build` did.
    """
    answers, answer = os.pipe2(os.O_CLOEXEC)
    runner, maker = os.getpid(), os.fork()
    if maker == 0:
        _make(build, answer, runner)
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


def _make(build: Callable[[], None], answer: int, runner: int) -> NoReturn:
    """Run `build`, write the number of its error (0: none) in 4 bytes to the descriptor `answer`, and wait to be killed. It is
    called in the forked process, whose parent is `runner`, and ends with that.
    """
    number = 5  # EIO: something that is no error of the kernel's
    try:
        end_with(runner)
        build()
        number = 0
    except OSError as error:
        number = error.errno or number
    finally:
        os.write(answer, number.to_bytes(4, "little"))
        signal.pause()
        os._exit(0)


def end_with(runner: int) -> None:
    """Have the kernel kill the calling process when its parent `runner` ends; end it now if that has happened already."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != runner:  # it died between fork and prctl, and nobody would ever signal this process
        os._exit(NO_RUNNER)


def works_in_a_child(act: Callable[[], object]) -> bool:
    """Return whether `act` raises nothing in a forked process, which ends then."""
    runner, child = os.getpid(), os.fork()
    if child == 0:
        status = 1
        try:
            end_with(runner)
            act()
            status = 0
        finally:
            os._exit(status)  # nothing of the parent's runs on the way out
    return os.waitpid(child, 0)[1] == 0


def _build(entry: Entry, writable: Sequence[Path], *, gpu: bool, own_memory: bool) -> None:
    user, group = os.geteuid(), os.getegid()
    unshare(NEW_MOUNTS | NEW_NETWORK | NEW_IPC * _has_ipc() | NEW_USER * (entry is Entry.AS_USER))
    if entry is Entry.AS_USER:  # the same user and group inside as outside; nobody else exists there
        for file, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", file).write_text(text)
    _raise_loopback()
    mount("", "/", flags=MS_REC | MS_PRIVATE)
    if own_memory:
        mount("expctl", str(SHARED_MEMORY), "tmpfs", MS_NOSUID | MS_NODEV, f"size={SHARED_MEMORY_SIZE},mode=1777")
    for name in SERVICE_SOCKETS:
        _hide(f"/run/{name}")
    settings = [path for name in SETTINGS if (path := PROCESSES / name).exists()] if gpu else []
    for folder in (*writable, *settings):
        mount(str(folder), str(folder), flags=MS_BIND | MS_REC)
    _set_writable(Path("/"), writable=False)
    for folder in (*writable, *([SHARED_MEMORY] if own_memory else [])):
        _set_writable(folder, writable=True)
    if gpu:
        _set_writable(PROCESSES, writable=True, below=False)


def _has_ipc() -> bool:
    """Return whether this kernel has namespaces for the shared memory, semaphores and queues of System V."""
    return Path("/proc/self/ns/ipc").exists()


def _hide(path: str) -> None:
    if os.path.isdir(path):
        mount("expctl", path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "size=4k,mode=000")
    elif os.path.exists(path):
        mount(os.devnull, path, flags=MS_BIND)


def _raise_loopback() -> None:
    """Switch on the loopback interface of a new network namespace; profilers reach the profiled program through it."""
    import socket  # imported here, for it takes longer to load than the rest of the package

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        flags = struct.unpack(INTERFACE, fcntl.ioctl(any_socket, GET_FLAGS, struct.pack(INTERFACE, b"lo", 0)))[1]
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack(INTERFACE, b"lo", flags | IFF_UP))


def _set_writable(folder: Path, *, writable: bool, below: bool = True) -> None:
    wanted = _MountAttributes(set=0 if writable else MOUNT_ATTR_RDONLY, clear=MOUNT_ATTR_RDONLY if writable else 0)
    size = ctypes.sizeof(wanted)
    system_call(
        MOUNT_SETATTR, f"mount {folder}", AT_FDCWD, os.fsencode(folder), AT_RECURSIVE * below, ctypes.byref(wanted), size
    )
