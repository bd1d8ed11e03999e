"""Times this kernel beside torch.compile and the library's product alone, in bursts and back to back, with joules a call.

    python -m benchmarks.operator.back_to_back --device cuda --sizes 8192,4096,16x8192x8192 --out FILE

One process, random inputs (B e5m2, with scale and bias), device time of replayed CUDA graphs, operands larger than three
last-level caches (docs/RIVALS.md). A burst is a turn of 20 ms; back to back is one of a second, after which the clock has
fallen to what the power limit allows. The formulations take turns, in an order drawn for each round. A product in a second
costs the joules of the board in that second, divided by its calls; on a CPU none are known.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from benchmarks.operator.energy import EnergyMeter
from kernel.operator.launches import config_on
from kernel.rivals.formulations import LIBRARY_PRODUCT, Formulation, Role, formulations
from kernel.rivals.operands import OperandSet, Size, draw, relative_error, work_dtype
from kernel.rivals.timing import TURN_S, GraphTurn, Turn, WallTurn
from kernel.runtime.library import format_config

SEED = 7
MOST_ERROR = 0.01
DEFAULT = ("this kernel", "torch.compile, default", LIBRARY_PRODUCT)


def made(chosen: list[Formulation], size: Size, device: torch.device, sets: list[OperandSet]) -> dict[str, Turn]:
    """Return each formulation ready to be timed. Raises RuntimeError where one computes something else."""
    found: dict[str, Turn] = {}
    for each in chosen:
        product = each.make(size, device, work_dtype(device))
        result = product(sets[0])
        if each.is_whole and not (error := relative_error(result, sets[0])) <= MOST_ERROR:
            raise RuntimeError(f"{each.name} computes something else at {size.name}: relative L2 error {error:.2g}")
        found[each.name] = (WallTurn if device.type == "cpu" else GraphTurn)(product, sets)
    return found


def timed(turns: Mapping[str, Turn], rounds: int, seconds: float, meter: EnergyMeter | None) -> dict[str, dict[str, Any]]:
    """Return by formulation the median ns of a product in turns of `seconds`, those of all turns, and joules a product."""
    order, shuffled = list(turns), random.Random(SEED)  # noqa: S311
    ns: dict[str, list[float]] = {name: [] for name in turns}
    used: dict[str, list[float]] = {name: [] for name in turns}
    for _ in range(rounds):
        shuffled.shuffle(order)
        for name in order:
            before = meter.joules() if meter else 0.0
            ns[name].append(round(turns[name].ns(seconds), 1))
            if meter:
                used[name].append((meter.joules() - before) / turns[name].products(seconds))
    return {
        name: {"median_ns": statistics.median(ns[name]), "ns": ns[name]}
        | ({"joules": round(statistics.median(used[name]), 6)} if meter else {})
        for name in turns
    }


def at(size: Size, chosen: list[Formulation], device: torch.device, options: argparse.Namespace) -> dict[str, Any]:
    """Return what was measured at one size."""
    torch._dynamo.reset()  # each size is compiled for itself
    sets = draw(size, device, SEED)
    turns = made(chosen, size, device, sets)
    meter = EnergyMeter(f"GPU-{torch.cuda.get_device_properties(device).uuid}") if device.type == "cuda" else None
    return {
        "name": size.name,
        "config": format_config(config_on(device, size.m, size.n, size.k)),
        "operand_sets": len(sets),
        "bursts": timed(turns, options.rounds, TURN_S, None),
        "back_to_back": timed(turns, options.long_rounds, options.seconds, meter),
    }


def shown(found: Mapping[str, Any]) -> str:
    """Return one line for each formulation: us, and how many times as fast as it this kernel is; joules."""
    lines = [f"{found['name']}  config {found['config']}"]
    for way in ("bursts", "back_to_back"):
        ours = found[way]["this kernel"]["median_ns"]
        for name, each in found[way].items():
            us, times = each["median_ns"] / 1e3, each["median_ns"] / ours
            energy = f"  {each['joules'] * 1e3:9.3f} mJ" if "joules" in each else ""
            lines.append(f"  {way:13s} {name:28s} {us:10.2f} us  ours is {times:5.3f}x{energy}")
    return "\n".join(lines)


def main() -> int:
    """Measure at all sizes, print and write what was found, return the exit status."""
    names = [each.name for each in formulations()]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--sizes", default="512", help="n or m x n x k, such as 4096,32x12288x2048")
    parser.add_argument("--only", choices=names, nargs="*", default=DEFAULT, help="beside this kernel (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=21, help="bursts of each (default: %(default)s)")
    parser.add_argument("--long-rounds", type=int, default=3, help="long turns of each (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a long turn (default: %(default)s)")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    device = torch.device("cuda", torch.cuda.current_device()) if options.device == "cuda" else torch.device("cpu")
    told: dict[str, Any] = {
        "command": "python -m benchmarks.operator.back_to_back " + " ".join(sys.argv[1:]),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "torch": torch.__version__,
        "sizes": [],
    }
    chosen = [each for each in formulations() if each.role is Role.OURS or each.name in options.only]
    for size in [Size.parse(word) for word in options.sizes.split(",")]:
        told["sizes"].append(at(size, chosen, device, options))
        print(shown(told["sizes"][-1]), flush=True)
        if options.out:
            options.out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
