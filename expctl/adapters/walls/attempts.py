"""The child of the walls' self-test. In its first form it tries every act of act.ACTS, each in a process of its own, and writes
a line for each to the result channel; in its second form it leaves a process behind and fills the disk.
"""

import contextlib
import errno
import json
import os
import signal
import sys
import time
from typing import NoReturn

from expctl.adapters.walls import acts_on_files, acts_on_others
from expctl.adapters.walls.act import ACTS, Absent, Act, Victims

__all__ = ["ACTS", "acts_on_files", "acts_on_others", "main"]

DONE, LACKING = "done", "lacking"
ABSENT = (errno.ENOSYS, errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT, errno.EOPNOTSUPP, errno.ESOCKTNOSUPPORT)
CHUNK, CHUNKS = 1 << 20, 2048
STAYS_S = 120
STAYS = "-stays"
NOBODY = (1 << 22) - 1  # above any pid that Linux gives out by default


def main(words: list[str]) -> None:
    """Do what the runner asks: `try RESULTS VICTIMS FOLDERS` or `stay RESULTS FILE SIGN`. RESULTS is the variable with the
    number of the result channel. VICTIMS (the fields of Victims but `folder` and `results`) and FOLDERS (that of each act) are
    JSON. The command line of the process that stays ends with SIGN and STAYS.
    """
    results = int(os.environ[words[1]])
    if words[0] == "try":
        victims = Victims(**json.loads(words[2]), folder="", results=results)
        folders = json.loads(words[3])
        for tried in ACTS:
            said = json.dumps([tried.name, _outcome(tried, victims._replace(folder=folders[tried.name]))])
            os.write(victims.results, said.encode() + b"\n")
        return
    _leave_a_process(results, words[3] + STAYS)
    with open(words[2], "wb", buffering=0) as file:
        for _ in range(CHUNKS):
            file.write(bytes(CHUNK))
            time.sleep(0.01)


def _outcome(tried: Act, victims: Victims) -> str:
    """Return `done`, `lacking`, or what stopped it: the name of the kernel's error or of the signal."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(writing, victims.results)
        os.close(writing)
        _attempt(tried, victims)
    os.close(writing)
    with open(reading, "rb") as pipe:
        said = pipe.read().decode()
    status = os.waitpid(child, 0)[1]
    return said or (signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "ended without a word")


def _attempt(tried: Act, victims: Victims) -> NoReturn:
    said = DONE
    try:
        tried.attempt(_outside(victims))
    except Absent:
        said = LACKING
    except OSError as error:
        number = error.errno or 0
        said = LACKING if number in ABSENT else errno.errorcode.get(number, str(error))
    finally:
        with contextlib.suppress(OSError):
            os.write(victims.results, said.encode())
        os._exit(0)


def _outside(victims: Victims) -> Victims:
    """Return `victims` without those pids that in a pid namespace of its own are processes of this launch."""
    if os.stat("/proc/self/ns/pid").st_ino == victims.numbers:
        return victims
    runner, bystander = (NOBODY if os.path.exists(f"/proc/{pid}") else pid for pid in (victims.runner, victims.bystander))
    return victims._replace(runner=runner, bystander=bystander)


def _leave_a_process(results: int, sign: str) -> None:
    """Start a process that leaves session and mark behind and ignores what ends others. Return when it runs its own program,
    with `sign` in its command line, and say so on the result channel.
    """
    reading, writing = os.pipe()  # closed by exec
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            os.execve(sys.executable, [sys.executable, "-ISc", STAY, sign], {})  # noqa: S606
        os._exit(0)
    os.close(writing)
    os.read(reading, 1)
    os.write(results, b"stays\n")


STAY = f"import time; time.sleep({STAYS_S})"
