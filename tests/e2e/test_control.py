"""The control, whole: a path that takes slower for faster decides nothing, however right its outputs are."""

import os
import signal

import pytest

from tests.e2e.foreign import SLOWER, WRONG, Foreign, wait_until

WAITS = """import time

def total(values):
    begin = time.perf_counter_ns()
    result = 0
    for value in values:
        result = result + value * value
        result = result + 0 * value
        result = result + 0 * value
    end = time.perf_counter_ns()
    while time.perf_counter_ns() < end + (end - begin) * 4 // 10:
        pass
    return result
"""
TIMED = "            ns.append(time.monotonic_ns() - start)\n"
LOADED = "total = load(sys.argv[1])\n"


@pytest.fixture
def controlled(repository: Foreign) -> Foreign:
    """The repository with a stand-in that takes 40 % longer, and a slower candidate in the queue."""
    repository.write("src/total.py", WAITS)
    patch = repository.git("diff", "--full-index", "--", "src/total.py")
    repository.git("checkout", "-q", "--", "src/total.py")
    repository.write("controls/slower.patch", patch + "\n")
    control = "      control: {patch: controls/slower.patch, slower_percent: 40}\n"
    repository.edit_protocol("      rounds: 10\n", f"      rounds: 10\n{control}")
    repository.queue("P1", SLOWER)
    return repository


def plant(repository: Foreign, old: str, new: str) -> None:
    """Commit a benchmark in which `new` stands for `old`."""
    text = (repository.root / "bench/benchmark.py").read_text()
    assert old in text
    repository.write("bench/benchmark.py", text.replace(old, new))
    repository.commit("another benchmark")


def right(repository: Foreign, *words: str) -> str:
    """Run experiments whose control passes. Beside other work it may be too noisy to tell: then the same command again."""
    for _ in range(4):
        answer = repository.expctl("run", *words)
        if "Error [control-failed]" not in answer.err:
            break
    assert answer.status == 0, answer
    return answer.out


def test_a_right_path_is_shown_once_a_day_and_the_record_says_what_it_saw(controlled: Foreign) -> None:
    assert "\n  control    a kernel 40 % slower seen as -" in right(controlled, "P1")
    record = controlled.record("P1")
    assert record["verdict"] == "REJECT"
    assert record["control"]["slower"]["high_percent"] < 0 < record["control"]["faster"]["low_percent"]
    assert "\n  control    a kernel 40 % slower seen as -" in controlled.concluded("show", "P1").out
    controlled.queue("P2", SLOWER.replace("3", "4"))
    assert "\n  control " not in controlled.concluded("run", "P2").out
    assert controlled.record("P2")["control"] == record["control"]
    assert controlled.concluded("replay", "P1").out.startswith("P1       same ")
    controlled.check_nothing_is_left()


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (
            TIMED,
            "            ns.append(10**15 // (time.monotonic_ns() - start))\n",
            "the roles of baseline and candidate look exchanged",
        ),
        (LOADED, 'total = load("src/total.py")\n', "hardly shows: is the build timed that the benchmark is given?"),
    ],
    ids=["speeds for times", "a build of its own"],
)
def test_a_wrong_path_decides_nothing(controlled: Foreign, old: str, new: str, found: str) -> None:
    plant(controlled, old, new)
    before = controlled.snapshot()
    answer = controlled.expctl("run", "--all")
    assert answer.status == 1
    assert "Error [control-failed]" in answer.err
    assert found in answer.err or "too noisy to tell" in answer.err, answer.err  # beside other work
    assert "P1 stays queued" in answer.err
    after = controlled.snapshot()
    assert (after.head, after.status, after.index, after.files) == (before.head, before.status, before.index, before.files)
    assert not (controlled.home / ".local/state/expctl/controls").exists()
    plant(controlled, new, old)
    assert "\n  control    a kernel 40 % slower seen as -" in right(controlled, "--all")
    assert controlled.record("P1")["verdict"] == "REJECT"
    controlled.check_nothing_is_left()


def test_a_patch_that_no_longer_applies_is_named(controlled: Foreign) -> None:
    controlled.write("src/total.py", WRONG)
    controlled.commit("another kernel")
    controlled.queue("P2", SLOWER)
    answer = controlled.expctl("run", "P2")
    assert answer.status == 1
    assert "Error [control-patch-does-not-apply]" in answer.err
    assert "\n  where     controls/slower.patch\n" in answer.err


def test_a_run_that_is_killed_in_its_control_goes_on(controlled: Foreign) -> None:
    gate = controlled.hold("benchmark")
    process = controlled.start("run", "P1")
    wait_until(lambda: controlled.journal("P1")[-1:] == ["Tested"] and controlled.survivors(), "the control")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    (gate / "benchmark").touch()
    assert "\n  control    a kernel 40 % slower seen as -" in right(controlled, "P1")
    assert controlled.record("P1")["verdict"] == "REJECT"
    controlled.check_nothing_is_left()
