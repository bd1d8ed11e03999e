"""Forbidden acts on other processes, on the network and on parts of the kernel.

Numbers of calls are those of x86-64 and aarch64 (asm/unistd.h); the others are those of linux/*.h.
"""

import ctypes
import errno
import os
import resource
import signal
import socket
from pathlib import Path

from expctl.adapters.walls.act import (
    CALLS,
    CALLS_CPU,
    LANDLOCK,
    PROCESSES,
    RIGHTS,
    SCOPES,
    SPACES,
    TCP,
    Victims,
    act,
    call,
    refused,
)
from expctl.launcher.kernel import checked, prctl
from expctl.launcher.namespaces import NEW_USER
from expctl.launcher.system_calls import CLONE, FORBIDDEN

HOST = "127.0.0.1"
PTRACE_SEIZE, PR_GET_NO_NEW_PRIVS, IPC_RMID, CLONE_TREE = 0x4206, 39, 0, 1
PROCESS, IDLE = 1, 3 << 13
IOPRIO_SET, PROCESS_READ, PROCESS_WRITE, SHMCTL, INIT_MODULE = (251, 30), (310, 270), (311, 271), (31, 195), (313, 273)
OWN_KEYS, SESSION_KEYS = -2, -3
AF_ALG, AF_VSOCK, AF_PACKET, SEQPACKET = 38, 40, 17, 5

_libc = ctypes.CDLL(None, use_errno=True)


@act("connects to a port of the user", SPACES, TCP, seen=True)
def _connect(on: Victims) -> None:
    with socket.create_connection((HOST, on.port), 2) as stream:
        stream.send(b"x")


@act("opens a port of the machine", SPACES, TCP)
def _bind(on: Victims) -> None:
    with socket.socket() as listening:
        listening.bind((HOST, on.free))
        if os.stat("/proc/self/ns/net").st_ino != on.network:
            raise refused("a network of its own")


@act("sends a packet to a port of the user", SPACES, seen=True)
def _send_packet(on: Victims) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as packets:
        packets.sendto(b"x", (HOST, on.packets))


@act("connects to a nameless socket of the user", SPACES, SCOPES, seen=True)
def _connect_nameless(on: Victims) -> None:
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect("\0" + on.nameless)


@act("opens a raw socket", CALLS, RIGHTS)
def _raw_socket(_: Victims) -> None:
    socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).close()


@act("opens a packet socket", CALLS, RIGHTS)
def _packet_socket(_: Victims) -> None:
    socket.socket(AF_PACKET, socket.SOCK_RAW, 0).close()


@act("opens a socket of the kernel's ciphers", CALLS)
def _cipher_socket(_: Victims) -> None:
    socket.socket(AF_ALG, SEQPACKET, 0).close()


@act("opens a socket to the host of a virtual machine", CALLS)
def _host_socket(_: Victims) -> None:
    socket.socket(AF_VSOCK, socket.SOCK_STREAM, 0).close()


@act("removes shared memory of System V", SPACES)
def _remove_segment(on: Victims) -> None:
    call("shmctl", SHMCTL, on.segment, IPC_RMID, 0)


@act("sees a process of the user", PROCESSES)
def _see(on: Victims) -> None:
    os.stat(f"/proc/{on.bystander}")


@act("signals a process of the user", PROCESSES, SCOPES)
def _signal(on: Victims) -> None:
    os.kill(on.bystander, signal.SIGURG)


@act("signals the runner", PROCESSES, SCOPES)
def _signal_runner(on: Victims) -> None:
    os.kill(on.runner, 0)


@act("signals a group of processes", PROCESSES, SCOPES)
def _signal_group(on: Victims) -> None:
    os.killpg(on.bystander, signal.SIGURG)


@act("signals a process by its descriptor", PROCESSES, SCOPES, CALLS)
def _signal_by_descriptor(on: Victims) -> None:
    signal.pidfd_send_signal(os.pidfd_open(on.bystander), signal.SIGURG)


@act("limits a process of the user", PROCESSES, CALLS)
def _limit(on: Victims) -> None:
    resource.prlimit(on.bystander, resource.RLIMIT_FSIZE, (10, 10))


@act("limits the runner", PROCESSES, CALLS)
def _limit_runner(on: Victims) -> None:
    resource.prlimit(on.runner, resource.RLIMIT_FSIZE)


@act("changes the priority of a process", PROCESSES, CALLS_CPU)
def _slow(on: Victims) -> None:
    os.setpriority(os.PRIO_PROCESS, on.bystander, 19)


@act("changes the priority of a group of processes", PROCESSES, CALLS_CPU)
def _slow_group(on: Victims) -> None:
    os.setpriority(os.PRIO_PGRP, on.bystander, 19)


@act("changes the disk priority of a process", PROCESSES, CALLS_CPU)
def _slow_disk(on: Victims) -> None:
    call("ioprio_set", IOPRIO_SET, PROCESS, on.bystander, IDLE)


@act("moves a process to other cores", PROCESSES, CALLS_CPU)
def _move_cores(on: Victims) -> None:
    os.sched_setaffinity(on.bystander, os.sched_getaffinity(0))


@act("changes the scheduler of a process", PROCESSES, CALLS_CPU)
def _idle(on: Victims) -> None:
    os.sched_setscheduler(on.bystander, os.SCHED_IDLE, os.sched_param(0))


@act("changes what the scheduler knows of a process", PROCESSES, CALLS_CPU)
def _set_parameter(on: Victims) -> None:
    os.sched_setparam(on.bystander, os.sched_param(0))


@act("traces a process", PROCESSES, LANDLOCK, SPACES, RIGHTS, CALLS)
def _trace(on: Victims) -> None:
    checked(_libc.ptrace(PTRACE_SEIZE, on.bystander, None, None), "ptrace")


@act("reads the memory of a process", PROCESSES, LANDLOCK, SPACES, RIGHTS)
def _read_memory(on: Victims) -> None:
    _memory(PROCESS_READ, on.bystander)


@act("writes the memory of the runner", PROCESSES, LANDLOCK, SPACES, RIGHTS)
def _write_memory(on: Victims) -> None:
    _memory(PROCESS_WRITE, on.runner)


@act("opens the memory of a process in /proc", PROCESSES, LANDLOCK, SPACES, RIGHTS)
def _open_memory(on: Victims) -> None:
    os.close(os.open(f"/proc/{on.bystander}/mem", os.O_RDWR))


@act("reads the environment of the runner", PROCESSES, LANDLOCK, SPACES, RIGHTS)
def _read_environment(on: Victims) -> None:
    Path(f"/proc/{on.runner}/environ").read_bytes()


@act("reads the environment of the first process", LANDLOCK, SPACES, RIGHTS)
def _read_first_environment(_: Victims) -> None:
    Path("/proc/1/environ").read_bytes()


@act("opens the result descriptor of another launch", PROCESSES, LANDLOCK, SPACES, RIGHTS)
def _open_results(on: Victims) -> None:
    os.close(os.open(f"/proc/{on.bystander}/fd/{on.descriptor}", os.O_WRONLY))


@act("takes the result descriptor of another launch", PROCESSES, LANDLOCK, SPACES, RIGHTS, CALLS)
def _take_results(on: Victims) -> None:
    call("pidfd_getfd", FORBIDDEN["pidfd_getfd"], os.pidfd_open(on.bystander), on.descriptor, 0)


@act("compares two processes", PROCESSES, LANDLOCK, SPACES, RIGHTS, CALLS)
def _compare(on: Victims) -> None:
    call("kcmp", FORBIDDEN["kcmp"], on.runner, on.bystander, 1, 0, 0)


@act("adds a key to the kernel's", CALLS)
def _add_key(_: Victims) -> None:
    call("add_key", FORBIDDEN["add_key"], b"user", b"expctl", b"x", 1, OWN_KEYS)


@act("asks for the kernel's keys", CALLS)
def _ask_keys(_: Victims) -> None:
    call("keyctl", FORBIDDEN["keyctl"], 0, SESSION_KEYS, 0)


@act("makes a map of bpf", CALLS)
def _make_map(_: Victims) -> None:
    array = (ctypes.c_uint32 * 18)(2, 4, 4, 1)  # union bpf_attr: type, sizes of key and value, entries
    call("bpf", FORBIDDEN["bpf"], 0, ctypes.byref(array), ctypes.sizeof(array))


@act("opens a performance event", CALLS)
def _open_event(_: Victims) -> None:
    software = (ctypes.c_uint64 * 14)(1 | 112 << 32, 0, 0, 0, 0, 0x61)  # struct perf_event_attr: off, of user code alone
    call("perf_event_open", FORBIDDEN["perf_event_open"], ctypes.byref(software), 0, -1, -1, 0)


@act("sets up io_uring", CALLS)
def _set_up_ring(_: Victims) -> None:
    call("io_uring_setup", FORBIDDEN["io_uring_setup"], 1, ctypes.create_string_buffer(120))


@act("handles page faults itself (userfaultfd)", CALLS)
def _handle_faults(_: Victims) -> None:
    call("userfaultfd", FORBIDDEN["userfaultfd"], 1)


@act("makes namespaces of its own", CALLS)
def _unshare(_: Victims) -> None:
    call("unshare", FORBIDDEN["unshare"], NEW_USER)


@act("starts a process in namespaces of its own", CALLS)
def _clone(_: Victims) -> None:
    if call("clone", CLONE, NEW_USER | signal.SIGCHLD, 0, 0, 0, 0) == 0:
        os._exit(0)


@act("leaves its mounts for the runner's", PROCESSES, LANDLOCK, SPACES, RIGHTS, CALLS)
def _leave_mounts(on: Victims) -> None:
    call("setns", FORBIDDEN["setns"], os.open(f"/proc/{on.runner}/ns/mnt", os.O_RDONLY), 0)


@act("mounts over a folder", CALLS, RIGHTS)
def _mount(on: Victims) -> None:
    call("mount", FORBIDDEN["mount"], b"expctl", on.folder.encode(), b"tmpfs", 0, 0)
    call("umount2", FORBIDDEN["umount2"], on.folder.encode(), 0)


@act("copies the tree of mounts", CALLS, RIGHTS)
def _copy_mounts(_: Victims) -> None:
    call("open_tree", FORBIDDEN["open_tree"], -100, b"/", CLONE_TREE)


@act("changes its root folder", CALLS, RIGHTS)
def _change_root(on: Victims) -> None:
    call("chroot", FORBIDDEN["chroot"], on.folder.encode())


@act("sets the name of the machine", CALLS, RIGHTS)
def _set_name(_: Victims) -> None:
    socket.sethostname(socket.gethostname())


@act("loads a module of the kernel", RIGHTS)
def _load_module(_: Victims) -> None:
    try:
        call("finit_module", INIT_MODULE, -1, b"", 0)
    except OSError as error:
        if error.errno not in (errno.EBADF, errno.EINVAL):
            raise


@act("may gain privileges by starting a program", RIGHTS)
def _gain_privileges(_: Victims) -> None:
    if prctl(PR_GET_NO_NEW_PRIVS) == 1:
        raise refused("no new privileges")


def _memory(numbers: tuple[int, int], pid: int) -> None:
    """Copy a byte from or to an address that nobody has. EFAULT comes after every check of permission."""
    byte = ctypes.create_string_buffer(1)
    own, other = (ctypes.c_size_t * 2)(ctypes.addressof(byte), 1), (ctypes.c_size_t * 2)(1, 1)
    try:
        call("process_vm", numbers, pid, ctypes.byref(own), 1, ctypes.byref(other), 1, 0)
    except OSError as error:
        if error.errno != errno.EFAULT:
            raise
