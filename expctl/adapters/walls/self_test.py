"""Try every forbidden act in a child that is confined as a candidate is, on files and processes made for that, and look from
outside whether anything happened.
"""

import contextlib
import ctypes
import json
import os
import resource
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from expctl.adapters.child.contained_process import (
    MARK,
    RESULT_FD,
    Child,
    ChildLimits,
    Gone,
    Launch,
    TimedOut,
    TooMuch,
    log_tail,
)
from expctl.adapters.walls.act import LAUNCHER, Act
from expctl.adapters.walls.acts_on_others import HOST
from expctl.adapters.walls.attempts import ACTS, DONE, LACKING, STAYS
from expctl.domain.errors import MachineTrouble
from expctl.domain.machine.walls import Attempt, Outcome, Walls
from expctl.launcher.capabilities import detect_capabilities
from expctl.launcher.process import identity_of, pids

WAIT_S = 60.0
DISK_BYTES = 8 << 20
FILLED_S = 60.0
IPC_CREAT, IPC_RMID = 0o1000, 0
SEGMENTS, KERNEL_LOG = Path("/proc/sysvipc/shm"), "/dev/kmsg"
COMMANDED = tuple(f"/dev/{name}" for name in ("loop-control", "userfaultfd", "kvm", "fuse", "net/tun"))
WAITS = f"import os, sys, time; os.write(int(os.environ[sys.argv[1]]), b'ready\\n'); time.sleep({WAIT_S:.0f})"
PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from expctl.adapters.walls.attempts import main; main(sys.argv[2:])"
CODE = str(Path(__file__).parents[3])
OUTLIVES, FILLS = ENDED = ("outlives its launch", "fills the disk")

_libc = ctypes.CDLL(None, use_errno=True)


def try_walls(*, confined: bool = True) -> Walls:
    """Return the result of the self-test. It takes about half a second, and leaves nothing behind. Raises MachineTrouble if a
    confined child can't even be started. Only a test calls it with `confined` false: every act may then happen.
    """
    folder = Path(tempfile.mkdtemp(prefix="expctl-walls."))
    try:
        attempts = _tried(folder, confined=confined) + (_ended(folder) if confined else ())
    except (Gone, TimedOut) as error:
        said = log_tail(folder / "log")
        raise _not_tried(f"{error or 'no answer in time'}{said}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Walls(confinement=detect_capabilities().words() if confined else "no walls", attempts=attempts)


def _launch(folder: Path, *words: str, confined: bool) -> Launch:
    scratch = folder / "scratch"
    return Launch(
        argv=[sys.executable, "-Ic", PROGRAM, CODE, *words],
        cwd=folder,
        environment={"PATH": os.environ.get("PATH", os.defpath), MARK: "walls"},
        log=folder / "log",
        limits=ChildLimits(scratch=(scratch,)) if confined else None,
        disk_bytes=DISK_BYTES,
    )


def _tried(folder: Path, *, confined: bool) -> tuple[Attempt, ...]:
    folders = {each.name: _made(folder / f"act{number}") for number, each in enumerate(ACTS)}
    shared = Path(f"/dev/shm/expctl-walls-{os.getpid()}")  # noqa: S108  it must not come into being
    with contextlib.ExitStack() as stack:
        stack.callback(shared.unlink, missing_ok=True)
        stream, packets, nameless = (stack.enter_context(each) for each in _listening(folder.name))
        segment = _libc.shmget(0, 4096, IPC_CREAT | 0o600)
        stack.callback(_libc.shmctl, segment, IPC_RMID, None)
        argv, environment = [sys.executable, "-ISc", WAITS, RESULT_FD], {MARK: "walls"}
        bystander = stack.enter_context(Child(Launch(argv=argv, cwd=folder, environment=environment, log=folder / "log")))
        next(bystander.lines(time.monotonic() + WAIT_S))
        victims = {
            "scratch": str(folder / "scratch"),
            "runner": os.getpid(),
            "bystander": bystander.pid,
            "descriptor": _descriptor_of(bystander.pid),
            "port": stream.getsockname()[1],
            "packets": packets.getsockname()[1],
            "free": _unused_port(),
            "nameless": nameless.getsockname()[1:].decode(),
            "network": os.stat("/proc/self/ns/net").st_ino,
            "numbers": os.stat("/proc/self/ns/pid").st_ino,
            "segment": segment,
            "shared": str(shared),
            "terminal": stack.enter_context(_terminal()),
            "device": next((each for each in COMMANDED if os.access(each, os.R_OK)), ""),
            "log": KERNEL_LOG if os.path.exists(KERNEL_LOG) else "",
        }
        probes: dict[str, Callable[[], object]] = {name: partial(_facts, each) for name, each in folders.items()}
        probes |= {
            "connects to a port of the user": partial(_heard, stream),
            "sends a packet to a port of the user": partial(_heard, packets),
            "connects to a nameless socket of the user": partial(_heard, nameless),
            "leaves a file in shared memory": shared.exists,
            "removes shared memory of System V": lambda: str(segment) in SEGMENTS.read_text().split(),
            "limits a process of the user": lambda: resource.prlimit(bystander.pid, resource.RLIMIT_FSIZE),
            "changes the priority of a process": lambda: os.getpriority(os.PRIO_PROCESS, bystander.pid),
            "changes the scheduler of a process": lambda: os.sched_getscheduler(bystander.pid),
            "writes what /proc has of another process": Path(f"/proc/{bystander.pid}/oom_score_adj").read_text,
        }
        before = {name: probe() for name, probe in probes.items()}
        words = ("try", RESULT_FD, json.dumps(victims), json.dumps(folders))
        with Child(_launch(folder, *words, confined=confined)) as child:
            child.close_input()
            said = dict(json.loads(line) for line in child.lines(time.monotonic() + WAIT_S))
        changed = {name for name, probe in probes.items() if probe() != before[name]}
    if len(said) != len(ACTS):
        raise Gone(f"the child tried {len(said)} of {len(ACTS)} acts")
    return tuple(_judged(each, said[each.name], changed=each.name in changed) for each in ACTS)


def _judged(tried: Act, said: str, *, changed: bool) -> Attempt:
    """Return what became of an act: what the runner saw counts, and where nothing can be seen, the kernel's answer."""
    is_open = changed or (said == DONE and not tried.seen)
    outcome = Outcome.OPEN if is_open else Outcome.ABSENT if said == LACKING else Outcome.STOPPED
    how = "seen from outside" if changed else "done" if is_open else "no effect outside" if said == DONE else said
    return Attempt(act=tried.name, outcome=outcome, how=how, by=tried.by)


def _ended(folder: Path) -> tuple[Attempt, ...]:
    """Launch a child that leaves a process behind and fills the disk; return what became of both."""
    big, stays, how = folder / "scratch" / "big", None, "nothing ended it"
    with Child(_launch(folder, "stay", RESULT_FD, str(big), folder.name, confined=True)) as child:
        child.close_input()
        try:
            for _ in child.lines(time.monotonic() + FILLED_S):
                stays = next((identity_of(pid) for pid in pids() if _ends_with(pid, folder.name + STAYS)), None)
        except TooMuch as error:
            how = str(error)
        except TimedOut:
            pass
    fills = Outcome.OPEN if big.exists() else Outcome.STOPPED
    outlives = Outcome.OPEN if stays is not None and stays.is_alive() else Outcome.STOPPED
    if stays is None:
        raise Gone("the child left no process behind")
    return (
        Attempt(act=FILLS, outcome=fills, how=how, by=(LAUNCHER,)),
        Attempt(act=OUTLIVES, outcome=outlives, how="it lives" if outlives is Outcome.OPEN else "killed", by=(LAUNCHER,)),
    )


def _ends_with(pid: int, word: str) -> bool:
    """Return whether the command line of the process `pid` ends with the word `word`."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().endswith(b"\0" + word.encode() + b"\0")
    return False


def _made(folder: Path) -> str:
    """Make the folder of one act with all that an act may want to change; return its path."""
    (folder / "empty").mkdir(parents=True)
    for name in ("file", "harness.py", "protocol.yaml", "refs-heads-main"):
        (folder / name).write_text("as it was\n")
    return str(folder)


def _facts(folder: str) -> list[object]:
    """Return names, contents, modes, times, owners and attributes of all that is in the folder of one act."""
    found: list[object] = []
    for path in sorted(Path(folder).rglob("*")):
        facts = path.lstat()
        text = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found.append((str(path), facts.st_mode, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_nlink, text))
    return found


def _listening(name: str) -> tuple[socket.socket, socket.socket, socket.socket]:
    """Return sockets that wait for whoever comes: a stream and packets on ports of the loopback, and a nameless socket."""
    stream, packets = socket.socket(), socket.socket(type=socket.SOCK_DGRAM)
    nameless = socket.socket(socket.AF_UNIX)
    stream.bind((HOST, 0))
    packets.bind((HOST, 0))
    nameless.bind(f"\0{name}")
    for each in (stream, packets, nameless):
        each.setblocking(False)
    stream.listen()
    nameless.listen()
    return stream, packets, nameless


@contextlib.contextmanager
def _terminal() -> Iterator[str]:
    """Give the name of a terminal that is made for it; "" where none can be made."""
    try:
        ends = os.openpty()
    except OSError:
        yield ""
        return
    try:
        yield os.ttyname(ends[1])
    finally:
        for end in ends:
            os.close(end)


def _heard(listening: socket.socket) -> bool:
    try:
        listening.recv(1) if listening.type == socket.SOCK_DGRAM else listening.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def _unused_port() -> int:
    with socket.socket() as unused:
        unused.bind((HOST, 0))
        return int(unused.getsockname()[1])


def _descriptor_of(pid: int) -> int:
    """Return the number of the result channel of the launch `pid`."""
    words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return int(next(word for word in words if word.startswith(f"{RESULT_FD}=".encode())).partition(b"=")[2])


def _not_tried(found: str) -> MachineTrouble:
    return MachineTrouble(
        "the walls can't be tried",
        code="walls-cannot-be-tried",
        expected="a confined child that tries each forbidden act",
        found=found,
        hint="expctl doctor shows what this kernel offers; EXPCTL_UNCONFINED=1 goes on without walls, and the record says so",
    )
