"""Time call by call, for `expctl suite`: this kernel, or torch's product of the decoded B.

    python kernel/rivals/time_calls.py --size 512x512x512 --bias --times times.txt

Writes the us of every call to --times, a line each, in order, warm-ups included: wall time on a CPU, device time on a GPU.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

if not __package__:  # run by path: the checkout this file lies in comes first
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch

from kernel import op
from kernel.naive import scaled_mm_naive
from kernel.rivals.operands import SCALE, OperandSet, Size, draw, work_dtype


def wall_us(call: Callable[[], object]) -> float:
    """Return the wall time of a call in us."""
    begin = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - begin) / 1e3


def device_us(call: Callable[[], object]) -> float:
    """Return the time of a call on the GPU in us."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) * 1e3


def main() -> int:
    """Run the script; return the exit status."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--of", choices=("kernel", "torch"), default="kernel")
    arguments.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    arguments.add_argument("--size", type=Size.parse, required=True, help="n or m x n x k, such as 512 or 32x1024x1024")
    arguments.add_argument("--bias", action="store_true")
    arguments.add_argument("--warmups", type=int, default=3)
    arguments.add_argument("--iterations", type=int, default=10)
    arguments.add_argument("--times", type=Path, required=True)
    options = arguments.parse_args()
    torch.set_num_threads(1)
    device = torch.device(options.device)
    sets, work = draw(options.size, device, 0), work_dtype(device)

    def product(x: OperandSet) -> object:
        bias = x.bias if options.bias else None
        if options.of == "kernel":
            return op.scaled_mm(x.a, x.packed, SCALE, bias)
        return scaled_mm_naive(x.a, x.b, SCALE, bias, accumulate=work)

    timed = wall_us if device.type == "cpu" else device_us
    calls = range(options.warmups + options.iterations)
    times = [timed(partial(product, sets[at % len(sets)])) for at in calls]
    options.times.write_text("".join(f"{each:.3f}\n" for each in times), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
