"""Lists the kernels that a formulation launches: from torch's profiler, or with rocprofv3 where that is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

from expctl.harness.report import RESULT_FD
from kernel.rivals.formulations import Product
from kernel.rivals.operands import OperandSet

PASSES = 5
LEAST_SHARE = 0.002
WRAPPERS = (
    *("TorchDynamo", "Torch-Compiled", "Pregraph", "AOTDispatcher", "##", "aten::to", "aten::_to_copy", "aten::matmul"),
    *("aten::empty", "aten::new_empty", "aten::resolve_conj"),
)
"""What only calls, allocates or looks."""
ROCPROF = ("rocprofv3", "--kernel-trace", "--stats")


@dataclass(frozen=True, slots=True)
class CpuKernel:
    """One operation on the CPU: its calls, and the mean ns of one."""

    name: str
    calls: int
    mean_ns: float


@dataclass(frozen=True, slots=True)
class Listing:
    """What was launched for `products` products: `kernels` on a CPU; on a GPU a profiler's files in `folder` of the output."""

    products: int
    kernels: tuple[CpuKernel, ...] = ()
    folder: str = ""


def passes(product: Product, sets: Sequence[OperandSet]) -> int:
    """Compute the product of each set PASSES times; return how many products that were."""
    for _ in range(PASSES):
        for each in sets:
            product(each)
    return PASSES * len(sets)


def on_cpu(product: Product, sets: Sequence[OperandSet]) -> Listing:
    """List the operations that torch's profiler sees, but WRAPPERS."""
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        products = passes(product, sets)
    found = [each for each in profiled.key_averages() if not each.key.startswith(WRAPPERS)]
    least_us = LEAST_SHARE * sum(each.self_cpu_time_total for each in found)
    kernels = [
        CpuKernel(each.key, each.count, round(each.self_cpu_time_total * 1e3 / each.count, 1))
        for each in sorted(found, key=lambda each: -each.self_cpu_time_total)
        if each.self_cpu_time_total >= least_us
    ]
    return Listing(products, tuple(kernels))


def on_gpu(product: Product, sets: Sequence[OperandSet], out: Path, folder: str) -> Listing:
    """Leave a trace by torch's profiler in `folder` of `out`; on ROCm it lacks registers and LDS."""
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        products = passes(product, sets)
        torch.cuda.synchronize()
    (out / folder).mkdir(parents=True, exist_ok=True)
    profiled.export_chrome_trace(str(out / folder / "torch_trace.json"))
    return Listing(products, folder=folder)


def by_rocprof(script: Path, words: Sequence[str], out: Path, folder: str, products: int) -> Listing | None:
    """Leave a trace by rocprofv3 of another process that computes as many products; None where there is no rocprofv3."""
    if torch.version.hip is None or shutil.which(ROCPROF[0]) is None:
        return None
    argv = [*ROCPROF, "-d", str(out / folder), "-o", "rival", "--", sys.executable, "-u", str(script), *words]
    process(argv)
    return Listing(products, folder=folder)


def process(argv: Sequence[str]) -> str:
    """Run another process, which has no result descriptor; return what it prints. Raises RuntimeError with its last words."""
    environment = {name: value for name, value in os.environ.items() if name != RESULT_FD}
    ran = subprocess.run(argv, capture_output=True, text=True, check=False, env=environment)
    if ran.returncode:
        last = next((line for line in reversed(ran.stderr.splitlines()) if line.strip()), "it said nothing")
        raise RuntimeError(f"{Path(argv[0]).name} ended with status {ran.returncode}: {last[:300]}")
    return ran.stdout
