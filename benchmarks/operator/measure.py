"""Tests the operator on a device and measures what a call costs beyond the raw launch.

python -m benchmarks.operator.measure [--device cuda|cpu|stand-in] [--out operator.json]

The products of the harness's test run eagerly; on a GPU also past Python (by the extension of kernel/operator/direct.py), in
CUDA graphs, whole under torch.compile, and with the very first launch of a process inside a capture. Then calls are timed where
the host is what limits them: a small product, 500 calls in a row, the ways interleaved, medians of 41. "Raw" is the library's
own function with its argument made beforehand. On a CPU (after its products) and with `stand-in` nothing is launched there:
what remains is the processor time of the call. "path" says whether the operator's calls went by the extension, or why not;
EXPCTL_OPERATOR_CALLS=python runs everything without it. The exit status is 1 if a product is wrong or a call costs more than
5 us beyond the raw launch.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch

from benchmarks.operator import cases
from benchmarks.operator.stand_in import StandIn
from kernel import op
from kernel.operator import direct
from kernel.operator.builds import library_for
from kernel.operator.devices import target_of
from kernel.runtime.formats import Fp8
from kernel.runtime.library import CALL, DeviceLibrary

MOST_US = 5.0
CALLS, REPEATS = 500, 41
# Fewer calls than a GPU's queue holds: else the host waits for the GPU, and the raw launch looks slower than it is.
M, N, K = 16, 64, 64
FIRST_LAUNCH_IN_A_CAPTURE = """
import torch
from benchmarks.operator import cases
from kernel import op
a, b = torch.randn(64, 64).half().cuda(), torch.randn(64, 64).to(torch.float8_e5m2).cuda()
packed = op.prepack(b)
for _ in "first", "like the first":
    torch.testing.assert_close(cases.captured(a, packed, 1.0, None), (a.float() @ b.float()).half(), rtol=2e-3, atol=1e-3)
"""


def tested(device: torch.device) -> dict[str, Any]:
    """Compute every product in every way; return how many were right, the worst error, and the failures."""
    every = cases.cases_of(device)
    ways: dict[str, cases.Call] = {"eager": op.scaled_mm}
    if device.type == "cuda":
        if direct.path() == "C++":
            ways["past Python"] = cases.past_python
        ways |= {"captured": cases.captured, "compiled": cases.compiled}
    told: dict[str, Any] = {}
    for way, call in ways.items():
        print(f"{way}: {len(every)} products", file=sys.stderr, flush=True)
        judged = {case.name: cases.check(case, device, call) for case in every}
        failures = {name: each.failure for name, each in judged.items() if each.failure}
        worst = max(each.rel_l2 for each in judged.values())
        told[way] = {"right": len(every) - len(failures), "of": len(every), "worst_rel_l2": worst, "failures": failures}
    return told


def first_launch_in_a_capture() -> str:
    """Return "right", or what a process says whose first launch is captured."""
    ran = subprocess.run([sys.executable, "-c", FIRST_LAUNCH_IN_A_CAPTURE], capture_output=True, text=True, check=False)
    return "right" if ran.returncode == 0 else ran.stderr[-2000:]


def host_us(
    ways: dict[str, Callable[[], object]], wait: Callable[[], object], clock: Callable[[], int] = time.process_time_ns
) -> dict[str, float]:
    """Return the median us that the host spends on a call of each way, by a clock of ns."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(REPEATS):
        for name, call in ways.items():
            wait()
            begin = clock()
            for _ in range(CALLS):
                call()
            found[name].append((clock() - begin) / CALLS / 1e3)
            wait()
    return {name: statistics.median(each) for name, each in found.items()}


def ways_to_call(library: DeviceLibrary, device: torch.device, stream: int) -> dict[str, Callable[[], object]]:
    """Return what is timed: the raw launch, the operator in each way that torch calls it, and torch's own product."""
    a, bias = torch.randn(M, K).half().to(device), torch.randn(N).half().to(device)
    packed, c = op.prepack(torch.randn(K, N).to(torch.float8_e5m2).to(device)), torch.empty(M, N).half().to(device)
    b = torch.randn(K, N).half().to(device)
    addresses = a.data_ptr(), packed.data_ptr(), bias.data_ptr(), c.data_ptr()
    call = CALL.pack(0, int(Fp8.E5M2), *addresses, 0.5, M, N, K, stream)
    enqueue, registered = library.enqueuer(), torch.ops.expctl.scaled_mm_prepacked.default
    every: dict[str, Callable[[], object]] = {
        "raw launch": lambda: enqueue(call),
        "operator": lambda: op.scaled_mm(a, packed, 0.5, bias),
        "operator through torch's dispatcher": lambda: registered(a, packed, 0.5, bias),
    }
    if device.type == "cuda":
        every["operator in a compiled function"] = lambda: cases.whole()(a, packed, 0.5, bias)
        every["torch.mm, fp16"] = lambda: torch.mm(a, b)
    for each in every.values():
        each()
    return every


def measured(device: torch.device) -> dict[str, Any]:
    """Return us of a call in each way, on a GPU or with an empty stand-in for one: of processor time where there is none."""
    if device.type == "cuda":
        library = library_for(target_of(device), device.index)
        assert isinstance(library, DeviceLibrary)  # noqa: S101  the target of a GPU
        ways = ways_to_call(library, device, torch.cuda.current_stream(device).cuda_stream)
        us = timed_with_and_without_extension(ways, torch.cuda.synchronize, time.perf_counter_ns)
    else:
        with tempfile.TemporaryDirectory() as folder:
            stand_in = StandIn(Path(folder))
            stand_in.be_empty()
            with stand_in.runs_for_the_cpu():
                ways = ways_to_call(DeviceLibrary(stand_in.path, "sm_90"), device, 0)
                us = timed_with_and_without_extension(ways, nullcontext, time.process_time_ns)
    return {"shape": [M, N, K], "us": us, "beyond_raw_us": us["operator"] - us["raw launch"]}


def timed_with_and_without_extension(
    ways: dict[str, Callable[[], object]], wait: Callable[[], object], clock: Callable[[], int]
) -> dict[str, float]:
    """Return the us of each way, and of those of the operator once more with Python doing every call."""
    us = host_us(ways, wait, clock)
    direct.forget()
    again = {f"{name}, by Python": call for name, call in ways.items() if name.startswith("operator")}
    return us | host_us(again, wait, clock)


def main() -> int:
    """Run everything that the device can, print it, return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu", "stand-in"), default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    device = torch.device("cuda", torch.cuda.current_device()) if options.device == "cuda" else torch.device("cpu")
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else options.device
    told: dict[str, Any] = {"device": name, "torch": torch.__version__, "path": direct.path(), "products": {}}
    if options.device != "stand-in":
        told["products"] = tested(device)
    if device.type == "cuda":
        told["first launch in a capture"] = first_launch_in_a_capture()
    told["overhead"] = measured(device)
    print(json.dumps(told, indent=2))
    if options.out:
        options.out.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    right = all(not each["failures"] for each in told["products"].values())
    right &= told.get("first launch in a capture", "right") == "right"
    return 0 if right and told["overhead"]["beyond_raw_us"] <= MOST_US else 1


if __name__ == "__main__":
    sys.exit(main())
