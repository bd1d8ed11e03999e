"""How long `expctl profile show` takes for large profiles, beside what the database's own view takes.

    python -m benchmarks.profiles.read [DISPATCHES] [MEGABYTES]

Makes both files anew in a temporary folder. Every figure is the median of five runs of a process, start-up included.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.profiles import large_profiles

RUNS = 5
EXPCTL = Path(sys.executable).with_name("expctl")
VIEW = """
import sqlite3, sys
with sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True) as database:
    database.execute("SELECT name, count(*), sum(duration) FROM kernels GROUP BY name").fetchall()
"""


def measured(argv: list[str]) -> tuple[float, float, float]:
    """Wall time in seconds, CPU time in seconds, largest resident size in MB of one process (not of its children)."""
    started = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{argv} ended with {status}")
    return time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def report(name: str, argv: list[str]) -> None:
    """One line."""
    walls, cpus, sizes = zip(*(measured(argv) for _ in range(RUNS)), strict=True)
    print(f"{name:<46}{statistics.median(walls):>8.2f} s{statistics.median(cpus):>8.2f} s CPU{max(sizes):>8.0f} MB")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dispatches", metavar="DISPATCHES", nargs="?", type=int, default=1_000_000, help="in each database")
    parser.add_argument("megabytes", metavar="MEGABYTES", nargs="?", type=float, default=50.0, help="of the CSV")
    chosen = parser.parse_args()
    dispatches, megabytes = chosen.dispatches, chosen.megabytes
    with tempfile.TemporaryDirectory() as folder:
        database, overlapping, trace = (Path(folder, name) for name in ("r.db", "o.db", "kernel_trace.csv"))
        large_profiles.rocpd(database, dispatches)
        large_profiles.rocpd(overlapping, dispatches, overlapping=True)
        large_profiles.trace(trace, megabytes)
        report(f"profile show, {dispatches} dispatches", [str(EXPCTL), "profile", "show", str(database)])
        report("its `kernels` view, counts and sums", [sys.executable, "-c", VIEW, str(database)])
        report(f"profile show, {dispatches} overlapping", [str(EXPCTL), "profile", "show", str(overlapping)])
        report(f"profile show, CSV of {megabytes:g} MB", [str(EXPCTL), "profile", "show", str(trace)])


if __name__ == "__main__":
    main()
