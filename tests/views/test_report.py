"""Records and proposals on a terminal: whole outputs."""

from msgspec.structs import replace

from expctl.domain.experiment import record as facts
from expctl.domain.experiment.control_result import ControlResult, StandInEffect
from expctl.domain.experiment.machine_times import MachineState, SideTime, TimesOfSize
from expctl.domain.experiment.proposal import Kind, Mode, Prediction, Proposal, Verdict
from expctl.domain.experiment.record import Estimate, Origin, Record, Rule
from expctl.domain.machine.burn_in import BurnIn
from expctl.domain.protocol.boundaries import VERSION
from expctl.views.report import proposal_lines, record_lines, verdict_lines

OBJECTIVE = Estimate(size="objective", effect_percent=2.3, low_percent=1.7, high_percent=2.9, sd_percent=0.4, rounds=10)
SIZE = Estimate(
    size="n=768",
    effect_percent=2.34,
    low_percent=1.71,
    high_percent=2.92,
    sd_percent=0.41,
    rounds=10,
    baseline_ns=20e6,
    candidate_ns=19.54e6,
    flop=2 * 768**3,
)
RECORD = Record(
    id="P15",
    title="stage B",
    kind=Kind.PERF,
    origin=Origin.MEASURED,
    target="cpu",
    verdict=Verdict.KEEP,
    reasons=("gain beyond noise",),
    hypothesis="fewer loads",
    prediction=Prediction(verdict=Verdict.KEEP, gain_percent=(3.0, 5.0)),
    test=facts.Test(ok=True, cases=28, summary="28 cases pass"),
    estimates=(OBJECTIVE, SIZE),
    profile=("ds_load 9216 -> 8192 (-11.1 %)",),
)


def test_a_record_is_shown_whole_with_its_prediction_against_the_outcome() -> None:
    assert record_lines(RECORD, ["the ISA manual", "the ABI"]) == [
        "P15  stage B",
        "  perf, measured, target cpu",
        "  hypothesis fewer loads",
        "  prediction KEEP, +3 to +5 %",
        "  outcome    KEEP, +2.30 %: the verdict as predicted; predicted was +3 to +5 %",
        "  test       pass: 28 cases pass",
        "  benchmark  objective  +2.30 % [+1.70, +2.90]",
        "             n=768      45.30 GFLOP/s -> 46.36 GFLOP/s  +2.34 % [+1.71, +2.92]   10 rounds, sd 0.41 %",
        "  profile    ds_load 9216 -> 8192 (-11.1 %)",
        "  KEEP       gain beyond noise",
        "  control    none: no stand-in of known speed was measured before it",
        "  references the ISA manual",
        "             the ABI",
    ]


def test_the_state_of_the_gpu_is_shown_for_each_start_of_a_confirmation() -> None:
    steady = BurnIn(seconds=14.2, steady=True, clock_mhz=1755, temperature_c=61)
    lines = record_lines(replace(RECORD, burn_ins=(steady, replace(steady, seconds=60.3, steady=False))))
    assert [line for line in lines if line.startswith("  burn-in")] == [
        "  burn-in    confirmation began at 1,755 MHz, 61 C, after 14 s",
        "  burn-in    confirmation went on at 1,755 MHz, 61 C, not steady after 60 s",
    ]


def test_single_iterations_are_shown_by_size_and_side() -> None:
    baseline = facts.Times(mean_ns=20.31e6, p90=1.012, p99=1.304)
    timed = replace(SIZE, baseline_times=baseline, candidate_times=replace(baseline, p99=1.7))
    lines = record_lines(replace(RECORD, estimates=(OBJECTIVE, timed)))
    assert [line for line in lines if line.startswith("  times")] == [
        "  times      n=768, baseline: median 20.00 ms, mean 20.31 ms, p90 1.012, p99 1.304 of the median",
        "  times      n=768, candidate: median 19.54 ms, mean 20.31 ms, p90 1.012, p99 1.700 of the median",
    ]


def test_states_of_the_machine_are_shown_with_the_effect_in_each_and_one_state_is_not() -> None:
    def state(ns: float, rounds: int) -> MachineState:
        side = SideTime(ns=ns, low_ns=ns, high_ns=ns)
        return MachineState(baseline=side, candidate=side, rounds=rounds, effect_percent=1.2, low_percent=0.8, high_percent=1.6)

    one = TimesOfSize(size="n=384", states=(state(1e6, 23),))
    two = TimesOfSize(size="n=512", states=(state(2.05e6, 14), state(2.75e6, 9)))
    lines = verdict_lines(replace(RECORD, times=(one, two)))
    assert [line for line in lines if "state" in line] == [
        "  states     two states of the machine at n=512: 2.050 ms in 14 rounds (effect +1.20 % [+0.80, +1.60]), "
        "2.750 ms in 9 (effect +1.20 % [+0.80, +1.60])"
    ]


def test_an_undecided_record_says_that_it_can_go_on() -> None:
    procedure = facts.Procedure(boundaries=VERSION, mode=Mode.GAIN, looks=(3,), search_rounds=3)
    undecided = replace(RECORD, verdict=Verdict.INCONCLUSIVE, procedure=procedure)
    further = "  next       expctl run P15 --extend goes on from these samples, up to 200 rounds"
    assert verdict_lines(undecided)[-1] == further
    for other in (
        RECORD,
        replace(undecided, procedure=None),
        replace(undecided, procedure=replace(procedure, boundaries="1")),
        replace(undecided, procedure=replace(procedure, extended=True)),
        replace(undecided, origin=Origin.IMPORTED),
        replace(undecided, estimates=()),
    ):
        assert further not in verdict_lines(other)


def test_a_wrong_prediction_and_a_rule_are_said() -> None:
    rejected = replace(
        RECORD,
        verdict=Verdict.REJECT,
        estimates=(),
        profile=(),
        test=None,
        reasons=("test: C[0,0] is 0",),
        rule=Rule(text="stage B: wrong", conditions={"target": "cpu"}),
    )
    assert record_lines(rejected) == [
        "P15  stage B",
        "  perf, measured, target cpu",
        "  hypothesis fewer loads",
        "  prediction KEEP, +3 to +5 %",
        "  outcome    REJECT: predicted was KEEP",
        "  REJECT     test: C[0,0] is 0",
        "  rule       do not repeat: stage B: wrong (failed under: target cpu)",
    ]


def test_nothing_untrusted_reaches_the_terminal_raw() -> None:
    hostile = "\x1b[2Jred\u202e\nsecond | line"
    record = replace(RECORD, title=hostile, hypothesis=hostile, reasons=(hostile,), notes=(hostile,), profile=(hostile,))
    shown = "\n".join([*record_lines(record), *verdict_lines(record)])
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "red second | line" in shown


def test_a_proposal_that_waits_shows_what_it_waits_for() -> None:
    proposal = Proposal(
        id="P16",
        title="next",
        kind=Kind.SIMPLIFY,
        hypothesis="less code",
        prediction=Prediction(verdict=Verdict.KEEP, text="no loss"),
        depends_on=("P15",),
    )
    assert proposal_lines(proposal, []) == [
        "P16  next",
        "  simplify, queued, mode gain",
        "  hypothesis less code",
        "  prediction KEEP. no loss",
        "  depends on P15",
    ]


def test_a_control_is_one_line() -> None:
    slower = StandInEffect(effect_percent=-4.7, low_percent=-5.1, high_percent=-4.2, rounds=3)
    faster = StandInEffect(effect_percent=4.9, low_percent=4.5, high_percent=5.2, rounds=4)
    passed = ControlResult(date="2026-03-01T00:00:00Z", slower_percent=5.0, slower=slower, faster=faster)
    assert [line for line in record_lines(replace(RECORD, control=passed)) if line.startswith("  control ")] == [
        "  control    a kernel 5 % slower seen as -4.70 % [-5.10, -4.20], "
        "in exchanged roles as +4.90 % [+4.50, +5.20]; 7 rounds, 2026-03-01T00:00:00Z"
    ]
    assert not any("control" in line for line in record_lines(replace(RECORD, estimates=()))), "nothing was timed"
