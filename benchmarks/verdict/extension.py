"""What going on is worth: does the price that an INCONCLUSIVE quotes decide? `python -m benchmarks.verdict.extension [--long]`

Every undecided trial goes on to the looks of an extension (`Plan.extend`), as `expctl run ID --extend` does. Bars: at most .1 %
of null effects kept with every undecided one extended, and at least 80 % decided by the rounds that were quoted. Exit 1 when a
bar is missed.
"""

import argparse
import math
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.verdict.machines import NOISY, TYPICAL, Machine, round_effects
from benchmarks.verdict.procedure import CONFIRM, ROUNDS, plan_of, settle
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.protocol.boundaries import EXTENDED_ROUNDS
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.sequential_test import Decision

SEED = 20261122
LONG, SHORT, SLICE = 4000, 60, 100
QUOTED = re.compile(r"up to (\d+) more rounds")
MACHINES = (TYPICAL, NOISY)
EFFECTS = {"no effect": 0.0, "+0.25 %": 0.0025, "+0.5 %": 0.005}
KEEP_MOST, DECIDED_LEAST = 0.001, 0.8


@dataclass(slots=True)
class Extended:
    """Trials of one case: how many there were, were undecided, quoted a price, were decided by it, and were kept in the end."""

    trials: int = 0
    undecided: int = 0
    quoted: int = 0
    decided: int = 0
    kept: int = 0
    left: int = 0

    def add(self, first: Decision, last: Decision) -> None:
        """Count one trial: its verdict, and the one after going on (the same where it was decided)."""
        self.trials += 1
        self.kept += last.verdict is Verdict.KEEP
        if first.verdict is not Verdict.INCONCLUSIVE:
            return
        self.undecided += 1
        self.left += last.verdict is Verdict.INCONCLUSIVE
        price = next((int(found[1]) for reason in first.reasons if (found := QUOTED.search(reason))), 0)
        if price:
            self.quoted += 1
            self.decided += last.verdict is not Verdict.INCONCLUSIVE and _rounds(last) - _rounds(first) <= price

    def missed(self, effect: float) -> bool:
        """Is a bar missed? Shares of few trials get four standard errors, and three trials at least."""
        few = self.trials < LONG
        most = KEEP_MOST * self.trials + (max(3.0, 4 * math.sqrt(KEEP_MOST * self.trials)) if few else 0)
        error = math.sqrt(DECIDED_LEAST * (1 - DECIDED_LEAST) * self.quoted)
        return (not effect and self.kept > most) or self.decided < DECIDED_LEAST * self.quoted - (4 if few else 2) * error


def extended(draw: np.random.Generator, machine: Machine, effect: float, trials: int) -> Extended:
    """Let each trial run, and go on where it is undecided."""
    plan, found = plan_of({"4.9 ms": 0.5, "39 ms": 0.5}), Extended()
    for search, confirm in _sessions(draw, machine, trials):
        first = _settled(search[:ROUNDS], confirm[:CONFIRM], plan, effect)
        undecided = first.verdict is Verdict.INCONCLUSIVE
        found.add(first, _settled(search, confirm, plan.extend(), effect) if undecided else first)
    return found


def _sessions(draw: np.random.Generator, machine: Machine, trials: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for start in range(0, trials, SLICE):
        some = min(SLICE, trials - start)
        made = (round_effects(draw, machine, some, EXTENDED_ROUNDS) for _ in range(2))
        yield from zip(*made, strict=True)


def _settled(search: np.ndarray, confirm: np.ndarray, plan: Plan, effect: float) -> Decision:
    return settle(search, confirm, plan, shift=lambda _: effect)


def _rounds(decision: Decision) -> int:
    if decision.procedure is None:
        raise TypeError("decided without a procedure")
    return decision.procedure.search_rounds + decision.procedure.confirm_rounds


def main() -> int:
    """Print the table; 1 when a bar is missed."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--long", action="store_true", help=f"{LONG} trials of each case; bars with two standard errors")
    options.add_argument("--trials", type=int, default=0)
    options.add_argument("--seed", type=int, default=SEED)
    asked = options.parse_args()
    trials, fails = asked.trials or (LONG if asked.long else SHORT), 0
    draw, started = np.random.default_rng(asked.seed), time.monotonic()
    print(f"{trials} trials each, seed {asked.seed}; in percent\n")
    heads = ("undecided", "quoted a price", "decided by it", "left in the end", "KEEP in the end")
    print(f"{'':<24}" + "".join(f"{head:>17}" for head in heads))
    for machine in MACHINES:
        for name, effect in EFFECTS.items():
            found = extended(draw, machine, effect, trials)
            bad = found.missed(effect)
            fails += bad
            shares = (
                found.undecided / trials,
                found.quoted / trials,
                found.decided / max(1, found.quoted),
                found.left / trials,
                found.kept / trials,
            )
            row = "".join(f"{100 * share:>17.2f}" for share in shares)
            print(f"{f'{machine.name}, {name}':<24}{row}{' !' if bad else ''}", flush=True)
    print(f"\n{f'{fails} bars missed (!)' if fails else 'every bar holds'}; {time.monotonic() - started:.0f} s")
    return 1 if fails else 0


if __name__ == "__main__":
    sys.exit(main())
