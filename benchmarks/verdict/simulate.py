"""How often does the verdict err, and what does it cost? `python benchmarks/verdict/simulate.py [--long]`

Simulated machines (machines.py) make round effects; `expctl.domain.verdict.decide`, the function that `expctl run` calls,
decides on them; rivals (rivals.py) decide on the same machines. Exit 1 when a bar is missed. The short form has loose bars
(a bar plus four standard errors); `--long` takes 20,000 trials.
"""

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from machines import MACHINES, TYPICAL, round_effects
from rivals import RIVALS

from expctl.domain.boundaries import LOOKS
from expctl.domain.experiment import Mode, Verdict
from expctl.domain.measurement import RoundEffect, Session
from expctl.domain.plan import Plan
from expctl.domain.protocol import Benchmark, KeepRule, Size
from expctl.domain.verdict import Decision, confirm_rounds, decide

SEED = 20261120
ROUNDS = LOOKS[-1]  # of a search, at most
CONFIRM = confirm_rounds(ROUNDS)
SIZES = ("4.9 ms", "39 ms")
PLAN = Plan.of(
    Benchmark(argv=("-",), timeout_s=1, sizes=tuple(Size(name=size, weight=0.5) for size in SIZES)), KeepRule(), Mode.GAIN
)
EFFECTS = {"no effect": 0.0, "-0.5 %": -0.005, "+0.5 %": 0.005, "+1 %": 0.01}
SLICE = 1000  # trials in memory at a time

Noise = Callable[[np.random.Generator, int, int], np.ndarray]  # (trials, rounds, sizes) of one session without an effect

# Bars of the design by machine: KEEP at most (first two), at least (next two), mean rounds of the search at no effect at most.
BARS = {
    "quiet": (0.001, 0.0001, 0.99, 0.999, 6.0),
    "typical": (0.001, 0.0001, 0.97, 0.995, 10.0),
    "noisy": (0.001, 0.0005, 0.75, 0.97, 21.0),
}
HARD_BARS = {"round autocorrelation 0.5": 0.005, "rare slow mode": 0.03, "t3 tails": 0.001}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What came of the trials of one case. `search` is the mean number of rounds until the search ended."""

    trials: int
    kept: int
    search: float
    rounds: float
    undecided: int

    @property
    def share(self) -> float:
        """Of KEEPs."""
        return self.kept / self.trials


def settle(search: np.ndarray, confirm: np.ndarray, plan: Plan = PLAN) -> Decision:
    """Let `decide` ask for what it needs, as a run does. Both arrays are (rounds, sizes); unused rounds change nothing."""
    rounds = [RoundEffect(round=i, effect=_effect(row)) for i, row in enumerate(search.tolist())]
    answer = decide(rounds, plan)
    if not isinstance(answer, Decision):
        start = len(rounds)
        needed = confirm[: answer.rounds_left].tolist()
        rounds += [RoundEffect(round=start + i, effect=_effect(row), session=Session.CONFIRM) for i, row in enumerate(needed)]
        answer = decide(rounds, plan)
    if not isinstance(answer, Decision):
        raise TypeError(f"undecided after {len(rounds)} rounds: {answer}")
    return answer


def _effect(row: list[float]) -> dict[str, float]:
    return dict(zip(SIZES, row, strict=True))


def tally(pairs: Iterable[tuple[np.ndarray, np.ndarray]], shift: float = 0.0) -> Tally:
    """Settle every trial of (search, confirm) slices, each shifted by an effect."""
    trials = kept = search = total = undecided = 0
    for searches, confirms in pairs:
        for one, other in zip(searches + shift, confirms + shift, strict=True):
            decision = settle(one, other)
            procedure = decision.procedure
            if procedure is None:
                raise TypeError("decided without a procedure")
            trials += 1
            kept += decision.verdict is Verdict.KEEP
            undecided += decision.verdict is Verdict.INCONCLUSIVE
            search += procedure.search_rounds
            total += procedure.search_rounds + procedure.confirm_rounds
    return Tally(trials=trials, kept=kept, search=search / trials, rounds=total / trials, undecided=undecided)


def sessions(draw: np.random.Generator, make: Noise, trials: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Search and confirmation of every trial, two sessions of their own, in slices."""
    parts = [SLICE] * (trials // SLICE) + ([trials % SLICE] if trials % SLICE else [])
    return [(make(draw, part, ROUNDS), make(draw, part, CONFIRM)) for part in parts]


def autocorrelated(draw: np.random.Generator, trials: int, rounds: int, memory: float = 0.5) -> np.ndarray:
    """Rounds of the typical machine's sd that remember half of the round before; sizes move together by half."""
    noise = _two_sizes(draw.standard_normal((trials, rounds, 3)))
    for i in range(1, rounds):
        noise[:, i] = memory * noise[:, i - 1] + math.sqrt(1 - memory * memory) * noise[:, i]
    return noise * TYPICAL.round_sd


def heavy_tailed(draw: np.random.Generator, trials: int, rounds: int) -> np.ndarray:
    """The same with t tails of 3 degrees of freedom, scaled to the same sd."""
    return _two_sizes(draw.standard_t(3, (trials, rounds, 3)) / math.sqrt(3)) * TYPICAL.round_sd


def slow_mode(draw: np.random.Generator, trials: int, rounds: int) -> np.ndarray:
    """The typical machine; one candidate launch in ten is 2.7 % slower, the others are faster by so much that the mean is 0."""
    slow = 0.027 * (draw.random((trials, rounds, 2)) < 0.1).mean(axis=2) - 0.0027
    return round_effects(draw, TYPICAL, trials, rounds) - slow[:, :, None]


def _two_sizes(noise: np.ndarray) -> np.ndarray:
    """(…, 3) independent to (…, 2) correlated by 1/2, each of sd 1."""
    return (noise[..., :2] + noise[..., 2:]) / math.sqrt(2)


HARD_CASES = {"round autocorrelation 0.5": autocorrelated, "rare slow mode": slow_mode, "t3 tails": heavy_tailed}


def allowance(bar: float, trials: int, *, loose: bool) -> float:
    """Four standard errors at the bar in the short form."""
    return 4 * math.sqrt(max(bar * (1 - bar), 1 / trials) / trials) if loose else 0.0


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--long", action="store_true", help="20,000 trials of each case; bars without allowance")
    options.add_argument("--trials", type=int, default=0)
    options.add_argument("--seed", type=int, default=SEED)
    asked = options.parse_args()
    trials = asked.trials or (20_000 if asked.long else 400)
    draw, started, missed = np.random.default_rng(asked.seed), time.monotonic(), 0
    heads = [*EFFECTS, "rounds at 0", "rounds in all", "sd of a round"]
    print(f"share of KEEPs in percent, {trials} trials each, seed {asked.seed}\n")
    for machine in MACHINES:
        noise = sessions(draw, lambda d, n, r, m=machine: round_effects(d, m, n, r), trials)
        sd = math.sqrt(np.mean([part[0].mean(axis=2).var() for part in noise]))
        print(f"{machine.name:<34}" + "".join(f"{head:>14}" for head in heads))
        found = [tally(noise, effect) for effect in EFFECTS.values()]
        row = [100 * each.share for each in found] + [found[0].search, found[0].rounds, 100 * sd]
        low, at_loss, half, one, rounds = BARS[machine.name]
        loose = not asked.long
        fails = [
            found[0].share > low + allowance(low, trials, loose=loose),
            found[1].share > at_loss + allowance(at_loss, trials, loose=loose),
            found[2].share < half - allowance(half, trials, loose=loose),
            found[3].share < one - allowance(one, trials, loose=loose),
            found[0].search > rounds * (1.1 if loose else 1),
        ]
        missed += sum(fails)
        marks = [*fails, False, False]
        print(
            f"{'  expctl':<34}" + "".join(f"{value:>13.3f}{'!' if bad else ' '}" for value, bad in zip(row, marks, strict=True))
        )
        bars = (f"<= {100 * low:g}", f"<= {100 * at_loss:g}", f">= {100 * half:g}", f">= {100 * one:g}", f"<= {rounds:g}")
        print(f"{'  bar':<34}" + "".join(f"{bar:>13} " for bar in bars) + f"{'':>14}{100 * machine.round_sd:>13.3f}")
        some = min(trials, 2_000)
        for name, rival in RIVALS.items():
            shares = [100 * rival(draw, machine, some, effect).mean() for effect in EFFECTS.values()]
            print(f"  {name:<32}" + "".join(f"{share:>13.2f} " for share in shares))
        print()
    print(f"{'no effect, hard cases':<34}{'KEEP':>14}{'bar':>14}")
    for name, make in HARD_CASES.items():
        found_one, bar = tally(sessions(draw, make, trials)), HARD_BARS[name]
        bad = found_one.share > bar + allowance(bar, trials, loose=not asked.long)
        missed += bad
        print(f"  {name:<32}{100 * found_one.share:>13.3f}{'!' if bad else ' '}{f'<= {100 * bar:g}':>13}")
    print(f"\n{'every bar holds' if not missed else f'{missed} bars missed (!)'}; {time.monotonic() - started:.0f} s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
