"""One run per repository, one measurement per machine; readers always get an answer."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from tests.e2e.foreign import FASTER, SLOWER, Foreign, errors_in, wait_until


def test_second_run_is_refused_at_every_step_and_status_answers(repository: Foreign) -> None:
    repository.queue("P1", SLOWER)
    repository.queue("P2", FASTER)
    go = repository.hold("build", "test", "benchmark")
    runner = repository.start("run", "P1")
    try:
        for step, file in (("build", "build"), ("test", "test"), ("measure", "benchmark")):

            def reached(step: str = step) -> bool:
                return repository.step() == step

            wait_until(reached, step)
            for words in (("run", "P1"), ("run", "P2")) if step == "test" else (("run", "P2"),):
                answer = repository.expctl(*words)
                assert answer.status == 75, answer
                assert f"pid {runner.pid}" in answer.err
                assert len(errors_in(answer.err)) == 1
                assert re.search(r"^  next ", answer.err, re.MULTILINE)
            (running,) = repository.concluded("status", "--json").json()["running"]
            assert running == {"experiment": "P1", "step": step, "pid": runner.pid, "alive": True}
            if step == "test":
                assert re.search(rf"P1 +test +pid {runner.pid}", repository.concluded("status").out)
            (go / file).touch()
        assert runner.wait(240) == 0, repository.said()
    finally:
        runner.kill()
        runner.wait()
    assert repository.record("P1")["verdict"] == "REJECT"
    repository.check_nothing_is_left()


def test_two_repositories_take_turns_at_measuring(tmp_path: Path) -> None:
    one, two = (Foreign.of("foreign_repository", folder) for folder in (tmp_path / "1", tmp_path / "2"))
    two.environment["EXPCTL_LOCK_DIR"] = one.environment["EXPCTL_LOCK_DIR"]
    for each in (one, two):
        each.queue("P1", SLOWER)
    one.hold("benchmark")
    runner = one.start("run", "P1")
    try:
        wait_until(lambda: one.step() == "measure" and one.survivors(), "the benchmark")
        head = two.head()
        answer = two.expctl("run", "P1")
        assert answer.status == 75, answer
        assert f"pid {runner.pid}" in answer.err
        assert two.head() == head
        gate = two.expctl("gate")
        assert (gate.status, str(runner.pid) in gate.out) == (75, True)
    finally:
        runner.kill()
        runner.wait()
    two.concluded("run", "P1")
    assert two.record("P1")["verdict"] == "REJECT"


def test_foreign_benchmark_blocks_the_gate(repository: Foreign, tmp_path: Path) -> None:
    repository.edit_protocol("benchmark_of_nobody*", "benchmark_of_somebody_else_2*")
    repository.queue("P1", SLOWER)
    script = tmp_path / "benchmark_of_somebody_else_2.py"
    script.write_text("import time\ntime.sleep(60)\n")
    other = subprocess.Popen([sys.executable, str(script)])
    try:
        before = repository.snapshot()
        answer = repository.expctl("run", "P1")
        assert answer.status == 75, answer
        assert str(other.pid) in answer.err
        assert len(errors_in(answer.err)) == 1
        pinned = repository.git("rev-parse", "refs/expctl/P1")
        assert repository.snapshot() == replace(before, refs=f"{pinned} commit\trefs/expctl/P1\n{before.refs}")
        assert repository.journal("P1") == ["Begun", "Pinned", "Built", "Built", "Tested"], "nothing was timed"

        gate = repository.expctl("gate")
        assert gate.status == 75
        assert str(other.pid) in gate.out
        assert script.name in gate.out, "the process is named by its interpreter, not by what it runs"
        facts = repository.expctl("gate", "--json")
        assert facts.status == 75
        assert [each["pid"] for each in facts.json()["blocking"]] == [other.pid]
        assert [each["pid"] for each in repository.concluded("status", "--json").json()["blocking"]] == [other.pid]
    finally:
        other.kill()
        other.wait()
    repository.concluded("run", "P1")
