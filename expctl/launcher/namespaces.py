"""Linux namespaces for child processes: no network but a loopback of their own, every mount read-only but given folders, few
devices, shared memory of their own, by path and of System V, processes of their own.

They are made once for a set of folders, and each child process enters them. Entering takes a tenth of the time of making them,
and no kernel thread cleans up after one child while the next is timed. They live as long as two processes made for them: one
outside, which dies with the runner, and its child, the first in the pid namespace, with which all others in it die. Root makes
them directly, other users within a user namespace, if the kernel permits that. Numbers are those of linux/sched.h,
linux/mount.h and linux/sockios.h.
"""

import contextlib
import fcntl
import os
import signal
import struct
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, NoReturn

from expctl.launcher.kernel import MS_BIND, MS_NODEV, MS_NOEXEC, MS_NOSUID, MS_PRIVATE, MS_REC, mount, prctl, setns, unshare
from expctl.launcher.mounts import hide, make_devices, set_writable
from expctl.launcher.own_processes import DESCRIPTORS_MAX, OUTSIDE, children_of_task, end_with, go_on_inside, next_child_in

NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_PROCESSES, NEW_NETWORK = 0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
GET_FLAGS, SET_FLAGS, IFF_UP = 0x8913, 0x8914, 1
INTERFACE = "16sh22x"  # struct ifreq: name, flags
PR_SET_DUMPABLE = 4

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


class WritableMounts:
    """Namespaces in which only the folders `writable` can be changed; if `entry` is NONE, none are made and nothing changes.

    With `processes`, there is a pid namespace among them, with a /proc of its own. With `gpu`, processes may also write their
    own files in /proc: CUDA names its threads there and fails if it can't. `has_own_memory` tells whether /dev/shm is private;
    it isn't if a folder lies there. `users` counts the launches that are in the namespaces now. A folder must not be removed:
    one made again at the same path can't be written. Raises OSError if the kernel doesn't permit namespaces.
    """

    def __init__(self, entry: Entry, writable: Sequence[Path], *, processes: bool = False, gpu: bool = False) -> None:
        self.entry, self.users = entry, 0
        self.has_own_memory = entry is not Entry.NONE and not any(each.is_relative_to(SHARED_MEMORY) for each in writable)
        ipc = ("ipc",) if _has_ipc() else ()
        kinds = {Entry.PRIVILEGED: ("net", *ipc, "mnt"), Entry.AS_USER: ("user", "net", *ipc, "mnt"), Entry.NONE: ()}[entry]
        self._descriptors: tuple[int, ...] = ()
        self._processes: int | None = None
        self._maker: _Maker | None = None
        if kinds:
            self._maker = _Maker(
                lambda: _separate(entry, processes=processes),
                lambda: _build(writable, processes=processes, gpu=gpu, own_memory=self.has_own_memory),
                forks=processes,
            )
            self._descriptors = self._maker.descriptors(kinds)
            if processes:
                (self._processes,) = self._maker.descriptors(("pid_for_children",))
            else:
                self._maker.end()
        # While a folder is open, one that is made after its removal can't get its inode, by which these mounts would be taken
        # for the new folder's: removal unmounts, and the new one is read-only.
        self._folders = tuple(os.open(each, os.O_PATH) for each in writable) if kinds else ()

    @property
    def has_own_processes(self) -> bool:
        """Return whether there is a pid namespace among them."""
        return self._processes is not None

    @property
    def first(self) -> int | None:
        """Return the pid of the first process of the pid namespace, which adopts orphans; None without one or after its end."""
        return self._maker.child() if self._maker is not None and self.has_own_processes else None

    @property
    def starts_inside(self) -> bool:
        """Return whether a child is in the pid namespace as soon as it starts in the context `starting`."""
        return self.has_own_processes and self.entry is Entry.PRIVILEGED

    def starting(self) -> AbstractContextManager[None]:
        """Return a context in which the runner starts a child that calls `enter`. Raises OSError."""
        return next_child_in(self._processes if self.starts_inside else None)

    def enter(self) -> None:
        """Move the calling process, a child before exec, into the namespaces; it may return as a child of that. Its working
        directory is / afterwards.
        """
        for descriptor in self._descriptors:
            setns(descriptor)
        if self._processes is not None and self.entry is Entry.AS_USER:
            go_on_inside(self._processes)

    def close(self) -> None:
        """Close the descriptors; the kernel removes the namespaces when no process is left in them. It ends those that are in
        the pid namespace.
        """
        if self._maker is not None and self._processes is not None:
            self._maker.end()
            os.close(self._processes)
        for descriptor in (*self._descriptors, *self._folders):
            os.close(descriptor)
        self._descriptors, self._folders, self._processes = (), (), None


def entry_here(folder: Path) -> tuple[Entry, bool]:
    """Return how namespaces can be made on this machine, and whether a pid namespace can be among them; this is tried with
    the empty folder `folder`.
    """
    for entry in (Entry.PRIVILEGED, Entry.AS_USER):
        for processes in (True, False):
            if can_be_entered(entry, folder, processes=processes):
                return entry, processes
    return Entry.NONE, False


def can_be_entered(entry: Entry, folder: Path, *, processes: bool, gpu: bool = False) -> bool:
    """Return whether these namespaces can be made and entered here, with `folder` to write in."""
    with contextlib.suppress(OSError):
        mounts = WritableMounts(entry, (folder,), processes=processes, gpu=gpu)
        with contextlib.closing(mounts), mounts.starting():
            return works_in_a_child(mounts.enter, inside=mounts.starts_inside)
    return False


class _Maker:
    """A forked process that calls `separate` and `build`, with `forks` the latter in a child, the first in a new pid namespace.
    Both then wait to be killed, and die with the calling thread. Raises OSError if one of the two functions did.
    """

    pids: ClassVar[set[int]] = set()

    def __init__(self, separate: Callable[[], None], build: Callable[[], None], *, forks: bool) -> None:
        answers, answer = os.pipe2(os.O_CLOEXEC)
        runner, self._pid = os.getpid(), os.fork()
        if self._pid == 0:
            _make(separate, build, answer, runner, forks=forks)
        self.pids.add(self._pid)
        os.close(answer)
        with open(answers, "rb") as pipe:
            said = pipe.read(4)
        if said != bytes(4):
            self.end()
            number = int.from_bytes(said, "little")
            raise OSError(number, f"namespaces: {os.strerror(number)}")

    def descriptors(self, kinds: Sequence[str]) -> tuple[int, ...]:
        """Return descriptors of the namespaces of the given kinds, which are names in /proc/PID/ns, e.g. `mnt`."""
        return tuple(os.open(f"/proc/{self._pid}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC) for kind in kinds)

    def child(self) -> int | None:
        """Return the pid of the child; None if it is gone."""
        with contextlib.suppress(OSError):
            return next(iter(children_of_task(self._pid, self._pid)), None)
        return None

    def end(self) -> None:
        """Kill both."""
        child = self.child()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        for pid in (self._pid, child):
            with contextlib.suppress(ChildProcessError):  # the second is ours only where we adopt orphans
                if pid is not None:
                    os.waitpid(pid, 0)
        self.pids.discard(self._pid)


def makers() -> frozenset[int]:
    """Return the pids of those children of this process by which namespaces live."""
    return frozenset(_Maker.pids)


def _make(separate: Callable[[], None], build: Callable[[], None], answer: int, runner: int, *, forks: bool) -> NoReturn:
    """Run `separate`, fork if wanted, and run `build` in the child; write the number of an error (0: none) in 4 bytes to the
    descriptor `answer`, and wait to be killed. It is called in the forked process, which ends with its parent `runner`.
    """
    number = 5  # EIO: something that is no error of the kernel's
    try:
        for handled in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(handled, signal.SIG_IGN)  # with SIGCHLD ignored, nothing has to wait for orphans
        end_with(runner)
        separate()
        if forks:
            if os.fork():
                _wait_alone()
            end_with(OUTSIDE)
            prctl(PR_SET_DUMPABLE, 0)  # nothing inside traces or reads it
        build()
        number = 0
    except OSError as error:
        number = error.errno or number
    finally:
        os.write(answer, number.to_bytes(4, "little"))
        _wait_alone()


def _wait_alone() -> NoReturn:
    os.closerange(0, DESCRIPTORS_MAX)
    while True:
        signal.pause()


def works_in_a_child(act: Callable[[], object], *, inside: bool = False) -> bool:
    """Return whether `act` raises nothing in a forked process, which ends then. `inside` tells that this is in another pid
    namespace.
    """
    runner = OUTSIDE if inside else os.getpid()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            end_with(runner)
            act()
            status = 0
        finally:
            os._exit(status)  # nothing of the parent's runs on the way out
    return os.waitpid(child, 0)[1] == 0


def _separate(entry: Entry, *, processes: bool) -> None:
    user, group = os.geteuid(), os.getegid()
    flags = NEW_MOUNTS | NEW_NETWORK | NEW_IPC * _has_ipc() | NEW_USER * (entry is Entry.AS_USER)
    unshare(flags | NEW_PROCESSES * processes)
    if entry is Entry.AS_USER:  # the same user and group inside as outside; nobody else exists there
        for file, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", file).write_text(text)


def _build(writable: Sequence[Path], *, processes: bool, gpu: bool, own_memory: bool) -> None:
    _raise_loopback()
    mount("", "/", flags=MS_REC | MS_PRIVATE)
    if processes:
        mount("proc", str(PROCESSES), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    make_devices(SHARED_MEMORY)
    if own_memory:
        mount("expctl", str(SHARED_MEMORY), "tmpfs", MS_NOSUID | MS_NODEV, f"size={SHARED_MEMORY_SIZE},mode=1777")
    for name in SERVICE_SOCKETS:
        hide(f"/run/{name}")
    settings = [path for name in SETTINGS if (path := PROCESSES / name).exists()] if gpu else []
    for folder in (*writable, *settings):
        mount(str(folder), str(folder), flags=MS_BIND | MS_REC)
    set_writable(Path("/"), writable=False)
    for folder in (*writable, *([SHARED_MEMORY] if own_memory else [])):
        set_writable(folder, writable=True)
    if gpu:
        set_writable(PROCESSES, writable=True, below=False)


def _has_ipc() -> bool:
    """Return whether this kernel has namespaces for the shared memory, semaphores and queues of System V."""
    return Path("/proc/self/ns/ipc").exists()


def _raise_loopback() -> None:
    """Switch on the loopback interface of a new network namespace; profilers reach the profiled program through it."""
    import socket  # imported here, for it takes longer to load than the rest of the package

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        flags = struct.unpack(INTERFACE, fcntl.ioctl(any_socket, GET_FLAGS, struct.pack(INTERFACE, b"lo", 0)))[1]
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack(INTERFACE, b"lo", flags | IFF_UP))
