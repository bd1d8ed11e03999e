"""What the harness library costs: its import beside numpy's, and what a timed call takes beyond a hand-written loop.

python -m benchmarks.overhead.harness_library [--repeats 15] [--calls 400] [--out benchmarks/overhead/harness_library.json]

Imports are charged in interpreters of their own, in turn. Calls are the same C function and the same numpy function, on inputs
drawn anew each time, by the library (`time`, as in style fine) and by a loop that keeps addresses ready and does nothing else.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from expctl.harness import CLibrary, Kernel
from expctl.harness.author import Author
from expctl.harness.libraries import PythonFile
from expctl.harness.timed_size import TimedSize

IMPORT_MOST, CALL_NS_MOST = 1.2, 1000
N = 8192
IMPORTS = {
    "numpy": "import numpy",
    "harness": "import expctl.harness",
    "what a harness imports": "import numpy; from expctl.harness import CLibrary, Kernel, serve",
    "all of the library": "import numpy; import expctl.harness.script, expctl.harness.steps, expctl.harness.class_check",
}
SOURCE = "double dot(const double *x, const double *y, long n) { double s = 0; while (n--) s += x[n] * y[n]; return s; }\n"
PYTHON = "import numpy\n\n\ndef dot(x, y, n):\n    return numpy.dot(x, y)\n"


class Dot(Kernel):
    """A scalar product, of vectors of N values."""

    sizes = {"n": {"n": N}}  # noqa: RUF012  as an author writes it

    def inputs(self, rng: np.random.Generator, n: int) -> Sequence[Any]:
        """Return x and y, (n,) each."""
        return rng.standard_normal(n), rng.standard_normal(n)

    def call(self, build: Any, x: Any, y: Any) -> float:
        """Return the product."""
        return float(build.dot(x, y, N))

    def reference(self, x: Any, y: Any) -> Any:
        """Return the product in float64."""
        return np.dot(x, y)


class DotOfC(Dot):
    """The same by a C library."""

    library = CLibrary(dot="f64(const f64*, const f64*, i64)")


def import_ms(words: str) -> float:
    """Return the ms of processor time that the import takes in a new interpreter."""
    timed = f"import time; begin = time.process_time(); {words}; print((time.process_time() - begin) * 1e3)"
    return float(subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True).stdout)


def by_library(kernel: type[Kernel], artifact: Path, calls: int) -> Callable[[], float]:
    """Return a function that times `calls` calls by the library and returns the median ns."""
    size = TimedSize(Author(kernel, artifact), "n", 1)
    size.warm_up()
    return lambda: statistics.median(size.time(calls).ns)


def by_hand(call: Callable[..., object], addresses: bool, calls: int) -> Callable[[], float]:
    """Return a function that times `calls` calls by a plain loop and returns the median ns."""

    def median_ns() -> float:
        ns = []
        for number in range(calls):
            rng = np.random.default_rng([1, number])
            x, y = rng.standard_normal(N), rng.standard_normal(N)
            one, other = (x.ctypes.data, y.ctypes.data) if addresses else (x, y)
            begin = time.perf_counter_ns()
            call(one, other, N)
            ns.append(time.perf_counter_ns() - begin)
        return statistics.median(ns)

    return median_ns


def overhead_ns(
    kernel: type[Kernel], artifact: Path, call: Callable[..., object], repeats: int, calls: int
) -> dict[str, float]:
    """Return the medians of both over blocks in turn, and of their differences."""
    ours, theirs = by_library(kernel, artifact, calls), by_hand(call, kernel is DotOfC, calls)
    pairs = [(ours(), theirs()) for _ in range(repeats)]
    return {
        "by_library_ns": statistics.median(one for one, _ in pairs),
        "by_hand_ns": statistics.median(other for _, other in pairs),
        "overhead_ns": statistics.median(one - other for one, other in pairs),
    }


def main() -> int:
    """Run the benchmark; return 1 where a limit is broken."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--repeats", type=int, default=15, help="of each import and each block (default: %(default)s)")
    arguments.add_argument("--calls", type=int, default=400, help="in a block (default: %(default)s)")
    arguments.add_argument("--out", type=Path, help="write the figures there, as JSON")
    options = arguments.parse_args()
    taken: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for _ in range(options.repeats):
        for name, words in IMPORTS.items():
            taken[name].append(import_ms(words))
    imports = {name: statistics.median(each) for name, each in taken.items()}
    with tempfile.TemporaryDirectory() as folder:
        calls = {name: overhead_ns(*each, options.repeats, options.calls) for name, each in kernels(Path(folder)).items()}
    figures = {"import_ms": {name: round(each, 2) for name, each in imports.items()}, "calls": calls}
    print(json.dumps(figures, indent=2))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=2) + "\n")
    dear = imports["what a harness imports"] > IMPORT_MOST * imports["numpy"]
    return int(dear or max(each["overhead_ns"] for each in calls.values()) > CALL_NS_MOST)


def kernels(folder: Path) -> dict[str, tuple[type[Kernel], Path, Callable[..., object]]]:
    """Build both; return the class, the artifact and the bare function of each."""
    (folder / "dot.c").write_text(SOURCE)
    (folder / "dot.py").write_text(PYTHON)
    compiled = [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        "-O2",
        "-shared",
        "-fPIC",
        str(folder / "dot.c"),
        "-o",
        str(folder / "dot.so"),
    ]
    subprocess.run(compiled, check=True, capture_output=True)
    bare = CLibrary(dot="f64(const f64*, const f64*, i64)").load(folder / "dot.so").dot._function
    return {
        "C": (DotOfC, folder / "dot.so", bare),
        "numpy": (Dot, folder / "dot.py", PythonFile().load(folder / "dot.py").dot),
    }


if __name__ == "__main__":
    sys.exit(main())
