"""What it costs to start a child within walls: milliseconds from the call to the end of a program that does nothing.

    python -m benchmarks.launcher.cost [ROUNDS]

Four kinds take turns, so that a slow second is slow for all: a bare process; one with a Python function between fork and exec,
which everything that follows pays for; a contained one; a contained one within walls. The least, the quarter and the median.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from expctl.adapters.child.contained_process import MARK, Child, ChildLimits, Launch
from expctl.launcher.capabilities import detect_capabilities

PROGRAM = ["/bin/true"]


def main(rounds: int) -> None:
    """Measure and print a table."""
    with tempfile.TemporaryDirectory(prefix="expctl-cost.") as name:
        folder = Path(name)
        kinds: dict[str, Callable[[], object]] = {
            "bare": lambda: subprocess.run(PROGRAM, check=True, stdin=subprocess.DEVNULL),
            "with a function between": lambda: subprocess.run(PROGRAM, check=True, preexec_fn=lambda: None),
            "contained": lambda: launched(folder, None),
            "contained, within walls": lambda: launched(folder, ChildLimits(scratch=(folder / "scratch",))),
        }
        times: dict[str, list[float]] = {name: [] for name in kinds}
        for _ in range(rounds + 1):
            for kind, start in kinds.items():
                began = time.perf_counter()
                start()
                times[kind].append((time.perf_counter() - began) * 1000)
    print(f"{detect_capabilities().words()}; {rounds} rounds, ms")
    for kind, found in times.items():
        least, *rest = sorted(found[1:])  # the first makes the rooms
        print(f"  {kind:<24} {least:6.2f} {rest[len(rest) // 4]:6.2f} {rest[len(rest) // 2]:6.2f}")


def launched(folder: Path, limits: ChildLimits | None) -> None:
    """One child to its end."""
    environment = {"PATH": os.environ["PATH"], MARK: "cost"}
    with Child(Launch(argv=PROGRAM, cwd=folder, environment=environment, log=folder / "log", limits=limits)) as child:
        child.close_input()
        child.wait(time.monotonic() + 10)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
