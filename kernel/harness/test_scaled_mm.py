"""Test one build: every shape three times, against the exact product.

    python kernel/harness/test_scaled_mm.py --target cpu --artifact scaled_mm.so --b-dtype both

Each launch starts on a poisoned C; all must give the same bits, the last one row block by row block, last block first, on the
CPU by four threads. Then a row of A gets new values where it lies, and its row of C must follow; and A, B and the bias must be
what they were. The build's packing of B must be a permutation of its bytes, and zeros (packing.py). On the CPU the matrices end
at an unreadable page, on a GPU C lies between canaries. The build is loaded by another process (sandbox_worker.py), whose
memory is read from here.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

if not __package__:  # run by path: the checkout this file lies in comes first
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kernel.harness import supervisor

if __name__ == "__main__":
    supervisor.prepare()

import numpy as np

from expctl.harness.limits import Judgement
from expctl.harness.report import BuildFailed, Report
from kernel.harness import packing, reference, script_session, shapes
from kernel.harness.build_proxy import BuildProxy
from kernel.harness.operands import Operands, place
from kernel.harness.reference import Limits
from kernel.harness.script_session import ScriptSession
from kernel.runtime.library import LaunchError

LAUNCHES = 3
SEED = 20260218


def check_case(
    build: BuildProxy, case: shapes.Case, limits: Limits, rng: np.random.Generator, launches: int = LAUNCHES
) -> Judgement:
    """Launch one product several times and judge its output. Raises BuildFailed or LaunchError."""
    if case.every_code:
        inputs = reference.every_code(case.fp8, case.m, case.k)
    else:
        inputs = reference.draw(rng, case.fp8, case.m, case.n, case.k, scale=case.scale, bias=case.bias)
    config = build.config_for(case.m, case.n) if case.config is None else build.index_of(case.config)
    packing.check(build, inputs.codes)
    operands = place(build, inputs, packing.packing_of(build, *inputs.codes.shape).pack(inputs.codes))
    try:
        first = None
        for launch in range(launches):
            operands.poison()
            if launch < launches - 1:
                operands.launch(config)
            else:
                launch_by_blocks(build, operands, config)
            output = operands.output()
            if first is None:
                first = output
                rows = reference.rows_to_check(rng, case.m, case.n, case.k)
                judgement = reference.judge(inputs, rows, reference.expected(inputs, rows), output, limits)
                if judgement.failure is not None:
                    return judgement
            elif not np.array_equal(first.view(np.uint16), output.view(np.uint16)):
                row, column = (int(x) for x in np.argwhere(first.view(np.uint16) != output.view(np.uint16))[0])
                raise BuildFailed(
                    f"launch {launch + 1} differs from launch 1: C[{row},{column}] is {output[row, column]}, "
                    f"was {first[row, column]}"
                )
        failure = None if case.every_code else stale_answer(inputs, operands, config, limits, rng)
        operands.check_inputs()
        return judgement if failure is None else replace(judgement, failure=failure)
    finally:
        operands.release()


def launch_by_blocks(build: BuildProxy, operands: Operands, config: int) -> None:
    """Launch row block by row block, last first, on up to four threads, as callers that divide the work do."""
    blocks = [(block, block + 1) for block in reversed(range(build.row_blocks(config, operands.m)))]
    operands.launch(config, blocks, threads=min(4, len(blocks)))


def stale_answer(
    inputs: reference.Inputs, operands: Operands, config: int, limits: Limits, rng: np.random.Generator
) -> str | None:
    """Change one row of A in place and launch again; return what is wrong with its row of C, None if nothing."""
    row, values = int(rng.integers(operands.m)), np.asarray(rng.standard_normal(operands.k), dtype=np.float16)
    operands.set_row(row, values)
    operands.poison()
    operands.launch(config)
    changed, only = replace(inputs, a=values[np.newaxis]), np.arange(1)
    judgement = reference.judge(changed, only, reference.expected(changed, only), operands.output()[row : row + 1], limits)
    return None if judgement.failure is None else f"after row {row} of A changed in place, its row of {judgement.failure}"


def check_all(
    session: ScriptSession, report: Report, cases: list[shapes.Case], limits: Limits, launches: int = LAUNCHES
) -> int:
    """Report every case, then the first failure; return the exit status. Stop at once when the build's process dies."""
    rng = np.random.default_rng(SEED)
    failures: list[str] = []
    for case in cases:
        try:
            judgement = check_case(session.build, case, limits, rng, launches)
            facts: dict[str, str | int | float | bool] = {
                "rel_l2": judgement.rel_l2,
                "max_abs": judgement.max_abs,
                "launches": launches,
            }
            failure = judgement.failure
        except (BuildFailed, LaunchError) as error:
            facts, failure = {}, str(error)
        if failure is not None:
            facts["failure"] = failure
            failures.append(f"{case.name}: {failure}")
        report.case(case.name, failure is None, facts)
        if session.supervisor.is_dead:
            break
    if not failures:
        session.supervisor.audit_process()
        report.say(f"{len(cases)} cases x {launches} launches passed")
    return report.judge(failures)


def main() -> int:
    """Run the script; return the exit status."""
    arguments = script_session.parser(__doc__)
    arguments.add_argument("--b-dtype", choices=sorted(script_session.FORMATS), default="both")
    arguments.add_argument("--max-rel-l2", type=float, default=0.01)
    arguments.add_argument("--max-abs", type=float, default=1.0)
    arguments.add_argument(
        "--sizes", type=script_session.sizes, help="square sizes to test; default: the KPI sizes of the target"
    )
    arguments.add_argument("--launches", type=int, default=LAUNCHES, help="of each case (default: %(default)s)")
    options = arguments.parse_args()
    limits = Limits.of(options.target, rel_l2=options.max_rel_l2, max_abs=options.max_abs)
    report = script_session.bound_report()

    def work(session: ScriptSession) -> int:
        kpi_sizes = options.sizes or shapes.KPI_SIZES[options.target]
        cases = list(shapes.cases(script_session.FORMATS[options.b_dtype], kpi_sizes, session.build.configs))
        return check_all(session, report, cases, limits, max(2, options.launches))

    return script_session.run(report, options.target, options.artifact, work)


if __name__ == "__main__":
    sys.exit(main())
