"""Forbid system calls to a child process by a seccomp filter: those that reach other processes or other parts of the kernel.

Numbers are those of x86-64 and aarch64 (asm/unistd.h), offsets and codes those of linux/seccomp.h and linux/filter.h. A filter
sees numbers, no memory: a pid can be compared with constants alone, which are 0 and the pid of the child itself.
"""

import ctypes
import errno
import os
import platform
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from expctl.launcher.kernel import prctl, system_call
from expctl.launcher.landlock import PR_SET_NO_NEW_PRIVS
from expctl.launcher.namespaces import works_in_a_child

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column of the table, AUDIT_ARCH
FORBIDDEN = {
    "ptrace": (101, 117),
    "perf_event_open": (298, 241),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "unshare": (272, 97),
    "setns": (308, 268),
    "chroot": (161, 51),
    "pivot_root": (155, 41),
    "mount": (165, 40),
    "umount2": (166, 39),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
}
FOR_COUNTERS = ("ptrace", "perf_event_open", "kcmp")
"""What a profiler may need, and so is not forbidden to it."""
OF_OWN_PID = {
    "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
}
"""Calls whose first argument is a pid."""
OF_OWN_WHO = {"setpriority": (141, 140, 0), "ioprio_set": (251, 30, 1)}
"""Calls with (kind, who): the kind in the third place stands for a process."""
CLONE, CLONE3, SOCKET, SECCOMP, IOCTL, FCNTL = (56, 220), (435, 435), (41, 198), (317, 277), (16, 29), (72, 25)
FREEZE, THAW, SHUT_DOWN = 0xC0045877, 0xC0045878, 0x8004587D
"""Requests of ioctl that stop a whole file system. They take no more than a descriptor for reading and a profiler's rights."""
LEASE, DELEGATION = 1024, 1040
"""Commands of fcntl that make whoever opens a file, or changes a folder, wait up to 45 s for the caller. They take no more than
a descriptor for reading."""
NAMESPACES = 0x7E020000  # flags of clone: every CLONE_NEW... but that of time
CLONE_PARENT = 0x8000  # would make the runner, outside, the parent
AF_PACKET, AF_ALG, AF_VSOCK, INTERNET, SOCK_RAW, SOCK_KIND = 17, 38, 40, (2, 10), 3, 0xF
X32 = 0x40000000

LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
ALLOW, ERROR = 0x7FFF0000, 0x00050000
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
OWN_PID = -1  # stands for the pid of the child, which is known only there
SET_MODE_FILTER = 1


class Instruction(NamedTuple):
    """An instruction of the filter: go on `then` instructions further if the comparison holds, else `otherwise`."""

    code: int
    value: int
    then: int = 0
    otherwise: int = 0


class _Packed(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("then", ctypes.c_uint8), ("otherwise", ctypes.c_uint8), ("value", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("filter", ctypes.c_void_p))


class Filter:
    """A program of instructions that judges each system call, made in the parent. A child changes its own copy."""

    def __init__(self, program: Sequence[Instruction]) -> None:
        packed = [_Packed(each.code, each.then, each.otherwise, each.value & 0xFFFFFFFF) for each in program]
        self._filter = (_Packed * len(packed))(*packed)
        self._own = [at for at, each in enumerate(program) if each.value == OWN_PID]
        self._program = _Program(length=len(program), filter=ctypes.addressof(self._filter))

    def enter(self) -> None:
        """Apply the filter to the calling process, irrevocably; it must have given up new privileges before. Raises OSError."""
        for at in self._own:
            self._filter[at].value = os.getpid()
        number = SECCOMP[ARCHITECTURES[platform.machine()][0]]
        system_call(number, "seccomp", SET_MODE_FILTER, 0, ctypes.byref(self._program))


@cache
def call_filter(*, counters: bool, gpu: bool) -> Filter:
    """Return the filter for a confined child process. With `counters` it lets a profiler do its work; with `gpu` it leaves
    priority and cores alone, because a GPU's runtime sets those of its own threads, which a filter can't tell from others.
    """
    column, architecture = ARCHITECTURES[platform.machine()]
    return Filter(tuple(_instructions(column, architecture, counters=counters, gpu=gpu)))


def can_filter() -> bool:
    """Return whether this kernel takes the filter, which is tried, and whether the numbers of its calls are known here."""
    if platform.machine() not in ARCHITECTURES:
        return False
    calls = call_filter(counters=False, gpu=False)

    def enter() -> None:
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        calls.enter()

    return works_in_a_child(enter)


def _instructions(column: int, architecture: int, *, counters: bool, gpu: bool) -> Iterator[Instruction]:
    refuse = Instruction(RETURN, ERROR | errno.EPERM)
    yield Instruction(LOAD, ARCHITECTURE)
    yield Instruction(EQUAL, architecture, then=1)
    yield refuse
    yield Instruction(LOAD, NUMBER)
    if column == 0:
        yield Instruction(AT_LEAST, X32, otherwise=1)
        yield refuse
    for name, numbers in FORBIDDEN.items():
        if not (counters and name in FOR_COUNTERS):
            yield from _at(numbers[column], refuse)
    yield from _at(CLONE3[column], Instruction(RETURN, ERROR | errno.ENOSYS))  # its flags lie in memory; libc then takes clone
    yield from _at(CLONE[column], _argument(0), Instruction(ANY_BIT, NAMESPACES | CLONE_PARENT, otherwise=1), refuse)
    for name, numbers in OF_OWN_PID.items():
        if name == "prlimit64" or not gpu:
            yield from _at(numbers[column], *_only_own(0))
    for number, aarch64, process in () if gpu else OF_OWN_WHO.values():
        yield from _at((number, aarch64)[column], _argument(0), Instruction(EQUAL, process, then=1), refuse, *_only_own(1))
    for numbers, requests in ((IOCTL, (FREEZE, THAW, SHUT_DOWN)), (FCNTL, (LEASE, DELEGATION))):
        denied = [part for each in requests for part in (Instruction(EQUAL, each, otherwise=1), refuse)]
        yield from _at(numbers[column], _argument(1), *denied)
    families = [part for each in (AF_PACKET, AF_ALG, AF_VSOCK) for part in (Instruction(EQUAL, each, otherwise=1), refuse)]
    raw = (_argument(1), Instruction(AND, SOCK_KIND), Instruction(EQUAL, SOCK_RAW, otherwise=1), refuse)
    is_internet = (Instruction(EQUAL, INTERNET[0], then=1), Instruction(EQUAL, INTERNET[1], otherwise=len(raw)))
    yield from _at(SOCKET[column], _argument(0), *families, *is_internet, *raw)
    yield Instruction(RETURN, ALLOW)


def _at(number: int, *body: Instruction) -> Iterator[Instruction]:
    """Yield `body` for the call `number`; whatever falls through its end is allowed."""
    whole = (*body, Instruction(RETURN, ALLOW))
    yield Instruction(EQUAL, number, otherwise=len(whole))
    yield from whole


def _argument(at: int) -> Instruction:
    return Instruction(LOAD, ARGUMENTS + 8 * at)  # its lower half: both machines are little-endian


def _only_own(at: int) -> tuple[Instruction, ...]:
    own = (Instruction(EQUAL, 0, then=2), Instruction(EQUAL, OWN_PID, then=1))
    return (_argument(at), *own, Instruction(RETURN, ERROR | errno.EPERM))
