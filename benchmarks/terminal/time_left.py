"""How good is the time left that `expctl run` shows? Runs experiments in a terminal and compares each forecast with the truth.

    python -m benchmarks.terminal.time_left --runs 10 --out time-left.jsonl

A run's score is the median, over the moments at which its live line showed a time, of the larger of forecast / truth and
truth / forecast; moments less than 2 s before the end are left out. A run that is decided at its first look shows no time
and has no score. `--table FILE` prints the scores of earlier runs.
"""

import argparse
import json
import re
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.terminal.project import EXPCTL, Project, dot_of
from tests.e2e.terminal.screen import Terminal

LEFT = re.compile(r"round (\d+) of at most .*about (?:(\d+) (s|min)|to end)")
SHORTEST_S = 2.0
TO_END_S = 1.0
IDEAS = (
    ((0,), (0, 1)),
    ((0, 1, 2, 3), (2, 0, 3, 1)),
    ((0, 1), (0, 1, 2)),
    ((0, 1, 2, 3), tuple(range(8))),
    (tuple(range(8)), (7, 6, 5, 4, 3, 2, 1, 0)),
    ((0,), (0, 1, 2, 3)),
    ((0, 1, 2, 3), (3, 2, 1, 0)),
    (tuple(range(6)), tuple(range(8))),
    ((0, 1, 2), (2, 1, 0)),
    ((0, 1, 2), (0, 1, 2, 3)),
    ((0, 1), (1, 0)),
    ((0, 1, 2, 3, 4), tuple(range(6))),
)
"""The running sums of the dot product before and after a change, in the order in which they are added up: gains, and changes
that do nothing. (A clear loss is decided at the first look, so it shows no time.)"""


def forecasts(seen: Sequence[tuple[float, str]]) -> list[tuple[float, float]]:
    """Return the moments (seconds since the start) at which a live line showed a time left, each with that time in seconds."""
    found = [(at_s, LEFT.search(line)) for at_s, line in seen]
    return [(at_s, _seconds(match)) for at_s, match in found if match]


def _seconds(match: re.Match[str]) -> float:
    number, unit = match.group(2), match.group(3)
    return TO_END_S if number is None else float(number) * (60 if unit == "min" else 1)


def score(shown: Sequence[tuple[float, float]], end_s: float) -> float | None:
    """Return the median factor between forecast and truth; None if no time was shown early enough."""
    factors = [max(left_s / (end_s - at_s), (end_s - at_s) / left_s) for at_s, left_s in shown if end_s - at_s >= SHORTEST_S]
    return round(statistics.median(factors), 2) if factors else None


def watched(project: Project, experiment: str) -> dict[str, object]:
    """Run an experiment in a terminal of 100 columns; return its verdict, duration, forecasts and score."""
    argv = (*EXPCTL, "run", experiment)
    with Terminal(argv, cwd=project.root, environment=project.environment, columns=100) as terminal:
        terminal.end(at_most_s=900.0)
        shown, lines = forecasts(terminal.seen), terminal.text()
    verdict = re.search(r"(?m)^  (KEEP|REJECT|INCONCLUSIVE|NO-OP|INVALID)\b", lines)
    end_s = terminal.seen[-1][0]
    return {
        "verdict": verdict.group(1) if verdict else lines,
        "seconds": round(end_s, 1),
        "shown": [(round(at_s, 1), left_s) for at_s, left_s in shown],
        "factor": score(shown, end_s),
    }


def table(runs: Sequence[dict[str, object]]) -> str:
    """Return a Markdown table of the runs, and the median of their factors."""
    rows = [f"| {each['title']} | {each['verdict']} | {each['seconds']} | {each['factor'] or '-'} |" for each in runs]
    scored = [float(str(each["factor"])) for each in runs if each["factor"]]
    median = f"{statistics.median(scored):.2f}" if scored else "none"
    head = ["| experiment | verdict | seconds | factor between time shown and time taken (median) |", "|---|---|--:|--:|"]
    return "\n".join([*head, *rows, "", f"median of the {len(scored)} runs that showed a time: {median}"])


def main(words: Sequence[str]) -> int:
    """Run the experiments, or print the table of earlier ones. Returns 0."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=10)
    options.add_argument("--out", type=Path, help="append a line of JSON per run")
    options.add_argument("--table", type=Path, help="print the runs of this file instead")
    asked = options.parse_args(words)
    if asked.table:
        print(table([json.loads(line) for line in asked.table.read_text().splitlines()]))
        return 0
    runs: list[dict[str, object]] = []
    for number in range(asked.runs):
        before, after = IDEAS[number % len(IDEAS)]
        title = f"{len(before)} sums to {len(after)}, added as {''.join(map(str, after))}"
        with tempfile.TemporaryDirectory() as folder:
            project = Project(Path(folder, "dot"), dot_of(before))
            project.propose(dot_of(after), title)
            runs.append({"title": title, **watched(project, "P1")})
        print(json.dumps(runs[-1]), flush=True)
        if asked.out:
            with asked.out.open("a") as file:
                file.write(json.dumps(runs[-1]) + "\n")
    print(table(runs))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
