"""Time every config of one build on every shape, and choose one for each.

    python kernel/harness/autotune_scaled_mm.py --target gfx1151 --sizes 8192,4096,32x12288x2048
    python kernel/harness/autotune_scaled_mm.py --target gfx1151 --write

--write enters the choice in kernel/harness/tuned_configs.json, by which the benchmark times gfx1151; commit that file. It
judges, so another table begins a new epoch. The configs take turns in a new order each round; all outputs are checked.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

if not __package__:  # run by path: the checkout this file lies in comes first
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kernel.harness import supervisor

if __name__ == "__main__":
    supervisor.prepare()

import numpy as np

from expctl.harness.report import Report
from kernel.harness import script_session, shapes, tuned_configs
from kernel.harness.reference import Limits
from kernel.harness.script_session import ScriptSession
from kernel.harness.shapes import Extents
from kernel.harness.timing import TimedSize
from kernel.runtime.formats import Fp8
from kernel.runtime.library import Config, format_config

ROUNDS = 3
TIE_PERCENT = 0.5


def time_once(session: ScriptSession, config: int, fp8: Fp8, extents: Extents, iterations: int) -> list[int]:
    """Return the ns of each launch but the first; compare the outputs. Raises BuildFailed."""
    timed = TimedSize(session, config, fp8, extents, random.SystemRandom().getrandbits(32))
    try:
        timed.warm_up()
        session.outside_clock.start()
        found = list(timed.time(iterations + 1).ns[1:])
        timed.check(Limits.of(session.build.target))
        return found
    finally:
        timed.release()


def medians_of(session: ScriptSession, fp8: Fp8, extents: Extents, iterations: int) -> dict[Config, float]:
    """Return the median time (ms) of each config, in the order of the build's list. Raises BuildFailed."""
    ns: dict[Config, list[int]] = {config: [] for config in session.build.configs}
    for _ in range(ROUNDS):
        order = list(ns)
        random.SystemRandom().shuffle(order)
        for config in order:
            ns[config] += time_once(session, session.build.index_of(config), fp8, extents, iterations)
    return {config: float(np.median(times)) / 1e6 for config, times in ns.items()}


def tell(report: Report, session: ScriptSession, extents: Extents, medians_ms: dict[Config, float]) -> None:
    """Print a line for each config, fastest first, with the chosen one marked."""
    chosen = tuned_configs.choose(medians_ms, TIE_PERCENT)
    now = tuned_configs.tuned_config(session.build.target, extents)
    known = f"in the table {format_config(now)}" if now else "not in the table"
    report.say(f"{extents.name}: chosen {format_config(chosen)}, {known}")
    for config, ms in sorted(medians_ms.items(), key=lambda item: item[1]):
        report.say(
            f"  {format_config(config):16s} {ms:10.4f} ms {extents.flop / ms / 1e6:9.1f} GFLOP/s{' <-' * (config == chosen)}"
        )


def main() -> int:
    """Run the script; return the exit status."""
    arguments = script_session.parser(__doc__)
    arguments.add_argument(
        "--sizes", type=script_session.sizes, help="default: those in the table, else of the target's profile"
    )
    arguments.add_argument("--b-dtype", choices=("e5m2", "e4m3"), default="e5m2")
    arguments.add_argument("--iterations", type=int, default=20, help=f"of each config in each of {ROUNDS} rounds")
    arguments.add_argument("--write", action="store_true", help="enter the choice in kernel/harness/tuned_configs.json")
    options = arguments.parse_args()
    report = Report()
    (fp8,) = script_session.FORMATS[options.b_dtype]

    def work(session: ScriptSession) -> int:
        build = session.build
        tuned = tuple(Extents.parse(name) for name in tuned_configs.read().get(build.target, {}))
        found = {}
        for extents in options.sizes or tuned or shapes.KPI_SIZES[build.target]:
            found[extents] = medians_of(session, fp8, extents, max(10, options.iterations))
            tell(report, session, extents, found[extents])
        if options.write:
            tuned_configs.write(build.target, str(build.device.get("device", "")), found, TIE_PERCENT)
            report.say(f"written to {tuned_configs.TABLE.name}: commit it")
        return report.end()

    return script_session.run(report, options.target, options.artifact, work)


if __name__ == "__main__":
    sys.exit(main())
