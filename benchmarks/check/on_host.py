"""Does the interpreter compute what the same source computes on the host? `python -m benchmarks.check.on_host` compares.

Each kernel below FOLDER (kernel.hip beside case.py or case.yaml) is compiled for gfx1151 and interpreted as `expctl check` does
it, and compiled as plain C++ for the host, where the threads of a workgroup are fibers (host_headers); the inputs are the same,
and every array that the kernel writes is compared bit by bit.

With --contract off, the default, both compilers leave a * b + c as two roundings, by a pragma before the first line: then only
functions that a machine rounds in its own way (exp, rsqrt, sums of a matrix instruction, ...) may differ, by at most what the
launch description allows. With --contract on both may fuse it, as clang does for a GPU unless told otherwise; which of several
products they fuse is theirs, so that this counts as a reason for a difference.

Prints a line for each kernel and level, then a table. Exits with 1 if anything is different.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.check.host_comparison import Answer, Compared, HostRuns, compared
from benchmarks.check.host_program import NoHostRun, build, launch
from expctl.check.buffers import values_for
from expctl.check.case_file import Description, read_case
from expctl.check.fuzz import Shapes, drawn_shapes
from expctl.check.kernel_file import Signature, named, read_kernels
from expctl.check.resolved import BadShapes, resolve
from expctl.check.runner import KernelRunner, Trial
from expctl.domain.errors import Refused
from expctl.inspection.device_compiler import Options

FOLDER = Path(__file__).with_name("strangers_kernels")
LEVELS = ("-O1", "-O2", "-O3")
NOT_CONTRACTED = "#pragma clang fp contract(off)\n"
CONTRACTION = "contraction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is compared: the levels of the interpreted code, how many shapes are drawn beside the described one, the seed of
    inputs and shapes, and whether a * b + c may be fused.
    """

    levels: tuple[str, ...] = LEVELS
    fuzz_shapes: int = 0
    seed: int = 0
    contract: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSide:
    """The text of a kernel file, compiled in `folder` for the host when it is first launched."""

    source: str
    folder: Path
    contract: bool

    def runs(self, kernel: Signature, description: Description, shapes: Shapes, seed: int) -> HostRuns:
        """Launch `kernel` three times at `shapes`. Raises NoHostRun or BadShapes."""
        program = self.folder / "program"
        if not program.exists():
            build(self.source, kernel.cpp_name.name, self.folder, contract=self.contract)
        at = resolve(description.case, shapes)
        once = partial(launch, program, description.case, at, values_for(description.case, at, seed))
        return HostRuns(forward=once(), backward=once(backward=True), refilled=once(fill=0xFF))


def answers(folder: Path, plan: Plan, host_source: str | None = None) -> list[tuple[str, Compared]]:
    """Compare the kernel in `folder` at each level of the plan. With `host_source`, the host gets that text in its stead."""
    source = host_source or (folder / "kernel.hip").read_text()
    with tempfile.TemporaryDirectory(prefix="on-host.") as temporary:
        host = HostSide(source=source, folder=Path(temporary), contract=plan.contract)
        return [(level, _answer(folder, level, plan, host)) for level in plan.levels]


def _answer(folder: Path, level: str, plan: Plan, host: HostSide) -> Compared:
    try:
        return _worst(list(_at_all_shapes(folder, level, plan, host)))
    except Refused as error:
        return Compared(answer=Answer.REFUSED, why=f"{error}: {error.found}, {error.where}")
    except NoHostRun as error:
        return Compared(answer=Answer.REFUSED, why=f"the host: {error}")


def _worst(found: Sequence[Compared]) -> Compared:
    return max(found, key=lambda each: list(Answer).index(each.answer))


def _at_all_shapes(folder: Path, level: str, plan: Plan, host: HostSide) -> Iterator[Compared]:
    description = read_case(next(path for path in (folder / "case.py", folder / "case.yaml") if path.exists()))
    case = description.case
    file = read_kernels(_interpreted_source(folder, host.folder, plan), Options(arch="", level=level, includes=(str(folder),)))
    kernel = named(file, case.kernel)
    runner = KernelRunner(file, description, kernel, plan.seed)
    for shapes in (case.shapes, *drawn_shapes(case, plan.fuzz_shapes, plan.seed)):
        try:
            found, runs = runner.run(shapes, 1), host.runs(kernel, description, shapes, plan.seed)
        except BadShapes:
            continue
        yield _compared_at(shapes, found, description, runs, plan)


def _interpreted_source(folder: Path, temporary: Path, plan: Plan) -> Path:
    """Return the kernel's file, or one that includes it below the pragma that keeps clang from contracting."""
    if plan.contract:
        return folder / "kernel.hip"
    path = temporary / "not_contracted.hip"
    path.write_text(f'{NOT_CONTRACTED}#include "{folder / "kernel.hip"}"\n')
    return path


def _compared_at(shapes: Shapes, found: Trial, description: Description, runs: HostRuns, plan: Plan) -> Compared:
    at = ", ".join(f"{name} = {extent}" for name, extent in shapes.items())
    if found.findings:
        first = found.findings[0]
        return Compared(answer=Answer.DIFFERENT, why=f"a fault in the interpreter alone: {first.kind}, {first.what} ({at})")
    reasons = [*runs.forward.rounded, *([CONTRACTION] if plan.contract else [])]
    answer = compared(description.case, found, runs, reasons)
    return Compared(answer=answer.answer, why=f"{answer.why} ({at})" if answer.why else "")


def _table(levels: Sequence[str], found: Sequence[list[tuple[str, Compared]]]) -> Iterator[str]:
    yield f"| level | kernels | {' | '.join(Answer)} |"
    yield f"|---|--:|{'--:|' * len(Answer)}"
    for i, level in enumerate(levels):
        counts = Counter(each[i][1].answer for each in found)
        shares = (f"{counts[answer]} ({counts[answer] / len(found):.0%})" for answer in Answer)
        yield f"| {level} | {len(found)} | {' | '.join(shares)} |"


def main() -> int:
    """Compare all, print a line each and the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    parser.add_argument("--only", default="", help="kernels whose name holds this")
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--contract", choices=("off", "on"), default="off")
    parser.add_argument("--fuzz-shapes", type=int, default=0, help="shapes to draw beside the described one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    folders = [each for each in sorted(options.folder.resolve().iterdir()) if options.only in each.name]
    levels = tuple(options.levels.split(","))
    plan = Plan(levels=levels, fuzz_shapes=options.fuzz_shapes, seed=options.seed, contract=options.contract == "on")
    found = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for folder, each in zip(folders, pool.map(partial(answers, plan=plan), folders), strict=True):
            found.append(each)
            for level, told in each:
                print(f"{folder.name} {level}: {told.answer}{f': {told.why}' if told.why else ''}", flush=True)
    print("\n".join(_table(levels, found)))
    return int(not found or any(told.answer is Answer.DIFFERENT for each in found for _, told in each))


if __name__ == "__main__":
    sys.exit(main())
