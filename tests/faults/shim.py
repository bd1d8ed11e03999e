"""What the preloaded shim (shim.c) is told, and what it tells back. The two have one layout of the plan."""

import errno
import os
import struct
import subprocess
import sys
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from pathlib import Path

HERE = Path(__file__).parent
LAYOUT = struct.Struct("<qQQiiiiqiiq256s64s256s")
RUNNER, CALLS, FIRED = (0, "q"), (8, "Q"), (48, "i")  # offset and format of what is read back


class Act(IntEnum):
    """What happens at the k-th call."""

    COUNT = 0
    KILL_RUNNER = 1
    KILL_SELF = 2
    KILL_BOTH = 3
    SIGNAL_RUNNER = 4
    FAIL_ONCE = 5
    FAIL_FROM = 6
    SHORT_ONCE = 7
    SHORT_FROM = 8


class PairedBy(IntFlag):
    """Whose calls count: the runner's, those of its git children, or both."""

    RUNNER = 1
    CHILDREN = 2
    ALL = 3


class Calls(IntFlag):
    """Kinds of calls. OPEN is opening to read; PROCESS is pipe, fork, exec and flock."""

    WRITE = 1
    SYNC = 2
    NAME = 4
    CREATE = 8
    OPEN = 16
    PROCESS = 32
    CHANGES = 1 | 2 | 4 | 8 | 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """At call number `at` (from 1; 0 is never) of `kinds` by `by`, do `act`. `number` is a signal or an errno.

    `only` keeps calls on paths that hold it; `clock_shift_s` is added to the time of day from then on; `logs` notes every
    change of a file, for a power cut.
    """

    at: int = 0
    act: Act = Act.COUNT
    number: int = 0
    by: PairedBy = PairedBy.ALL
    kinds: Calls = Calls.CHANGES
    only: str = ""
    clock_shift_s: int = 0
    logs: bool = False


class PlanFile:
    """A plan in a file that the shim maps."""

    def __init__(self, path: Path, plan: Plan, below: Path) -> None:
        self.path, self.log = path, path.with_suffix(".log")
        self.log.unlink(missing_ok=True)
        path.write_bytes(
            LAYOUT.pack(
                *(0, 0, plan.at, plan.act, plan.number, plan.by, plan.kinds, 0, 0, plan.logs, plan.clock_shift_s),
                *(os.fsencode(below), plan.only.encode(), os.fsencode(self.log)),
            )
        )

    def calls(self) -> int:
        """How many calls were counted so far."""
        return self._read(CALLS)

    def fired(self) -> bool:
        """Has the k-th call come?"""
        return bool(self._read(FIRED))

    def _read(self, field: tuple[int, str]) -> int:
        offset, form = field
        return int(struct.unpack_from(form, self.path.read_bytes(), offset)[0])


def compile_c(source: str, target: Path, *options: str) -> Path:
    """Compile a file of this folder with the compiler of the ziglang wheel."""
    argv = [sys.executable, "-m", "ziglang", "cc", "-O2", *options, "-o", str(target), str(HERE / source)]
    ended = subprocess.run(argv, capture_output=True, text=True)
    if ended.returncode:
        raise RuntimeError(f"{source} does not compile: {ended.stderr[-2000:]}")
    return target


FULL = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EROFS": errno.EROFS, "EMFILE": errno.EMFILE}
