"""Does `expctl check` judge strangers' kernels right? `python -m benchmarks.check.kernels` runs them, and what is planted.

Each folder below strangers_kernels has a kernel.hip, a case.py with a reference, and faults.yaml: what to `find` (text that
occurs once) and `replace`, and the `kind` of fault that it plants. They were written from a description of the launch format
by somebody who knew neither the interpreter nor the check. The kernel as it is must pass at each level of optimisation, and
each planted fault must be found at the last.

Prints what is wrong and a line of totals; exits with 1 if a kernel is refused or faulted, or if of one fewer than two faults
are found.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import yaml

FOLDER = Path(__file__).with_name("strangers_kernels")
EXPCTL = Path(sys.executable).with_name("expctl")
LEVELS = ("-O1", "-O2", "-O3")
LEAST_FOUND = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A kernel: what `check` says of it at each level ("" if nothing), and of each planted fault (with its kind)."""

    name: str
    said: dict[str, str]
    planted: list[tuple[str, str]]

    @property
    def found(self) -> int:
        """Return how many planted faults were found."""
        return sum(bool(said) and not said.startswith("Error") for _, said in self.planted)


def judged(folder: Path, levels: tuple[str, ...]) -> Judged:
    """Check the kernel in `folder`, and each of its faulty versions. Raises ValueError for a fault whose text isn't there."""
    source = (folder / "kernel.hip").read_text()
    said = {level: _checked(folder, source, level) for level in levels}
    planted = []
    for fault in yaml.safe_load((folder / "faults.yaml").read_text()):
        if source.count(fault["find"]) != 1:
            raise ValueError(f"{folder.name}: the text to find occurs {source.count(fault['find'])} times: {fault['find']!r}")
        planted.append((fault["kind"], _checked(folder, source.replace(fault["find"], fault["replace"]), levels[-1])))
    return Judged(name=folder.name, said=said, planted=planted)


def _checked(folder: Path, source: str, level: str) -> str:
    with tempfile.TemporaryDirectory() as temporary:
        copy = shutil.copytree(folder, Path(temporary) / folder.name)
        (copy / "kernel.hip").write_text(source)
        argv = [str(EXPCTL), "check", "kernel.hip", "--launch", "case.py", "-O", level.removeprefix("-O")]
        ended = subprocess.run(argv, cwd=copy, check=False, capture_output=True, text=True)
        lines = [line for line in (ended.stdout + ended.stderr).splitlines() if line and not line.startswith(" ")]
        return "" if ended.returncode == 0 else lines[0] if lines else f"exit status {ended.returncode}"


def main() -> int:
    """Run all, print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--only", default="", help="kernels whose name holds this")
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    folders = [each for each in sorted(options.folder.iterdir()) if options.only in each.name]
    levels = tuple(options.levels.split(","))
    with ThreadPoolExecutor(options.jobs) as pool:
        kernels = list(pool.map(lambda folder: judged(folder, levels), folders))
    wrong = 0
    for kernel in kernels:
        bad = {level: words for level, words in kernel.said.items() if words}
        wrong += bool(bad) or kernel.found < LEAST_FOUND
        for level, words in bad.items():
            print(f"WRONG {kernel.name} {level}: {words}")
        for kind, words in kernel.planted:
            if not words or words.startswith("Error"):
                mark = "WRONG" if kernel.found < LEAST_FOUND else "note "
                print(f"{mark} {kernel.name}: planted {kind}, {words or 'not found'}")
    passed = sum(not any(kernel.said.values()) for kernel in kernels)
    found, planted = sum(kernel.found for kernel in kernels), sum(len(kernel.planted) for kernel in kernels)
    of = f"{len(kernels)} kernels: {passed} pass at {', '.join(levels)}"
    print(f"{of}; {found} of {planted} planted faults found; {wrong} wrong")
    return bool(wrong) or not kernels


if __name__ == "__main__":
    sys.exit(main())
