"""Does the guard at home see what is wrong? `python -m benchmarks.interpreter.guard_mutants` breaks the kernel and runs it.

The mutants are somebody else's, who had not read the guard: one YAML file each, with `file` below kernel/hip, `find` (text that
occurs once), `replace`, `why`, and `equivalent`: why no run can show it, or false. Each is built as the protocol builds the
guards gfx1151-static and gfx1151-configs, and their default test runs on it, with a given seed of the drawn shapes.

Prints a line for each mutant and seed that is missed, or that is said to be equivalent and is caught; the slowest run; exits
with 1 if there is one.

All of it takes hours. With --kept FILE each run is a line there, and those that it holds of this very kernel and guard are not
run again: an interrupted command goes on, and `--seeds 2` first, `--seeds 5` then, runs nothing twice.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from benchmarks.interpreter.compiler import HIP, Compiler
from benchmarks.interpreter.kept_runs import KeptRuns, Ran
from expctl.inspection.device_compiler import Options, assembly_with_lines
from kernel.runtime.library import WINNER, format_config

FOLDER = Path(__file__).with_name("strangers_mutants")
ROOT = Path(__file__).parents[2]
GUARD = ROOT / "kernel/harness/emulate_scaled_mm.py"
JUDGING, SUFFIXES = (ROOT / "kernel", ROOT / "expctl/gfx11", FOLDER), (".py", ".h", ".hip", ".yaml")
SEEDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """`equivalent` is the argument why no run can show it, "" if one should."""

    name: str
    file: str
    find: str
    replace: str
    equivalent: str


def load(folder: Path) -> list[Mutant]:
    """Return the mutants below `folder`, by name. Raises ValueError for one whose text isn't in the kernel exactly once."""
    found = []
    for file in sorted(folder.glob("*.yaml")):
        told = yaml.safe_load(file.read_text())
        times = (HIP / told["file"]).read_text().count(told["find"])
        if times != 1:
            raise ValueError(f"{file.name}: {told['file']} holds the text to find {times} times, expected once")
        equivalent = str(told.get("equivalent") or "")
        found.append(
            Mutant(name=file.stem, file=told["file"], find=told["find"], replace=told["replace"], equivalent=equivalent)
        )
    return found


def broken(mutant: Mutant, folder: Path) -> Path:
    """Write the mutant's kernel below `folder`, and return where."""
    hip = shutil.copytree(HIP, folder / "hip")
    source = hip / mutant.file
    source.write_text(source.read_text().replace(mutant.find, mutant.replace))
    return hip


def ran(compiler: Compiler, mutant: Mutant, seeds: Sequence[int], kept: KeptRuns) -> list[Ran]:
    """Return the runs of a mutant: kept ones, and new ones. Raises CalledProcessError for what can't be built or judged."""
    runs = [run for seed in seeds if (run := kept.of(mutant.name, seed)) is not None]
    left = [seed for seed in seeds if kept.of(mutant.name, seed) is None]
    return runs + _run(compiler, mutant, left, kept) if left else runs


def _run(compiler: Compiler, mutant: Mutant, seeds: Sequence[int], kept: KeptRuns) -> list[Ran]:
    with tempfile.TemporaryDirectory() as folder:
        hip = broken(mutant, Path(folder))

        @cache
        def static() -> list[str]:
            file = Path(folder) / "one.s"
            file.write_text(compiler.kernel(WINNER, "-O3", hip))
            return ["--artifact", str(file), "--config", format_config(WINNER)]

        @cache
        def configs() -> list[str]:
            file = Path(folder) / "every.s"
            file.write_text(assembly_with_lines(hip / "host_hip.hip", Options(arch="gfx1151"))[1])
            return ["--artifact", str(file), "--every-config", "--orders", "1"]

        return [kept.keep(_guarded(mutant.name, seed, static, configs)) for seed in seeds]


def _guarded(mutant: str, seed: int, *guards: Callable[[], list[str]]) -> Ran:
    """Build and run one guard after the other, up to the first that finds something."""
    seconds = 0.0
    for guard in guards:
        argv = [sys.executable, str(GUARD), *guard(), "--seed", str(seed)]
        begun_s = time.monotonic()
        ended = subprocess.run(argv, check=False, capture_output=True, text=True)
        seconds += time.monotonic() - begun_s
        if ended.returncode:
            said = next((line for line in ended.stderr.splitlines() if line.startswith("failed: ")), "")
            if not said:  # it was ended, or can't judge the build: neither is a finding
                raise subprocess.CalledProcessError(ended.returncode, argv, ended.stdout, ended.stderr)
            return Ran(mutant=mutant, seed=seed, said=said, seconds=seconds)
    return Ran(mutant=mutant, seed=seed, said="", seconds=seconds)


def tree_hash() -> str:
    """Of all that decides what a run says: kernel, guard, interpreter and mutants."""
    files = [file for folder in JUDGING for file in sorted(folder.rglob("*")) if file.suffix in SUFFIXES]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def main() -> int:
    """Run the mutants, print what was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--only", default="", help="mutants whose name holds this")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--kept", type=Path, help="a file that runs are kept in and read from")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time; the guard itself uses two cores")
    options = parser.parse_args()
    compiler = Compiler.installed()
    if compiler is None:
        sys.exit("ziglang is not installed: pip install -e '.[cpu]'")
    mutants = [mutant for mutant in load(options.folder) if options.only in mutant.name]
    kept = KeptRuns.read(options.kept, tree_hash())
    wrong = caught = 0
    slowest_s = 0.0
    with ThreadPoolExecutor(options.jobs) as pool:
        everything = pool.map(lambda mutant: ran(compiler, mutant, range(options.seeds), kept), mutants)
        for mutant, runs in zip(mutants, everything, strict=True):
            missed = sum(not run.said for run in runs)
            is_wrong = bool(missed) != bool(mutant.equivalent)
            wrong, caught = wrong + is_wrong, caught + (not missed)
            slowest_s = max(slowest_s, *(run.seconds for run in runs))
            words = next((run.said for run in runs if run.said), "nothing")[:200]
            print(
                f"{'WRONG' if is_wrong else 'right'} {mutant.name}: missed by {missed} of {len(runs)} seeds; {words}",
                flush=True,
            )
    print(f"{len(mutants)} mutants: {caught} caught in each of {options.seeds} seeds, {wrong} wrong; at most {slowest_s:.1f} s")
    return bool(wrong) or not mutants


if __name__ == "__main__":
    sys.exit(main())
