"""expctl's own runner starts a harness of a few lines, confined as every step is, and believes what it says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from expctl.adapters.steps.runner import StepRunner
from expctl.domain.protocol.model import Benchmark, Environment, NumberKind, Size, Style
from expctl.domain.protocol.step import LimitedStep
from expctl.domain.run.step_result import Failed
from expctl.domain.run.step_result import TestReport as Passed
from expctl.domain.verdict.samples import Side
from tests.fakes.run import FakeProgress
from tests.harness.conftest import BUILD, HARNESS, changed

ARGV = ("{python}", "bench.py", "{artifact}")
STEP = LimitedStep(argv=ARGV, timeout_s=60)
TIMED = Benchmark(
    argv=ARGV, timeout_s=60, style=Style.FINE, quads=2, iterations=3, sizes=(Size(name="n=4096", weight=1.0, flop=4096),)
)


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[StepRunner]:
    (tmp_path / "bench.py").write_text(HARNESS)
    for name, text in (("right.py", BUILD), ("wrong.py", changed(BUILD, "+= y", "-= y"))):
        (tmp_path / name).write_text(text)
    made = StepRunner(environment=Environment(), scratch=tmp_path / "scratch", mark="m", experiment="P1")
    yield made
    made.close()


def test_the_test(runner: StepRunner, tmp_path: Path) -> None:
    passed = runner.test(STEP, cwd=tmp_path, artifact=tmp_path / "right.py", progress=FakeProgress())
    assert isinstance(passed, Passed)
    assert passed.cases == 1
    failed = runner.test(STEP, cwd=tmp_path, artifact=tmp_path / "wrong.py", progress=FakeProgress())
    assert isinstance(failed, Failed)
    assert not failed.fault
    assert "result[" in failed.reason


def test_a_mistake_is_a_fault(runner: StepRunner, tmp_path: Path) -> None:
    (tmp_path / "bench.py").write_text(changed(HARNESS, "return a * x + y", "return"))
    failed = runner.test(STEP, cwd=tmp_path, artifact=tmp_path / "right.py", progress=FakeProgress())
    assert isinstance(failed, Failed)
    assert failed.fault
    assert failed.reason.startswith("bench.py:20, in reference: expected a result in float64")


def test_the_benchmark_and_the_profile(runner: StepRunner, tmp_path: Path) -> None:
    artifacts = dict.fromkeys(Side, (tmp_path / "right.py",))
    samples = runner.measure(TIMED, cwd=tmp_path, artifacts=artifacts, round=0, progress=FakeProgress())
    assert not isinstance(samples, Failed)
    assert {sample.side for sample in samples} == set(Side)
    out = tmp_path / "out"
    facts = runner.profile(STEP, cwd=tmp_path, tree=tmp_path, artifact=tmp_path / "right.py", out=out, progress=FakeProgress())
    assert not isinstance(facts, Failed)
    assert {fact.kind for fact in facts} == {NumberKind.EXACT_COUNT, NumberKind.STATIC, NumberKind.WALL_TIME}
