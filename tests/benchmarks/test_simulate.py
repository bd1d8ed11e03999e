"""The short form of the simulation: the published noise, and the verdict's error rates with loose bounds."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace as replace_plan

from benchmarks.verdict import machines, simulate, traces
from benchmarks.verdict.bars import allowance
from benchmarks.verdict.misleading import MISLEADING, fading
from benchmarks.verdict.procedure import Noise, Shift, Tally, sessions, tally
from expctl.domain.experiment.proposal import Mode, Verdict
from expctl.domain.experiment.record import OBJECTIVE, Procedure
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.samples import RoundEffect
from expctl.domain.verdict.sequential_test import Decision
from expctl.domain.verdict.statistics import t_interval

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks/verdict"
LIVE = [sys.executable, "-m", "benchmarks.verdict.live", "--table"]


@pytest.mark.parametrize("machine", machines.MACHINES, ids=lambda machine: machine.name)
def test_the_machines_have_the_published_noise(machine: machines.Machine) -> None:
    sd = machines.round_effects(np.random.default_rng(1), machine, 400, 36)[:, :, 0].mean(axis=2).std()
    assert sd == pytest.approx(machine.round_sd, rel=0.06)


def test_the_short_form_holds_every_bar_and_shows_the_rivals() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.verdict.simulate"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every bar holds" in done.stdout
    for words in ("quiet", "typical", "noisy", "Mann-Whitney", "rare slow mode", "t3 tails", "autocorrelation", "recorded on"):
        assert words in done.stdout


def eager(rounds: Sequence[RoundEffect], plan: Plan) -> Decision:
    """One look at ten rounds and an interval, as many tools do."""
    seen = t_interval([each.objective(plan.weights) for each in rounds[:10]])
    kept = seen.low > 0
    procedure = Procedure(boundaries="0", mode=Mode.GAIN, looks=(10,), search_rounds=10)
    verdict = Verdict.KEEP if kept else Verdict.REJECT
    return Decision(verdict=verdict, reasons=("eager",), procedure=procedure, intervals={OBJECTIVE: seen})


def test_a_rule_that_keeps_too_much_misses_the_bars() -> None:
    assert simulate.simulated(np.random.default_rng(1), machines.TYPICAL, 400, eager) > 0
    assert simulate.hard(np.random.default_rng(1), 400, eager) > 0


def test_recordings_of_an_older_rule_are_reported_and_not_counted(capsys: pytest.CaptureFixture[str]) -> None:
    for target, recorded in traces.recorded().items():
        assert simulate.replayed(target, recorded) == 0
        valid = [trace for trace in recorded if trace.verdict is not Verdict.INVALID]
        undecided = [trace for trace in valid if trace.replayed() is None]
        said = capsys.readouterr().out
        assert f"recorded on {target}: {len(recorded)} experiments" in said
        assert f"{len(valid) - len(undecided)} of {len(valid)} valid ones decided today, 0 false KEEPs" in said
        assert len(undecided) < len(valid)
        assert simulate.replayed(target, [replace(trace, verdict=Verdict.NO_OP) for trace in recorded]) == 0


def shown(trials: int, noise: Noise, plan: Plan = simulate.PLAN, effect: float | Shift = 0.0) -> Tally:
    return tally(sessions(np.random.default_rng(7), noise, trials), plan, effect)


@pytest.mark.parametrize("name", MISLEADING)
def test_what_the_median_hides_is_not_kept(name: str, long: bool) -> None:
    noise, bar = MISLEADING[name]
    trials = 600 if long else 24
    plan = replace_plan(simulate.PLAN, slow_launch=0.0) if "fine" in name else simulate.PLAN
    assert shown(trials, noise, plan).share <= bar + allowance(bar, trials)


def quiet(draw: np.random.Generator, trials: int, rounds: int) -> np.ndarray:
    noise = draw.normal(0, 0.0036, (trials, rounds, 1, 2))
    return np.concatenate([noise, noise], axis=2)


def test_a_gain_that_fades_is_seldom_kept(long: bool) -> None:
    trials = 2000 if long else 100
    assert shown(trials, quiet, effect=fading).share <= 0.05 + allowance(0.05, trials)


def test_the_printed_interval_holds_the_truth(long: bool) -> None:
    """Nominally 95 %; at least 94 % over all verdicts of each effect, less the error of so few trials."""
    trials = 4000 if long else 250
    for effect in (-0.005, 0.0, 0.0025, 0.01):
        assert shown(trials, quiet, effect=effect).coverage >= 0.94 - 4 * (0.06 * 0.94 / trials) ** 0.5, effect


@pytest.mark.parametrize("target", ["cpu", "sm_90"])
def test_the_committed_live_results_hold_their_bars(target: str) -> None:
    file = FOLDER / f"live/{target}.jsonl"
    done = subprocess.run([*LIVE, str(file)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "missed" not in done.stdout


def test_a_false_keep_misses_the_bar_of_the_live_results(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (FOLDER / "live/cpu.jsonl").read_text().splitlines()]
    first = next(line for line in lines if line["truth"] == "A/A")
    first["verdict"] = "KEEP"
    file = tmp_path / "results.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = subprocess.run([*LIVE, str(file)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert "missed" in done.stdout
