"""Time one build, prepack excluded.

    python kernel/harness/benchmark_scaled_mm.py --sizes 768,384 --rivals

With EXPCTL_RESULT_FD set it is a worker that answers requests on standard input (docs/HARNESS.md). The config is frozen for the
whole run: --config, else HIP_FORCE_CONFIG, else that of the target: 1,8,2,2,8,2 on the CPU; on sm_90 auto, by which the build
chooses for each size; on gfx1151 tuned, that of the table tuned_configs.json for each size. The format is frozen too: e5m2 is
the KPI.
"""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:  # run by path: the checkout this file lies in comes first
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kernel.harness import supervisor

if __name__ == "__main__":
    supervisor.prepare()

import numpy as np

from expctl.harness import requests
from expctl.harness.report import Report
from kernel.harness import script_session, shapes
from kernel.harness.benchmark_worker import BenchmarkWorker
from kernel.harness.reference import Limits
from kernel.harness.rivals import time_rivals
from kernel.harness.script_session import Asked, ScriptSession
from kernel.harness.shapes import Extents
from kernel.harness.timing import TimedSize
from kernel.runtime.formats import Fp8
from kernel.runtime.library import format_config


def print_table(
    report: Report,
    session: ScriptSession,
    asked: Asked,
    fp8: Fp8,
    sizes: tuple[Extents, ...],
    iterations: int,
    seed: int,
    rivals: bool,
) -> int:
    """Time each size and print a table; return the exit status. Raises BuildFailed."""
    build = session.build
    report.say(f"{build.target} {fp8.label}, {iterations} iterations, one dropped")
    report.say(f"{'':40s} {'median ms':>10s} {'std %':>7s} {'GFLOP/s':>9s} {'kernel is':>10s}")
    for extents in sizes:
        config = script_session.config_for(build, asked, extents)
        timed = TimedSize(session, config, fp8, extents, seed)
        timed.warm_up()
        session.outside_clock.start()
        durations_ns = np.array(timed.time(iterations + 1).ns[1:])
        timed.check(Limits.of(build.target))
        timed.release()
        median_ns = float(np.median(durations_ns))
        spread = 100 * float(np.std(durations_ns)) / float(np.mean(durations_ns))
        name = f"{extents.name} {format_config(build.configs[config])}"
        report.say(f"{name:40s} {median_ns / 1e6:10.3f} {spread:7.2f} {extents.flop / median_ns:9.1f}")
        for name, rival_ns in time_rivals(fp8, extents, seed, iterations).items() if rivals else ():
            throughput = extents.flop / rival_ns
            line = f"{'  ' + name:40s} {rival_ns / 1e6:10.3f} {'':7s} {throughput:9.1f} {rival_ns / median_ns:9.2f}x"
            report.say(line)
    return report.end()


def main() -> int:
    """Run the script; return the exit status."""
    arguments = script_session.parser(__doc__)
    arguments.add_argument(
        "--config", type=script_session.asked_config, help="six numbers, such as 1,8,2,2,8,2, or auto, or tuned"
    )
    arguments.add_argument("--b-dtype", choices=("e5m2", "e4m3"), default="e5m2")
    arguments.add_argument("--sizes", type=script_session.sizes, help="of the table; default: the KPI sizes of the target")
    arguments.add_argument("--iterations", type=int, default=20, help="of the table")
    arguments.add_argument("--seed", type=int, default=0, help="of the table")
    arguments.add_argument("--rivals", action="store_true", help="time the same product by numpy and torch on this CPU")
    options = arguments.parse_args()
    report = Report()
    (fp8,) = script_session.FORMATS[options.b_dtype]

    def work(session: ScriptSession) -> int:
        asked = script_session.frozen_config(session.build, options.config)
        if not report.for_person:
            worker = BenchmarkWorker(session, asked, fp8, Limits.of(options.target))
            return requests.answer(sys.stdin, report, worker)
        sizes = options.sizes or shapes.KPI_SIZES[options.target]
        return print_table(report, session, asked, fp8, sizes, max(1, options.iterations), options.seed, options.rivals)

    return script_session.run(report, options.target, options.artifact, work)


if __name__ == "__main__":
    sys.exit(main())
