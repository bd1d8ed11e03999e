"""Does the interpreter find fault with good builds? `python -m benchmarks.interpreter.builds FOLDER` looks; it should not.

In this order: 24 configs by -O1 and -O3 by two ziglang versions in five wave orders (part 1), every usual config at -O3 with
the pinned version in one (2), and with --long every other config that kernel/hip/config.h accepts (3). Each build runs

- whole: one workgroup's tile, two chunks of K: the loop over whole chunks;
- rest:  a tile with rows, columns and a part of a chunk missing: that loop, then the one for the edge;
- odd:   K that leaves the rows of A unaligned, other odd numbers: the loop for the edge alone.

A result has to pass the harness's gates, be wholly written, be the same bytes and the same counts in every order, and a whole
tile has to take M N K / 4096 matrix instructions. Rows go to builds.jsonl; those of the kernel as it is are not run again, so
that a killed run goes on. FOLDER keeps the second compiler, which pip fetches. `--table` prints what the file holds.
Exits with 1 if any build is not right.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.interpreter import configs
from benchmarks.interpreter.compiler import Compiler
from benchmarks.interpreter.launches import Config, Run, scaled_mm
from expctl.domain.errors import Refused
from kernel.runtime.formats import Fp8

RESULTS = Path(__file__).with_name("builds.jsonl")
PINNED, OTHER = "0.16.0", "0.15.2"
ORDERS = 5
RIGHT = "right"
UNBUILT = "does not compile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """`part`: 1, 2 or 3, see above."""

    part: int
    ziglang: str
    level: str
    config: Config

    @property
    def orders(self) -> int:
        """How many wave orders it is run in."""
        return ORDERS if self.part == 1 else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One product of one build. `outcome` is RIGHT, or in words what is not."""

    kernel: str
    ziglang: str
    level: str
    config: str
    fp8: str
    shape: str
    m: int
    n: int
    k: int
    orders: int
    matrix: int = 0
    """v_wmma executed"""
    matrix_expected: int | None = None
    instructions: int = 0
    outcome: str = ""


def plan(other: str, *, long: bool) -> Iterator[Build]:
    """What to run, in order; no build twice."""
    seen = set()
    for config in configs.sample():
        for level in ("-O3", "-O1"):
            for ziglang in dict.fromkeys((PINNED, other)):
                seen.add((config, level, ziglang))
                yield Build(part=1, ziglang=ziglang, level=level, config=config)
    usual = configs.usual()
    for part, some in ((2, usual), (3, [config for config in configs.accepted() if config not in usual] if long else [])):
        for config in some:
            if (config, "-O3", PINNED) not in seen:
                yield Build(part=part, ziglang=PINNED, level="-O3", config=config)


def products(build: Build) -> list[tuple[str, Fp8, int, int, int]]:
    """Shapes by name and format: a whole tile in both, the others in one each, which one depends on the config; part 2 and 3
    run the whole tile and one of the others."""
    block_m, block_n, chunk = configs.extents(build.config)
    one, other = (Fp8.E5M2, Fp8.E4M3FN) if sum(build.config) // 2 % 2 else (Fp8.E4M3FN, Fp8.E5M2)
    whole = (block_m, block_n, 2 * chunk)
    rest = (max(block_m - 1, 1), max(block_n - 3, 1), chunk + 8)
    odd = (17, block_n // 2 + 3, chunk + 9)
    if build.part == 1:
        return [("whole", one, *whole), ("whole", other, *whole), ("rest", one, *rest), ("odd", other, *odd)]
    return [("whole", one, *whole), ("rest", other, *rest)]


def judged(row: Row, runs: list[Run]) -> Row:
    """The row with what came of its orders."""
    first = runs[0].result
    summary = first.counts.summary()
    expected = row.m * row.n * row.k // 4096 if row.shape == "whole" else None
    wrong = []
    for seed, run in enumerate(runs):
        wrong += [f"order {seed}: {words}" for words in (run.faults[:1] + [run.failure] * (run.failure is not None))]
        if not run.result.written["c"].all():
            wrong.append(f"order {seed}: not wholly written")
        if run.result.outputs["c"].tobytes() != first.outputs["c"].tobytes():
            wrong.append(f"order {seed}: other bytes than order 0")
        if run.result.counts.executed != first.counts.executed:
            wrong.append(f"order {seed}: other counts than order 0")
    if expected not in (None, summary.matrix):
        wrong.append(f"{summary.matrix} matrix instructions, expected {expected}")
    return replace(
        row,
        matrix=summary.matrix,
        matrix_expected=expected,
        instructions=summary.instructions,
        outcome="; ".join(wrong) or RIGHT,
    )


def run(build: Build, compiler: Compiler, kernel: str) -> Iterator[Row]:
    """Compile and interpret."""
    text = fault = ""
    try:
        text = compiler.kernel(build.config, build.level)
    except subprocess.CalledProcessError as error:
        errors = [line for line in error.stderr.splitlines() if "error" in line]
        fault = f"{UNBUILT}: {errors[0] if errors else error.stderr[-200:]}"
    for shape, fp8, m, n, k in products(build):
        row = Row(
            kernel=kernel, ziglang=build.ziglang, level=build.level, config=",".join(map(str, build.config)), fp8=fp8.label,
            shape=shape, m=m, n=n, k=k, orders=build.orders, outcome=fault,
        )  # fmt: skip
        if not fault:
            try:
                runs = [scaled_mm(text, build.config, fp8, m, n, k, seed=seed) for seed in range(build.orders)]
                row = judged(row, runs)
            except Refused as error:
                row = replace(row, outcome=f"refused: {error} {error.where or ''}".strip())
        yield row


def _rows(build: Build, *, compilers: dict[str, Compiler], kernel: str) -> list[Row]:
    return list(run(build, compilers[build.ziglang], kernel))


def load(file: Path) -> list[Row]:
    """What is done."""
    return [Row(**json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []


def table(rows: list[Row]) -> str:
    """Counts, and every row that is not as it should be."""
    head = "| ziglang | level | orders | configs | products | launches | matrix instructions | not right |"
    lines = [head, "|---|---|" + "--:|" * 6]
    for key in dict.fromkeys((row.ziglang, row.level, row.orders) for row in rows):
        some = [row for row in rows if (row.ziglang, row.level, row.orders) == key]
        bad = sum(row.outcome != RIGHT for row in some)
        launches, matrix = sum(row.orders for row in some), sum(row.orders * row.matrix for row in some)
        cells = (*key, len({row.config for row in some}), len(some), launches, matrix, bad)
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    whole = [row for row in rows if row.shape == "whole"]
    exact = sum(row.matrix == row.matrix_expected for row in whole)
    lines += ["", f"Matrix instructions are M N K / 4096 in {exact} of {len(whole)} whole products."]
    done, accepted = {row.config for row in rows}, {",".join(map(str, config)) for config in configs.accepted()}
    usual = {",".join(map(str, config)) for config in configs.usual()}
    lines += [f"Of {len(usual)} usual configs {len(done & usual)}, of {len(accepted)} accepted ones {len(done & accepted)}."]
    lines += [
        f"{row.config} {row.level} {row.ziglang} {row.shape} {row.fp8}: {row.outcome}" for row in rows if row.outcome != RIGHT
    ]
    return "\n".join(lines)


def main() -> int:
    """Run what is missing, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="where the second compiler is kept")
    parser.add_argument("--long", action="store_true", help="every config that config.h accepts")
    parser.add_argument("--other", default=OTHER, metavar="VERSION", help=f"the second ziglang (default {OTHER})")
    parser.add_argument("--jobs", type=int, default=1, help="builds at a time")
    parser.add_argument("--table", action="store_true", help="run nothing")
    arguments = parser.parse_args()
    rows = load(RESULTS)
    if not arguments.table:
        if arguments.folder is None:
            parser.error("a folder for the second compiler is needed")
        compilers = {version: Compiler.of(version, arguments.folder) for version in (PINNED, arguments.other)}
        kernel = compilers[PINNED].kernel_hash()
        rows = [row for row in rows if row.kernel == kernel]
        RESULTS.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows))
        done = {(row.ziglang, row.level, row.config) for row in rows}
        left = [
            build
            for build in plan(arguments.other, long=arguments.long)
            if (build.ziglang, build.level, ",".join(map(str, build.config))) not in done
        ]
        with ProcessPoolExecutor(arguments.jobs) as pool:
            for new in pool.map(partial(_rows, compilers=compilers, kernel=kernel), left):
                with RESULTS.open("a") as file:
                    file.writelines(json.dumps(asdict(row)) + "\n" for row in new)
                rows += new
                for row in new:
                    print(row.config, row.level, row.ziglang, row.shape, row.fp8, row.outcome, flush=True)
    print(table(rows))
    return int(not rows or any(row.outcome != RIGHT for row in rows))


if __name__ == "__main__":
    sys.exit(main())
