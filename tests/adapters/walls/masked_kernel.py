"""Run the walls' self-test as if this kernel lacked a feature, and print its result as JSON.

    python -m tests.adapters.walls.masked_kernel MASK,...

`landlock`, `namespaces` and `seccomp` are refused by a filter of system calls that this process puts on itself, so that expctl
finds out as it would on such a kernel; `processes` refuses pid namespaces alone; `landlock=N` stands for an older
version; `gpu` for a machine with one; `all` for all three; `nothing` adds no mask, and `no-walls` starts the child without any.
"""

import errno
import platform
import sys
from functools import partial
from pathlib import Path

import msgspec

from expctl.adapters.walls.self_test import try_walls
from expctl.launcher import devices, landlock
from expctl.launcher.kernel import prctl
from expctl.launcher.landlock import PR_SET_NO_NEW_PRIVS
from expctl.launcher.namespaces import NEW_PROCESSES
from expctl.launcher.system_calls import (
    ALLOW,
    ANY_BIT,
    ARCHITECTURES,
    ARGUMENTS,
    EQUAL,
    ERROR,
    FORBIDDEN,
    LOAD,
    NUMBER,
    RETURN,
    SECCOMP,
    Filter,
    Instruction,
)

CALLS = {
    "landlock": ((landlock.CREATE_RULESET,) * 2, errno.ENOSYS),
    "namespaces": (FORBIDDEN["unshare"], errno.EPERM),
    "seccomp": (SECCOMP, errno.EINVAL),
}


def mask(names: list[str]) -> None:
    """Take the features `names` from this process and all that it starts. The filter that does so is put up last."""
    column = ARCHITECTURES[platform.machine()][0]
    program = [Instruction(LOAD, NUMBER)]
    for name in CALLS if "all" in names else names:
        if name in CALLS:
            numbers, error = CALLS[name]
            program += [Instruction(EQUAL, numbers[column], otherwise=1), Instruction(RETURN, ERROR | error)]
        elif name == "processes":
            program += [
                Instruction(EQUAL, FORBIDDEN["unshare"][column], otherwise=4),
                Instruction(LOAD, ARGUMENTS),
                Instruction(ANY_BIT, NEW_PROCESSES, otherwise=1),
                Instruction(RETURN, ERROR | errno.EPERM),
                Instruction(LOAD, NUMBER),
            ]
        elif name.startswith("landlock="):
            landlock.version = partial(int, name.partition("=")[2])  # type: ignore[assignment]
        elif name == "gpu":
            devices.gpus = lambda: (Path("/dev/null"),)  # type: ignore[assignment]
    program.append(Instruction(RETURN, ALLOW))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    Filter(program).enter()


if __name__ == "__main__":
    asked = sys.argv[1].split(",")
    mask(asked)
    print(msgspec.json.encode(try_walls(confined="no-walls" not in asked)).decode())
