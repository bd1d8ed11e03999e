"""What the record says of the machine: enough to compare, nothing that names it or its user."""

import hashlib
import os
import platform
from pathlib import Path


def machine_facts() -> dict[str, str]:
    """CPU model and features, core count, memory, kernel and Python versions. No host name, no paths."""
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
    fingerprint = "\n".join(f"{key}={facts[key]}" for key in ("cpu", "vector", "cores", "architecture"))
    return {**facts, "machine": hashlib.sha256(fingerprint.encode()).hexdigest()[:12]}


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
