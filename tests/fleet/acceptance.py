"""The acceptance run of a fleet: a head and three workers as processes of their own on the loopback address, 24 experiments.

`python -m tests.fleet.acceptance` plays one worker, three workers, and three workers with trouble: one is killed, one frozen
for 60 s, the head killed and begun anew. Verdicts must be the same each time, one commit for each KEEP, nothing lost; and three
workers at least 2.5 times as fast as one. `--sleep S` is how long a launch sleeps: the shorter, the more count Ray's start and
what the pair that is judged twice takes. `--only NAME` plays one part.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from expctl.launcher.process import family_of, identity_of
from tests.e2e.foreign import EXPCTL
from tests.fleet.knobs import WASTE, Knobs

SPEED_UP_LEAST = 2.5
START_S = 240  # beside a whole test suite Ray's processes take their time
FROZEN_S = 60.0
KEPT = ("P2", "P8")
APART = ("P2", "P3")  # each wins alone; together they lose
NAMES = ("a", "b", "c")


def propose_all(knobs: Knobs, count: int) -> dict[str, str]:
    """Queue experiments with known effects; return the verdict that each must get."""
    wanted = {}
    for number in range(1, count + 1):
        name = f"P{number}"
        gains = name in KEPT or name == APART[1]
        knobs.propose(name, number - 1, 0 if gains else WASTE + 20 + number)
        wanted[name] = "KEEP" if name in KEPT else "REJECT"
    return wanted


class Fleet:
    """Processes of a fleet below `folder`. Each worker has a folder of locks of its own, as a machine of its own would."""

    def __init__(self, folder: Path, knobs: Knobs) -> None:
        self._folder, self._knobs = folder, knobs
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *words: str) -> "subprocess.Popen[bytes]":
        """Begin a command; what it says goes to a file."""
        locks = self._folder / f"locks-{name}"
        locks.mkdir(exist_ok=True)
        environment = {**self._knobs.repository.environment, "EXPCTL_LOCK_DIR": str(locks)}
        environment |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        with open(self._folder / f"{name}.log", "ab") as log:
            process = subprocess.Popen(
                [EXPCTL, *words], cwd=self._knobs.repository.root, env=environment, stdout=log, stderr=log
            )
        self.processes[name] = process
        return process

    def said(self, name: str) -> str:
        """What a command has said so far."""
        file = self._folder / f"{name}.log"
        return file.read_text(errors="replace") if file.exists() else ""

    def up(self) -> None:
        """Begin the head, and wait until workers can join."""
        before = self.said("up").count("the fleet meets")
        self.start("up", "fleet", "up")
        until(lambda: self.said("up").count("the fleet meets") > before, "the head is up", START_S)

    def join(self, *names: str) -> None:
        """Begin workers, and wait until they have joined."""
        before = {name: self.said(name).count("joined") for name in names}
        for name in names:
            self.start(name, "fleet", "join", "--name", name)
        until(lambda: all(self.said(name).count("joined") > before[name] for name in names), "the workers have joined", START_S)

    def run(self) -> "subprocess.Popen[bytes]":
        """Begin the campaign."""
        return self.start("run", "run", "--all", "--on", "fleet")

    def kill(self, *names: str) -> None:
        """SIGKILL."""
        for name in names:
            self.processes[name].kill()
            self.processes[name].wait()

    def freeze(self, name: str, seconds: float) -> threading.Thread:
        """Stop all processes of a worker, and let them go on after some seconds."""
        stopped = family_of(self.processes[name].pid)
        for pid in stopped:
            signal_to(pid, signal.SIGSTOP)

        def thaw() -> None:
            time.sleep(seconds)
            for pid in stopped:
                signal_to(pid, signal.SIGCONT)

        thread = threading.Thread(target=thaw)
        thread.start()
        return thread

    def end(self) -> None:
        """End what is left, and wait until it is gone."""
        started = [pid for process in self.processes.values() for pid in family_of(process.pid)]
        for pid in started:
            signal_to(pid, signal.SIGKILL)
        for process in self.processes.values():
            process.wait()
        until(lambda: not [pid for pid in started if identity_of(pid)], "all processes are gone", 30)


Trouble = Callable[[Fleet, Knobs], "subprocess.Popen[bytes]"]


def signal_to(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def until(holds: Callable[[], object], what: str, at_most_s: float) -> None:
    deadline = time.monotonic() + at_most_s
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {at_most_s:g} s until {what}")
        time.sleep(0.1)


def trouble(fleet: Fleet, knobs: Knobs, *, frozen_s: float, at: tuple[int, int]) -> "subprocess.Popen[bytes]":
    """Once there are so many records, kill a worker and freeze another; then kill the head and begin it anew. Return the
    campaign that goes on.
    """
    until(lambda: len(knobs.verdicts()) >= at[0], f"{at[0]} records", 300)
    frozen = fleet.freeze("b", frozen_s)
    fleet.kill("c")
    fleet.join("c")
    until(lambda: len(knobs.verdicts()) >= at[1], f"{at[1]} records", 300)
    fleet.kill("run", "up")
    fleet.up()
    running = fleet.run()
    frozen.join()
    return running


def play(folder: Path, names: tuple[str, ...], *, count: int, sleep_s: float, trouble: Trouble | None = None) -> float:
    """Play one part, check what it leaves, and return the seconds that the campaign took. `trouble` comes on the way."""
    folder.mkdir(parents=True)
    one, other = (int(name[1:]) - 1 for name in APART)
    knobs = Knobs(folder, count, apart=[(one, other)], sleep_s=sleep_s)
    first = knobs.repository.head()
    wanted = propose_all(knobs, count)
    fleet = Fleet(folder, knobs)
    try:
        fleet.up()
        fleet.join(*names)
        started = time.monotonic()
        running = fleet.run()
        if trouble is not None:
            running = trouble(fleet, knobs)
        status = running.wait(timeout=1800)
        took_s = time.monotonic() - started
    finally:
        fleet.end()
    assert status == 0, fleet.said("run")[-3000:]
    notes = knobs.repository.record(APART[1])["notes"]  # trouble may take the verdict that it would have had alone
    alone = len(names) == 1 or (trouble is not None and not any("judged again" in note for note in notes))
    check(knobs, wanted, first, fleet.said("run"), alone=alone)
    return took_s


def check(knobs: Knobs, wanted: dict[str, str], first: str, said: str, *, alone: bool, confirmed: bool = False) -> None:
    """Nothing is lost, nothing landed twice, every KEEP is one commit, and the credits add up to what stands. A worker that is
    `alone` judges one after the other, so that no experiment is judged twice. If the protocol has them `confirmed`, each KEEP
    has one replication.
    """
    repository = knobs.repository
    assert knobs.verdicts() == wanted, said[-3000:]
    assert "(raylet)" not in said, said[-3000:]  # Ray's own words on a dead node, with a trace of its stack
    kept = [name for name, verdict in wanted.items() if verdict == "KEEP"]
    landed = repository.git("log", "--format=%(trailers:key=Expctl-Id,valueonly)", f"{first}..HEAD").split()
    assert sorted(landed) == sorted(kept), f"landed: {landed}"
    names, verdicts = (
        repository.git("log", f"--format=%(trailers:key={key},valueonly)", f"{first}..HEAD").split()
        for key in ("Expctl-Record", "Expctl-Verdict")
    )
    told = zip(names, verdicts, strict=True)  # those that land together have a commit in common
    recorded = [name for name, verdict in told if verdict in ("KEEP", "REJECT")]  # INVALID is none, and is measured again
    assert sorted(recorded) == sorted([*wanted, *(kept if confirmed else ())]), f"recorded: {recorded}"
    replicated = {name: len(repository.record(name).get("replications", ())) for name in kept}
    assert replicated == dict.fromkeys(kept, int(confirmed)), f"replicated: {replicated}"
    assert {name for name, value in knobs.standing().items() if value == 0} == {f"k{int(name[1:]) - 1}" for name in kept}
    credit = 1.0
    for name in kept:
        effects = {each["size"]: each["effect_percent"] for each in repository.record(name)["estimates"]}
        credit *= 1 + effects["objective"] / 100
    count = len(wanted)
    total = (1000 + WASTE * count) / (1000 + WASTE * (count - len(kept)))
    repository.check_nothing_is_left()
    verified = repository.expctl("verify")
    assert verified.status == 0, verified
    assert abs(credit - total) < 1e-3, f"credits {credit}, re-measured total {total}"
    if alone:
        return
    loser = repository.record(APART[1])
    assert any(f"on top of {APART[0]}" in note for note in loser["notes"]), loser["notes"]
    findings = repository.git("show", "HEAD:experiments/findings.yaml")
    assert APART[0] in findings
    assert APART[1] in findings
    assert "don't add up" in findings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sleep", type=float, default=1.2)
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--only", choices=("one", "three", "trouble"))
    asked = parser.parse_args()
    parts = {"one": NAMES[:1], "three": NAMES, "trouble": NAMES}
    took = {}
    with tempfile.TemporaryDirectory(prefix="fleet-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        for part, names in parts.items():
            if asked.only in (None, part):
                comes = partial(trouble, frozen_s=FROZEN_S, at=(3, 8)) if part == "trouble" else None
                took[part] = play(Path(folder) / part, names, count=asked.count, sleep_s=asked.sleep, trouble=comes)
                print(f"{part}: {asked.count} experiments, {took[part]:.0f} s, verdicts as wanted, nothing lost", flush=True)
    if {"one", "three"} <= took.keys():
        speed_up = took["one"] / took["three"]
        print(f"three workers are {speed_up:.2f} times as fast as one (at least {SPEED_UP_LEAST})")
        return int(speed_up < SPEED_UP_LEAST)
    return 0


if __name__ == "__main__":
    sys.exit(main())
