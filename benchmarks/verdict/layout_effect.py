"""How much of the CPU kernel's time depends on where its code lies, and on nothing else.

    python -m benchmarks.verdict.layout_effect [LAYOUTS] [PROCESSES] [SWEEPS] [BUILDS]

Builds this checkout's kernel in LAYOUTS placements of the same machine code (16), and copies the canonical one as often: files
of equal bytes, which differ only in the physical pages that hold them. Each of PROCESSES fresh processes (16), pinned to one
core, loads all these files in an order of its own and times them in turn, SWEEPS times (30), in a new random order each time,
by the thread's CPU time, which leaves out the turns of other processes. All this is done BUILDS times (3), with new files.

A file's effect in a process is the median over the sweeps of ln(median of that sweep / its time); positive means faster. Its
effect is the median of that over the processes: now and then one file runs far slower in one process, whichever it is.

Printed per size: the sd between layouts and between equal copies, without what the error of the effects adds; the sd within, of
one file's effect from process to process; the sd of what a layout has in every build, from its covariance between builds;
each layout's mean effect over the builds, with its standard error; and the mean of those that begin functions at the same place
in a cache line.
"""

import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
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
NORMAL_QUARTILES = 1.349  # their distance in a normal distribution, in sd
OBJECTIVE = "objective"
DRAW = random.SystemRandom()


def main(layouts: int = 16, processes: int = 16, sweeps: int = 30, builds: int = 3) -> None:
    """Build, measure and print."""
    print(f"{layouts} layouts and as many copies of one, {builds} times; {processes} processes each, {sweeps} sweeps")
    found: list[list[dict[str, list[float]]]] = []
    for _ in range(builds):
        with tempfile.TemporaryDirectory(prefix="expctl-layouts.") as folder:
            files = build(layouts, Path(folder))
            for number in range(layouts):
                files.append(Path(folder) / f"copy-{number}.so")
                shutil.copyfile(files[0], files[-1])
            argv = [sys.executable, "-m", "benchmarks.verdict.layout_effect", "--time", str(sweeps), *map(str, files)]
            ran = [subprocess.run(argv, cwd=ROOT, check=True, stdout=subprocess.PIPE) for _ in range(processes)]
            found.append([json.loads(each.stdout) for each in ran])
    sizes = {f"n={n}": np.array([[each[str(n)] for each in of_build] for of_build in found]) for n in WEIGHTS}
    sizes[OBJECTIVE] = np.array(sum(weight * sizes[f"n={n}"] for n, weight in WEIGHTS.items()))
    for name, effects in sizes.items():
        report(name, effects, places=4)


def build(layouts: int, state: Path) -> list[Path]:
    """Build this checkout in so many layouts, as a run does; return the files, the canonical one first."""
    builder = Builder({Toolchain.ZIG_CPU: ZigCpuRecipe()}, state=state, environment=Environment(), mark="layouts", machine="")
    benchmark = Benchmark(argv=("-",), timeout_s=1, sizes=(Size(name="-", weight=1),), layouts=layouts)
    target = Target(build=BUILD, benchmark=benchmark)
    made = builder.build("cpu", target, tree=ROOT, sources="-")
    if isinstance(made, Failed):
        raise SystemExit(made.reason)
    return list(builder.layouts(target, made) or ())


def time_all(files: Sequence[Path], sweeps: int) -> dict[int, list[float]]:
    """In this process: the effect of each file by size."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    order = DRAW.sample(range(len(files)), len(files))
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

        effects[n] = timed_in_turn(order, launch, sweeps)
    return effects


def timed_in_turn(order: Sequence[int], launch: Callable[[int], float], sweeps: int) -> list[float]:
    """Return the effect of each file. `launch` returns the logarithm of its time; it is called once for each file to warm up,
    then `sweeps` times, in a new random order each time.
    """
    for i in order:
        launch(i)
    logs = np.empty((sweeps, len(order)))
    for sweep in range(sweeps):
        for i in DRAW.sample(order, len(order)):
            logs[sweep, i] = launch(i)
    return list(np.median(np.median(logs, axis=1, keepdims=True) - logs, axis=0))


def report(name: str, effects: np.ndarray, places: int = 0) -> None:
    """Print one size; `effects` is (builds, processes, files), the layouts before the copies.

    Layouts begin their functions at one of `places` places in a cache line, by turns.
    """
    effects = effects - np.median(effects, axis=2, keepdims=True)
    spreads = np.subtract(*np.percentile(effects, [75, 25], axis=1)) / NORMAL_QUARTILES  # (builds, files)
    errors = math.sqrt(math.pi / 2) * spreads / math.sqrt(effects.shape[1])
    found = np.median(effects, axis=1)
    layouts, copies = np.split(found, 2, axis=1)
    of_layouts, of_copies = np.split(errors, 2, axis=1)
    lasting = np.cov(layouts)[np.triu_indices(len(layouts), 1)].mean() if len(layouts) > 1 else 0.0
    print(
        f"\n{name}: sd between layouts {percent(between(layouts, of_layouts))}, between copies "
        f"{percent(between(copies, of_copies))}, within {percent(np.median(spreads))}, in every build {percent(root(lasting))}"
    )
    means, of_means = layouts.mean(axis=0), np.sqrt((of_layouts**2).sum(axis=0)) / len(layouts)
    print("  layouts  " + "  ".join(map(shown, means, of_means)))
    for place in range(min(places, len(means))):
        of_place = np.sqrt((of_means[place::places] ** 2).sum()) / len(means[place::places])
        print(
            f"  functions {16 * place} bytes behind the start of a cache line: {shown(means[place::places].mean(), of_place)}"
        )


def between(effects: np.ndarray, errors: np.ndarray) -> float:
    """Return the sd of the files of a build, pooled over the builds, without what the errors of their effects add."""
    return root(float(np.mean(effects.var(axis=1, ddof=1) - (errors**2).mean(axis=1))))


def root(variance: float) -> float:
    """Return the square root, 0 where an estimate of a variance came out negative."""
    return math.sqrt(max(0.0, variance))


def shown(effect: float, error: float) -> str:
    """Return an effect with its standard error, in percent."""
    return f"{100 * effect:+.2f}({100 * error:.2f})"


def percent(value: float) -> str:
    """Return a share in percent."""
    return f"{100 * value:.3f} %"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--time"]:
        print(json.dumps(time_all([Path(name) for name in sys.argv[3:]], int(sys.argv[2]))))
    else:
        main(*map(int, sys.argv[1:]))
