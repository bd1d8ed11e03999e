"""A seccomp filter for a process that may start threads, but no process, no tracing of others and no io_uring."""

from __future__ import annotations

import ctypes
import os
import struct

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_KILL_PROCESS, _ALLOW, _NO_SUCH_CALL = 0x80000000, 0x7FFF0000, 0x00050000 | 38
_LOAD, _IF_EQUAL, _IF_ANY_BIT, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
_CLONE_THREAD, _CLONE3, _X32 = 0x00010000, 435, 0x40000000

# (AUDIT_ARCH, clone, what kills: fork, vfork, ptrace, process_vm_readv and _writev, io_uring_setup)
_MACHINES = {
    "x86_64": (0xC000003E, 56, (57, 58, 101, 310, 311, 425)),
    "aarch64": (0xC00000B7, 220, (117, 270, 271, 425)),
}


def forbid_processes() -> bool:
    """Install the filter for this process and its threads: a forbidden call ends it by SIGSYS. False where Linux can't."""
    machine = _MACHINES.get(os.uname().machine)
    if machine is None:
        return False
    program = _program(*machine)
    code = ctypes.create_string_buffer(program)
    # struct sock_fprog: the number of instructions, padding, the address
    header = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return bool(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header, 0, 0) == 0)


def _program(architecture: int, clone: int, forbidden: tuple[int, ...]) -> bytes:
    """Return the filter as struct sock_filter: code, jump if true, jump if false, operand. Jumps count from the next one."""

    def instruction(code: int, operand: int, then: int = 0, otherwise: int = 0) -> bytes:
        return struct.pack("HBBI", code, then, otherwise, operand)

    kill = instruction(_RETURN, _KILL_PROCESS)
    lines = [instruction(_LOAD, _ARCHITECTURE), instruction(_IF_EQUAL, architecture, 1, 0), kill]
    lines += [instruction(_LOAD, _NUMBER), instruction(_IF_AT_LEAST, _X32, 0, 1), kill]
    for number in forbidden:
        lines += [instruction(_IF_EQUAL, number, 0, 1), kill]
    # glibc makes a thread by clone where there is no clone3, whose flags lie in memory that a filter can't read
    lines += [instruction(_IF_EQUAL, _CLONE3, 0, 1), instruction(_RETURN, _NO_SUCH_CALL)]
    lines += [instruction(_IF_EQUAL, clone, 0, 3), instruction(_LOAD, _FIRST_ARGUMENT)]
    lines += [instruction(_IF_ANY_BIT, _CLONE_THREAD, 1, 0), kill, instruction(_RETURN, _ALLOW)]
    return b"".join(lines)
