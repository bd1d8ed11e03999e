"""How often a case is repeated, what a failure does, and that `compare` reads what is written."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from expctl.domain.errors import Busy, Interrupted
from expctl.screening.environment_file import environment_of
from expctl.screening.result_file import times_of
from expctl.screening.screen import Case
from expctl.suite.cases import cases_of
from expctl.suite.measure import CaseTimes, measure
from expctl.suite.model import Suite
from expctl.suite.results import environment_json, results_csv
from expctl.suite.terminal import times_lines
from tests.fakes.measuring import FakeGate, FakeSuiteCommands
from tests.fakes.run import FakeClock, FakeProgress
from tests.suite.suites import SUITE, with_kernel

ONE = with_kernel(shapes=({"M": 64, "N": 8, "bias": 1},))


def calls(us: float) -> list[float]:
    """Three warm-ups and ten calls."""
    return [50 * us, 2 * us, us, *[us] * 10]


def measured(
    folder: Path, *runs: Sequence[float] | str, suite: Suite = ONE, gate: FakeGate | None = None
) -> tuple[CaseTimes, ...]:
    commands = FakeSuiteCommands(list(runs))
    found = measure(
        suite,
        cases_of(suite),
        commands=commands,
        gate=gate or FakeGate(),
        folder=folder,
        progress=FakeProgress(),
        clock=FakeClock(),
    )
    cases = tuple(found)
    assert commands.runs == []
    return cases


@pytest.mark.parametrize(
    ("means", "counted"),
    [
        ((100, 101, 102), 101.0),  # agree: three are enough
        ((100, 101, 120), 100.5),  # the closest pair
        ((100, 110, 121, 111), 110.5),
        ((100, 110, 121, 134, 135), 134.5),
        ((100, 110, 121, 134, 150), None),
    ],
)
def test_three_to_five_repetitions(tmp_path: Path, means: Sequence[float], counted: float | None) -> None:
    gate = FakeGate()
    (case,) = measured(tmp_path, *map(calls, means), gate=gate)
    assert gate.holds == 1
    assert [each.mean_us for each in case.repetitions] == list(means)
    assert case.timing is not None
    assert case.timing.time_us == counted


def test_a_failure_ends_a_case_and_not_the_suite(tmp_path: Path) -> None:
    good = [calls(100)] * 3
    first, second = measured(tmp_path, *good[:1], "exited with status 1", *good, suite=SUITE)
    assert (first.failed, first.timing) == ("exited with status 1", None)
    assert second.timing is not None
    (tmp_path / "golden.csv").write_bytes(results_csv(SUITE, (first, second)))
    assert times_of(tmp_path / "golden.csv") == {Case("mm", "M=64 N=8 bias"): [100.0] * 3}
    (tmp_path / "golden.json").write_bytes(environment_json("golden", {"packages": {"triton": "3.4.0"}}, (first, second)))
    facts = environment_of(tmp_path / "golden.json")
    assert facts == {"env": "golden", "packages.triton": "3.4.0", "failed.mm M=64 N=8": "exited with status 1"}
    text = "\n".join(times_lines(SUITE, (first, second)))
    assert "failed: exited with status 1" in text


@pytest.mark.parametrize("count", [12, 14])
def test_a_command_that_was_told_the_counts_has_to_keep_them(tmp_path: Path, count: int) -> None:
    (case,) = measured(tmp_path, [100.0] * count)
    assert case.failed == f"expected the times of 3 warm-ups and 10 iterations, found {count} calls"


def test_a_command_that_was_not_told_may_call_more_often(tmp_path: Path) -> None:
    suite = replace(with_kernel(argv=("bench", "{times}"), shapes=({"M": 1, "N": 1},)), iterations=12)
    (case,) = measured(tmp_path, *[[100.0] * 40] * 3, suite=suite)
    assert case.repetitions[0].calls == 37
    (case,) = measured(tmp_path, [100.0] * 14, suite=suite)
    assert case.failed == "expected the times of at least 3 warm-ups and 12 iterations, found 14 calls"


def test_a_stop_comes_between_two_repetitions(tmp_path: Path) -> None:
    commands, answers = FakeSuiteCommands([calls(100)] * 3), iter([False, True])
    given = {"commands": commands, "gate": FakeGate(), "folder": tmp_path, "progress": FakeProgress(), "clock": FakeClock()}
    with pytest.raises(Interrupted):
        tuple(measure(ONE, cases_of(ONE), **given, stop_requested=lambda: next(answers)))  # type: ignore[arg-type]
    assert len(commands.asked) == 1


def test_a_machine_that_is_not_quiet(tmp_path: Path) -> None:
    with pytest.raises(Busy):
        measured(tmp_path, gate=FakeGate(busy=True))


def test_rows_and_text_tell_first_spread_and_bandwidth(tmp_path: Path) -> None:
    noisy = [5000.0, 100.0, 100.0, *[100.0] * 9, 1000.0]
    found = measured(tmp_path, *[noisy] * 3)
    head, line, *_ = results_csv(ONE, found).decode().splitlines()
    cells = dict(zip(head.split(","), line.split(","), strict=False))
    assert (cells["time_us"], cells["first_us"], cells["median_us"], cells["bytes"]) == ("190", "5000", "100", "656")
    assert cells["gb_s"] == f"{656 / 190 / 1e3:.7g}"
    assert cells["remarks"].startswith('"1 of 10 calls')
    text = times_lines(ONE, found)
    assert "5000" in text[1]
    assert "within a run: sd 150 % of the mean (above 10 %): 1 of 10 calls took over 1.5 times the median" in text[2]
    assert json.loads(environment_json("tot", {}, found)) == {"env": "tot"}
