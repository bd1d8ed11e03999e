"""The runner is killed, interrupted or asked twice; `run` then finishes what was begun and leaves nothing behind."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from subprocess import Popen

import pytest

from tests.e2e.foreign import EXPCTL, FASTER, SLOWER, Foreign, wait_until


def no_round_counted_twice(repository: Foreign) -> None:
    lines = repository.git("show", "HEAD:experiments/P1/samples.jsonl").splitlines()
    seen = Counter((s["round"], s["side"], s["size"]) for s in map(json.loads, lines))
    assert set(seen.values()) == {1}
    procedure = repository.record("P1")["procedure"]
    assert {key[0] for key in seen} == set(range(procedure["search_rounds"] + procedure.get("confirm_rounds", 0)))


def concluded_once(repository: Foreign, verdict: str, queued: str) -> None:
    assert repository.record("P1")["verdict"] == verdict
    subjects = repository.git("log", "--format=%s", f"{queued}..HEAD").splitlines()
    assert len(subjects) == (2 if verdict == "KEEP" else 1), subjects
    assert repository.git("status", "--porcelain") == ""
    no_round_counted_twice(repository)
    repository.check_nothing_is_left()


def kill(runner: "Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(runner.pid, signal.SIGKILL)
    runner.wait()


@pytest.mark.parametrize(
    ("kernel", "verdict"),
    [pytest.param(FASTER, "KEEP", marks=pytest.mark.long), (SLOWER, "REJECT")],
    ids=["keep", "reject"],
)
def test_killed_in_the_benchmark_then_resumed(repository: Foreign, kernel: str, verdict: str) -> None:
    repository.queue("P1", kernel)
    queued = repository.head()
    runner = repository.start("run", "P1")
    wait_until(lambda: repository.journal("P1").count("Measured") >= 2, "two rounds")
    kill(runner)

    (running,) = repository.concluded("status", "--json").json()["running"]
    assert (running["experiment"], running["alive"]) == ("P1", False)
    assert "resumes" in repository.concluded("status").out
    assert repository.git("status", "--porcelain") == ""

    said = repository.concluded("run", "P1").out
    assert "resume" in said
    concluded_once(repository, verdict, queued)


def test_child_of_a_killed_runner_dies_with_it(repository: Foreign) -> None:
    repository.queue("P1", FASTER)
    repository.hold("benchmark")
    runner = repository.start("run", "P1")
    wait_until(lambda: repository.step() == "measure" and repository.survivors(), "the benchmark")
    kill(runner)
    wait_until(lambda: not repository.survivors(), "the end of the children", at_most_s=3)


def test_killed_at_random_moments(repository: Foreign, long: bool) -> None:
    repository.queue("P1", FASTER)
    queued = repository.head()
    draw = random.Random(20260218)
    for _ in range(20 if long else 3):
        runner = repository.start("run", "P1")
        time.sleep(draw.uniform(0.15, 1.0))
        kill(runner)
    repository.concluded("run", "P1")
    concluded_once(repository, "KEEP", queued)
    before = repository.snapshot()
    repository.concluded("run", "P1")
    assert repository.snapshot() == before


def test_interrupted_twice_at_any_moment_it_ends_by_itself(repository: Foreign, long: bool) -> None:
    """Two SIGINTs in quick succession, from the moment on at which the command's first module has been read."""
    repository.queue("P1", FASTER)
    repository.environment["PYTHONPROFILEIMPORTTIME"] = "1"  # so that it says what it has read
    draw = random.Random(20261122)
    ends: Counter[int] = Counter()
    for _ in range(60 if long else 8):
        runner = repository.start("run", "--all")
        wait_until(lambda: "expctl.cli.console_errors" in repository.said(), "the first module")
        time.sleep(draw.choice((0.0, draw.uniform(0.0, 0.1), draw.uniform(0.0, 1.2))))
        for pause_s in (draw.choice((0.0, draw.uniform(0.0, 0.02))), 0.0):
            with contextlib.suppress(ProcessLookupError):
                os.kill(runner.pid, signal.SIGINT)
            time.sleep(pause_s)
        runner.wait(timeout=240)
        ends[runner.returncode] += 1
        said = "\n".join(line for line in repository.said().splitlines() if not line.startswith("import time:"))
        assert runner.returncode == 130 or (runner.returncode == 0 and repository.record("P1")), (runner.returncode, said)
        assert "Traceback" not in said, said
    assert ends[130] > ends[0]
    del repository.environment["PYTHONPROFILEIMPORTTIME"]
    repository.concluded("run", "P1")
    repository.check_nothing_is_left()


def test_killed_while_it_publishes(repository: Foreign, long: bool) -> None:
    """Kills spread over the last moments of a run, where the branch moves."""
    repository.queue("P1", FASTER)
    queued = repository.head()
    for delay_s in (0.0, 0.02, 0.05, 0.08, 0.12) if long else (0.0, 0.05):
        if (repository.root / "experiments/P1/record.json").exists():
            break
        runner = repository.start("run", "P1")
        while "Publishing" not in repository.journal("P1") and runner.poll() is None:
            time.sleep(0.002)
        time.sleep(delay_s)
        kill(runner)
        assert repository.head() == queued or "Expctl-Record: P1" in repository.git("log", "-1", "--format=%B")
    repository.concluded("run", "P1")
    concluded_once(repository, "KEEP", queued)


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace makes the system call reachable")
@pytest.mark.parametrize("rename", [1, 2, 3, 4])
def test_new_killed_while_it_publishes(repository: Foreign, rename: int) -> None:
    """Killed at each of its first renames: before its intent is on disk, and on the way to the index's."""
    repository.write("src/total.py", FASTER)
    kill_it = ["strace", "-qq", "-o", "/dev/null", "-e", "trace=rename", "-e", f"inject=rename:signal=KILL:when={rename}"]
    subprocess.run([*kill_it, EXPCTL, "new", "P1", "--from-diff"], cwd=repository.root, env=repository.environment)
    repository.expctl("run", "P1")  # whatever it answers, it clears what is ours
    assert not (repository.root / ".git/index.lock").exists(), "git refuses every commit of the user from now on"
    assert "D " not in repository.git("status", "--porcelain"), "the user's next commit reverts the proposal"


def test_ctrl_c_stops_after_the_step_and_is_resumed(repository: Foreign) -> None:
    repository.queue("P1", SLOWER)
    queued = repository.head()
    runner = repository.start("run", "P1")
    wait_until(lambda: repository.journal("P1").count("Measured") >= 1, "a round")
    runner.send_signal(signal.SIGINT)
    assert runner.wait(240) == 130, repository.said()
    assert "expctl run P1" in repository.said()
    assert "Traceback" not in repository.said()
    assert repository.survivors() == []
    assert len(repository.git("worktree", "list").splitlines()) == 1
    assert repository.git("rev-parse", "HEAD") == queued
    repository.concluded("run", "P1")
    concluded_once(repository, "REJECT", queued)


@pytest.mark.parametrize(
    ("step", "signals"),
    [
        ("build", [signal.SIGINT, signal.SIGINT]),
        ("test", [signal.SIGTERM]),
        ("benchmark", [signal.SIGINT, signal.SIGINT]),
        ("benchmark", [signal.SIGHUP]),
    ],
)
def test_aborted_at_once(repository: Foreign, step: str, signals: list[signal.Signals]) -> None:
    repository.queue("P1", SLOWER)
    go = repository.hold(step)
    queued = repository.head()
    runner = repository.start("run", "P1")
    before = {"build": ("Pinned", 1), "test": ("Built", 2), "benchmark": ("Tested", 1)}[step]
    wait_until(lambda: repository.journal("P1").count(before[0]) >= before[1], f"the end of what comes before the {step}")
    wait_until(repository.survivors, "the step")
    time.sleep(0.2)
    for number in signals:
        assert runner.poll() is None, repository.said()
        runner.send_signal(number)
        time.sleep(0.2)
    assert runner.wait(30) == 130, repository.said()
    assert "Traceback" not in repository.said()
    assert repository.survivors() == []
    assert len(repository.git("worktree", "list").splitlines()) == 1
    assert repository.git("rev-parse", "HEAD") == queued
    if step == "test":
        (go / step).touch()
        repository.concluded("run", "P1")
        concluded_once(repository, "REJECT", queued)
