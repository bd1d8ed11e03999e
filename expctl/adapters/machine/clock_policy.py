"""Read the clock policy of CPU and GPU, and the GPU driver's version: a change of either starts a new epoch.

They are read from /sys and /proc, without a tool; what these don't show (a virtual machine shows nothing) stays empty.
"""

import re
from pathlib import Path

NVIDIA_VERSION = re.compile(r"Kernel Module.*?\s(\d+\.[\d.]+)")


def clock_policy(root: Path = Path("/")) -> str:
    """Return the CPUs' frequency governor and boost, and AMD GPUs' performance level: `performance, boost on, gpu auto`."""
    cpus = root / "sys/devices/system/cpu"
    governors = sorted({_word(file) for file in cpus.glob("cpufreq/policy*/scaling_governor")} - {""})
    levels = sorted({_word(file) for file in root.glob("sys/class/drm/card*/device/power_dpm_force_performance_level")} - {""})
    return ", ".join([*governors, *_boost(cpus), *(f"gpu {level}" for level in levels)])


def driver(root: Path = Path("/")) -> str:
    """Return the versions of the GPU drivers, e.g. `nvidia 550.54`; empty if there are none. A driver that is part of Linux has
    no version of its own and is left out.
    """
    nvidia = NVIDIA_VERSION.search(_text(root / "proc/driver/nvidia/version"))
    amd = _word(root / "sys/module/amdgpu/version")
    return ", ".join([*([f"nvidia {nvidia[1]}"] if nvidia else []), *([f"amdgpu {amd}"] if amd else [])])


def _boost(cpus: Path) -> list[str]:
    for file, on in ((cpus / "intel_pstate/no_turbo", "0"), (cpus / "cpufreq/boost", "1")):
        if word := _word(file):
            return [f"boost {'on' if word == on else 'off'}"]
    return []


def _word(file: Path) -> str:
    return " ".join(_text(file).split())


def _text(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""
