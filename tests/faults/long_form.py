"""The long form of the fault suite: `make faults`. Plays thousands of trials and writes table.json.

python tests/faults/long_form.py [--trials 2000] [--seed 6] [--only WORDS] [--out FILE]
"""

import argparse
import json
import sys
import time
from pathlib import Path
from random import Random

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]

from fault_classes import CLASSES
from lab import Lab, pinned
from trial import FaultClass, Trial

TABLE = Path(__file__).parent / "table.json"
PLANTED_TRIALS = 60
CONFIDENCE = 3.0  # of no violations in N trials, the 95 % upper bound is 3/N


def play(lab: Lab, faults: FaultClass, trials: int, seed: int, said: list[str]) -> int:
    """The trials of one class that violate an invariant."""
    draw, violated = Random(f"{seed} {faults.name}"), 0
    for number in range(trials):
        story = faults.play(Trial(lab, draw, number, trials))
        found = story.violations()
        violated += bool(found)
        said += [f"{faults.name}, trial {number}: {each}" for each in found]
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


def main() -> int:
    """Returns the exit status: 0 only without a violation and with every planted defect caught."""
    parser = argparse.ArgumentParser(description="the fault suite, long form")
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--only", default="", help="classes whose name holds this; nothing is written then")
    parser.add_argument("--out", type=Path, default=TABLE)
    options = parser.parse_args()
    chosen = [each for each in CLASSES if options.only in each.name]
    shares = sum(each.share for each in CLASSES)
    rows: list[dict[str, object]] = []
    with pinned(), Lab() as lab:
        for faults in chosen:
            started, trials = time.monotonic(), max(6, -int(-options.trials * faults.share // shares))
            violated = play(lab, faults, trials, options.seed, [])
            caught = catch(lab, faults, options.seed)
            rows.append(
                {
                    "name": faults.name,
                    "trials": trials,
                    "violations": violated,
                    "upper_bound_95": round(CONFIDENCE / trials, 4) if not violated else None,
                    "planted": faults.planted,
                    "caught": bool(caught),
                    "caught_by_trial": caught,
                }
            )
            took_s = time.monotonic() - started
            print(
                f"{faults.name:<45} {trials:5} trials {violated:3} violations, planted: {caught or 'NOT CAUGHT'} ({took_s:.0f} s)",
                flush=True,
            )
    total, violated = sum(int(str(row["trials"])) for row in rows), sum(int(str(row["violations"])) for row in rows)
    print(f"{total} trials, {violated} violations")
    if not options.only:
        command = f"python tests/faults/long_form.py --trials {options.trials} --seed {options.seed}"
        table = {"command": command, "seed": options.seed, "trials": total, "violations": violated, "classes": rows}
        options.out.write_text(json.dumps(table, indent=1) + "\n")
    return int(bool(violated) or not all(row["caught"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
