"""Times that are none: what a benchmark may not say, and what samples.jsonl may not hold."""

from pathlib import Path

import pytest

from expctl.adapters.codec.record_codec import samples_bytes, samples_of
from expctl.adapters.steps.runner import StepRunner
from expctl.domain.errors import Refused
from expctl.domain.protocol.model import Benchmark, Environment, Size, Style
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Sample, Side, round_effects
from tests.fakes.machine import FakeWatch
from tests.fakes.run import FakeProgress

WORKER = """
import json, os, sys
def say(text): os.write(int(os.environ["EXPCTL_RESULT_FD"]), text.encode() + b"\\n")
for line in sys.stdin:
    request = json.loads(line)
    if request["do"] == "begin":
        say('{"event": "ready"}')
    elif request["do"] == "time":
        ns = ", ".join([r'''NS'''] + ["1"] * (request["iterations"] - 1))
        say('{"event": "sample", "size": "n", "ns": [' + ns + ']}')
    else:
        break
say('{"event": "end", "ok": true}')
"""


def measured(folder: Path, ns: str) -> tuple[Sample, ...] | Failed:
    runner = StepRunner(environment=Environment(), scratch=folder / "scratch", mark="m", experiment="P1", watch=FakeWatch())
    argv = ("{python}", "-S", "-c", WORKER.replace("NS", ns), "{artifact}")
    benchmark = Benchmark(argv=argv, timeout_s=20, sizes=(Size(name="n", weight=1.0),), style=Style.LAUNCH, iterations=2)
    artifacts = {side: (folder / side.value,) for side in Side}
    return runner.measure(benchmark, cwd=folder, artifacts=artifacts, round=0, progress=FakeProgress())


BAD = ["0", "-1", "-0", "NaN", "Infinity", "-Infinity", "1e400", "1.5", "1.0", "true", '"1"', "null", "[1]", "1e6", "",
       f"{2**53}", "1, 1"]  # fmt: skip


@pytest.mark.parametrize("ns", BAD)
def test_a_benchmark_that_says_what_is_no_time_has_failed(tmp_path: Path, ns: str) -> None:
    found = measured(tmp_path, ns)
    assert isinstance(found, Failed), found
    assert found.reason


@pytest.mark.parametrize("ns", ["1", f"{2**53 - 1}"])
def test_the_shortest_and_the_longest_time_are_times(tmp_path: Path, ns: str) -> None:
    found = measured(tmp_path, ns)
    assert isinstance(found, tuple), found
    assert round_effects(found)[0].effect == {"n": 0.0}


GOOD = samples_bytes(
    (Sample(round=0, launch=0, side=Side.BASELINE, size="n", style=Style.LAUNCH, visit=1, ns=(77, 78), order="ABBA"),)
)


@pytest.mark.parametrize("ns", ["77,NaN", "77,Infinity", "77,1.5", '77,"78"', "77,null", "77,true"])
def test_samples_that_hold_no_times_are_refused(ns: str) -> None:
    text = GOOD.replace(b"77,78", ns.encode())
    assert text != GOOD
    with pytest.raises(Refused):
        samples_of(text, where="samples.jsonl")
