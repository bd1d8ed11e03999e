"""How much of the CPU kernel's time depends on where its code lies, and on nothing else.

    python -m benchmarks.verdict.layout_effect [LAYOUTS] [PROCESSES] [SWEEPS]

Builds this checkout's kernel in LAYOUTS placements of the same machine code (16). Each of PROCESSES fresh processes (60),
pinned to one core, loads all of them in an order of its own and times them in turn, SWEEPS times (40), in a new random order
each time, by the thread's CPU time, which leaves out the turns of other processes. A layout's effect in a process is the median
over the sweeps of ln(median of that sweep / its time); positive means faster.

Printed per size: each layout's effect, the median over the processes, with its standard error; the sd between layouts, without
what those errors add; the sd within, of one layout's effect from process to process; and how often a spread between layouts as
large comes about when each process' effects are dealt to the layouts at random. All of it from medians and quartiles, because
now and then a process has one build that runs far slower in it, whichever it is.
"""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from expctl.adapters.steps.builder import Builder
from expctl.domain.protocol.model import Benchmark, Build, Environment, Size, Target, Toolchain
from expctl.domain.run.step_result import Failed
from expctl.targets.cpu import ZigCpuRecipe
from kernel.runtime.formats import Fp8, encode, prepack
from kernel.runtime.library import WINNER, open_library

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS = {512: 0.6, 384: 0.4}  # the KPI of protocol.yaml
BUILD = Build(
    toolchain=Toolchain.ZIG_CPU,
    source="kernel/hip/host_cpu.cpp",
    flags=("-O3", "-march=native", "-falign-functions=64"),
    artifact="scaled_mm.so",
)
DEALS = 2000
NORMAL_QUARTILES = 1.349  # their distance in a normal distribution, in sd
OBJECTIVE = "objective"


def main(layouts: int = 16, processes: int = 60, sweeps: int = 40) -> None:
    """Build, measure and print."""
    with tempfile.TemporaryDirectory(prefix="expctl-layouts.") as folder:
        started = time.monotonic()
        files = build(layouts, Path(folder))
        print(f"{layouts} layouts built in {time.monotonic() - started:.1f} s; {processes} processes, {sweeps} sweeps each")
        argv = [sys.executable, "-m", "benchmarks.verdict.layout_effect", "--time", str(sweeps), *map(str, files)]
        found = [json.loads(subprocess.run(argv, cwd=ROOT, check=True, capture_output=True).stdout) for _ in range(processes)]
    sizes = {f"n={n}": np.array([each[str(n)] for each in found]) for n in WEIGHTS}
    sizes[OBJECTIVE] = np.array(sum(weight * sizes[f"n={n}"] for n, weight in WEIGHTS.items()))
    for name, effects in sizes.items():
        report(name, effects)


def build(layouts: int, state: Path) -> tuple[Path, ...]:
    """Build this checkout in so many layouts, as a run does; return the files, the canonical one first."""
    builder = Builder({Toolchain.ZIG_CPU: ZigCpuRecipe()}, state=state, environment=Environment(), mark="layouts", machine="")
    benchmark = Benchmark(argv=("-",), timeout_s=1, sizes=(Size(name="-", weight=1),), layouts=layouts)
    target = Target(build=BUILD, benchmark=benchmark)
    made = builder.build("cpu", target, tree=ROOT, sources="-")
    if isinstance(made, Failed):
        raise SystemExit(made.reason)
    return builder.layouts(target, made) or ()


def time_all(files: Sequence[Path], sweeps: int) -> dict[int, list[float]]:
    """In this process: the effect of each file by size."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    draw = random.SystemRandom()
    order = draw.sample(range(len(files)), len(files))
    libraries = {i: open_library(files[i], "cpu") for i in order}
    effects = {}
    for n in WEIGHTS:
        values = np.random.default_rng(n)
        a = values.standard_normal((n, n)).astype(np.float16)
        b = prepack(encode(values.standard_normal((n, n)), Fp8.E5M2))
        c = np.empty((n, n), np.float16)

        def launch(i: int, n: int = n, a: np.ndarray = a, b: np.ndarray = b, c: np.ndarray = c) -> float:
            config = libraries[i].index_of(WINNER)
            started = time.thread_time_ns()
            libraries[i].launch(config, Fp8.E5M2, a.ctypes.data, b.ctypes.data, None, c.ctypes.data, 1.0, n, n, n)
            return math.log(time.thread_time_ns() - started)

        for i in order:
            launch(i)
        logs = np.empty((sweeps, len(files)))
        for sweep in range(sweeps):
            for i in draw.sample(order, len(order)):
                logs[sweep, i] = launch(i)
        effects[n] = list(np.median(np.median(logs, axis=1, keepdims=True) - logs, axis=0))
    return effects


def report(name: str, effects: np.ndarray) -> None:
    """Print one size; `effects` is (processes, layouts)."""
    effects = effects - np.median(effects, axis=1, keepdims=True)
    found, spreads = np.median(effects, axis=0), np.subtract(*np.percentile(effects, [75, 25], axis=0)) / NORMAL_QUARTILES
    errors = math.sqrt(math.pi / 2) * spreads / math.sqrt(len(effects))
    within, seen = float(np.median(spreads)), found.std(ddof=1)
    between = math.sqrt(max(0.0, seen**2 - np.mean(errors**2)))
    draw = np.random.default_rng(0)
    dealt = [np.median(draw.permuted(effects, axis=1), axis=0).std(ddof=1) for _ in range(DEALS)]
    chance = (1 + sum(each >= seen for each in dealt)) / (1 + DEALS)
    print(f"\n{name}: sd between layouts {100 * between:.3f} %, within {100 * within:.3f} %, by chance p = {chance:.4f}")
    print(f"  from slowest to fastest {100 * np.ptp(found):.3f} %, canonical {100 * found[0]:+.3f} %")
    print("  " + "  ".join(f"{100 * effect:+.2f} +- {100 * error:.2f}" for effect, error in zip(found, errors, strict=True)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--time"]:
        print(json.dumps(time_all([Path(name) for name in sys.argv[3:]], int(sys.argv[2]))))
    else:
        main(*map(int, sys.argv[1:]))
