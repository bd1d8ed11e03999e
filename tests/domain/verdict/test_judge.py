"""A machine that scatters beyond its calibration ends a run; without a calibration, or on one side alone, it doesn't."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from expctl.domain.experiment.noise import Calibrated, Noise
from expctl.domain.experiment.proposal import Kind, Mode, Verdict
from expctl.domain.experiment.record import Origin, Record
from expctl.domain.protocol.model import Benchmark, KeepRule, Size, Style
from expctl.domain.verdict.decide_again import replayed, was_decided_by_samples
from expctl.domain.verdict.evidence import OBJECTIVE
from expctl.domain.verdict.judge import judge, too_many
from expctl.domain.verdict.plan import Plan, Wall
from expctl.domain.verdict.samples import Sample, Session, Side
from expctl.domain.verdict.sequential_test import Decision, MeasureMore

BENCHMARK = Benchmark(argv=("run",), timeout_s=1, sizes=(Size(name="n", weight=1.0),), style=Style.FINE)
CALIBRATED = Calibrated(
    date="2026-03-01T00:00:00Z",
    rounds=24,
    noise={OBJECTIVE: Noise(sd_percent=0.2), "n": Noise(sd_percent=0.2, spread_percent=1.0)},
)
PLAN = Plan.of(BENCHMARK, KeepRule(), Mode.GAIN, calibrated=CALIBRATED)
UNKNOWN = replace(PLAN, calibrated=None)
QUIET, WILD = 0.01, 0.05  # 1 % is usual, 4 % the most


def rounds_of(spreads: list[tuple[float, float]], gain: float = 0.0, wobble: float = 0.0) -> list[Sample]:
    """Fine rounds with these spreads (baseline, candidate); `wobble` moves every other round."""
    samples = []
    for index, pair in enumerate(spreads):
        for launch, (side, spread) in enumerate(zip(Side, pair, strict=True)):
            y = math.log(1e9) - (gain + (-1) ** index * wobble if side is Side.CANDIDATE else 0.0)
            ns = tuple(round(math.exp(y + sign * spread)) for sign in (1, -1, -1, 1))
            samples.append(
                Sample(
                    round=index, launch=launch, side=side, size="n", style=Style.FINE, visit=2, ns=ns, order="A",
                    session=Session.SEARCH,
                )
            )  # fmt: skip
    return samples


def is_unstable(answer: MeasureMore | Decision) -> bool:
    return isinstance(answer, Decision) and answer.verdict is Verdict.INVALID and answer.reasons[0].startswith("unstable: n ")


@pytest.mark.parametrize(
    ("spreads", "unstable"),
    [
        ([(QUIET, QUIET)] * 4, False),
        ([(WILD, WILD)] * 2, False),
        ([(WILD, WILD)] * 3, True),
        ([(0.0399 / math.sqrt(4 / 3),) * 2] * 4, False),
        ([(0.0401 / math.sqrt(4 / 3),) * 2] * 4, True),
        ([(WILD, WILD)] * 2 + [(QUIET, QUIET)] * 2, False),
        ([(WILD, QUIET)] * 4, False),
        ([(QUIET, WILD)] * 4, False),
        ([(WILD, QUIET)] * 3 + [(QUIET, WILD)] * 1, False),
        ([(WILD, QUIET), (QUIET, WILD), (WILD, QUIET), (WILD, WILD)], False),
        ([(WILD, QUIET)] + [(WILD, WILD)] * 2 + [(QUIET, WILD)], True),
    ],
)
def test_only_too_many_wild_rounds_on_both_sides_are_unstable(spreads: list[tuple[float, float]], unstable: bool) -> None:
    samples = rounds_of(spreads)
    assert is_unstable(judge(samples, PLAN, Kind.PERF)) == unstable
    assert not is_unstable(judge(samples, UNKNOWN, Kind.PERF))


def test_the_reason_says_what_was_found_and_what_was_usual() -> None:
    answer = judge(rounds_of([(WILD, WILD)] * 3), PLAN, Kind.PERF)
    assert isinstance(answer, Decision)
    assert answer.reasons == (
        "unstable: n spread more than 4 times its calibrated 1 % within a side in 3 (baseline) and 3 (candidate) of 3 rounds",
    )
    assert answer.procedure is not None
    assert (answer.procedure.looks, answer.procedure.search_rounds, answer.procedure.calibrated) == ((3,), 3, CALIBRATED)


@given(st.integers(0, 50), st.integers(0, 50))
def test_few_odd_rounds_or_a_quarter_are_never_too_many(odd: int, rounds: int) -> None:
    assert too_many(odd, rounds) == (odd >= 3 and 4 * odd > rounds)


def test_a_replay_of_an_unstable_run_says_the_same_only_with_its_calibration() -> None:
    samples = rounds_of([(WILD, WILD)] * 3)
    decision = judge(samples, PLAN, Kind.PERF)
    assert isinstance(decision, Decision)
    record = Record(
        id="P1", title="t", kind=Kind.PERF, origin=Origin.MEASURED, target="cpu", verdict=decision.verdict,
        reasons=decision.reasons, procedure=decision.procedure,
    )  # fmt: skip
    assert was_decided_by_samples(record)
    assert decision.procedure is not None
    again = replayed(decision.procedure, Kind.PERF, samples, BENCHMARK, KeepRule())
    assert (again.parts["verdict"], again.parts["reasons"]) == (decision.verdict, decision.reasons)
    assert (again.parts["procedure"], again.parts["estimates"]) == (decision.procedure, ())


def price(plan: Plan) -> tuple[int, int]:
    """The rounds that are quoted, and the chance in percent."""
    samples = rounds_of([(QUIET, QUIET)] * 46, gain=0.004, wobble=0.011)
    answer = judge(samples, plan, Kind.PERF)
    assert isinstance(answer, Decision)
    assert answer.verdict is Verdict.INCONCLUSIVE
    found = re.search(r"up to (\d+) more rounds decide with a chance of (\d+) %", answer.reasons[0])
    assert found, answer.reasons
    return int(found[1]), int(found[2])


def test_the_price_takes_the_larger_of_todays_and_the_calibrated_sd_and_the_verdict_todays() -> None:
    louder = replace(CALIBRATED, noise={name: replace(each, sd_percent=1.3) for name, each in CALIBRATED.noise.items()})
    assert price(UNKNOWN) == price(PLAN)
    dearer, cheaper = price(replace(PLAN, calibrated=louder)), price(UNKNOWN)
    assert dearer[0] > cheaper[0] or dearer[1] < cheaper[1]
    assert dearer[0] >= cheaper[0]
    for plan in (UNKNOWN, PLAN, replace(PLAN, calibrated=louder)):
        clear = judge(rounds_of([(QUIET, QUIET)] * 5, gain=-0.02, wobble=0.0001), plan, Kind.PERF)
        assert isinstance(clear, Decision)
        assert clear.verdict is Verdict.REJECT


def test_a_side_that_beats_the_peak_of_its_machine_is_invalid_whatever_the_effect() -> None:
    samples = rounds_of([(QUIET, QUIET)] * 5, gain=-0.05)  # each iteration takes about a second
    usual = judge(samples, PLAN, Kind.PERF)
    assert isinstance(usual, Decision)
    assert usual.verdict is Verdict.REJECT
    assert judge(samples, replace(PLAN, walls={"n": Wall(least_ns=0.9e9, text="")}), Kind.PERF) == usual
    answer = judge(samples, replace(PLAN, walls={"n": Wall(least_ns=1.02e9, text="2 FLOP at the peak")}), Kind.PERF)
    assert isinstance(answer, Decision)
    assert answer.verdict is Verdict.INVALID
    assert "the baseline took" in answer.reasons[0]
    assert "less than the wall of 1020000000 ns: 2 FLOP at the peak" in answer.reasons[0]


def test_the_least_time_is_the_work_at_the_peak() -> None:
    sizes = (Size(name="n", weight=0.5, flop=2_000_000_000), Size(name="m", weight=0.5))
    benchmark = Benchmark(argv=("-",), timeout_s=1, sizes=sizes, peak_tflops=2.0)
    flop_wall = Wall(least_ns=1_000_000.0, text="2e+09 FLOP at the machine's peak of 2 TFLOP/s")
    assert Plan.of(benchmark, KeepRule(), Mode.GAIN).walls == {"n": flop_wall}
    assert Plan.of(replace(benchmark, peak_tflops=0.0), KeepRule(), Mode.GAIN).walls == {}


def test_the_higher_of_the_walls_of_flop_and_bytes_counts() -> None:
    sizes = (Size(name="n", weight=1.0, flop=2_000_000_000, bytes=3_000_000),)
    benchmark = Benchmark(argv=("-",), timeout_s=1, sizes=sizes, peak_tflops=2.0, peak_gb_s=2.0)
    byte_wall = Wall(least_ns=1_500_000.0, text="3e+06 bytes at the machine's peak of 2 GB/s")
    assert Plan.of(benchmark, KeepRule(), Mode.GAIN).walls == {"n": byte_wall}
    assert Plan.of(replace(benchmark, peak_gb_s=4.0), KeepRule(), Mode.GAIN).walls["n"].least_ns == 1_000_000.0
