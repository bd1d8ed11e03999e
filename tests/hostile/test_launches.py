"""Programs that want out of their scratch folder, as a candidate's code may: run for real, within this kernel's walls."""

import json
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from expctl.adapters.child.arguments import child_environment
from expctl.adapters.child.contained_process import MARK, RESULT_FD, Child, ChildLimits, Launch, TimedOut, log_tail
from expctl.adapters.child.redaction import known_secrets
from expctl.domain.protocol.model import Environment
from expctl.launcher import containment, devices
from expctl.launcher.capabilities import Capabilities, detect_capabilities
from expctl.launcher.namespaces import Entry
from expctl.launcher.process import pids
from tests.hostile.table import TABLE, snapshot

SHARED = Path("/dev/shm/expctl-hostile")
TOOLS = "/usr/sbin:/usr/bin:/sbin:/bin"
PRELUDE = "import os, sys; E = os.environ; "
CASES = TABLE["launches"]


@dataclass(frozen=True, slots=True)
class User:
    """What belongs to the user: a folder, a check-out with the judge, its repository, a process, a port and a socket."""

    folder: Path
    victim: "subprocess.Popen[bytes]"
    stream: socket.socket
    packets: socket.socket
    nameless: socket.socket

    @property
    def scratch(self) -> Path:
        return self.folder / "scratch"

    @property
    def words(self) -> dict[str, str]:
        return {
            **{name.upper(): str(self.folder / name) for name in ("canary", "tree", "git", "scratch")},
            "RUNNER": str(os.getpid()),
            "VICTIM": str(self.victim.pid),
            "PORT": str(self.stream.getsockname()[1]),
            "SOCKET": self.nameless.getsockname()[1:].decode(),
            "PATH": TOOLS,
            MARK: "hostile",
        }

    def facts(self) -> dict[str, str]:
        """Everything of the user's that a program could have changed or reached."""
        found = snapshot(*(self.folder / name for name in ("canary", "tree", "git")))
        found["shared memory"] = str(SHARED.exists())
        found["victim"] = str(self.victim.poll())
        if self.victim.returncode is not None:
            return found
        found["limits"] = str(resource.prlimit(self.victim.pid, resource.RLIMIT_FSIZE))
        found["cores"] = f"{os.sched_getaffinity(self.victim.pid)} {os.sched_getscheduler(self.victim.pid)}"
        found["priority"] = str(os.getpriority(os.PRIO_PROCESS, self.victim.pid))
        for name in ("stream", "packets", "nameless"):
            found[name] = str(heard(getattr(self, name)))
        return found


def heard(listening: socket.socket) -> bool:
    """Did somebody come or send?"""
    try:
        listening.recv(10) if listening.type == socket.SOCK_DGRAM else listening.accept()[0].close()
    except BlockingIOError:
        return False
    return True


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    files = {
        "canary/file": "alive\n",
        "canary/folder/deep": "alive\n",
        "tree/bench/judge.py": "judge\n",
        "git/config": "[core]\n",
    }
    files |= {"git/refs/heads/main": "0" * 40, "git/hooks/sample": "x"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "scratch").mkdir()
    victim = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    sockets = [socket.socket(), socket.socket(type=socket.SOCK_DGRAM), socket.socket(socket.AF_UNIX)]
    sockets[0].bind(("127.0.0.1", 0))
    sockets[1].bind(sockets[0].getsockname())
    sockets[2].bind(f"\0expctl-hostile-{os.getpid()}-{victim.pid}")
    for each in sockets:
        each.setblocking(False)
    sockets[0].listen()
    sockets[2].listen()
    yield User(tmp_path, victim, *sockets)
    victim.kill()
    victim.wait()
    SHARED.unlink(missing_ok=True)
    for each in sockets:
        each.close()


def run(user: User, program: list[str], limits: ChildLimits | None) -> str:
    """Run it to its end and return what it said."""
    log = user.folder / "log"
    log.unlink(missing_ok=True)
    environment = user.words | {"HOME": str(user.scratch / "home")}
    with Child(Launch(argv=program, cwd=user.folder / "tree", environment=environment, log=log, limits=limits)) as child:
        child.close_input()
        try:
            child.wait(time.monotonic() + 20)
        except TimedOut:
            return "timed out"
    return log.read_text(errors="replace")


def commandline(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def argv_of(case: dict[str, str]) -> list[str]:
    return [sys.executable, "-c", PRELUDE + case["python"]] if "python" in case else ["/bin/sh", "-c", case["sh"]]


def offered(need: str, here: Capabilities, *, beside_a_gpu: bool) -> bool:
    return {
        "": here.confines_writes,
        "mounts": here.entry is not Entry.NONE,
        "network": here.entry is not Entry.NONE,
        "signals": here.landlock >= 6,
        "calls": here.filters_calls,
        "cores": here.filters_calls and not beside_a_gpu,
    }[need]


BESIDE_A_GPU = "all, beside a GPU"
LAYERS: dict[str, dict[str, Any]] = {
    "all": {},
    BESIDE_A_GPU: {},
    "landlock alone": {"entry": Entry.NONE},
    "mounts alone": {"landlock": 0},
    "calls alone": {"landlock": 0, "entry": Entry.NONE},
}


# With --long each in every layer; else in all of them together, and in one other, by turns.
OTHERS = [layer for layer in LAYERS if layer != "all"]
LAUNCHES = [
    pytest.param(name, layer, marks=() if layer in ("all", OTHERS[number % len(OTHERS)]) else pytest.mark.long)
    for number, name in enumerate(CASES)
    for layer in LAYERS
]


@pytest.mark.parametrize(("name", "layer"), LAUNCHES)
def test_a_launch(name: str, layer: str, user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    case, here = CASES[name], replace(detect_capabilities(), **LAYERS[layer])
    if not offered(case.get("needs", ""), here, beside_a_gpu=layer == BESIDE_A_GPU):
        if layer != "all":
            return  # as the table says: what is left does not stop it
        pytest.skip(f"UNCONFINED: this kernel offers {here.words()}, which does not stop what {name}")
    monkeypatch.setattr(containment, "detect_capabilities", lambda: here)
    if layer == BESIDE_A_GPU:
        monkeypatch.setattr(devices, "gpus", lambda: (Path("/dev/null"),))
    before = user.facts()
    said = run(user, argv_of(case), ChildLimits(scratch=(user.scratch,), counters=case.get("counters", False)))
    assert user.facts() == before, said
    assert case.get("says", "") in said
    assert "says_not" not in case or case["says_not"] not in said, said
    assert "leaves_not" not in case or not list(user.scratch.glob(case["leaves_not"]))
    if "ends" in case:
        assert (user.scratch / case["ends"]).read_text().split()
        assert [pid for pid in pids() if str(user.scratch / case["ends"]).encode() in commandline(pid)] == []


@pytest.mark.parametrize("layer", LAYERS)
def test_a_thread_can_be_named_beside_a_gpu(layer: str, user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA does so when it starts, and doesn't start where that fails."""
    monkeypatch.setattr(containment, "detect_capabilities", lambda: replace(detect_capabilities(), **LAYERS[layer]))
    monkeypatch.setattr(devices, "gpus", lambda: (Path("/dev/null"),))
    naming = (
        "import os, threading; open(f'/proc/self/task/{threading.get_native_id()}/comm', 'w').write('cuda'); print('named')"
    )
    assert "named" in run(user, [sys.executable, "-c", naming], ChildLimits(scratch=(user.scratch,)))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.get("alone")])
def test_the_same_program_does_its_harm_where_nothing_holds_it(name: str, user: User) -> None:
    before = user.facts()
    said = run(user, argv_of(CASES[name]), None)
    if "Operation not supported" in said:
        pytest.skip("this file system has no extended attributes")
    deadline = time.monotonic() + 2
    while (unharmed := user.facts() == before) and time.monotonic() < deadline:
        time.sleep(0.01)  # a signal or a packet may take a moment
    assert not unharmed, said


def test_no_variable_of_the_user_reaches_a_child(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in TABLE["environment"].items():
        monkeypatch.setenv(name, value)
    made = child_environment(Environment(pass_through=("ABSENT",)), user.scratch, "ours")
    log = user.folder / "log"
    limits = ChildLimits(scratch=(user.scratch,))
    with Child(Launch(argv=["/usr/bin/env"], cwd=user.folder, environment=made, log=log, limits=limits)) as child:
        child.wait(time.monotonic() + 10)
    seen = dict(line.split("=", 1) for line in log.read_text().splitlines())
    assert seen[MARK] == "ours"
    assert seen.pop(RESULT_FD) != "1"
    assert set(seen) & set(TABLE["environment"]) == {MARK}
    assert not set(seen.values()) & {value for value in TABLE["environment"].values() if len(value) > 1}


@pytest.mark.parametrize("name", TABLE["secrets"])
def test_no_secret_stays_in_what_was_said(name: str, user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    text = TABLE["secrets"][name]
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", TABLE["environment"]["AWS_SECRET_ACCESS_KEY"])
    known_secrets.cache_clear()
    try:
        program = f"import json, os; text = {text!r}; print('before'); print(text); print('after'); "
        program += f"os.write(int(os.environ[{RESULT_FD!r}]), json.dumps({{'reason': text}}).encode() + b'\\n')"
        log = user.folder / "log"
        with Child(Launch(argv=[sys.executable, "-c", program], cwd=user.folder, environment=user.words, log=log)) as child:
            (line,) = child.lines(time.monotonic() + 10)
            said = json.loads(line)["reason"]
            quoted = log_tail(log, lines=9)
        kept = log.read_text()
    finally:
        known_secrets.cache_clear()
    assert len(kept) == len(f"before\n{text}\nafter\n")
    assert kept.startswith("before\n")
    assert kept.endswith("\nafter\n")
    for where in (said, quoted, kept):
        assert "*****" in where
        assert not any(piece in where for piece in secrets_of(text))


def secrets_of(text: str) -> list[str]:
    """The parts of a case that nobody may read: its long words, but for names."""
    names = (
        "-----BEGIN",
        "-----END",
        "OPENSSH",
        "PRIVATE",
        "Authorization:",
        "https://user:",
        "fetching",
        "@example.org/x.git",
    )
    words = text.replace("@", " @").replace("user:", "user: ").replace("=", "= ").replace('"', " ").split()
    return [word.strip(".") for word in words if len(word) >= 12 and not word.startswith(names) and not word.endswith("=")]


def test_an_own_limit_core_and_thread_can_be_set_behind_the_filter(user: User) -> None:
    """By pid 0 and by the pid of the launch itself; sockets, threads and children are as ever."""
    program = (
        "import os, resource, socket, subprocess, threading\n"
        "for pid in (0, os.getpid()):\n"
        "    resource.prlimit(pid, resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE))\n"
        "    os.sched_setaffinity(pid, os.sched_getaffinity(pid)); os.setpriority(os.PRIO_PROCESS, pid, 1)\n"
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "thread = threading.Thread(target=print, args=('threads',)); thread.start(); thread.join()\n"
        "print(subprocess.run(['/bin/echo', 'children'], capture_output=True, text=True).stdout)\n"
    )
    said = run(user, [sys.executable, "-c", program], ChildLimits(scratch=(user.scratch,)))
    assert said.split() == ["threads", "children"]
