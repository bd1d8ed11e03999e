"""A head in a process of its own, whose devices are threads: `python -m tests.fleet.local_head HOSTS DEVICE...`."""

import os
import sys
from pathlib import Path

from expctl import wiring, wiring_fleet
from expctl.views.console import ConsoleProgress
from tests.fleet.local_engine import LocalEngine


def main(hosts: Path, names: tuple[str, ...]) -> None:
    engine = LocalEngine(hosts, names, {"HOME": os.environ["HOME"]})
    place = wiring.here()
    made = wiring.context(place, ConsoleProgress(sys.stdout))
    for step in wiring_fleet.head_steps(place, made, engine, target="", silent_s=30, spent=lambda *_: ""):
        print(step, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), tuple(sys.argv[2:]))
