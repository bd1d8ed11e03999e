"""Is the verdict right on a real machine? `python -m benchmarks.verdict.live FOLDER` runs blind experiments of known truth.

A clone of this checkout's HEAD is made in FOLDER. There, in an order that the seed shuffles, `expctl new` and `expctl run`
are given

- A/A: a candidate with another machine code of the same length and speed (an immediate operand that decides nothing);
- slow: a candidate that does so much extra work that every launch takes 1 to 2 % longer, of its own duration;
- gain: the other way round, a baseline with that extra work and a candidate without;
- moved (CPU): nothing but 1 to 63 bytes of no-ops before the loops, or another function first in the file;
- tail (CPU): a gain as above in 19 of 20 calls, while every 20th takes 65 % longer: slower by 1.75 % in the mean.

The extra work is a wait by the clock, a given share of what the launch (on a GPU: the block) took, so the truth is known
without measuring it. A GPU launch has parts outside of its blocks: there the share of the whole is .7 to .8 of what is given.
Titles and ids tell expctl nothing. An INVALID experiment is run again under a new id. The state is FOLDER/results.jsonl (and
traces.jsonl, what the verdicts rest on): started again with the same arguments, the script goes on where it was killed.

`--table FILE` prints the table of such a file, and exits with 1 when a bar is missed.
"""

import argparse
import json
import math
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from benchmarks.verdict.live_results import CLASSES, Result, table
from expctl.adapters.codec.record_codec import samples_of
from expctl.domain.verdict.samples import round_effects

ROOT = Path(__file__).parents[2]
BUSY = 75
FIRST = "The tree that the blind experiments start from"

# Where the extra work goes: the file, the line that the work takes place of, and what stands there instead.
CPU = (
    "kernel/hip/host_cpu.cpp",
    "  if (first_row_block < end_row_block)\n"
    "    kComputeAll[config][b_dtype](row_blocks_of(problem, config, first_row_block, end_row_block));\n",
    "  const auto begin = __builtin_readcyclecounter();\n{work}"
    "  const auto end = __builtin_readcyclecounter(), until = end + (end - begin) * {share} / 1000000;\n"
    "  while (__builtin_readcyclecounter() < until) {{}}\n",
)
GPU = (
    "kernel/hip/sm_90/block.h",
    "  work();\n",
    "  const long long begin = clock64();\n{work}"
    "  const long long end = clock64(), until = end + (end - begin) * {share} / 1000000;\n"
    "  while (clock64() < until) {{}}\n",
)
# What an A/A candidate changes: a bound that nothing reaches, by so little that no instruction changes its length or its place.
# A function that nobody calls would not do: it moved the others by half a cache line, and that was a gain of .16 %.
BOUND = ("kernel/hip/config.h", "constexpr int kMaxExtent = 1 << 22;", "constexpr int kMaxExtent = (1 << 22) - {number};")


# Where the CPU's hot loops begin, and where its functions are listed, for what moves them.
LOOPS = ("  SHARED Slices<C> slices;\n", '  asm volatile(".nops {bytes}");\n  SHARED Slices<C> slices;\n')
FUNCTIONS = (
    "using ComputeAll = void (*)(const Problem &);\n",
    "template void compute_all<Config<{config}>, {format}>(const Problem &);\nusing ComputeAll = void (*)(const Problem &);\n",
)
CONFIGS = (  # of kernel/hip/config.h
    *("2,2,2,2,4,4", "2,4,2,2,4,2", "2,4,4,2,4,2", "1,4,2,2,4,2", "2,2,2,2,2,2", "1,2,4,2,2,2"),
    "1,8,2,2,8,2",
)
TAIL_PERCENT, TAIL_EVERY = 65, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One experiment: what it is (`truth`), and its true effect in percent of speed (negative: slower)."""

    number: int
    truth: str
    effect_percent: float


def cases(counts: Sequence[int], gain_percent: float, seed: int) -> list[Case]:
    """The plan: shuffled, with slow-downs drawn between 1 and 2 %."""
    draw = random.Random(seed)  # noqa: S311  a plan that a seed gives again, no secret
    truths = [truth for truth, count in zip(CLASSES, counts, strict=False) for _ in range(count)]
    draw.shuffle(truths)
    effects = {
        "A/A": lambda: 0.0,
        "slow": lambda: -round(draw.uniform(1.0, 2.0), 3),
        "gain": lambda: gain_percent,
        "moved": lambda: 0.0,
        "tail": lambda: gain_percent - TAIL_PERCENT / TAIL_EVERY,
    }
    return [Case(number=i, truth=truth, effect_percent=effects[truth]()) for i, truth in enumerate(truths)]


class StepPerformer:
    """The clone that the experiments are made in."""

    def __init__(self, folder: Path, target: str, protocol: Path | None) -> None:
        self.repository = folder / "repository"
        self._results, self._traces = folder / "results.jsonl", folder / "traces.jsonl"
        self._target, self._place = target, CPU if target == "cpu" else GPU
        if not (self.repository / ".git").is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            # On the machine of a GPU there may be no history: then the tree itself is the first commit.
            if (ROOT / ".git").exists():
                self._do(["git", "clone", "--quiet", str(ROOT), str(self.repository)], ROOT)
            else:
                shutil.copytree(ROOT, self.repository, ignore=shutil.ignore_patterns(".*", folder.name))
                self._git("init", "--quiet", "--initial-branch=main")
            if protocol is not None:
                shutil.copy(protocol, self.repository / "protocol.yaml")
            self._drop_controls()
            self._commit(FIRST)
        first = self._git("log", "--format=%H", f"--grep=^{FIRST}$").split()[-1]
        self._clean, self._bound = (self._git("show", f"{first}:{file}") for file in (self._place[0], BOUND[0]))

    def results(self) -> list[Result]:
        """What is done so far."""
        lines = self._results.read_text().splitlines() if self._results.exists() else []
        return [Result(**json.loads(line)) for line in lines]

    def run(self, case: Case, id: str, gain_percent: float) -> Result:
        """Queue it unless a killed run did, run it to its end, note the outcome."""
        if not (self.repository / "experiments" / id).is_dir():
            self._git("checkout", "--quiet", "--", ".")
            self._write(self._place[0], self._with_work(gain_percent) if case.truth in ("gain", "tail") else self._clean)
            self._commit("Another baseline")
            match case.truth:
                case "gain":
                    self._write(self._place[0], self._clean)
                case "tail":
                    self._write(self._place[0], self._with_tail(case.number))
                case "moved":
                    self._write(self._place[0], self._moved(case.number))
                case "slow":
                    self._write(self._place[0], self._with_work(-case.effect_percent))
                case _:
                    self._write(BOUND[0], _with(self._bound, BOUND[1], BOUND[2].format(number=200 + case.number)))
            words = ["--title", "A change", "--hypothesis", "It is one of three kinds, and nobody says which"]
            self._expctl("new", id, "--from-diff", *words)
        started = time.monotonic()
        self._expctl("run", id, "--target", self._target)
        run_s, record = time.monotonic() - started, json.loads((self.repository / f"experiments/{id}/record.json").read_text())
        found: dict[str, Any] = next(iter(record.get("estimates", [])), {})
        procedure = record.get("procedure") or {}
        result = Result(
            id=id,
            case=case.number,
            truth=case.truth,
            effect_percent=case.effect_percent,
            verdict=record["verdict"],
            estimate_percent=found.get("effect_percent"),
            low_percent=found.get("low_percent"),
            high_percent=found.get("high_percent"),
            round_sd_percent=found.get("sd_percent"),
            search_rounds=procedure.get("search_rounds", 0),
            confirm_rounds=procedure.get("confirm_rounds", 0),
            run_s=round(run_s, 1),
            target=self._target,
            machine=record["environment"].get("device", record["environment"]["cpu"]),
        )
        for path, line in ((self._traces, self._trace(result)), (self._results, asdict(result))):
            with path.open("a") as file:
                file.write(json.dumps(line) + "\n")
        return result

    def _trace(self, result: Result) -> dict[str, object]:
        """What `decide` saw, for benchmarks/verdict/simulate.py to replay."""
        file = self.repository / f"experiments/{result.id}/samples.jsonl"
        samples = samples_of(file.read_bytes(), where=file.name) if file.exists() else ()
        rounds = [
            {"session": each.session, "effect": each.effect, "mean_effect": each.mean_effect} for each in round_effects(samples)
        ]
        benchmark = yaml.safe_load((self.repository / "protocol.yaml").read_text())["targets"][self._target]["benchmark"]
        return {
            "id": result.id,
            "truth": result.truth,
            "effect_percent": result.effect_percent,
            "verdict": result.verdict,
            "weights": {size["name"]: size["weight"] for size in benchmark["sizes"]},
            "rounds": rounds,
        }

    def _with_work(self, percent: float) -> str:
        """The kernel with extra work that makes it slower by such a share that undoing it is a gain of `percent`."""
        _, work, instead = self._place
        return _with(self._clean, work, instead.format(work=work, share=round(percent * 1e4)))

    def _with_tail(self, number: int) -> str:
        """The kernel with a wait in every 20th call; no two are the same, or expctl would refuse the second as a repeat."""
        _, work, instead = self._place
        rare = f"{TAIL_PERCENT}{number:04} * (++calls % {TAIL_EVERY} == 0)"
        return _with(self._clean, work, "  static int calls = 0;\n" + instead.format(work=work, share=rare))

    def _moved(self, number: int) -> str:
        """The kernel with its hot loops elsewhere: three in four by bytes before them, the others by another first function."""
        if number % 4:
            return _with(self._clean, LOOPS[0], LOOPS[1].format(bytes=1 + 23 * number % 63))
        config, format = CONFIGS[number // 4 % len(CONFIGS)], ("kE5m2", "kE4m3fn")[number // 4 // len(CONFIGS) % 2]
        return _with(self._clean, FUNCTIONS[0], FUNCTIONS[1].format(config=config, format=format))

    def _drop_controls(self) -> None:
        """Baselines with extra work have it in the very lines that the control patches need, so they would not apply."""
        text = (self.repository / "protocol.yaml").read_text()
        self._write("protocol.yaml", re.sub(r"^ +control: .*\n", "", text, flags=re.MULTILINE))

    def _write(self, file: str, source: str) -> None:
        (self.repository / file).write_text(source)

    def _commit(self, message: str) -> None:
        self._git("add", "--all")
        if message == FIRST or self._git("status", "--porcelain"):
            self._git("commit", "--quiet", "--allow-empty", "--message", message)

    def _git(self, *words: str) -> str:
        identity = ["-c", "user.name=live", "-c", "user.email=live@localhost", "-c", "commit.gpgsign=false"]
        return self._do(["git", *identity, *words], self.repository)

    def _expctl(self, *words: str) -> str:
        return self._do([sys.executable, "-m", "expctl", *words], self.repository, patience=60)

    @staticmethod
    def _do(argv: Sequence[str], cwd: Path, patience: int = 0) -> str:
        """Its output; a machine that is busy is asked again `patience` times."""
        cwd.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(argv, cwd=cwd, check=False, capture_output=True, text=True)
        while done.returncode == BUSY and patience:
            time.sleep(10)
            patience -= 1
            done = subprocess.run(argv, cwd=cwd, check=False, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(argv)} ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        return done.stdout


def _with(source: str, old: str, new: str) -> str:
    if old not in source:
        raise SystemExit(f"the kernel has changed: expected in its source\n{old}")
    return source.replace(old, new)


def main() -> int:
    """Run what is left of the plan, then print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path, nargs="?", help="where the clone and the results lie")
    options.add_argument("--table", type=Path, help="only print the table of this results.jsonl")
    options.add_argument("--target", choices=("cpu", "sm_90"), default="cpu")
    options.add_argument("--counts", default="40,15,15", help="how many A/A, slow, gain, moved, tail (default: %(default)s)")
    options.add_argument("--gain", type=float, default=1.5, help="the known gain in percent (default: %(default)s)")
    options.add_argument("--protocol", type=Path, help="a protocol.yaml to put in place of the repository's")
    options.add_argument("--hours", type=float, default=math.inf, help="start nothing after so many")
    options.add_argument("--seed", type=int, default=20261120)
    asked = options.parse_args()
    if asked.table is not None:
        text, good = table(Result(**json.loads(line)) for line in asked.table.read_text().splitlines())
        print(text)
        return 0 if good else 1
    if asked.folder is None:
        options.error("give a FOLDER, or --table FILE")
    bench, started = StepPerformer(asked.folder.resolve(), asked.target, asked.protocol), time.monotonic()
    for case in cases([int(word) for word in asked.counts.split(",")], asked.gain, asked.seed):
        tried = [each for each in bench.results() if each.case == case.number]
        while not tried or tried[-1].verdict == "INVALID":
            if time.monotonic() - started > 3600 * asked.hours:
                print("out of time; the same command goes on from here")
                return BUSY
            tried.append(bench.run(case, f"P{1000 + 10 * case.number + len(tried)}", asked.gain))
            print(json.dumps(asdict(replace(tried[-1], machine=""))), flush=True)
            if [each.verdict for each in tried[-3:]] == ["INVALID"] * 3:
                print(f"{tried[-1].id} is INVALID three times over: {bench.repository}/experiments/{tried[-1].id}/record.json")
                return 1
    text, good = table(bench.results())
    print(text)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
