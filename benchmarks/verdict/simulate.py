"""How often does the verdict err, and what does it cost? `python -m benchmarks.verdict.simulate [--long]`

Simulated machines (machines.py) make round effects; `sequential_test.decide`, the function that `expctl run` calls,
decides on them; rivals (rivals.py) decide on the same machines. For each machine follows whether the printed intervals hold the
true effect (coverage.py). Then come noise that breaks what a t test assumes (hard.py), effects that should be decided quickly,
candidates that mislead (misleading.py), the price that an undecided search is given (price.py), and rounds that were recorded
on real machines (traces.py): they are decided again, and those without effect are drawn again as noise. Exit 1 when a bar is
missed.
The short form has loose bars (a bar plus four standard errors, three failures at least); `--long` takes 20,000 trials and the
bars as they are.
"""

import argparse
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from benchmarks.verdict.bars import LONG, allowance, at_most
from benchmarks.verdict.coverage import coverage
from benchmarks.verdict.hard import HARD_CASES, even_noise
from benchmarks.verdict.machines import MACHINES, Machine, noise_of
from benchmarks.verdict.misleading import misled
from benchmarks.verdict.price import price
from benchmarks.verdict.procedure import ROUNDS, Rule, Slices, Tally, plan_of, sessions, tallies, tally
from benchmarks.verdict.rivals import RIVALS
from benchmarks.verdict.throttling import SHORT as SHORT_OF_SAMPLES
from benchmarks.verdict.throttling import throttled
from benchmarks.verdict.traces import RecordedNoise, Trace, recorded
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import OBJECTIVE
from expctl.domain.protocol.model import Style
from expctl.domain.verdict.sequential_test import decide

SEED = 20261120
SHORT, RIVAL_TRIALS = 160, 2_000
HARD_TRIALS = 5  # times as many in the short form: their bars lie higher, a confirmation that does nothing shows here
PLAN = plan_of({"4.9 ms": 0.5, "39 ms": 0.5})
EFFECTS = {"no effect": 0.0, "-0.5 %": -0.005, "+0.5 %": 0.005, "+1 %": 0.01}
COVERED = (-0.01, -0.005, -0.0025, 0.0, 0.0025, 0.005, 0.01)  # true effects whose intervals are looked at
QUICK = {"+5 %": (math.log(1.05), 14.0), "-20 %": (math.log(0.8), 4.0)}  # true effect, mean rounds of both sessions at most
HEADS = (*EFFECTS, "rounds at 0", "rounds in all", "sd of a round")
KEPT_MOST = (0.04, 0.001)  # a confirmation's error by 100 pairs (boundaries.py), and what loses .5 %
RECORDED_BAR = 0.001  # KEEPs without an effect on recorded noise


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Of the design: KEEP at most (no effect, -0.5 %), at least (+0.5 %, +1 %), mean rounds of a search at no effect."""

    most: tuple[float, float]
    least: tuple[float, float]
    rounds: float


BARS = {
    "quiet": Bars(most=(0.001, 0.0001), least=(0.99, 0.999), rounds=6.0),
    "typical": Bars(most=(0.001, 0.0001), least=(0.97, 0.995), rounds=10.0),
    "noisy": Bars(most=(0.001, 0.0005), least=(0.75, 0.97), rounds=21.0),
}


def missed(found: Sequence[Tally], bars: Bars, trials: int) -> list[bool]:
    """Which bars the tallies at the four EFFECTS, and the rounds at no effect, miss."""
    too_often = [each.share > bar + allowance(bar, trials) for each, bar in zip(found[:2], bars.most, strict=True)]
    too_seldom = [each.share < bar - allowance(1 - bar, trials) for each, bar in zip(found[2:], bars.least, strict=True)]
    return [*too_often, *too_seldom, found[0].search > bars.rounds * (1.0 if trials >= LONG else 1.1)]


def simulated(draw: np.random.Generator, machine: Machine, trials: int, rule: Rule = decide) -> int:
    """Print the block of one machine; the number of missed bars."""
    noise = sessions(draw, noise_of(machine), trials)
    sd = _sd_of_rounds(noise)
    by_effect, bars = dict(zip(COVERED, tallies(noise, PLAN, COVERED, rule), strict=True)), BARS[machine.name]
    found = [by_effect[effect] for effect in EFFECTS.values()]
    fails = missed(found, bars, trials)
    print(f"{machine.name:<34}" + "".join(f"{head:>14}" for head in HEADS))
    print(f"{'  expctl':<34}" + _row(found, sd, fails))
    limits = [f"<= {100 * bar:g}" for bar in bars.most] + [f">= {100 * bar:g}" for bar in bars.least] + [f"<= {bars.rounds:g}"]
    print(f"{'  bar':<34}" + "".join(f"{limit:>13} " for limit in limits) + f"{'':>14}{100 * machine.round_sd:>13.3f}")
    for name, rival in RIVALS.items():
        shares = [100 * rival(draw, machine, min(trials, RIVAL_TRIALS), effect).mean() for effect in EFFECTS.values()]
        print(f"  {name:<32}" + "".join(f"{share:>13.2f} " for share in shares))
    uncovered = coverage(by_effect, PLAN)
    print()
    return sum(fails) + uncovered


def kept_before(draw: np.random.Generator, trials: int) -> int:
    """Print what a confirmation alone decides of a change that was kept beside an older baseline, on the simulated machines;
    the number of missed bars.
    """
    print(f"{'kept before, confirmed alone':<34}" + "".join(f"{head:>14}" for head in HEADS))
    plan, fails = replace(PLAN, kept_by=OBJECTIVE), 0
    for machine in MACHINES:
        noise = sessions(draw, noise_of(machine), trials)
        found = tallies(noise, plan, list(EFFECTS.values()))
        missed = [at_most(bar, each.share, trials).missed for each, bar in zip(found[:2], KEPT_MOST, strict=True)]
        fails += sum(missed)
        print(f"{f'  {machine.name}':<34}" + _row(found, _sd_of_rounds(noise), [*missed, False, False, False]))
    print(f"{'  bar':<34}" + "".join(f"{f'<= {100 * bar:g}':>13} " for bar in KEPT_MOST))
    return fails


def hard(draw: np.random.Generator, trials: int, rule: Rule = decide) -> int:
    """Print the hard cases; the number of missed bars."""
    print(f"{'no effect, hard cases':<34}{'KEEP':>14}{'bar':>14}")
    trials, fails = trials if trials >= LONG else HARD_TRIALS * trials, 0
    for name, (noise, bar) in HARD_CASES.items():
        found = at_most(bar, tally(sessions(draw, noise, trials), PLAN, rule=rule).share, trials)
        fails += found.missed
        print(f"  {name:<32}{found.words}{f'<= {100 * bar:g}':>13}")
    return fails


def quick(draw: np.random.Generator, trials: int, rule: Rule = decide) -> int:
    """Print how many rounds large effects take at a round sd of .5 %; return the number of missed bars."""
    noise, fails = sessions(draw, even_noise, trials), 0
    print(f"\n{'large effects, round sd .5 %':<34}{'KEEP':>14}{'rounds in all':>14}{'bar':>14}")
    effects = [effect for effect, _ in QUICK.values()]
    for (name, (_, bar)), found in zip(QUICK.items(), tallies(noise, PLAN, effects, rule), strict=True):
        bad = found.rounds > bar
        fails += bad
        print(f"  {name:<32}{100 * found.share:>13.3f} {found.rounds:>13.2f}{'!' if bad else ' '}{f'<= {bar:g}':>13}")
    return fails


def replayed(target: str, traces: Sequence[Trace]) -> int:
    """Print how many recorded experiments of a target their rounds decide today; return the number of false KEEPs.

    Rounds that were recorded under an older rule may be too few.
    """
    today = [(trace, trace.replayed()) for trace in traces if trace.verdict is not Verdict.INVALID]
    false = sum(trace.truth != "gain" and verdict is Verdict.KEEP for trace, verdict in today)
    decided = sum(verdict is not None for _, verdict in today)
    print(
        f"\nrecorded on {target}: {len(traces)} experiments with {sum(len(trace.rounds) for trace in traces)} rounds, "
        f"{decided} of {len(today)} valid ones decided today, {false} false KEEPs"
    )
    return false


def drawn_again(draw: np.random.Generator, traces: list[Trace], trials: int) -> int:
    """Print the error rates on recorded noise; 1 when its bar is missed."""
    noise = RecordedNoise(traces)
    pairs, plan = sessions(draw, noise, trials), plan_of(noise.weights, Style.FINE)
    found = tallies(pairs, plan, list(EFFECTS.values()))
    bad = at_most(RECORDED_BAR, found[0].share, trials).missed
    sd = (noise.rounds @ np.array(list(noise.weights.values()))).std(ddof=1)
    print(f"{f'  its {len(noise.rounds)} null rounds drawn again':<34}" + "".join(f"{head:>14}" for head in HEADS))
    print(f"{'  expctl':<34}" + _row(found, sd, [bad, False, False, False, False]))
    return int(bad)


def _sd_of_rounds(noise: Slices) -> float:
    """The root mean square sd of a round's objective in the searches."""
    variances = noise.each(lambda _, trials: [search[:, 0].mean(axis=1).var() for search, _ in trials])
    return math.sqrt(np.mean([each for part in variances for each in part]))


def _row(found: Sequence[Tally], sd: float, fails: Sequence[bool]) -> str:
    values = [*(100 * each.share for each in found), found[0].search, found[0].rounds, 100 * sd]
    marks = [*fails, False, False]
    return "".join(f"{value:>13.3f}{'!' if bad else ' '}" for value, bad in zip(values, marks, strict=True))


def main() -> int:
    """Print the tables; 1 when a bar is missed."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--long", action="store_true", help="20,000 trials of each case; bars without allowance")
    options.add_argument("--trials", type=int, default=0)
    options.add_argument("--seed", type=int, default=SEED)
    asked = options.parse_args()
    trials = asked.trials or (LONG if asked.long else SHORT)
    draw, started = np.random.default_rng(asked.seed), time.monotonic()
    print(f"share of KEEPs in percent, {trials} trials each, searches of at most {ROUNDS} rounds, seed {asked.seed}\n")
    fails = sum(simulated(draw, machine, trials) for machine in MACHINES)
    fails += kept_before(draw, trials)
    fails += hard(draw, trials) + quick(draw, trials) + misled(draw, PLAN, trials) + price(draw, PLAN, trials)
    fails += throttled(draw, max(SHORT_OF_SAMPLES, trials // 20))
    for target, traces in recorded().items():
        fails += replayed(target, traces) + drawn_again(draw, traces, trials)
    print(f"\n{f'{fails} bars missed (!)' if fails else 'every bar holds'}; {time.monotonic() - started:.0f} s")
    return 1 if fails else 0


if __name__ == "__main__":
    sys.exit(main())
