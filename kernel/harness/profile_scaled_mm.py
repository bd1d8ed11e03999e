"""Look into one build: counts, not speed.

    python kernel/harness/profile_scaled_mm.py --target cpu --artifact scaled_mm.so
    rocprofv3 --kernel-trace --stats -d OUT -- python -u kernel/harness/profile_scaled_mm.py --target gfx1151 --artifact LIB
    ncu -o OUT python kernel/harness/profile_scaled_mm.py --target sm_90 --artifact scaled_mm.so

CPU: what one launch does, by perf or valgrind where they can count; what the compiler made of the hot loop and of the function
around it, with accesses of the stack and calls, and where it stands in the source.
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
from kernel.runtime.library import LibraryError

COUNTED_SIZE = 256


def profile_cpu(artifact: Path, source: Path | None, asked: Asked | None, fp8: Fp8, report: Report) -> int:
    """Report what a launch does and the hot loop; return the exit status. What can't be counted is logged and left out."""
    try:
        build = script_session.in_process(artifact, "cpu")
        frozen = script_session.frozen_config(build, asked)
        config = script_session.config_for(build, frozen, Extents.cube(COUNTED_SIZE))
        tool, counted = instruction_count.counts(artifact, config, fp8, COUNTED_SIZE)
        for name, count in counted.items():
            unit = name if name == "instructions" else "cycles" if name.startswith("cycles") else "misses"
            report.fact(f"{name} n={COUNTED_SIZE}", count, unit, "exact_count")
        report.say(f"counted by {tool}")
    except (instruction_count.CannotCount, LibraryError) as error:
        report.say(f"no count of a launch: {error}")
    try:
        loop = hot_loop.of_library(artifact, source)
    except hot_loop.NoDisassembly as error:
        report.say(f"no static count: {error}")
        loop = None
    if loop is not None:
        _report_loop(loop, report)
    if source is not None:
        _report_places(source, report)
    report.fact("library size", artifact.stat().st_size, "bytes", "static")
    return report.end()


def _report_loop(loop: hot_loop.HotLoop, report: Report) -> None:
    for name, value in (
        ("hot loop instructions", loop.instructions),
        ("hot loop vector multiply-adds", loop.multiply_adds),
        ("hot loop loads", loop.loads),
        ("hot loop stores", loop.stores),
        ("hot loop stack accesses", loop.spills),
        ("function of the hot loop instructions", loop.function_instructions),
        ("function of the hot loop stack accesses outside the loop", loop.function_spills),
        ("function of the hot loop calls", loop.function_calls),
    ):
        report.fact(name, value, "instructions", "static")
    report.fact("hot loop vector width", loop.vector_width_bits, "bits", "static")
    per_product = loop.instructions / loop.multiply_adds
    report.fact("hot loop instructions per multiply-add", round(per_product, 4), "instructions", "static")
    report.fact("hot loop loads per multiply-add", round(loop.loads / loop.multiply_adds, 4), "instructions", "static")


def _report_places(source: Path, report: Report) -> None:
    """Report the first and last line of the hot loop in each file, as paths below the folder of `kernel/`."""
    try:
        places = hot_loop.places_of(source)
    except hot_loop.NoDisassembly as error:
        report.say(f"no lines of the hot loop: {error}")
        return
    top = source.resolve().parents[2]
    lines: dict[str, list[int]] = {}
    for file, line in places:
        path = (top / file).resolve()
        if path.is_relative_to(top):
            lines.setdefault(str(path.relative_to(top)), []).append(line)
    for name, found in lines.items():
        report.fact(f"hot loop in {name} from", min(found), "line", "static")
        report.fact(f"hot loop in {name} to", max(found), "line", "static")


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
        sizes = options.sizes or shapes.KPI_SIZES[options.target]
        return launch_for_profiler(build, asked, fp8, sizes, options.launches, report)

    if options.target == "cpu":  # what can be read of the file is known even of a build that can't be loaded any more
        return script_session.with_artifact(
            report, "cpu", options.artifact, lambda path: profile_cpu(path, options.source, options.config, fp8, report)
        )
    return script_session.run_in_process(report, options.target, options.artifact, work)


if __name__ == "__main__":
    sys.exit(main())
