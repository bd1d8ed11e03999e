"""Traces in the form that torch.profiler (Kineto) writes them: GPU kernels, launches, operators with shapes, modules."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

B200 = {"id": 0, "name": "NVIDIA B200", "computeMajor": 10, "computeMinor": 0, "numSms": 148}
H100 = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "computeMajor": 9, "computeMinor": 0, "numSms": 132}


@dataclass(frozen=True, slots=True, kw_only=True)
class Launched:
    """One kernel of a trace: its time in us, and the operators (name, shapes, types) that launched it, outermost first."""

    name: str
    us: float = 50.0
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (256, 1, 1)
    registers: int = 32
    shared: int = 0
    operators: Sequence[tuple[str, list[list[int]], list[str]]] = ()
    modules: Sequence[str] = ()
    more: dict[str, Any] = field(default_factory=dict)


def write_trace(path: Path, kernels: Sequence[Launched], device: dict[str, Any] = B200) -> Path:
    """Write a trace of `kernels`, one after the other, to `path` and return it."""
    events: list[dict[str, Any]] = []
    at = 1000.0
    for number, kernel in enumerate(kernels, 1):
        host = at - 100
        outer: list[tuple[str, str, dict[str, Any]]] = [
            ("python_function", f"nn.Module: {module}", {}) for module in kernel.modules
        ]
        outer += [
            ("cpu_op", name, {"External id": number, "Input Dims": shapes, "Input type": types, "Concrete Inputs": []})
            for name, shapes, types in kernel.operators
        ]
        for depth, (category, name, arguments) in enumerate(outer):
            span = {"ts": f"{host + depth:.3f}", "dur": f"{40 - 2 * depth:.3f}", "pid": 7, "tid": 7, "args": arguments}
            events.append({"ph": "X", "cat": category, "name": name, **span})
        launch = {"ts": f"{host + 20:.3f}", "dur": "3.000", "pid": 7, "tid": 7, "args": {"correlation": number, "cbid": 211}}
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", **launch})
        arguments = {
            "device": 0, "stream": 7, "correlation": number, "External id": number, "grid": list(kernel.grid),
            "block": list(kernel.block), "registers per thread": kernel.registers, "shared memory": kernel.shared,
            **kernel.more,
        }  # fmt: skip
        event = {"ts": f"{at:.3f}", "dur": f"{kernel.us:.3f}", "pid": 0, "tid": 7, "args": arguments}
        events.append({"ph": "X", "cat": "kernel", "name": kernel.name, **event})
        at += kernel.us + 100
    text = json.dumps({"schemaVersion": 1, "deviceProperties": [device], "record_shapes": 1, "traceEvents": events})
    path.write_text(text.replace('"ts": "', '"ts": ').replace('", "dur": "', ', "dur": ').replace('", "pid"', ', "pid"'))
    return path
