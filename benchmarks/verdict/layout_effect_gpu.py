"""How much of the GPU kernel's time depends on where its code lies, and on nothing else.

    python -m benchmarks.verdict.layout_effect_gpu [LAYOUTS] [PROCESSES] [SWEEPS] [BUILDS]

The same question, and the same figures printed, as of the CPU in layout_effect.py. A layout is this checkout's source behind
a kernel that nobody launches, of a random length, so that the loader puts the others elsewhere; nvcc builds it with the
KPI's config alone. Each fresh process loads all files, and times them in turn by events on the device, each time 10 launches.
"""

import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks.verdict.layout_effect import DRAW, OBJECTIVE, ROOT, report, timed_in_turn
from expctl.harness.device import Runtime
from kernel.runtime.formats import Fp8, encode, prepack
from kernel.runtime.library import WINNER, format_config, open_library

WEIGHTS = {4096: 0.6, 2048: 0.4}  # of live_sm_90.yaml
LAUNCHES = 10
LENGTHS = 400  # stores in the kernel before the others, at most: some 13 kB
PADDED = """__global__ void never_launched(volatile int *place) {{
{stores}}}
#include "{source}"
"""


def main(layouts: int = 8, processes: int = 10, sweeps: int = 10, builds: int = 2) -> None:
    """Build, measure and print."""
    print(f"{layouts} layouts and as many copies of one, {builds} times; {processes} processes each, {sweeps} sweeps")
    found: list[list[dict[str, list[float]]]] = []
    for number in range(builds):
        with tempfile.TemporaryDirectory(prefix="expctl-layouts.") as folder:
            draw = random.Random(number)  # noqa: S311  layouts of their own for each build
            lengths = [0, *draw.sample(range(1, LENGTHS), layouts - 1)]
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                files = list(pool.map(lambda length, into=Path(folder): build(length, into), lengths))
            files += [Path(shutil.copyfile(files[0], Path(folder) / f"copy-{copy}.so")) for copy in range(layouts)]
            argv = [sys.executable, "-m", "benchmarks.verdict.layout_effect_gpu", "--time", str(sweeps), *map(str, files)]
            ran = [subprocess.run(argv, cwd=ROOT, check=True, stdout=subprocess.PIPE) for _ in range(processes)]
            found.append([json.loads(each.stdout) for each in ran])
    sizes = {f"n={n}": np.array([[each[str(n)] for each in of_build] for of_build in found]) for n in WEIGHTS}
    sizes[OBJECTIVE] = np.array(sum(weight * sizes[f"n={n}"] for n, weight in WEIGHTS.items()))
    for name, effects in sizes.items():
        report(name, effects)


def build(length: int, folder: Path) -> Path:
    """Build the kernel behind one of `length` stores that nobody launches."""
    source, artifact = folder / f"padded-{length}.cu", folder / f"padded-{length}.so"
    stores = "".join(f"  *place = {number};\n" for number in range(length))
    source.write_text(PADDED.format(stores=stores, source=ROOT / "kernel/hip/host_cuda.cu"))
    config = "-DSCALED_MM_CONFIG=" + format_config(WINNER).replace(",", "\\,")
    flags = ["-gencode=arch=compute_90a,code=sm_90a", "-std=c++17", "-O3", "-Xcompiler", "-fPIC", "-shared", config]
    subprocess.run(["nvcc", *flags, str(source), "-o", str(artifact)], check=True)
    return artifact


def time_all(files: Sequence[Path], sweeps: int) -> dict[int, list[float]]:
    """In this process: the effect of each file by size."""
    order = DRAW.sample(range(len(files)), len(files))
    libraries, runtime = {i: open_library(files[i], "sm_90") for i in order}, Runtime("cuda")
    effects = {}
    for n in WEIGHTS:
        values = np.random.default_rng(n)
        a = values.standard_normal((n, n)).astype(np.float16)
        b = prepack(encode(values.standard_normal((n, n)), Fp8.E5M2))
        places = [runtime.alloc(size) for size in (a.nbytes, b.nbytes, a.nbytes)]
        runtime.to_device(places[0], a.ctypes.data, a.nbytes)
        runtime.to_device(places[1], b.ctypes.data, b.nbytes)

        def launch(i: int, n: int = n, places: Sequence[int] = tuple(places)) -> float:
            config = libraries[i].index_of(WINNER)
            runtime.record(0)
            for _ in range(LAUNCHES):
                libraries[i].launch(config, Fp8.E5M2, places[0], places[1], None, places[2], 1.0, n, n, n)
            runtime.record(1)
            runtime.wait()
            return math.log(runtime.elapsed_ns(0, 1))

        effects[n] = timed_in_turn(order, launch, sweeps)
        for place in places:
            runtime.free(place)
    return effects


if __name__ == "__main__":
    if sys.argv[1:2] == ["--time"]:
        print(json.dumps(time_all([Path(name) for name in sys.argv[3:]], int(sys.argv[2]))))
    else:
        main(*map(int, sys.argv[1:]))
