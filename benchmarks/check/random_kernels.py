"""Does the interpreter compute what the source says? `python -m benchmarks.check.random_kernels --builds 500` draws kernels.

Each build is one random kernel at one level of optimisation. Its text is compiled for gfx1151 and interpreted by what `expctl
check` is made of, and compiled for the host with a stand-in for threads and barriers; both run on the same values, and all
outputs have to have the same bits (a NaN is a NaN). The check may find no fault either, for a drawn kernel has none.

Prints a line for each build, and totals with the causes of refusals. A build that differs is made smaller and written to a
folder. Exits with 1 if one differs. `--plant` changes one operator on the host's side alone: then most builds have to differ.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.check.random_programs.comparison import Answer, Outcome, outcomes
from benchmarks.check.random_programs.drawing import drawn
from benchmarks.check.random_programs.host_run import write_sources
from benchmarks.check.random_programs.planting import planted
from benchmarks.check.random_programs.shrinking import shrunk

LEVELS = ("-O1", "-O2", "-O3")
SEEDS_APART = 1_000_000
"""The first program's seed is that of the command times this number."""
AT_ONCE = 6
"""Programs of one file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Programs, by their seeds, that are built as one file at one level."""

    seeds: tuple[int, ...]
    level: str
    with_double: bool = False
    is_planted: bool = False
    shrink_s: float = 0.0
    folder: Path = Path()


def batches(seeds: Sequence[int], levels: Sequence[str], **options: bool | float | Path) -> list[Batch]:
    """Return the programs of `seeds` in batches, each program at a level that its seed draws."""
    by_level: dict[str, list[int]] = {level: [] for level in levels}
    for seed in seeds:
        by_level[Random(seed).choice(levels)].append(seed)  # noqa: S311  a level that a seed gives again
    return [
        Batch(seeds=tuple(some[i : i + AT_ONCE]), level=level, **options)  # type: ignore[arg-type]
        for level, some in by_level.items()
        for i in range(0, len(some), AT_ONCE)
    ]


def judged(batch: Batch) -> list[Outcome]:
    """Draw and run the programs of a batch; make those smaller that differ, and write them to a folder."""
    programs = [drawn(seed, with_double=batch.with_double) for seed in batch.seeds]
    if batch.is_planted:
        return outcomes(programs, batch.level, [planted(each, Random(each.seed)) for each in programs])  # noqa: S311  as above
    found = outcomes(programs, batch.level)
    for each in found:
        if each.is_wrong and batch.shrink_s:
            write(shrunk(each, batch.shrink_s), each, batch.folder)
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
    ran = len(found) - answers[Answer.REFUSED] - answers[Answer.INVALID]
    lines = [f"{len(found)} builds: " + ", ".join(f"{answers[each]} {each}" for each in Answer)]
    lines.append(f"equal: {answers[Answer.EQUAL]} of {ran} that ran, {100 * answers[Answer.EQUAL] / max(ran, 1):.1f} %")
    for level in sorted({each.level for each in found}):
        of = Counter(each.answer for each in found if each.level == level)
        lines.append(f"{level}: " + ", ".join(f"{count} {answer}" for answer, count in sorted(of.items())))
    causes = Counter(each.cause for each in found if each.answer in (Answer.REFUSED, Answer.INVALID))
    return lines + [f"{count} x {cause}" for cause, count in causes.most_common()]


def main() -> int:
    """Run all, print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builds", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", type=int, help="the one program of this seed, at every level")
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--double", action="store_true", help="double precision too")
    parser.add_argument("--plant", action="store_true", help="change one operator on the host's side")
    parser.add_argument("--shrink", type=float, default=300, metavar="SECONDS", help="for each build that differs; 0: don't")
    parser.add_argument("--folder", type=Path, default=Path("random_kernels_differ"), help="for builds that differ")
    asked = parser.parse_args()
    levels = tuple(asked.levels.split(","))
    first = asked.seed * SEEDS_APART
    options = {"with_double": asked.double, "is_planted": asked.plant, "shrink_s": asked.shrink, "folder": asked.folder}
    if asked.program is None:
        work = batches(range(first, first + asked.builds), levels, **options)
    else:
        work = [batch for level in levels for batch in batches([asked.program], [level], **options)]
    found: list[Outcome] = []
    with ProcessPoolExecutor(asked.jobs) as pool:
        for some in pool.map(judged, work):
            found += some
            for each in some:
                print(f"{each.program.seed} {each.level} {each.answer}{f': {each.cause}' if each.cause else ''}", flush=True)
    print("\n".join(totals(found)))
    return int(any(each.is_wrong or each.answer is Answer.INVALID for each in found) or not found)


if __name__ == "__main__":
    sys.exit(main())
