"""Run the gfx1151 machine code of one build without the card: check results, races, missing waits and bounds.

    python kernel/harness/emulate_scaled_mm.py
    python kernel/harness/emulate_scaled_mm.py --artifact scaled_mm.s --config 1,8,2,2,8,2 --profile

Without --artifact, this checkout is built. A test runs small products of both fp8 formats in several orders of the waves; all
orders must give the same bits, and the inputs must be as before. Some shapes are fixed, others are drawn from --seed. With
--profile it counts what one launch executes instead. Counts are exact and say nothing about time.
"""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

if not __package__:  # run by path: the checkout this file lies in comes first
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from expctl.gfx11.machine.counts import Class
from expctl.gfx11.machine.faults import Fault
from expctl.gfx11.text.errors import BadLaunch, Runaway, Unsupported
from expctl.gfx11.text.source_line import source_line
from expctl.harness.report import BuildFailed, Report
from kernel.harness import emulated, script_session
from kernel.harness.assembly_check import first_difference
from kernel.harness.drawn_products import drawn_products, far_products, smallest
from kernel.harness.emulated import Product, entry
from kernel.harness.emulated_products import configs_of, few_products, products
from kernel.runtime import build
from kernel.runtime.formats import Fp8
from kernel.runtime.library import WINNER, Config, format_config

SEED = 20260218
"""Of the inputs. The shapes have a seed of their own, which is another one in each run."""
SEEDS, DRAWN = 10_000, 3
SHRINKING_TRIALS, SHRINKING_S = 40, 4.0
WIDE, LONG, MANY = 4096, 4096, 1 << 18
"""Larger products run in one order of the waves."""
COUNTED = Product(fp8=Fp8.E5M2, m=128, n=256, k=64)


def check(assembly: str, config: Config, product: Product, orders: int) -> dict[str, str | int | float | bool]:
    """Return the facts of one case. Raises BuildFailed with the first thing that went wrong."""
    bits: bytes | None = None
    facts: dict[str, str | int | float | bool] = {}
    for order in range(orders):
        found, judgement = emulated.run(assembly, config, product, seed=SEED, order_seed=order)
        if found.faults:
            more = f" (and {len(found.faults) - 1} more)" if len(found.faults) > 1 else ""
            raise BuildFailed(f"wave order {order}: {described(found.faults[0], assembly)}{more}")
        if judgement.failure is not None:
            raise BuildFailed(f"wave order {order}: {judgement.failure}")
        output = np.ascontiguousarray(found.outputs["C"]).tobytes()
        if bits is not None and output != bits:
            raise BuildFailed(f"wave order {order} gives other bits than wave order 0")
        bits = output
        facts = {"rel_l2": judgement.rel_l2, "max_abs": judgement.max_abs, "orders": order + 1}
    return facts


def described(fault: Fault, assembly: str) -> str:
    """Describe `fault`, as `race: line 812 (ds_load_b128 ..., from tile.h:27 in ring.h:115) and line 640 (...): ...`."""
    lines = assembly.splitlines()

    def place(number: int) -> str:
        source = source_line(assembly, number)
        code = " ".join(lines[number - 1].split(";")[0].split())
        return f"line {number} ({code}{', from ' if source else ''}{source})"

    return f"{fault.kind}: {' and '.join(place(number) for number in (fault.line, fault.other_line) if number)}: {fault.what}"


class CannotJudge(str):
    """Why the interpreter can't run the text. It says nothing about the build."""

    __slots__ = ()


def outcome(assembly: str, case: tuple[Config, Product], orders: int) -> dict[str, str | int | float | bool] | str:
    """Run one test case; return its facts, or text that says what went wrong (a CannotJudge for text it can't run)."""
    config, product = case
    try:
        return check(
            assembly, config, product, 1 if product.n > WIDE or product.k > LONG or product.m * product.n > MANY else orders
        )
    except BuildFailed as failure:
        return str(failure)
    except Unsupported as refused:
        return CannotJudge(f"can't be judged: {refused}: {refused.found} ({refused.where})")
    except (BadLaunch, Runaway) as refused:
        return f"{refused}: {refused.found}"


def test(assembly: str, cases: list[tuple[Config, Product]], orders: int, seed: int, report: Report) -> int:
    """Test the cases, two at a time, up to the first that fails, which is made small; return the exit status. `seed` is the one
    that some of the cases were drawn from.
    """
    with ProcessPoolExecutor(max_workers=2) as pool:
        try:
            for case, found in zip(cases, pool.map(partial(outcome, assembly, orders=orders), cases), strict=True):
                name = f"{format_config(case[0])} {case[1].name}"
                if isinstance(found, CannotJudge):
                    report.case(name, False, {"failure": str(found)})
                    return report.fault(f"{name}: {found}")
                if isinstance(found, str):
                    report.case(name, False, {"failure": found})
                    pool.shutdown(wait=False, cancel_futures=True)  # leaves the processor to what follows
                    return report.blame(f"{_made_small(assembly, case, found, orders)} (seed {seed})")
                report.case(name, True, found | {"seed": seed})
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    report.say(f"{len(cases)} cases passed, in {orders} wave orders but for the largest")
    return report.end()


def _made_small(assembly: str, case: tuple[Config, Product], failure: str, orders: int) -> str:
    """Return the failure of the smallest product found that still fails, and its name."""
    config, product = case
    until_s = time.monotonic() + SHRINKING_S

    def fails(smaller: Product) -> str | None:
        if time.monotonic() > until_s:
            return None
        found = outcome(assembly, (config, smaller), orders)
        return found if isinstance(found, str) and not isinstance(found, CannotJudge) else None

    small, failure = smallest(product, failure, fails, trials=SHRINKING_TRIALS)
    return f"{format_config(config)} {small.name}: {failure}"


def profile(assembly: str, config: Config, report: Report) -> int:
    """Report counts of one launch, and of its hot loop per v_wmma; return the exit status."""
    found, _ = emulated.run(assembly, config, COUNTED, seed=SEED, order_seed=0)
    whole, loop = found.counts.summary(), found.counts.hot_loop()
    name = f"m={COUNTED.m} n={COUNTED.n} k={COUNTED.k}"
    report.fact(f"v_wmma {name}", whole.matrix, "instructions", "exact_count")
    report.fact(f"instructions {name}", whole.instructions, "instructions", "exact_count")
    report.fact(f"scratch {name}", whole.scratch_bytes, "bytes", "exact_count")
    for unit, count, least in (
        ("LDS passes", whole.lds_passes, whole.lds_least),
        ("128-byte lines", whole.lines, whole.lines_least),
    ):
        report.fact(f"{unit} {name}", count, unit, "exact_count")
        report.fact(f"{unit} at least {name}", least, unit, "exact_count")
    if loop is not None and loop.matrix:
        for kind in Class:
            if loop.by_class.get(kind):
                report.fact(
                    f"hot loop {kind} per v_wmma", round(loop.by_class[kind] / loop.matrix, 4), "instructions", "exact_count"
                )
        report.fact(
            "hot loop instructions per v_wmma", round(loop.instructions / loop.matrix, 4), "instructions", "exact_count"
        )
        report.fact("hot loop LDS passes per v_wmma", round(loop.lds_passes / loop.matrix, 4), "passes", "exact_count")
        report.fact("hot loop 128-byte lines per v_wmma", round(loop.lines / loop.matrix, 4), "lines", "exact_count")
    return report.end()


def text_of(artifact: Path | None, config: Config, report: Report) -> str:
    """Return the assembly of `artifact`, or of a build of this checkout. Raises OSError, UnicodeDecodeError or BuildError."""
    if artifact is not None:
        return artifact.read_text()
    report.say("building this checkout for gfx1151")
    with tempfile.TemporaryDirectory(prefix="scaled_mm.") as folder:
        return build.assembly(config, Path(folder)).read_text()


def main() -> int:
    """Run the script; return the exit status."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--artifact", type=Path, help="clang's gfx1151 assembly; without it, this checkout is built")
    arguments.add_argument("--config", type=script_session.config, default=WINNER, help="six numbers, such as 1,8,2,2,8,2")
    arguments.add_argument(
        "--every-config", action="store_true", help="test all configs that the artifact holds, each a little"
    )
    arguments.add_argument("--orders", type=int, default=2, help="orders of the waves to try")
    arguments.add_argument("--drawn", type=int, default=DRAWN, help="rounds of shapes drawn at random, besides the fixed ones")
    arguments.add_argument(
        "--seed", type=int, default=secrets.randbelow(SEEDS), help="of these shapes; default: another each time"
    )
    arguments.add_argument("--profile", action="store_true", help="count instead of testing")
    options = arguments.parse_args()
    report = script_session.bound_report()
    try:
        assembly = text_of(options.artifact, options.config, report)
        configs = configs_of(assembly) if options.every_config else [options.config]
        entries = [entry(fp8, config) for config in configs for fp8 in Fp8]
        different = first_difference(assembly, entries)
        if different:
            return report.blame(different)
        if options.profile:
            return profile(assembly, options.config, report)
        wanted = few_products if options.every_config else products
        drawn = partial(drawn_products, seed=options.seed, rounds=0 if options.every_config else options.drawn)
        cases = [(config, each) for config in configs for each in (*wanted(config), *drawn(config))]
        if options.every_config:
            quickest = min(configs, key=lambda config: (config[0] * config[1], -config[2]))
            cases = [*((quickest, each) for each in far_products(quickest, options.seed)), *cases]
        return test(assembly, cases, max(1, options.orders), options.seed, report)
    except BuildFailed as failure:
        return report.blame(str(failure))
    except Unsupported as refused:
        return report.fault(f"can't be judged: {refused}: {refused.found} ({refused.where})")
    except (BadLaunch, Runaway) as refused:
        return report.blame(f"{refused}: {refused.found}" + (f" ({refused.where})" if refused.where else ""))
    except (OSError, UnicodeDecodeError) as error:
        return report.fault(f"cannot read {options.artifact}: {error}")
    except build.BuildError as error:
        return report.fault(str(error))


if __name__ == "__main__":
    sys.exit(main())
