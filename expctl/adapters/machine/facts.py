"""Collect the facts of the machine that a record keeps: enough to compare machines, nothing that names one or its user."""

import hashlib
import os
import platform
from collections.abc import Mapping
from pathlib import Path

from expctl.adapters.machine.clock_policy import clock_policy, driver


def machine_facts() -> dict[str, str]:
    """Return name -> value: CPU, vector unit, memory (GiB), GPUs, drivers, versions; `machine` is a hash of the CPU's facts."""
    cpu = _cpu_facts()
    kernel = ".".join(platform.release().split(".")[:2])
    pages, page_bytes = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    facts = {
        "cpu": cpu["model"],
        "vector": cpu["vector"],
        "cores": str(os.cpu_count() or 0),
        "memory_gib": str(round(pages * page_bytes / 2**30)),
        "os": f"{platform.system()} {kernel}",
        "architecture": platform.machine(),
        "python": platform.python_version(),
    }
    found = {"gpu": _gpu_models(), "driver": driver(), "clock_policy": clock_policy()}
    facts |= {name: text for name, text in found.items() if text}
    fingerprint = "\n".join(f"{key}={facts[key]}" for key in ("cpu", "vector", "cores", "architecture"))
    return {**facts, "machine": hashlib.sha256(fingerprint.encode()).hexdigest()[:12]}


def noise_fingerprint(facts: Mapping[str, str]) -> str:
    """Return 12 hex digits that hash the facts on which measurement noise depends: CPU, memory, GPUs and operating system."""
    keys = ("cpu", "vector", "cores", "memory_gib", "gpu", "os", "architecture")
    return hashlib.sha256("\n".join(f"{key}={facts.get(key, '')}" for key in keys).encode()).hexdigest()[:12]


def _gpu_models() -> str:
    nvidia = [_rows(path).get("Model", "") for path in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information"))]
    nodes = sorted(Path("/sys/class/kfd/kfd/topology/nodes").glob("*/properties"))
    amd = [_rows(path, " ").get("gfx_target_version", "0") for path in nodes]
    return ", ".join([*filter(None, nvidia), *(f"gfx target {version}" for version in amd if version != "0")])


def _rows(path: Path, sign: str = ":") -> dict[str, str]:
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return {}
    return {key.strip(): value.strip() for key, found, value in (line.partition(sign) for line in lines) if found}


def _cpu_facts() -> dict[str, str]:
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return {"model": platform.processor() or "unknown", "vector": "unknown"}
    rows = dict(line.split(":", 1) for line in text.split("\n\n")[0].splitlines() if ":" in line)
    values = {key.strip(): value.strip() for key, value in rows.items()}
    flags = set(values.get("flags", values.get("Features", "")).split())
    vector = next((name for name in ("avx512f", "avx2", "sse4_2", "asimd") if name in flags), "none")
    return {"model": values.get("model name", platform.machine()), "vector": vector}
