"""The GPU of this machine, as `expctl init` writes it into protocol.yaml."""

import os
import re
from pathlib import Path

from expctl.domain.protocol.first_protocol import Gpu
from expctl.launcher.captured import Timeout, captured

ANSWERS_S = 20.0
NODES = Path("/sys/class/kfd/kfd/topology/nodes")


def nvidia() -> Gpu | None:
    """Return NVIDIA's GPU of this machine; None without a device file."""
    if not os.path.exists("/dev/nvidia0"):
        return None
    try:
        said = captured(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"], timeout_s=ANSWERS_S).out
    except (OSError, Timeout):
        said = ""
    found = re.search(r"(\d+)\.(\d+)", said)
    return Gpu(device="/dev/nvidia0", arch=f"sm_{found[1]}{found[2]}" if found else "sm_90", variable="CUDA_VISIBLE_DEVICES")


def amd(nodes: Path = NODES) -> Gpu | None:
    """Return AMD's GPU of this machine; None without a device file."""
    if not os.path.exists("/dev/kfd"):
        return None
    return Gpu(device="/dev/kfd", arch=amd_arch(nodes) or "gfx1151", variable="HIP_VISIBLE_DEVICES")


def amd_arch(nodes: Path) -> str:
    """Return the name of the first GPU that the driver lists, e.g. gfx90a for `gfx_target_version 90010`; "" for none."""
    for file in sorted(nodes.glob("*/properties")):
        found = re.search(r"^gfx_target_version (\d+)$", file.read_text(), re.MULTILINE)
        if found and int(found[1]):
            version = int(found[1])
            return f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"
    return ""
