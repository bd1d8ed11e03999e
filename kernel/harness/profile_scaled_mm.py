"""Look into one build: counts, not speed.

    python kernel/harness/profile_scaled_mm.py --target cpu --artifact scaled_mm.so
    rocprofv3 --kernel-trace --stats -d OUT -- python -u kernel/harness/profile_scaled_mm.py --target gfx1151 --artifact LIB
    ncu -o OUT python kernel/harness/profile_scaled_mm.py --target sm_90 --artifact scaled_mm.so

CPU: instructions of one launch by valgrind, where it can run the build, and what the compiler made of the hot loop.
GPU: launches the KPI sizes for the profiler that this script runs under.
"""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:  # run by path: the checkout this file lies in comes first
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from expctl.harness.report import Report
from kernel.harness import hot_loop, instruction_count, reference, script_session, shapes
from kernel.harness.build_proxy import BuildProxy
from kernel.harness.operands import place
from kernel.harness.script_session import Asked
from kernel.harness.shapes import Extents
from kernel.runtime.formats import Fp8

COUNTED_SIZE = 256


def profile_cpu(build: BuildProxy, artifact: Path, source: Path | None, asked: Asked, fp8: Fp8, report: Report) -> int:
    """Report instruction counts and the hot loop; return the exit status. What can't be counted is logged and left out."""
    try:
        config = script_session.config_for(build, asked, Extents.cube(COUNTED_SIZE))
        count = instruction_count.instructions(artifact, config, fp8, COUNTED_SIZE)
        report.fact(f"instructions n={COUNTED_SIZE}", count, "instructions", "exact_count")
    except instruction_count.CannotCount as error:
        report.say(f"no instruction count: {error}")
    try:
        loop = hot_loop.of_library(artifact, source)
    except hot_loop.NoDisassembly as error:
        report.say(f"no static count: {error}")
        loop = None
    if loop is not None:
        for name, value in (
            ("instructions", loop.instructions),
            ("vector multiply-adds", loop.multiply_adds),
            ("loads", loop.loads),
            ("stores", loop.stores),
        ):
            report.fact(f"hot loop {name}", value, "instructions", "static")
        report.fact("hot loop vector width", loop.vector_width_bits, "bits", "static")
        per_product = loop.instructions / loop.multiply_adds
        report.fact("hot loop instructions per multiply-add", round(per_product, 4), "instructions", "static")
    report.fact("library size", artifact.stat().st_size, "bytes", "static")
    return report.end()


def launch_for_profiler(
    build: BuildProxy, asked: Asked, fp8: Fp8, sizes: tuple[Extents, ...], launches: int, report: Report
) -> int:
    """Launch each size `launches` times for the profiler that runs this process; return the exit status."""
    for m, n, k in sizes:
        config = script_session.config_for(build, asked, Extents(m, n, k))
        rng = np.random.default_rng(n)
        packed = reference.codes(rng, fp8, build.packed_bytes(n, k))  # in any order: so the profiler sees no other kernel
        operands = place(build, reference.draw(rng, fp8, m, n, k), packed)
        for _ in range(launches):
            operands.launch(config)
        operands.release()
        report.fact(f"launches {Extents(m, n, k).name}", launches, "launches", "exact_count")
    return report.end()


def main() -> int:
    """Run the script; return the exit status."""
    arguments = script_session.parser(__doc__)
    arguments.add_argument(
        "--config", type=script_session.asked_config, help="six numbers, auto or tuned; default: that of the target"
    )
    arguments.add_argument("--b-dtype", choices=("e5m2", "e4m3"), default="e5m2")
    arguments.add_argument("--source", type=Path, help="kernel/hip/host_cpu.cpp of the build, for machines without objdump")
    arguments.add_argument("--sizes", type=script_session.sizes, help="to launch on a GPU; default: its KPI sizes")
    arguments.add_argument("--launches", type=int, default=10, help="of each size on a GPU")
    options = arguments.parse_args()
    report = Report()
    (fp8,) = script_session.FORMATS[options.b_dtype]

    def work(build: BuildProxy) -> int:
        asked = script_session.frozen_config(build, options.config)
        if options.target == "cpu":
            return profile_cpu(build, build.path, options.source, asked, fp8, report)
        sizes = options.sizes or shapes.KPI_SIZES[options.target]
        return launch_for_profiler(build, asked, fp8, sizes, options.launches, report)

    return script_session.run_in_process(report, options.target, options.artifact, work)


if __name__ == "__main__":
    sys.exit(main())
