"""The filter of system calls on both machines: its numbers are those of the kernel's headers, and it judges as it says."""

import errno
import fcntl
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from expctl.launcher import system_calls
from expctl.launcher.system_calls import ARCHITECTURES, Instruction

MACHINES = [*ARCHITECTURES]
HEADERS = {"x86_64": "x86-linux-any/asm/unistd_64.h", "aarch64": "aarch64-linux-any/asm/unistd_64.h"}
OWN, FOREIGN = 4242, 1
REFUSED, NO_SUCH_CALL, ALLOWED = (0x50000 | errno.EPERM), (0x50000 | errno.ENOSYS), 0x7FFF0000
CLONE_NEWUSER, CLONE_VM, CLONE_PARENT, PRIO_PROCESS, PRIO_PGRP, IOPRIO_PROCESS = 0x10000000, 0x100, 0x8000, 0, 1, 1
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_ALG, AF_VSOCK = 1, 2, 10, 16, 17, 38, 40
SOCK_STREAM, SOCK_RAW, SOCK_CLOEXEC = 1, 3, 0o2000000
USUAL = (
    "read",
    "write",
    "openat",
    "mmap",
    "futex",
    "exit_group",
    "execve",
    "wait4",
    "kill",
    "ioctl",
    "sched_getaffinity",
    "prctl",
)
OF_A_PROFILERS_RIGHTS = ("mount", "open_tree_attr", "open_by_handle_at", "fanotify_init", "sethostname", "swapoff", "quotactl")
F_SETDELEG, USUAL_FCNTL = 1040, (fcntl.F_DUPFD_CLOEXEC, fcntl.F_SETFL, fcntl.F_SETLK, fcntl.F_OFD_SETLK, fcntl.F_GETLEASE)
FIFREEZE, FITHAW, SHUTDOWN, TCGETS = 0xC0045877, 0xC0045878, 0x8004587D, 0x5401


@cache
def numbers(machine: str) -> Mapping[str, int]:
    """The numbers of system calls by name, from the headers of the kernel."""
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        pytest.skip("the ziglang wheel (extra `cpu`) is not installed, which holds the kernel's headers")
    text = (Path(spec.origin).parent / "lib/libc/include" / HEADERS[machine]).read_text()
    found = re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)$", text, re.MULTILINE)
    return {name: int(number) for name, number in found}


def judged(program: Sequence[Instruction], number: int, arguments: Sequence[int], architecture: int) -> int:
    """Run the filter on one call as linux/filter.h says; return what it answers."""
    call = struct.pack("<IIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    at = accumulator = 0
    while True:
        code, value, then, otherwise = program[at]
        value = OWN if value == system_calls.OWN_PID else value
        at += 1
        if code == 0x06:
            return value
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", call, value)
        elif code == 0x54:
            accumulator &= value
        else:
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[code]
            at += then if holds else otherwise


class Judge:
    """The filter of one machine."""

    def __init__(self, machine: str, *, counters: bool = False, gpu: bool = False) -> None:
        column, self.architecture = ARCHITECTURES[machine]
        made = system_calls._instructions(column, self.architecture, counters=counters, gpu=gpu)
        self.numbers, self.program = numbers(machine), tuple(made)

    def __call__(self, name: str, *arguments: int) -> int:
        return judged(self.program, self.numbers[name], arguments, self.architecture)


def tables() -> Iterator[tuple[str, tuple[int, ...]]]:
    yield from system_calls.FORBIDDEN.items()
    yield from system_calls.OF_OWN_PID.items()
    yield from ((name, each[:2]) for name, each in system_calls.OF_OWN_WHO.items())
    yield from (("clone", system_calls.CLONE), ("clone3", system_calls.CLONE3), ("socket", system_calls.SOCKET))
    yield from (("seccomp", system_calls.SECCOMP), ("ioctl", system_calls.IOCTL), ("fcntl", system_calls.FCNTL))


@pytest.mark.parametrize("machine", MACHINES)
def test_numbers_are_those_of_the_headers(machine: str) -> None:
    column, known = ARCHITECTURES[machine][0], numbers(machine)
    assert {name: each[column] for name, each in tables()} == {name: known[name] for name, _ in tables()}


@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_forbidden_is_refused_and_the_usual_is_not(machine: str) -> None:
    judge = Judge(machine)
    assert {name: judge(name) for name in system_calls.FORBIDDEN} == dict.fromkeys(system_calls.FORBIDDEN, REFUSED)
    assert {name: judge(name, FOREIGN, FOREIGN) for name in USUAL} == dict.fromkeys(USUAL, ALLOWED)
    profiler = Judge(machine, counters=True)
    assert [profiler(name) for name in system_calls.FOR_COUNTERS] == [ALLOWED] * len(system_calls.FOR_COUNTERS)
    assert {name: profiler(name) for name in OF_A_PROFILERS_RIGHTS} == dict.fromkeys(OF_A_PROFILERS_RIGHTS, REFUSED)


@pytest.mark.parametrize("machine", MACHINES)
def test_threads_and_processes_are_allowed_without_namespaces(machine: str) -> None:
    judge = Judge(machine)
    assert (judge("clone", CLONE_VM | 17), judge("clone", CLONE_NEWUSER | 17)) == (ALLOWED, REFUSED)
    assert judge("clone", CLONE_PARENT | 17) == REFUSED  # it would be a child of the runner's, not of the launch
    assert judge("clone3") == NO_SUCH_CALL


@pytest.mark.parametrize("machine", MACHINES)
def test_limits_priority_and_cores_of_the_child_itself_alone(machine: str) -> None:
    judge, with_gpu = Judge(machine), Judge(machine, gpu=True)
    for name in system_calls.OF_OWN_PID:
        assert [judge(name, pid) for pid in (0, OWN, FOREIGN, OWN + 1)] == [ALLOWED, ALLOWED, REFUSED, REFUSED], name
        assert with_gpu(name, FOREIGN) == (REFUSED if name == "prlimit64" else ALLOWED), name
    for name, kind in (("setpriority", PRIO_PROCESS), ("ioprio_set", IOPRIO_PROCESS)):
        assert [judge(name, kind, who) for who in (0, OWN, FOREIGN)] == [ALLOWED, ALLOWED, REFUSED], name
        assert judge(name, kind + 1, 0) == REFUSED, name
        assert with_gpu(name, kind, FOREIGN) == ALLOWED, name


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("counters", [False, True])
def test_no_file_system_is_stopped(machine: str, *, counters: bool) -> None:
    judge = Judge(machine, counters=counters)
    assert [judge("ioctl", 3, request) for request in (FIFREEZE, FITHAW, SHUTDOWN)] == [REFUSED] * 3
    assert judge("ioctl", 3, TCGETS) == ALLOWED
    assert judge("ioctl", FITHAW & 0xFF, TCGETS, FITHAW) == ALLOWED


@pytest.mark.parametrize("machine", MACHINES)
def test_no_file_is_leased(machine: str) -> None:
    judge = Judge(machine)
    assert [judge("fcntl", 3, command) for command in (fcntl.F_SETLEASE, F_SETDELEG)] == [REFUSED] * 2
    assert [judge("fcntl", fcntl.F_SETLEASE, command) for command in USUAL_FCNTL] == [ALLOWED] * len(USUAL_FCNTL)


@pytest.mark.parametrize("machine", MACHINES)
def test_sockets_but_raw_ones(machine: str) -> None:
    judge = Judge(machine)
    assert [judge("socket", family, SOCK_STREAM) for family in (AF_UNIX, AF_INET, AF_INET6)] == [ALLOWED] * 3
    assert [judge("socket", family, SOCK_RAW | SOCK_CLOEXEC) for family in (AF_INET, AF_INET6)] == [REFUSED] * 2
    assert [judge("socket", family, SOCK_STREAM) for family in (AF_PACKET, AF_ALG, AF_VSOCK)] == [REFUSED] * 3
    assert judge("socket", AF_NETLINK, SOCK_RAW) == ALLOWED  # how libc reads addresses


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_by_the_tables_of_other_machines_are_refused(machine: str) -> None:
    judge = Judge(machine)
    others = [architecture for _, architecture in ARCHITECTURES.values() if architecture != judge.architecture]
    i386 = 0x40000003
    for architecture in (*others, i386):
        assert judged(judge.program, judge.numbers["read"], (), architecture) == REFUSED
    x32 = judged(judge.program, 0x40000000 | judge.numbers["read"], (), judge.architecture)
    assert x32 == (REFUSED if machine == "x86_64" else ALLOWED)  # nothing is at these numbers on aarch64
