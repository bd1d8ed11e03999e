"""The gate with real processes: somebody else's benchmark beside a launch, ten runners at once."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.foreign import EXPCTL, SLOWER, Foreign, wait_until

pytestmark = pytest.mark.alone

NOTICED_S = 2.5  # the watch polls each 50 ms on a fast machine, each half second on a slow one

# The second worker of the run tells when it is being timed, and stays there until it may go on.
PAUSE = """
import os
def pause():
    go = os.environ["E2E_GO"]
    if os.path.exists(go + "/at") and not os.path.exists(go + "/go"):
        while not os.path.exists(go + "/go"):
            time.sleep(0.01)
try:
    os.mkdir(os.environ["E2E_GO"] + "/first")
    is_second = False
except FileExistsError:
    try:
        os.mkdir(os.environ["E2E_GO"] + "/second")
        is_second = True
    except FileExistsError:
        is_second = False
"""
TIMED = '    elif request["do"] == "time":\n'
PAUSED = """        if is_second and request["iterations"] > 1 and not os.path.exists(os.environ["E2E_GO"] + "/at"):
            open(os.environ["E2E_GO"] + "/at", "w").close()
            pause()
"""


def pausing(repository: Foreign, style: str) -> Path:
    """A benchmark of this style that stops in the middle of its second launch; the folder where it is told to go on."""
    go = repository.home / "go"
    go.mkdir()
    text = (repository.root / "bench/benchmark.py").read_text()
    start = "total = load(sys.argv[1])\n"
    assert text.count(TIMED) == text.count(start) == 1
    repository.write("bench/benchmark.py", text.replace(start, start + PAUSE).replace(TIMED, TIMED + PAUSED))
    protocol = (repository.root / "protocol.yaml").read_text()
    for said, meant in (("style: fine", f"style: {style}"), ("benchmark_of_nobody", STRANGER)):
        assert said in protocol
        protocol = protocol.replace(said, meant)
    protocol += f"environment:\n  pass_through: [E2E_GO]\n  writable: ['{go}']\n"
    repository.write("protocol.yaml", protocol)
    repository.environment["E2E_GO"] = str(go)
    repository.commit("a harness that pauses")
    return go


@contextmanager
def somebody_else(folder: Path) -> Iterator[int]:
    """A benchmark that nobody of us started."""
    script = folder / f"{STRANGER}_4.py"
    script.write_text("import time\ntime.sleep(60)\n")
    with subprocess.Popen([sys.executable, str(script)]) as process:
        try:
            wait_until(lambda: script.name.encode() in Path(f"/proc/{process.pid}/cmdline").read_bytes(), "it")
            yield process.pid
        finally:
            process.kill()


def launches(repository: Foreign) -> dict[tuple[int, int], tuple[str, tuple[str, ...]]]:
    """(round, launch) -> side, taints."""
    lines = repository.git("show", "HEAD:experiments/P1/samples.jsonl").splitlines()
    samples = [json.loads(line) for line in lines]
    return {(each["round"], each["launch"]): (each["side"], tuple(each.get("taints", ()))) for each in samples}


STRANGER = f"benchmark_beside_{os.getpid()}"
"""Not the same for tests that run side by side."""
TAINT = f"{STRANGER}_4.py matches {STRANGER}*"


@pytest.mark.parametrize("style", ["launch", "fine"])
def test_a_benchmark_in_the_middle_of_a_launch_taints_that_launch_and_no_other(
    repository: Foreign, tmp_path: Path, style: str
) -> None:
    go = pausing(repository, style)
    repository.queue("P1", SLOWER)
    runner = repository.start("run", "P1")
    try:
        wait_until((go / "at").exists, "the second launch")
        with somebody_else(tmp_path):
            time.sleep(NOTICED_S)
        (go / "go").touch()
        assert runner.wait(240) == 0, repository.said()
    finally:
        runner.kill()
        runner.wait()
    found = launches(repository)
    rounds = {number for number, _ in found}
    assert rounds == set(range(len(rounds))), "no round was lost"
    tainted = {place for place, (_, taints) in found.items() if taints}
    if style == "launch":
        assert tainted == {(0, 1)}
        sides = [side for (number, _), (side, _) in sorted(found.items()) if number == 0]
        assert len(sides) == 5
        assert sides[1] == sides[2], "the launch that takes its place is of the same side"
    else:
        assert tainted == {(0, 0), (0, 1)}, "both workers take turns: both were disturbed"
    assert {taints for _, taints in found.values() if taints} == {(TAINT,)}
    record = repository.record("P1")
    assert record["verdict"] == "REJECT"
    assert record["estimates"][0]["rounds"] == len(rounds) - (style == "fine"), (
        "in style fine the whole round was measured again"
    )
    side = sides[1] if style == "launch" else ""
    count = f"1 launch (1 of the {side})" if side else "2 launches (1 of the baseline and 1 of the candidate)"
    assert f"tainted, measured again and left out: {count}, {TAINT}" in record["notes"]
    repository.check_nothing_is_left()


def test_one_that_never_ends_is_waited_for_and_then_nothing_is_measured(repository: Foreign, tmp_path: Path) -> None:
    go = pausing(repository, "launch")
    repository.queue("P1", SLOWER)
    head = repository.head()
    runner = repository.start("run", "P1")
    try:
        wait_until((go / "at").exists, "the second launch")
        with somebody_else(tmp_path) as pid:
            (go / "go").touch()
            assert runner.wait(240) == 75, repository.said()
            assert f"(pid {pid}, user" in repository.said()
            assert repository.expctl("run", "P1").status == 75, "and so is the next try"
            assert repository.head() == head
            assert "measured" not in {word.lower() for word in repository.journal("P1")}
    finally:
        runner.kill()
        runner.wait()
    repository.concluded("run", "P1")
    assert repository.record("P1")["verdict"] == "REJECT"
    repository.check_nothing_is_left()


def test_ten_runners_and_a_user_who_commits(repository: Foreign, long: bool) -> None:
    repository.queue("P1", SLOWER)
    go = repository.hold("benchmark")
    first = repository.start("run", "P1")
    try:
        wait_until(lambda: repository.step() == "measure" and repository.survivors(), "the benchmark")
        others = [
            subprocess.Popen(
                [EXPCTL, "run", "P1"],
                cwd=repository.root,
                env=repository.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(9 if long else 3)
        ]
        repository.write("notes.txt", "a thought\n")
        repository.commit("the user's")
        users = repository.head()
        for other in others:
            said = other.communicate(timeout=60)
            assert (other.returncode, f"pid {first.pid}" in said[1]) == (75, True), said
        (go / "benchmark").touch()
        assert first.wait(240) == 0, repository.said()
    finally:
        first.kill()
        first.wait()
    assert repository.git("rev-parse", "HEAD~1") == users
    assert repository.record("P1")["verdict"] == "REJECT"
    assert (repository.root / "notes.txt").read_text() == "a thought\n"
    repository.check_nothing_is_left()


def test_status_names_a_lock_that_nobody_can_take(repository: Foreign) -> None:
    lock = repository.root.parent / "locks" / "expctl.machine.lock"
    lock.mkdir()
    said = repository.concluded("status").out
    assert f"  lock       the machine's lock file can't be opened: {lock}: a folder" in said
    lock.rmdir()
    assert "quiet" in repository.concluded("status").out
