"""What tables made here are made with: compiler, driver and device, as their tools and Linux name them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path("/")
RELEASE = re.compile(r"(?:release |cuda_|HIP version: )(\d+(?:\.\d+)+)")
TOOLS = ("nvcc", "hipcc", "ziglang")


def compiler(versions: Mapping[str, str]) -> str:
    """Return which of a target's tools compiles, and its release, from what each says of its version; "" for none of ours."""
    tool = next((tool for tool in TOOLS if tool in versions), "")
    release = RELEASE.search(versions.get(tool, ""))
    return f"{tool} {release[1] if release else versions[tool]}" if tool else ""


def device(target: str, root: Path = ROOT) -> str:
    """Return the processor or the GPU that `target` (cpu, sm_..., gfx...) runs on; "" where Linux names none."""
    if target.startswith("sm_"):
        places = sorted(root.glob("proc/driver/nvidia/gpus/*/information"))
        return _value(places, r"^Model\s*:\s*(.*)$")
    if target.startswith("gfx"):
        version = _value(sorted(root.glob("sys/class/kfd/kfd/topology/nodes/*/properties")), r"^gfx_target_version ([1-9]\d*)$")
        return f"gfx target {version}" if version else ""
    return _value([root / "proc/cpuinfo"], r"^model name\s*:\s*(.*)$")


def driver(target: str, root: Path = ROOT) -> str:
    """Return the version of the driver that `target` runs by; "" for none, as on a CPU."""
    if target.startswith("sm_"):
        version = _value([root / "proc/driver/nvidia/version"], r"^NVRM version:.*?\b(\d+\.\d+(?:\.\d+)?)\b")
        return f"nvidia {version}" if version else ""
    if target.startswith("gfx"):
        version = _value([root / "sys/module/amdgpu/version"], r"^(.*)$")
        return f"amdgpu {version}" if version else ""
    return ""


def made_here(target: str, versions: Mapping[str, str], root: Path = ROOT) -> dict[str, str]:
    """Return what a table that is made here and now for `target` is made with."""
    return {"compiler": compiler(versions), "driver": driver(target, root), "device": device(target, root)}


def _value(places: list[Path], pattern: str) -> str:
    for place in places:
        try:
            found = re.search(pattern, place.read_text(errors="replace"), re.MULTILINE)
        except OSError:
            continue
        if found:
            return " ".join(found[1].split())
    return ""
