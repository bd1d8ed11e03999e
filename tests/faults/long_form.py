"""The long form of the fault suite: `make faults`. Plays thousands of trials and writes table.json.

python -m tests.faults.long_form [--trials 3000] [--seed 6] [--only WORDS] [--out FILE] [--go-on] [--jobs N]

Each job has a core of its own and plays whole classes. A trial is the same whatever plays beside it.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.faults.fault_classes import CLASSES
from tests.faults.fault_lab import Lab, pinned
from tests.faults.trial import FaultClass, Trial

TABLE = Path(__file__).parent / "table.json"
PLANTED_TRIALS = 60
LEAST = 6
CONFIDENCE = 3.0  # of no violations in N trials, the 95 % upper bound is 3/N
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One class. `caught_by_trial` is the first, from 1, that saw the planted defect; 0: none did."""

    name: str
    trials: int
    violations: int
    planted: str
    caught_by_trial: int

    @staticmethod
    def of(faults: FaultClass, trials: int, violations: int, caught: int) -> "Row":
        """What was played."""
        return Row(name=faults.name, trials=trials, violations=violations, planted=faults.planted, caught_by_trial=caught)

    def plain(self) -> dict[str, object]:
        """As the table has it."""
        bound = round(CONFIDENCE / self.trials, 4) if not self.violations else None
        return {
            "name": self.name,
            "trials": self.trials,
            "violations": self.violations,
            "upper_bound_95": bound,
            "planted": self.planted,
            "caught": bool(self.caught_by_trial),
            "caught_by_trial": self.caught_by_trial,
        }

    def in_words(self) -> str:
        """One line for the screen."""
        planted = f"caught by trial {self.caught_by_trial}" if self.caught_by_trial else "NOT CAUGHT"
        return f"{self.name:<42} {self.trials:4} trials, {self.violations} violations; planted: {planted}"


@dataclass(slots=True)
class Table:
    """The rows so far, and what they are of: the command and the tree of expctl."""

    command: str
    seed: int
    expctl: str
    rows: dict[str, Row] = field(default_factory=dict)

    @staticmethod
    def of(trials: int, seed: int) -> "Table":
        """An empty one."""
        tree = subprocess.run(["git", "rev-parse", "HEAD:expctl"], cwd=ROOT, capture_output=True, text=True, check=True)
        return Table(f"python -m tests.faults.long_form --trials {trials} --seed {seed}", seed, tree.stdout.strip())

    def take_over(self, plain: dict[str, Any]) -> None:
        """The rows of an interrupted run of the same."""
        if (plain["command"], plain["expctl"]) == (self.command, self.expctl):
            derived = ("upper_bound_95", "caught")
            for row in plain["classes"]:
                self.rows[row["name"]] = Row(**{name: value for name, value in row.items() if name not in derived})

    def trials(self) -> int:
        return sum(row.trials for row in self.rows.values())

    def violations(self) -> int:
        return sum(row.violations for row in self.rows.values())

    def plain(self) -> dict[str, object]:
        """As table.json has it. `expctl` is the tree that was tested."""
        rows = [self.rows[each.name].plain() for each in CLASSES if each.name in self.rows]
        head = {"command": self.command, "seed": self.seed, "expctl": self.expctl}
        return {**head, "trials": self.trials(), "violations": self.violations(), "classes": rows}


def play(lab: Lab, faults: FaultClass, trials: int, seed: int) -> int:
    """The trials of one class that violate an invariant."""
    draw, violated = Random(f"{seed} {faults.name}"), 0
    for number in range(trials):
        story = faults.play(Trial(lab, draw, number, trials))
        found = story.violations()
        violated += bool(found)
        if found:
            ends = [(each.words[-1], each.status, round(each.wall_s, 2)) for each in story.scene.attempts]
            print("\n".join([f"  trial {number}: {ends}", *(f"    {each}" for each in found)]), flush=True)
    return violated


def catch(lab: Lab, faults: FaultClass, seed: int, most: int = PLANTED_TRIALS) -> int:
    """The number of the trial, from 1, that catches the planted defect; 0: none does."""
    draw = Random(f"{seed} planted {faults.name}")
    order = list(range(most))
    draw.shuffle(order)
    for count, number in enumerate(order, start=1):
        if faults.play(Trial(lab, draw, number, most, faults.planted)).violations():
            return count
    return 0


def take_core(cores: "multiprocessing.Queue[int]") -> None:
    """A job's first act: one core is its own."""
    os.sched_setaffinity(0, {cores.get()})


def row_of(name: str, trials: int, seed: int) -> tuple[Row, float]:
    """Play the class of that name. Also returns the seconds it took."""
    faults = next(each for each in CLASSES if each.name == name)
    count = max(LEAST, -int(-trials * faults.share // sum(each.share for each in CLASSES)))
    started = time.monotonic()
    with pinned(), Lab() as lab:
        row = Row.of(faults, count, play(lab, faults, count, seed), catch(lab, faults, seed))
    return row, time.monotonic() - started


def main() -> int:
    """Returns the exit status: 0 only without a violation and with every planted defect caught."""
    parser = argparse.ArgumentParser(description="the fault suite, long form")
    parser.add_argument("--trials", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--only", default="", help="classes whose name holds this; nothing is written then")
    parser.add_argument("--out", type=Path, default=TABLE)
    parser.add_argument("--jobs", type=int, default=1, help="cores to play on (default: %(default)s)")
    parser.add_argument("--go-on", action="store_true", help="keep the rows of --out that are of this expctl and this command")
    options = parser.parse_args()
    table = Table.of(options.trials, options.seed)
    if options.go_on and options.out.exists():
        table.take_over(json.loads(options.out.read_text()))
    missing = [each.name for each in CLASSES if options.only in each.name and each.name not in table.rows]
    context = multiprocessing.get_context("spawn")
    cores = context.Queue()
    for core in sorted(os.sched_getaffinity(0), reverse=True)[: options.jobs]:
        cores.put(core)
    with ProcessPoolExecutor(options.jobs, context, initializer=take_core, initargs=(cores,)) as pool:
        for ended in as_completed([pool.submit(row_of, name, options.trials, options.seed) for name in missing]):
            row, seconds = ended.result()
            table.rows[row.name] = row
            print(f"{row.in_words()} ({seconds:.0f} s)", flush=True)
            if not options.only:
                options.out.write_text(json.dumps(table.plain(), indent=1) + "\n")
    print(f"{table.trials()} trials, {table.violations()} violations")
    return int(bool(table.violations()) or not all(row.caught_by_trial for row in table.rows.values()))


if __name__ == "__main__":
    sys.exit(main())
