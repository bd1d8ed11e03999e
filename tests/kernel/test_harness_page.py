"""docs/HARNESS.md is true: its example runs under expctl's own step runner, and its table names every field that is sent."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from expctl.adapters.steps.runner import StepRunner
from expctl.domain.protocol.model import Benchmark, Environment, Size, Style
from expctl.domain.protocol.step import LimitedStep
from expctl.domain.run.step_result import Failed
from expctl.domain.run.step_result import TestReport as Passed
from expctl.domain.verdict.samples import Side
from expctl.harness.clock_check import ClocksDiffer
from expctl.harness.report import Report
from tests.fakes.run import FakeProgress

PAGE = (Path(__file__).parents[2] / "docs/HARNESS.md").read_text(encoding="utf-8")
RIGHT = "def total(values): return sum(values)\n"
WRONG = "def total(values): return sum(values[1:])\n"
ARGV = ("{python}", "bench.py", "{artifact}")
TIMED = Benchmark(
    argv=ARGV, timeout_s=30, style=Style.FINE, quads=2, iterations=3, sizes=(Size(name="n=40", weight=1.0, flop=40),)
)


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[StepRunner]:
    _, example = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "bench.py").write_text(example)
    made = StepRunner(environment=Environment(), scratch=tmp_path / "scratch", mark="m", experiment="P1")
    yield made
    made.close()


def build(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_the_example_tests_a_build(runner: StepRunner, tmp_path: Path) -> None:
    step = LimitedStep(argv=ARGV, timeout_s=30)
    right, wrong = build(tmp_path, "right.py", RIGHT), build(tmp_path, "wrong.py", WRONG)
    said = [runner.test(step, cwd=tmp_path, artifact=each, progress=FakeProgress()) for each in (right, wrong)]
    assert said == [
        Passed(cases=1, summary="1 case passes, worst values 3", seen={"values": (3.0,)}),
        Failed(reason="the total of 1, 2, 3 is 5, expected 6"),
    ]


@pytest.mark.parametrize(("candidate", "outcome"), [(RIGHT, ""), (WRONG, "candidate: n=40: the total is")])
def test_the_example_times_a_build(runner: StepRunner, tmp_path: Path, candidate: str, outcome: str) -> None:
    artifacts = {
        Side.BASELINE: (build(tmp_path, "right.py", RIGHT),),
        Side.CANDIDATE: (build(tmp_path, "other.py", candidate),),
    }
    found = runner.measure(TIMED, cwd=tmp_path, artifacts=artifacts, round=0, progress=FakeProgress())
    if outcome:
        assert isinstance(found, Failed)
        assert outcome in found.reason
    else:
        assert not isinstance(found, Failed)
        assert {sample.side for sample in found} == set(Side)


def test_a_script_of_a_newer_contract_is_a_fault_that_names_both_versions(runner: StepRunner, tmp_path: Path) -> None:
    bench = tmp_path / "bench.py"
    bench.write_text(bench.read_text().replace('"contract": 1', '"contract": 2'))
    artifact = build(tmp_path, "right.py", RIGHT)
    said = runner.test(LimitedStep(argv=ARGV, timeout_s=30), cwd=tmp_path, artifact=artifact, progress=FakeProgress())
    reason = "keeps version 2 of docs/HARNESS.md; this expctl knows version 1: update expctl"
    assert said == Failed(reason=f"the test {reason}", fault=True)
    found = runner.measure(TIMED, cwd=tmp_path, artifacts=dict.fromkeys(Side, (artifact,)), round=0, progress=FakeProgress())
    assert found in [Failed(reason=f"the worker of the {side} {reason}", fault=True) for side in Side]


def test_a_script_that_names_no_version_keeps_the_first(runner: StepRunner, tmp_path: Path) -> None:
    bench = tmp_path / "bench.py"
    bench.write_text(bench.read_text().replace('"contract": 1, ', ""))
    artifact = build(tmp_path, "right.py", RIGHT)
    said = runner.test(LimitedStep(argv=ARGV, timeout_s=30), cwd=tmp_path, artifact=artifact, progress=FakeProgress())
    assert isinstance(said, Passed)


def fields_of_the_page() -> set[tuple[str, str]]:
    """(event, field) of each row of the table of what a script says."""
    table = PAGE.split("From the script, on the descriptor:")[1].split("\n\n")[1]
    found, event = set(), ""
    for row in table.splitlines()[2:]:
        first, second, *_ = (cell.strip().strip("`") for cell in row.strip("|").split("|"))
        event = first or event
        found.add((event, second))
    return found


def test_the_table_names_each_field_that_our_scripts_send(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    monkeypatch.setenv("EXPCTL_RESULT_FD", str(writing))
    report = Report()
    report.bind("5f1e")
    report.case("a", True, {"rel_l2": 0.5})
    report.fact("instructions", 1, "instructions", "static")
    report.ready({"target": "cpu"})
    report.sample("n=40", [1, 2], 4)
    report.checked()
    report.end()
    report.blame(ClocksDiffer("wrong"))
    report.fault("no device")
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as lines:
        said = [json.loads(line) for line in lines]
    page = fields_of_the_page()
    assert "contract" in said[0]
    sent = {(line["event"], field) for line in said for field in line if ("any", field) not in page}
    assert sent == {row for row in page if row[0] not in ("any", "checked")}
