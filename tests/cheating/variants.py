"""The kernels of tests/cheating/kernels, what each of them is refused for, and a process that tries them."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KERNELS = HERE / "kernels"
SOURCES = ("abi.c", "honest.c", "wrong_values.c", "wrong_times.c", "misbehaved.c")
FLAGS = ("-std=gnu11", "-O3", "-march=native", "-shared", "-fPIC", "-s")
MARK, ROOM = b"VARIANT:", 48

HONEST = (
    "plain", "rows-backwards", "by-columns", "tiles-64", "tiles-tall", "tiles-wide", "recursive", "even-rows-first",
    "dot-products", "split-k", "static-scratch", "copies-inputs", "maps-memory", "writes-twice", "slow-first-call",
    "reads-the-clock", "reads-the-environment", "says-hello", "other-path-for-the-kpi", "picks-by-size", "two-threads",
    "sleeping-helper",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Cheat:
    """`step` refuses it, test or benchmark, for a `reason` (a regular expression). Without a step it is denied what it tries,
    and is then as honest as the next kernel: no gain, no KEEP. `or_earlier`: where the machine is busy, by the test.
    `by_chance`: what is looked at is drawn, or others take the core, so that asking takes long and as much is allowed
    (docs/THREATS.md).
    """

    name: str
    step: str = ""
    reason: str = ""
    or_earlier: bool = False
    by_chance: bool = False


CHEATS = (
    Cheat(name="cached-by-pointer", step="benchmark", reason=r"timed output: C\[.* expected"),
    Cheat(name="cached-by-shape", step="test", reason=r"after row \d+ of A changed in place"),
    Cheat(name="cached-by-hash", step="test", reason=r"after row \d+ of A changed in place"),
    Cheat(name="cached-upcast", step="benchmark", reason=r"timed output: C\[.* expected"),
    Cheat(name="skips-every-second-call", step="test", reason="launch 2 differs from launch 1"),
    Cheat(name="skips-a-row", step="benchmark", reason="still the poison"),
    Cheat(name="guesses-columns", step="benchmark", reason=r"timed output: C\[.* expected", by_chance=True),
    Cheat(name="early-out-on-the-kpi", step="test", reason=r"C\[.* expected"),
    Cheat(name="assumes-zeros", step="test", reason=r"C\[.* expected"),
    Cheat(name="coarse", step="test", reason="limit"),
    Cheat(name="coarse-when-timed", step="benchmark", reason="timed output: .* limit"),
    Cheat(name="races-seldom", step="benchmark", reason=r"timed output: C\[.* expected", by_chance=True),
    Cheat(name="one-wrong-element", step="benchmark", reason=r"timed output: C\[5,7\]", by_chance=True),
    Cheat(name="not-a-number", step="benchmark", reason=r"C\[\d+,\d+\] is nan"),
    Cheat(name="changes-its-inputs", step="test", reason="the launch wrote into B"),
    Cheat(name="knows-the-test-by-its-argv", step="test", reason="still the poison"),  # argv[0] is harness_fixture.py
    Cheat(name="knows-the-test-by-its-memory", step="benchmark", reason="still the poison"),
    Cheat(name="knows-the-test-by-counting", step="benchmark", reason=r"timed output: C\[.* is 0, expected"),
    Cheat(name="clock-much-slower", step="benchmark", reason="by its own clock a timed request took", by_chance=True),
    Cheat(name="clock-of-the-interpreter", step="benchmark", reason="by its own clock a timed request took", by_chance=True),
    Cheat(name="says-its-own-times", step="benchmark", reason="by its own clock a timed request took", by_chance=True),
    Cheat(name="deferred", step="benchmark", reason="by its own clock|poison|timed output|differs", or_earlier=True),
    Cheat(name="never-rests", step="benchmark", reason="by its own clock a timed request took", by_chance=True),
    Cheat(name="forges-results", step="test", reason="said more than it was asked"),
    Cheat(name="forges-results-and-leaves", step="test", reason="said more than it was asked"),
    Cheat(name="forges-by-proc", step="test", reason="never written"),
    Cheat(name="forges-at-exit", step="test", reason="never written"),
    Cheat(name="answers-ahead", step="benchmark", reason="said (something|more)"),
    Cheat(name="reads-the-judge", step="test", reason="died of SIGSYS"),
    Cheat(name="opens-the-judge", step="test", reason="never written"),
    Cheat(name="changes-the-harness"),
    Cheat(name="leaves-a-message"),
    Cheat(name="leaves-a-process", step="test", reason="died of SIGSYS"),
    Cheat(name="starts-a-program", step="test", reason="died of SIGSYS"),
    Cheat(name="becomes-a-program"),
    Cheat(name="stops-the-others"),
    Cheat(name="takes-more-cores", step="test", reason="runs on cores"),
    Cheat(name="changes-its-scheduler", step="test", reason="at priority"),
    Cheat(name="changes-its-priority", step="test", reason="at priority"),
    Cheat(name="leaves-when-timed", step="benchmark", reason="exited with status 0"),
    Cheat(name="runs-out-of-stack", step="test", reason="died of SIG"),
    Cheat(name="smashes-the-stack", step="test", reason="died of SIG"),
)


def build(folder: Path) -> Path:
    """One library with every variant in it."""
    library = folder / "variants.so"
    argv = [sys.executable, "-m", "ziglang", "cc", *FLAGS, *(str(KERNELS / name) for name in SOURCES), "-o", str(library)]
    subprocess.run(argv, check=True, capture_output=True)
    return library


def branded(library: Path, name: str, folder: Path) -> Path:
    """A copy that is one variant: its name stands among the instructions."""
    code = library.read_bytes()
    at = code.index(MARK)
    assert code.count(MARK) == 1
    wanted = MARK + name.encode()
    assert len(wanted) < ROOM
    made = folder / f"{name}.so"
    made.write_bytes(code[:at] + wanted.ljust(ROOM, b"\0") + code[at + ROOM :])
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one step said of a variant, and its visits: (ns, outside_ns)."""

    ok: bool
    reason: str
    visits: tuple[tuple[int, int], ...]


class HarnessProcess:
    """A running harness_fixture.py, which puts variants through the test and the benchmark, one after another."""

    def __init__(self, library: Path, folder: Path) -> None:
        self._library, self._folder = library, folder
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "harness_fixture.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "TMPDIR": str(folder)},
        )

    def try_out(self, name: str, *, without: Sequence[str] = ()) -> dict[str, Outcome]:
        """By step; a step that fails is the last one."""
        artifact = branded(self._library, name, self._folder)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"artifact": str(artifact), "without": list(without)}) + "\n")
        self._process.stdin.flush()
        said = json.loads(self._process.stdout.readline())
        return {step: _outcome(each) for step, each in said.items()}

    def files(self) -> set[str]:
        """Names in the folder that variants run in."""
        return {path.name for path in self._folder.rglob("*")}

    def close(self) -> None:
        """No more variants."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(240)
        self._process.stdout.close()


def _outcome(said: dict[str, Any]) -> Outcome:
    visits = tuple((sum(ns), outside_ns) for ns, outside_ns in said["visits"])
    return Outcome(ok=said["end"].get("ok") is True, reason=str(said["end"].get("reason", "")), visits=visits)
