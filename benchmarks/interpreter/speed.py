"""How long does the interpreter take, and how much memory? Run `python -m benchmarks.interpreter.speed [--beside CHECKOUT]`.

Two launches of this repository's kernel in a fresh process on one core: the first decodes the assembly, the second has it
decoded. Medians of `--repeats` processes. With --beside, another check-out of this repository interprets the same assembly, the
two in turns. A second table has the peak memory of a process by number of workgroups, on matrices of one size.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.interpreter.compiler import Compiler
from benchmarks.interpreter.launches import BASELINE, SMALL, Config

Shape = tuple[int, int, int]
SHAPES: tuple[Shape, ...] = ((256, 256, 256), (512, 512, 512), (64, 256, 8280), (512, 512, 6))
CONFIGS: tuple[Config, ...] = (BASELINE, SMALL, (1, 2, 2, 2, 2, 2))
SIDE = 1024
ONE = """
import json, resource, sys, time
from pathlib import Path
import numpy as np
from benchmarks.interpreter import launches
from expctl.gfx11 import launch

text, given, times = Path(sys.argv[1]).read_text(), json.loads(sys.argv[2]), []

def timed(*words, **named):
    began = time.perf_counter()
    found = launch.interpret(*words, **named)
    times.append(time.perf_counter() - began)
    return found

launches.interpret = timed
for _ in range(given["launches"]):
    run = launches.scaled_mm(text, tuple(given["config"]), launches.Fp8["E5M2"], *given["shape"])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([times, peak, run.faults, run.failure]))
"""


def launched(checkout: Path, assembly: Path, config: Config, shape: Shape, launches: int = 1) -> tuple[list[float], float]:
    """Launch in a process with the interpreter of `checkout`; return the seconds of each launch, and the peak memory in MiB.
    Raises RuntimeError if a fault is found.
    """
    words = [sys.executable, "-c", ONE, str(assembly), json.dumps({"config": config, "shape": shape, "launches": launches})]
    environment = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    ran = subprocess.run(words, cwd=checkout, env=environment, capture_output=True, text=True, check=True)
    times, peak, faults, failure = json.loads(ran.stdout)
    if faults or failure:
        raise RuntimeError(f"{checkout}: {shape}: {faults} {failure}")
    return times, peak


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", type=Path, metavar="CHECKOUT")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    here = Path(__file__).parents[2]
    checkouts = [here, *([given.beside.resolve()] if given.beside else [])]
    compiler = Compiler.installed()
    if compiler is None:
        parser.error("the wheel ziglang is not installed: make .venv/ready-to-test")
    with tempfile.TemporaryDirectory() as folder:
        built = {}
        for config in CONFIGS:
            built[config] = Path(folder) / f"{'_'.join(map(str, config))}.s"
            built[config].write_text(compiler.kernel(config, "-O3"))
        names = ("here", "beside")[: len(checkouts)]
        print(f"{'M x N x K':<18}" + "".join(f"{f'{name}, {which}':>18}" for name in names for which in ("first", "second")))
        for shape in SHAPES:
            times: list[list[list[float]]] = [[] for _ in checkouts]
            for _ in range(given.repeats):
                for checkout, found in zip(checkouts, times, strict=True):
                    found.append(launched(checkout, built[BASELINE], BASELINE, shape, 2)[0])
            medians = [statistics.median(each) for found in times for each in zip(*found, strict=True)]
            print(f"{' x '.join(map(str, shape)):<18}" + "".join(f"{median:>16.3f} s" for median in medians))
        print(f"\n{'workgroups':<18}{'peak':>12}")
        for config in CONFIGS:
            groups = (SIDE // (16 * config[0] * config[4])) * (SIDE // (16 * config[1] * config[5]))
            print(f"{groups:<18}{launched(here, built[config], config, (SIDE, SIDE, 64))[1]:>8.0f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
