"""Does the interpreter compute what the source says? `python -m benchmarks.check.random_kernels --builds 500` draws kernels.

Each build is one random kernel at one level of optimisation. Its text is compiled for gfx1151 and interpreted by what `expctl
check` is made of, and compiled for the host with a stand-in for threads and barriers; both run on the same values, and all
outputs have to have the same bits (a NaN is a NaN). The check may find no fault either, for a drawn kernel has none.

`--operators` runs every operator that kernels are drawn from in a kernel of its own, at each level, first on vector, then on
scalar registers. `--narrow` does that at the last level, and then draws kernels without the operators that were refused.

Prints a line for each build, and totals with the causes of refusals. A build that differs is made smaller and written to a
folder. Exits with 1 if one differs. `--plant` changes one operator on the host's side alone: then most builds have to differ.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from benchmarks.check.random_programs.comparison import Answer, Outcome, outcomes
from benchmarks.check.random_programs.drawing import drawn
from benchmarks.check.random_programs.host_run import write_sources
from benchmarks.check.random_programs.operators import Operator
from benchmarks.check.random_programs.planting import planted
from benchmarks.check.random_programs.program import Program
from benchmarks.check.random_programs.shrinking import shrunk
from benchmarks.check.random_programs.single_operators import single_operators
from benchmarks.check.random_programs.value_types import values_of_programs

LEVELS = ("-O1", "-O2", "-O3")
SEEDS_APART = 1_000_000
"""The first program's seed is that of the command times this number."""
AT_ONCE, OPERATORS_AT_ONCE = 6, 40
"""Programs of one file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """Programs that are built as one file at one level. The host runs `host_programs`, if there are any."""

    programs: tuple[Program, ...]
    level: str
    host_programs: tuple[Program, ...] = ()


def files(programs: Iterable[Program], levels: Sequence[str], *, is_planted: bool = False) -> Iterator[File]:
    """Yield the programs in files, each at a level that its seed draws. If planted, an operator is changed on the host."""
    by_level: dict[str, list[Program]] = {level: [] for level in levels}
    for each in programs:
        by_level[Random(each.seed).choice(levels)].append(each)  # noqa: S311  a level that a seed gives again
    for level, all_of_level in by_level.items():
        for some in _slices(all_of_level, AT_ONCE):
            host = tuple(planted(each, Random(each.seed)) for each in some) if is_planted else ()  # noqa: S311  as above
            yield File(programs=some, level=level, host_programs=host)


def operator_files(levels: Sequence[str], *, with_double: bool) -> Iterator[File]:
    """Yield the programs of single operators in files, each program at each level."""
    programs = [program for _, program in single_operators(values_of_programs(with_double=with_double))]
    for level in levels:
        yield from (File(programs=some, level=level) for some in _slices(programs, OPERATORS_AT_ONCE))


def ran(file: File, shrink_s: float = 0.0, folder: Path = Path()) -> list[Outcome]:
    """Run the programs of a file. Make those smaller that differ, if there is time for it, and write them to `folder`."""
    found = outcomes(file.programs, file.level, file.host_programs)
    for each in found:
        if each.is_wrong and shrink_s:
            write(shrunk(each, shrink_s), each, folder)
    return found


def write(smallest: Outcome, first: Outcome, folder: Path) -> Path:
    """Write a program that differs, as it was drawn and as small as it became, with what differs; return its folder."""
    made = folder / f"program_{first.program.seed}{first.level}"
    for name, each in (("smallest", smallest), ("drawn", first)):
        (made / name).mkdir(parents=True, exist_ok=True)
        write_sources([each.program], made / name)
        (made / name / "difference.txt").write_text(f"{each.level} {each.answer}: {each.cause}\n")
    return made


def totals(found: Sequence[Outcome]) -> list[str]:
    """Return lines of totals: by answer, by level, and the causes of refusals."""
    answers = Counter(each.answer for each in found)
    finished = len(found) - answers[Answer.REFUSED] - answers[Answer.INVALID]
    lines = [f"{len(found)} builds: " + ", ".join(f"{answers[each]} {each}" for each in Answer)]
    lines.append(
        f"equal: {answers[Answer.EQUAL]} of {finished} that ran, {100 * answers[Answer.EQUAL] / max(finished, 1):.1f} %"
    )
    for level in sorted({each.level for each in found}):
        of = Counter(each.answer for each in found if each.level == level)
        lines.append(f"{level}: " + ", ".join(f"{of[answer]} {answer}" for answer in Answer if of[answer]))
    causes = Counter(each.cause for each in found if each.answer in (Answer.REFUSED, Answer.INVALID))
    return lines + [f"{count} x {cause}" for cause, count in causes.most_common()]


def refused_operators(pool: ProcessPoolExecutor, level: str, *, with_double: bool) -> frozenset[Operator]:
    """Return the operators that are refused at a level where they stand alone."""
    found = [each for some in pool.map(ran, operator_files([level], with_double=with_double)) for each in some]
    operators = [operator for operator, _ in single_operators(values_of_programs(with_double=with_double))]
    return frozenset(operator for operator, each in zip(operators, found, strict=True) if each.answer is Answer.REFUSED)


def main() -> int:
    """Run all, print what is wrong."""
    asked = _asked()
    levels = asked.levels.split(",")
    with ProcessPoolExecutor(asked.jobs) as pool:
        if asked.operators:
            work = operator_files(levels, with_double=asked.double)
        else:
            without = refused_operators(pool, levels[-1], with_double=asked.double) if asked.narrow else frozenset()
            print(f"without {len(without)} operators", flush=True)
            seeds = range(asked.seed * SEEDS_APART, asked.seed * SEEDS_APART + asked.builds)
            programs = (drawn(seed, with_double=asked.double, without=without) for seed in seeds)
            work = files(programs, levels, is_planted=asked.plant)
        found = []
        for some in pool.map(partial(ran, shrink_s=0 if asked.plant else asked.shrink, folder=asked.folder), work):
            found += some
            for each in some:
                print(f"{each.program.seed} {each.level} {each.answer}{f': {each.cause}' if each.cause else ''}", flush=True)
    print("\n".join(totals(found)))
    return int(any(each.is_wrong or each.answer is Answer.INVALID for each in found) or not found)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--operators", action="store_true", help="every operator alone, at every level")
    parser.add_argument("--narrow", action="store_true", help="no operators that are refused where they stand alone")
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--double", action="store_true", help="double precision too")
    parser.add_argument("--plant", action="store_true", help="change one operator on the host's side")
    parser.add_argument("--shrink", type=float, default=300, metavar="SECONDS", help="for each build that differs; 0: don't")
    parser.add_argument("--folder", type=Path, default=Path("random_kernels_differ"), help="for builds that differ")
    return parser.parse_args()


def _slices(programs: Sequence[Program], count: int) -> Iterator[tuple[Program, ...]]:
    return (tuple(programs[i : i + count]) for i in range(0, len(programs), count))


if __name__ == "__main__":
    sys.exit(main())
