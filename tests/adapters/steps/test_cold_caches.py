"""Compilations never get into a sample: each build has caches of its own, and a round that fills one isn't counted."""

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from expctl.adapters.child.compiler_caches import CACHES, FOLDERS, TUNED
from expctl.adapters.steps.runner import StepRunner
from expctl.domain.experiment.proposal import Kind, Mode
from expctl.domain.protocol.model import Benchmark, Environment, KeepRule, Size, Style
from expctl.domain.protocol.step import LimitedStep
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.judge import judge
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import Sample, Side
from expctl.domain.verdict.sequential_test import Decision
from tests.fakes.run import FakeProgress

COMPILES_NS = 150_000_000

# A model that is compiled when a size is called for the `WHEN`th time in a process, unless the cache has it.
STAND_IN = """
import json, os, sys, time
def say(**line): os.write(int(os.environ["EXPCTL_RESULT_FD"]), json.dumps(line).encode() + b"\\n")
folder = os.path.join(os.environ["TORCHINDUCTOR_CACHE_DIR"], "graphs")
calls = {}
def call(size):
    calls[size] = calls.get(size, 0) + 1
    begin = time.perf_counter_ns()
    kept = os.path.join(folder, size + (str(os.getpid()) if sys.argv[2] == "always" else ""))
    if calls[size] == int(sys.argv[1]) and not os.path.exists(kept):
        time.sleep(.15)
        os.makedirs(folder, exist_ok=True)
        open(kept, "w").close()
    end = time.perf_counter_ns() + 1_000_000
    while time.perf_counter_ns() < end: pass
    return time.perf_counter_ns() - begin
for line in sys.stdin:
    asked = json.loads(line)
    if asked["do"] == "test":
        for _ in range(9): call("n=1")
        say(event="case", name="n=1", ok=True)
        break
    if asked["do"] == "begin": say(event="ready")
    elif asked["do"] == "time":
        say(event="sample", size=asked["size"], ns=[call(asked["size"]) for _ in range(asked["iterations"])])
    elif asked["do"] == "check": say(event="checked")
    else: break
say(event="end", ok=True)
"""


def benchmark(when: int, keeps: str = "kept", style: Style = Style.FINE, rounds: int = 46) -> Benchmark:
    return Benchmark(
        argv=("{python}", "-c", STAND_IN, str(when), keeps),
        timeout_s=60,
        sizes=(Size(name="n=1", weight=1),),
        style=style,
        rounds=rounds,
        quads=2,
        iterations=2,
    )


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[StepRunner]:
    made = StepRunner(environment=Environment(), scratch=tmp_path / "scratch", mark="m", experiment="P1")
    yield made
    made.close()


def measured(runner: StepRunner, tmp_path: Path, asked: Benchmark, number: int = 0) -> tuple[Sample, ...] | Failed:
    artifacts = {side: (tmp_path / f"{side}.py",) for side in Side}
    return runner.measure(asked, cwd=tmp_path, artifacts=artifacts, round=number, progress=FakeProgress())


@pytest.mark.parametrize("style", Style)
@pytest.mark.parametrize("when", [1, 2, 3])
def test_a_compilation_is_in_no_sample(runner: StepRunner, tmp_path: Path, when: int, style: Style) -> None:
    samples = measured(runner, tmp_path, benchmark(when, style=style))
    assert not isinstance(samples, Failed)
    assert max(ns for sample in samples for ns in sample.ns) < COMPILES_NS
    assert {each.side for each in runner.take_first_runs()} == {"baseline", "candidate"}
    assert runner.take_first_runs() == ()


def test_a_side_that_compiles_in_every_launch_fails(runner: StepRunner, tmp_path: Path) -> None:
    found = measured(runner, tmp_path, benchmark(3, "always"))
    assert isinstance(found, Failed)
    assert "still compiles in launches that are timed" in found.reason
    assert found.fault  # both sides do: the harness is to be mended


def test_without_compilers_no_round_is_dropped(runner: StepRunner, tmp_path: Path) -> None:
    assert not isinstance(measured(runner, tmp_path, benchmark(1000)), Failed)
    assert runner.take_first_runs() == ()


def test_each_build_has_caches_of_its_own_in_names_of_one_length(runner: StepRunner, tmp_path: Path) -> None:
    say = 'import json, os\nos.write(int(os.environ["EXPCTL_RESULT_FD"]), json.dumps({"event": "end", "ok": False, "reason": '
    names = (*FOLDERS, *TUNED)
    program = say + f'"|".join(os.environ[name] for name in {names!r})}}).encode() + b"\\n")'
    step = LimitedStep(argv=("{python}", "-c", program), timeout_s=20)
    said = []
    for side in Side:
        found = runner.test(step, cwd=tmp_path, artifact=tmp_path / f"{side}.py", progress=FakeProgress())
        assert isinstance(found, Failed)
        said.append(found.reason[:400])
    assert said[0] != said[1]
    assert len(said[0]) == len(said[1])
    assert CACHES in said[0]


def test_identical_sides_of_which_one_is_cold_are_not_kept(tmp_path: Path) -> None:
    """The candidate was tested, so its cache is warm; the baseline's is cold, and it compiles in a launch that is timed."""
    trials = 20 if os.environ.get("EXPCTL_TESTS_LONG") else 2
    asked, verdicts = benchmark(3, rounds=46 if trials == 20 else 8), []
    for trial in range(trials):
        folder = tmp_path / str(trial)
        folder.mkdir()
        runner = StepRunner(environment=Environment(), scratch=folder / "scratch", mark="m", experiment="P1")
        step = LimitedStep(argv=asked.argv, timeout_s=60)
        assert not isinstance(
            runner.test(step, cwd=folder, artifact=folder / f"{Side.CANDIDATE}.py", progress=FakeProgress()), Failed
        )
        verdicts.append(_verdict(runner, folder, asked))
        runner.close()
    assert "KEEP" not in verdicts


def _verdict(runner: StepRunner, folder: Path, asked: Benchmark) -> str:
    plan = Plan.of(asked, KeepRule(), Mode.GAIN)
    samples: tuple[Sample, ...] = ()
    for number in count():
        answer = judge(samples, plan, Kind.PERF)
        if isinstance(answer, Decision):
            return answer.verdict
        found = measured(runner, folder, asked, number)
        assert not isinstance(found, Failed)
        assert max(ns for sample in found for ns in sample.ns) < COMPILES_NS
        samples += tuple(replace(each, session=answer.session) for each in found)
    raise AssertionError
